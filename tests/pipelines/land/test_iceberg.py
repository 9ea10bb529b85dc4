"""Catalogs of Iceberg that are silent, or none, and what such tables cannot be: each is a sentence."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.exceptions import NoSuchTableError
from sqlalchemy.exc import OperationalError

from pipelines.land.quarantine import RESOLVED_TABLE
from pipelines.land.settings import InvalidLanding
from pipelines.land.sinks import iceberg
from pipelines.land.sinks.iceberg import Iceberg
from pipelines.places import place
from sigla.errors import StoreError
from tests.pipelines.land.crash_rig import World

pytestmark = pytest.mark.usefixtures("unsynced")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path, iceberg=True)) as world:
        yield world


def test_a_catalog_that_falls_silent_is_told_of_who_reads_too(world: World) -> None:
    """A replay reads before it writes."""

    def silent(*_: Any) -> Any:
        raise OperationalError("SELECT …", {}, Exception("server closed the connection"))

    world.catalog.load_table = silent
    with pytest.raises(StoreError, match=r"^the catalog of Iceberg: .*server closed the connection"):
        list(Iceberg(world.catalog, "sigla", world.lake).rows(RESOLVED_TABLE))


@pytest.mark.parametrize(
    "properties, said",
    [
        ({"type": "sql", "uri": "blah"}, "Could not parse SQLAlchemy URL"),
        ({"type": "sql", "uri": "nonsense://x"}, "Can't load plugin: sqlalchemy.dialects:nonsense"),
        ({"type": "glue"}, "You must specify a region"),
        ({"type": "dynamodb"}, "You must specify a region"),
        (
            {"type": "glue", "glue.region": "eu-west-1", "glue.profile-name": "nobody's"},
            "profile .* could not be found",
        ),
        ({"py-catalog-impl": "os.nothing"}, "module 'os' has no attribute 'nothing'"),
        ({"type": "in-memory", "py-io-impl": "no.such.Io"}, "Could not initialize FileIO: no.such.Io"),
    ],
)
def test_a_catalog_that_cannot_be_one_is_a_matter_of_the_settings(
    properties: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told before there is a batch, and not as a silence that may be over."""
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidLanding, match=rf"^`sink.catalog` is none that pyiceberg can open: .*{said}.*\.$"):
        iceberg.catalog(properties, place("lake"))


@pytest.mark.parametrize("namespace", ["", " ", "a..b", "a."])
def test_a_namespace_without_a_name_is_refused(world: World, namespace: str) -> None:
    with pytest.raises(InvalidLanding, match=r"^`sink.namespace` is '.*': it is to be a name, or one within another"):
        Iceberg(world.catalog, namespace, world.lake)


def test_a_namespace_may_be_within_another(world: World) -> None:
    """Catalogs behind HTTP tell it from one with a dot in its name."""
    asked: list[Any] = []

    def load_table(name: Any) -> Any:
        asked.append(name)
        raise NoSuchTableError

    world.catalog.load_table = load_table
    assert Iceberg(world.catalog, "lake.sigla", world.lake).columns("t") is None
    assert asked == [("lake", "sigla", "t")]
