"""Catalogs of Iceberg that are silent, or none, and what such tables cannot be: each is a sentence."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from pipelines.land.quarantine import RESOLVED_TABLE
from pipelines.land.sinks.iceberg import Iceberg
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
