"""A follower whose primary was silent, and answers again."""

import threading

import pytest

from sigla.errors import BodyMissing, RowUnreadable, StoreError
from sigla.model import BodyKey, SchemaId
from sigla.ports.primary import NextAsked
from sigla.regions.follower import STOPPED, WAIT_MS
from tests.attack.replay import ask, embedded
from tests.attack.stories import ONE, THREE, TWO, register
from tests.unit.regions.test_following import pair


def test_an_answer_is_asked_for_at_once() -> None:
    """What stands in `sigla regions` and in the metrics would be that silence, as long as there is nothing to tell."""
    with pair() as each:
        waits, enough = list[int](), threading.Event()

        def link(said: NextAsked) -> None:
            waits.append(said.wait_ms)
            if len(waits) == 2:
                raise StoreError("silent")
            if len(waits) == 4:
                enough.set()

        each.link = link
        follower = each.follower()
        follower.start()
        assert enough.wait(30)
        follower.stop(5)
        assert waits[:4] == [0, WAIT_MS, 0, WAIT_MS]


def test_an_answer_that_was_not_foreseen_is_told_once_and_the_primary_is_asked_again() -> None:
    """A follower whose thread has ended would follow nothing any more, and say that all is well."""
    with pair() as each:
        asked, enough = list[NextAsked](), threading.Event()

        def link(said: NextAsked) -> None:
            asked.append(said)
            if len(asked) == 4:
                enough.set()
            if len(asked) < 3:
                raise OverflowError("a number that no table can hold")

        each.link = link
        follower = each.follower()
        follower.start()
        assert enough.wait(30)
        follower.stop(5)
        assert follower.how_far.problem == ""
        assert [line["event"] for line in each.lines] == [STOPPED, "failure"]
        assert "OverflowError" in each.lines[0]["why"]
        assert "no table" not in str(each.lines), "it might quote a schema"


def test_what_comes_before_a_commit_that_cannot_be_carried_out_is_here_and_stays() -> None:
    """Else a survivor would lack what it was told."""
    with pair() as each:
        ask(each.here, [register("before", ONE), register("lost", TWO), register("behind", THREE)])
        store = embedded(each.here)
        lost = store._directory.body_path(BodyKey(".", SchemaId(2)))
        kept = lost.read_bytes()
        lost.unlink()
        follower = each.follower()
        with pytest.raises(BodyMissing):
            follower.turn()
        assert embedded(each.there).journal.end() == follower.how_far.position == 1
        assert embedded(each.there).bodies.get(BodyKey(".", SchemaId(1))).schema.text == ONE
        lost.write_bytes(kept)
        follower.turn()
        assert (follower.how_far.position, follower.how_far.problem) == (3, "")


def test_what_comes_before_a_row_that_cannot_be_read_is_told() -> None:
    with pair() as each:
        ask(each.here, [register("before", ONE), register("damaged", TWO)])
        store = embedded(each.here)
        with store.group():
            store._unit.connection.execute("UPDATE journal SET form = ? WHERE position = 2", (b"{",))
        follower = each.follower()
        follower.turn()
        assert follower.how_far.position == 1
        with pytest.raises(RowUnreadable):
            follower.turn()
