"""A real topic, as it grew: its mirror is at each moment what an import of it so far would be."""

import asyncio
from collections.abc import Sequence

import pytest

from sigla.journal.replay import TopicRecord, replayed
from sigla.upkeep.importing import import_state
from sigla.upkeep.mirroring import Mirror, begin, cut_over
from tests.protocol.dumped import differences, reads, records
from tests.protocol.test_dump import CutOff
from tests.unit.exporting.places import places
from tests.unit.journal.topic import OTHER, s, schema, state
from tests.unit.mirroring.mirrored import held


@pytest.mark.parametrize("turns", [3, pytest.param(160, marks=pytest.mark.soak)])
def test_a_topic_that_grows_is_mirrored_as_if_it_were_imported_as_it_is(turns: int) -> None:
    whole = records()
    with places(1) as (target,):
        begin(target.registry)
        mirror = Mirror(target.registry, target.store.group, may_remove=True)
        for turn in range(1, turns + 1):
            state = replayed(whole[: len(whole) * turn // turns])
            assert mirror.turn(state).is_complete
            if turn in {1, turns}:
                assert held(target) == _imported(whole[: len(whole) * turn // turns])
        cut_over(target.registry, replayed(whole))
        wanted = [read for read in reads() if not read["path"].startswith("/mode")][:: 40 if turns == 3 else 1]
        assert asyncio.run(differences(target.registry, wanted)) == []


def test_an_import_that_was_cut_off_leaves_no_content_under_another_id() -> None:
    """A content with several ids is known by the one that the source wrote last, in whatever order they came here."""

    def cut(what: str, done: int, total: int = 0, /) -> None:
        if what == "versions" and done > total // 2:
            raise CutOff

    state = replayed(records())
    with places(1) as (target,):
        begin(target.registry)
        with pytest.raises(CutOff):
            Mirror(target.registry, target.store.group, progress=cut).turn(state)
        mirror = Mirror(target.registry, target.store.group)
        assert mirror.turn(state).is_complete
        assert mirror.turn(state).is_quiet
        wanted = [read for read in reads() if read["path"].startswith("/schemas/guids")]
        assert asyncio.run(differences(target.registry, wanted)) == []


def _imported(topic: Sequence[TopicRecord]) -> object:
    with places(1) as (fresh,):
        import_state(fresh.registry, replayed(topic), group=fresh.store.group)
        return held(fresh)


def test_a_content_is_known_by_the_id_that_the_source_wrote_last_though_others_change_with_it() -> None:
    """One version is deleted, and then the content comes under another id: here what is new is written first."""
    before = state(schema("a", 1, 1, OTHER))
    after = state(schema("a", 1, 1, OTHER), schema("a", 1, 1, OTHER, deleted=True), schema("b", 1, 2, OTHER))
    with places(1) as (target,):
        begin(target.registry)
        mirror = Mirror(target.registry, target.store.group)
        mirror.turn(before)
        mirror.turn(after)
        [put] = after.subjects[s("b")]
        assert target.store.catalog.id_of(".", put.guid) == 2
