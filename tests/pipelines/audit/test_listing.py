"""The catalog as a table: every version once, with what applies to its subject."""

from pathlib import Path

import pyarrow.parquet as pq

from sigla.model import GLOBAL, Draft, Subject
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla_pipelines.audit import listing, tables
from sigla_pipelines.places import open_place
from tests.build import FixedClock, a_text, tiers_before

NAMES = ("a", "b", "\ue000", "\U00010000", ":.team:a", ":.team:b", ":.other:a")


def _subject(name: str) -> Subject:
    context, _, rest = name[1:].partition(":") if name.startswith(":") else (".", "", name)
    return Subject(context, rest)


def test_each_subject_has_the_config_that_applies_to_it(tmp_path: Path) -> None:
    """Its own, its context's, the global one, the default: as the registry itself would say."""
    with EmbeddedStore(tmp_path / "data") as store:
        registry = Registry(store.catalog, tiers_before(store.bodies), FixedClock())
        for name in NAMES:
            registry.register(_subject(name), Draft(a_text()))
        for name, level in (("b", "FULL"), ("\U00010000", "FORWARD"), (":.team:b", "NONE"), ("nobody", "FULL")):
            registry.change_config(_subject(name), {"level": level, "policy": "LENIENT"})
        registry.change_config(Subject(".team", ""), {"level": "FORWARD_TRANSITIVE"})
        registry.change_config(GLOBAL, {"level": "BACKWARD_TRANSITIVE", "group": "major"})
        found = {
            Subject(context, subject): (level, policy, group)
            for context, subject, *_, level, policy, group in listing.versions(store.catalog, "BACKWARD")
        }
        configs = {subject: registry.ask(subject).config for subject in map(_subject, NAMES)}
    assert found == {subject: (each.level, each.policy, each.group) for subject, each in configs.items()}


def test_a_stream_becomes_files_of_a_size(tmp_path: Path) -> None:
    """What is written holds one batch in memory, and loses no row."""
    rows = [(".", number) for number in range(10)]
    objects = open_place(tmp_path / "objects")
    assert tables.stream(iter(rows), listing.OBJECTS, objects, batch_rows=2, file_batches=2) == 10
    assert len(list((tmp_path / "objects").iterdir())) == 3
    read = pq.read_table(tmp_path / "objects").to_pylist()
    assert [tuple(row.values()) for row in read] == rows
