"""A mirror of another registry into one of two regions in AWS, which change places under it."""

from pathlib import Path

import pytest

from sigla.changes import Author
from sigla.model import Subject
from sigla.regions import promotion, rules
from sigla.regions.giving import carried_out
from sigla.registry import Registry
from sigla.registry.attributed import attributed
from sigla.stores.dynamodb.promoting import TablePair
from sigla.upkeep.mirroring import Mirror
from tests.attack.test_rejoin_tables import Regions, begun
from tests.build import a_text
from tests.unit.exporting.places import AVRO, places
from tests.unit.mirroring.mirrored import told


def back_and_forth(regions: Regions, report: Path) -> None:
    """B is promoted by force, A rejoins, and is promoted by plan."""
    a, b = regions.a, regions.b
    carried_out(promotion.forced(b.region, now=regions.clock.now()))
    assert regions.rejoin(a, b, report) == 1
    for _ in range(2):
        regions.turn(a, b)
    regions.clock.time += rules.KNOWN_MS
    pair = TablePair(a, b)
    course = promotion.planned(
        a.region, b.region, pair.drain, rehearse=pair.rehearse, token="t", now=regions.clock.now(), url="", at=""
    )
    assert carried_out(course).changed


def test_what_a_mirror_had_brought_and_a_region_has_forgotten_is_brought_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same process goes on: what it remembers is of an epoch that is over."""
    with begun(monkeypatch) as regions, places(1) as (source,):
        registry = attributed(Registry(regions.a.catalog, regions.a.bodies, regions.clock), Author("cli", "mirror"))
        mirror = Mirror(registry)
        source.register("orders", a_text("Orders"))
        source.register("mirrored", AVRO % 1)
        assert mirror.turn(told(source)).is_complete
        regions.turn(regions.b, regions.a)
        source("PUT", "/config/mirrored", {"compatibility": "NONE"})
        assert mirror.turn(told(source)).is_complete
        back_and_forth(regions, tmp_path / "report")
        assert mirror.is_of_before()
        source.register("more", AVRO % 2)
        assert mirror.turn(told(source)).is_complete
        assert not mirror.is_of_before()
        config = regions.a.catalog.snapshot(Subject(".", "mirrored")).chain.own.config
        assert config is not None
        assert config.level == "NONE"
