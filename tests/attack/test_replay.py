"""A directory follows another one: whatever happens there, and however late, often or broken off it is told."""

from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigla.changes import Change
from sigla.errors import StoreError
from sigla.journal import UnknownCommit
from sigla.regions.following import CaughtUp, catch_up
from sigla.regions.replay import Verdict
from sigla.stores.sqlite import replaying
from sigla.stores.sqlite.store import EmbeddedStore
from tests.attack.replay import (
    EPOCH,
    STORIES,
    TRAFFIC,
    always,
    ask,
    check_equal,
    contents,
    embedded,
    follow,
    primary,
    replayer,
    shipped,
)
from tests.attack.stories import HISTORY, ONE, READS, THREE, config, register
from tests.attack.world import Embedded, World, outcome

VERBS = st.lists(st.sampled_from(range(len(TRAFFIC))), min_size=1, max_size=30)


@pytest.mark.parametrize("name", STORIES)
def test_a_follower_has_what_its_primary_has(name: str) -> None:
    """Byte by byte: tables, journal, bodies. Whatever a client reads, it reads the same at either."""
    with primary() as source, World() as target:
        ask(source, STORIES[name])
        assert set(follow(replayer(target), shipped(source))) == {Verdict.CARRY_OUT}
        check_equal(source, target)


def test_the_stories_have_every_kind_of_change() -> None:
    """One that is in none of them would be missed in the other region, the day it takes over."""
    kinds = set()
    for verbs in STORIES.values():
        with primary() as source:
            ask(source, verbs)
            kinds |= {orjson.loads(each.form)["change"] for each in shipped(source)}
    assert kinds == {kind.__name__ for kind in get_args(Change)}


@pytest.mark.parametrize("name", READS)
def test_a_follower_answers_as_its_primary(name: str) -> None:
    """What is equal in all tables is read equally: a look at the questions themselves."""
    story = READS[name]
    with primary() as source, World() as target:
        ask(source, story.before)
        catch_up(embedded(source).shipper(), replayer(target))
        assert outcome(target, story.verb) == outcome(source, story.verb)


@given(VERBS, st.data())
def test_rows_may_come_late_and_often_and_in_any_order(numbers: list[int], data: st.DataObject) -> None:
    """What comes too early waits, what came before is passed by, and in the end all is equal."""
    with primary() as source, World() as target:
        replayed_in_any_order(source, target, numbers, data)


@pytest.mark.soak
@settings(max_examples=settings().max_examples // 4)
@given(st.lists(st.sampled_from(range(len(TRAFFIC))), min_size=100, max_size=200), st.data())
def test_rows_may_come_in_any_order_for_long(numbers: list[int], data: st.DataObject) -> None:
    """The same over long lives."""
    with primary() as source, World() as target:
        replayed_in_any_order(source, target, numbers, data)


def replayed_in_any_order(source: World, target: World, numbers: list[int], data: st.DataObject) -> None:
    ask(source, (*HISTORY, *(TRAFFIC[number] for number in numbers)))
    told, replay = shipped(source), replayer(target)
    link = data.draw(st.lists(st.sampled_from(told), max_size=2 * len(told)), "what the link brings")
    for shipment in link:
        end = replay.end()
        verdict = replay.carry_out(shipment)
        expected = Verdict.KNOWN if shipment.position <= end else Verdict.EARLY
        assert verdict is (Verdict.CARRY_OUT if shipment.position == end + 1 else expected)
        assert replay.end() == end + (verdict is Verdict.CARRY_OUT)
    assert catch_up(embedded(source).shipper(), replay) == CaughtUp(len(told), Verdict.KNOWN)
    check_equal(source, target)


# --- cut off ---------------------------------------------------------------------------------------------------------


class Cut(Exception):
    """The process ends."""


def cut(*_: object, **__: object) -> None:
    raise Cut


STEPS = ("allowed", "append_form", "committed")
"""Before anything of a commit is done; when all but its row is; when it is on the disk, and its caller never hears."""


@pytest.mark.parametrize("step", STEPS)
def test_a_follower_that_is_cut_off_goes_on_where_it_was(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each row in turn: nothing of it, or all of it, is there at the next start."""
    with primary() as source:
        ask(source, STORIES["an import of what was gone"])
        told = shipped(source)
        for shipment in told:
            with EmbeddedStore(tmp_path / "follower") as target, monkeypatch.context() as broken:
                end = target.replayer(always).end()
                if step == "append_form":
                    broken.setattr(replaying, step, cut)
                if step == "committed":
                    target.on_committed(cut)
                with pytest.raises(Cut):
                    target.replayer(cut if step == "allowed" else always).carry_out(shipment)
            with EmbeddedStore(tmp_path / "follower") as target:
                replay = target.replayer(always)
                assert replay.end() == end + (step == "committed")
                assert replay.carry_out(shipment) is (Verdict.KNOWN if step == "committed" else Verdict.CARRY_OUT)
        with opened(tmp_path / "follower") as world:
            check_equal(source, world)


def opened(folder: Path) -> World:
    return World(store=Embedded(folder))


def test_a_group_of_rows_is_there_together_or_not_at_all(tmp_path: Path) -> None:
    """One sync of the disk for many commits: who is cut off in the group begins it again."""
    with primary() as source:
        ask(source, STORIES["an import of what was gone"])
        told = shipped(source)
        with EmbeddedStore(tmp_path / "follower") as target:
            replay = target.replayer(always)
            with suppress(Cut), target.group():
                follow(replay, told[:3])
                cut()
            assert replay.end() == 0
            with target.group():
                follow(replay, told)
        with opened(tmp_path / "follower") as world:
            check_equal(source, world)


# --- what is not carried out -----------------------------------------------------------------------------------------


def apart(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[World, World]:
    """Two registries of one history, in which each has gone on by itself."""
    source, target = primary(), primary()
    ask(source, HISTORY)
    follow(replayer(target), shipped(source))
    ask(source, first)
    ask(target, second)
    return source, target


def test_a_region_that_went_on_by_itself_is_told_apart() -> None:
    """An old primary that was not reached goes on for a while: of two histories none is made one."""
    source, target = apart((config("orders", level="FULL"),), (config("orders", level="NONE"),))
    with source, target:
        before = contents(target)
        assert catch_up(embedded(source).shipper(), replayer(target)).stopped is Verdict.KNOWN
        assert follow(replayer(target), shipped(source)) == [Verdict.KNOWN, Verdict.KNOWN, Verdict.DIVERGES]
        ask(source, (register("orders", THREE),))
        assert catch_up(embedded(source).shipper(), replayer(target)).stopped is Verdict.DIVERGES
        assert contents(target) == before


def test_a_follower_whose_rows_were_changed_does_not_go_on() -> None:
    """By a scrub, or by hand: what a commit finds there is not what it found at its source."""
    with primary() as source, World() as target:
        ask(source, (*HISTORY, config("orders", level="NONE")))
        replay = replayer(target)
        follow(replay, shipped(source))
        with embedded(target).step():
            database = embedded(target)._unit.connection
            database.execute("UPDATE settings SET revision = 'another'")
        ask(source, (config("orders", level="FULL"),))
        assert replay.carry_out(shipped(source)[-1]) is Verdict.DIVERGES
        assert replay.end() == 3


def test_a_commit_that_cannot_be_read_is_told_and_changes_nothing() -> None:
    """The primary is a release ahead: its follower waits for the upgrade, and then goes on."""
    with primary() as source, World() as target:
        ask(source, HISTORY)
        told = shipped(source)
        newer = orjson.loads(told[0].form) | {"change": "SchemaFrozen"}
        replay = replayer(target)
        with pytest.raises(UnknownCommit, match="SchemaFrozen"):
            replay.carry_out(told[0]._replace(form=orjson.dumps(newer)))
        assert replay.end() == 0
        assert follow(replay, told) == [Verdict.CARRY_OUT, Verdict.CARRY_OUT]


def test_a_registry_without_a_second_region_tells_nothing_to_carry_out() -> None:
    """Its rows are what they were: they cost what they cost."""
    with World() as source, World() as target:
        ask(source, HISTORY)
        told = shipped(source)
        assert not {"epoch", "commit"} & orjson.loads(told[0].form).keys()
        with pytest.raises(UnknownCommit):
            replayer(target).carry_out(told[0])


def test_a_row_says_in_which_epoch_it_was_written() -> None:
    """Two primaries of two epochs may have written at one time: their rows are told apart."""
    with primary() as source:
        ask(source, HISTORY)
        assert [orjson.loads(each.form)["epoch"] for each in shipped(source)] == [EPOCH, EPOCH]


# --- bodies ----------------------------------------------------------------------------------------------------------


def test_a_body_that_another_way_has_brought_is_not_needed_again() -> None:
    """A primary puts bodies into both places before it commits; rows bring those that did not come through."""
    with primary() as source, World() as target:
        ask(source, HISTORY)
        told = shipped(source)
        for shipment in told:
            for key, body in shipment.bodies.items():
                target.store.bodies.put(key, body)
        bare = [shipment._replace(bodies={}) for shipment in told]
        assert follow(replayer(target), bare) == [Verdict.CARRY_OUT, Verdict.CARRY_OUT]
        check_equal(source, target)


def test_no_version_is_there_without_its_body() -> None:
    """An id that is listed and cannot be read would be an answer that no primary gives."""
    with primary() as source, World() as target:
        ask(source, (register("orders", ONE),))
        (shipment,) = shipped(source)
        replay = replayer(target)
        with pytest.raises(StoreError):
            replay.carry_out(shipment._replace(bodies={}))
        assert replay.end() == 0
        assert target.rows() == []
