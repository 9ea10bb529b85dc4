"""One catalog of Iceberg as each engine is told of it.

The settings say it in pyiceberg's words (`sink.catalog`); here they are in those of Spark, Trino and DuckDB. Catalogs
with a name know this one as `sigla`: in a database it is part of every table's key.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sigla_pipelines.land import spark_catalog
from sigla_pipelines.places import Bucket, Place
from sigla_pipelines.tables.columns import text_sql

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

SPARK_RUNTIME: Final = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"
AWS_BUNDLE: Final = "org.apache.iceberg:iceberg-aws-bundle:1.11.0"
SQLITE: Final = "org.xerial:sqlite-jdbc:3.46.1.3"

KINDS: Final = {
    "SqlCatalog": "sql",
    "RestCatalog": "rest",
    "GlueCatalog": "glue",
    "HiveCatalog": "hive",
    "DynamoDbCatalog": "dynamodb",
    "InMemoryCatalog": "in-memory",
}
"""By the classes of pyiceberg."""
CLASSES: Final = {kind: name for name, kind in KINDS.items()}

SECRETS: Final = ("credential", "password", "secret-access-key", "session-token", "token")
"""The ends of settings' names whose values must not be shown; the headers of requests beside them."""


@dataclass(frozen=True, slots=True)
class Database:
    """Where catalogs in a database are. package: with the driver of Java."""

    scheme: str
    driver: str
    package: str


DATABASES: Final = {
    "sqlite": Database("jdbc:sqlite:", "org.sqlite.JDBC", SQLITE),
    "postgresql": Database("jdbc:postgresql://", "org.postgresql.Driver", "org.postgresql:postgresql:42.7.8"),
    "mysql": Database("jdbc:mysql://", "com.mysql.cj.jdbc.Driver", "com.mysql:mysql-connector-j:9.4.0"),
}
"""By the first word of SQLAlchemy's URLs."""


_DUCKDB_SECRETS: Final = {
    "token": "TOKEN '<token>'",
    "credential": "CLIENT_ID '<client id>', CLIENT_SECRET '<client secret>'",
}
"""By the properties of pyiceberg."""


class CannotAttach(Exception):
    """An engine has no way to this table; the sentence says why, and what to do."""


@dataclass(frozen=True, slots=True)
class IcebergCatalog:
    """kind: as pyiceberg names types of catalogs. properties: of pyiceberg, secrets among them."""

    kind: str
    properties: Mapping[str, str]
    namespace: tuple[str, ...]
    lake: Place
    name: str = "sigla"

    def spark(self) -> dict[str, str]:
        """Settings below `spark.sql.catalog.NAME`, without secrets. Raises CannotAttach."""
        found = CLASSES.get(self.kind, "")
        if found not in spark_catalog.KINDS:
            raise self._unknown("Spark")
        settings = spark_catalog.properties_of(found, self.properties, self.lake)
        return {"": spark_catalog.CATALOG} | {
            f".{name}": _shown_property(name, value) for name, value in settings.items()
        }

    def spark_packages(self) -> list[str]:
        """What Spark needs beside its own jars, as Maven names it."""
        database = [DATABASES[self._database].package] if self.kind == "sql" and self._database in DATABASES else []
        needs_aws = isinstance(self.lake, Bucket) or self.kind in ("glue", "dynamodb")
        return [SPARK_RUNTIME, *([AWS_BUNDLE] if needs_aws else []), *database]

    def trino(self) -> dict[str, str]:
        """Properties of a catalog of Trino. Raises CannotAttach."""
        if isinstance(self.lake, Bucket):
            files = {"fs.native-s3.enabled": "true", "s3.region": self.lake.region}
            if self._endpoint:
                files |= {"s3.endpoint": self._endpoint, "s3.path-style-access": "true"}
        else:
            files = {"fs.hadoop.enabled": "true"}
        return self._trino_kind() | files

    def _trino_kind(self) -> dict[str, str]:
        if self.kind == "sql":
            url, user, password = self._jdbc()
            prefix = "iceberg.jdbc-catalog."
            return (
                {
                    "iceberg.catalog.type": "jdbc",
                    f"{prefix}catalog-name": self.name,
                    f"{prefix}driver-class": DATABASES[self._database].driver,
                    f"{prefix}connection-url": url,
                    f"{prefix}default-warehouse-dir": self._warehouse,
                }
                | ({f"{prefix}connection-user": user} if user else {})
                | ({f"{prefix}connection-password": "<password>"} if password else {})
            )
        if self.kind == "rest":
            prefix = "iceberg.rest-catalog."
            found = {"iceberg.catalog.type": "rest", f"{prefix}uri": self.properties["uri"]}
            if "warehouse" in self.properties:
                found[f"{prefix}warehouse"] = self.properties["warehouse"]
            for secret in ("credential", "token"):
                if secret in self.properties:
                    found |= {f"{prefix}security": "OAUTH2", f"{prefix}oauth2.{secret}": f"<{secret}>"}
            return found | ({f"{prefix}nested-namespace-enabled": "true"} if len(self.namespace) > 1 else {})
        if self.kind == "glue":
            found = {"iceberg.catalog.type": "glue", "hive.metastore.glue.region": self._glue_region}
            return found | (
                {"hive.metastore.glue.catalogid": self.properties["glue.id"]} if "glue.id" in self.properties else {}
            )
        if self.kind == "hive":
            return {"iceberg.catalog.type": "hive_metastore", "hive.metastore.uri": self.properties["uri"]}
        raise self._unknown("Trino")

    def trino_notes(self) -> list[str]:
        """Comments about what Trino needs beside it."""
        if self.kind == "sql" and self._database != "postgresql":
            package = DATABASES[self._database].package if self._database in DATABASES else "the database"
            return [f"-- The jar of {package} has to be in Trino's plugin/iceberg."]
        return []

    def duckdb(self) -> list[str]:
        """How DuckDB attaches the catalog; empty where it has no way to."""
        if self.kind == "rest":
            known = [how for secret, how in _DUCKDB_SECRETS.items() if secret in self.properties]
            secrets = [f"CREATE OR REPLACE SECRET catalog (TYPE iceberg, {how});" for how in known[:1]]
            allowed = "SECRET catalog" if secrets else "AUTHORIZATION_TYPE 'none'"
            options = f"TYPE iceberg, ENDPOINT {text_sql(self.properties['uri'])}, {allowed}"
            attach = f"ATTACH {text_sql(self.properties.get('warehouse', ''))} AS {self.name} ({options});"
            return [*secrets, attach]
        if self.kind == "glue":
            account = self.properties.get("glue.id", "<account>")
            return [f"ATTACH {text_sql(account)} AS {self.name} (TYPE iceberg, ENDPOINT_TYPE 'glue');"]
        return []

    @property
    def _warehouse(self) -> str:
        return self.properties.get("warehouse") or self.lake.uri("").rstrip("/")

    @property
    def _endpoint(self) -> str:
        """The endpoint of an S3 outside AWS; empty for AWS."""
        endpoint = self.lake.endpoint if isinstance(self.lake, Bucket) else ""
        return "" if ".amazonaws.com" in endpoint else endpoint

    @property
    def _glue_region(self) -> str:
        known = [self.properties[key] for key in ("glue.region", "client.region") if key in self.properties]
        return known[0] if known else self.lake.region if isinstance(self.lake, Bucket) else "<region>"

    @property
    def _database(self) -> str:
        return self.properties["uri"].partition(":")[0].partition("+")[0]

    def _jdbc(self) -> tuple[str, str, bool]:
        """The URL as Java has it, the user, and whether there is a password. Raises CannotAttach."""
        from sqlalchemy.engine import make_url  # noqa: PLC0415 - only catalogs in a database need it

        if self._database not in DATABASES:
            raise self._unknown("This engine")
        found, scheme = make_url(self.properties["uri"]), DATABASES[self._database].scheme
        if self._database == "sqlite":
            return f"{scheme}{found.database}", "", False
        port = f":{found.port}" if found.port else ""
        return f"{scheme}{found.host}{port}/{found.database or ''}", found.username or "", bool(found.password)

    def _unknown(self, engine: str) -> CannotAttach:
        return CannotAttach(
            f"{engine} has no settings for a catalog of type {self.kind}: `sink.catalog` is one of those."
        )


def _shown_property(name: str, value: str) -> str:
    is_secret = name.endswith(SECRETS) or name.startswith("header.")
    return f"<{name.rpartition('.')[2]}>" if is_secret else value


def opened(catalog: "Catalog", namespace: tuple[str, ...], lake: Place) -> IcebergCatalog:
    kind = KINDS.get(type(catalog).__name__, type(catalog).__name__)
    return IcebergCatalog(kind, {key: str(value) for key, value in catalog.properties.items()}, namespace, lake)
