"""The catalog of Iceberg that a job writes to, opened by Spark as well: pyiceberg's properties in Spark's words."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sigla_pipelines.land.settings import InvalidLanding
from sigla_pipelines.places import Bucket, Place

if TYPE_CHECKING:  # whoever prints settings starts neither
    from pyiceberg.catalog import Catalog
    from pyspark.sql import SparkSession

Properties = Mapping[str, str]

CATALOG: Final = "org.apache.iceberg.spark.SparkCatalog"
WAITS_MS: Final = 30_000
"""For another writer of the same SQLite file."""


def with_catalog(spark: "SparkSession", catalog: "Catalog", lake: Place) -> "SparkSession":
    """A session that knows the catalog under its own name. What Spark's settings already say about it stays.

    A session of its own, because one remembers a catalog by its name. Raises InvalidLanding where Spark knows no such
    catalog.
    """
    session, prefix = spark.newSession(), f"spark.sql.catalog.{catalog.name}"
    if session.conf.get(prefix, None) is None:
        for name, value in spark_properties(catalog, lake).items():
            session.conf.set(f"{prefix}.{name}", value)
        session.conf.set(prefix, CATALOG)
    return session


def spark_properties(catalog: "Catalog", lake: Place) -> dict[str, str]:
    """What Spark's settings say after `spark.sql.catalog.NAME.`. Raises InvalidLanding."""
    kind = type(catalog).__name__
    if kind not in KINDS:
        raise InvalidLanding(
            f"`sink.catalog` is of the class {kind}, which Spark cannot open. `mode: upsert` and `maintain` need a "
            "catalog of type sql, rest, glue or hive."
        )
    return properties_of(kind, {str(name): str(value) for name, value in catalog.properties.items()}, lake)


def properties_of(kind: str, properties: Properties, lake: Place) -> dict[str, str]:
    """kind: one of KINDS. properties: of pyiceberg; secrets among them stay. Raises InvalidLanding."""
    # Each table is read anew: others commit to it.
    found = {"cache-enabled": "false"} | _files(properties, lake) | KINDS[kind](properties)
    # A REST catalog has names for its warehouses, and refuses one that it does not know.
    warehouse = properties.get("warehouse", "" if kind == "RestCatalog" else lake.uri(""))
    return found | ({"warehouse": warehouse} if warehouse else {})


def _sql(properties: Properties) -> dict[str, str]:
    from sqlalchemy import make_url  # noqa: PLC0415 - catalogs in a database alone need it

    url = make_url(properties["uri"])
    driver = url.get_backend_name()
    found = {"type": "jdbc", "jdbc.schema-version": "V1"}
    if driver == "sqlite":
        if not url.database or url.database == ":memory:":
            raise InvalidLanding("`sink.catalog` is a database in memory, which Spark cannot open: use a file.")
        return found | {"uri": f"jdbc:sqlite:{Path(url.database).resolve()}", "jdbc.busy_timeout": str(WAITS_MS)}
    port = f":{url.port}" if url.port else ""
    found["uri"] = f"jdbc:{driver}://{url.host}{port}/{url.database}"
    said = {"jdbc.user": url.username, "jdbc.password": str(url.password) if url.password else None}
    return found | {name: value for name, value in said.items() if value}


def _rest(properties: Properties) -> dict[str, str]:
    """Both clients have the words of the REST specification."""
    words = ("uri", "token", "credential", "scope", "oauth2-server-uri", "prefix")
    more = {name: value for name, value in properties.items() if name.startswith(("rest.", "header."))}
    return {"type": "rest"} | {name: properties[name] for name in words if name in properties} | more


def _glue(properties: Properties) -> dict[str, str]:
    renamed = {"glue.region": "client.region", "glue.id": "glue.id", "glue.endpoint": "glue.endpoint"}
    found = {name: properties[ours] for ours, name in renamed.items() if ours in properties}
    return {"type": "glue"} | found


def _hive(properties: Properties) -> dict[str, str]:
    return {"type": "hive", "uri": properties["uri"]}


KINDS: Final[Mapping[str, Callable[[Properties], dict[str, str]]]] = {
    "SqlCatalog": _sql,
    "RestCatalog": _rest,
    "GlueCatalog": _glue,
    "HiveCatalog": _hive,
}
"""By the classes of pyiceberg."""


def _files(properties: Properties, lake: Place) -> dict[str, str]:
    """How data is reached. Folders need nothing; S3 needs Iceberg's bundle for AWS among the jars."""
    if not isinstance(lake, Bucket):
        return {}
    same = ("s3.endpoint", "s3.access-key-id", "s3.secret-access-key", "s3.session-token")
    found = {"io-impl": "org.apache.iceberg.aws.s3.S3FileIO"}
    found |= {name: properties[name] for name in same if name in properties}
    if "s3.region" in properties:
        found["client.region"] = properties["s3.region"]
    return found
