"""A destination that does not take everything: what waits, what is said of it, and what goes on meanwhile."""

import itertools
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from sigla.exporters.nouns import ExporterState
from sigla.exporters.running import turns
from sigla.remote.client import AT_ONCE
from sigla.web.local import exporting
from tests.attack.ports import Call, Recorder
from tests.unit.exporting.places import AVRO, Line, Place, places
from tests.unit.exporting.stories import configure, delete, kek, register, use, wrap
from tests.waiting import eventually


def importing(place: Place) -> None:
    place("PUT", "/mode?force=true", {"mode": "IMPORT"})


def test_a_schema_that_is_refused_waits_and_the_others_go_on() -> None:
    """The trace names the subject, and what the destination says of it; nothing is skipped in silence."""
    with places() as (source, target):
        importing(target)
        target.register("theirs", AVRO % 99, id=1, version=1)
        register("ours", 1)(source)  # with the id 1, which means something else over there
        register("other", 2)(source)
        line = Line(source, target).begin()
        done = line.turn()
        assert (done.away, done.refused) == (False, True)
        assert done.progress is not None
        assert done.progress.state is ExporterState.RUNNING
        assert "subject ours: http://destination.example answers 42205: Overwrite new schema" in done.progress.trace
        assert target("GET", "/subjects") == ["other", "theirs"]
        assert line.turn(again=False).progress == done.progress
        delete("ours")(source)
        delete("ours", permanent=True)(source)
        line.run()


def test_one_that_is_refused_again_and_again_holds_up_nothing_that_comes() -> None:
    with places() as (source, target):
        importing(target)
        target.register("theirs", AVRO % 99, id=1, version=1)
        register("ours", 1)(source)
        line = Line(source, target).begin()
        for number in range(2, 5):
            register(f"new-{number}", number)(source)
            assert line.turn(again=number % 2 == 0).refused
            assert target("GET", f"/subjects/new-{number}/versions") == [1]


def test_one_that_is_refused_for_ever_keeps_no_other_from_being_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where so much was refused that nothing else was tried: the exporter would stand still for ever."""
    monkeypatch.setattr(turns, "MOST_WAITING", 2)
    refused = {"s0", "s1", "s2"}

    def refusing(call: Call, carry_out: Callable[[], Any]) -> Any:
        if call.name.startswith("POST") and call.name.split("/")[2] in refused:
            return SimpleNamespace(status=422, headers={}, body=b'{"error_code": 42201, "message": "Too large"}')
        return carry_out()

    with places() as (source, target):
        for number in range(5):
            register(f"s{number}", number)(source)
        line = Line(source, target, between=refusing).begin()
        done = line.turn()
        assert done.away
        assert done.progress is not None
        assert "The destination refuses 2 subjects and keys, and nothing else is tried" in done.progress.trace
        assert line.turn().away
        assert target("GET", "/subjects") == []
        refused.difference_update({"s1", "s2"})
        assert not line.turn().away
        assert target("GET", "/subjects") == ["s1", "s2", "s3", "s4"]


def test_a_context_with_schemas_of_its_own_is_left_alone_and_the_trace_says_what_to_do() -> None:
    """An exporter that was given the wrong address must not write into a registry that is in use, nor delete there."""
    with places() as (source, target):
        register("orders", 1)(target)
        register("orders", 2)(target)
        register("orders", 1)(source)
        before = target.answers()
        line = Line(source, target).begin()
        done = line.turn()
        assert done.away
        assert done.progress is not None
        assert "PUT /mode?force=true" in done.progress.trace
        assert target.answers() == before
        importing(target)
        line.run()
        assert target.picture()["versions"] == source.picture()["versions"]


def test_a_registry_that_was_taken_into_use_is_not_written_to_any_more() -> None:
    """After a disaster the destination is made writable; an exporter that comes back must not undo what it wrote."""
    with places() as (source, target):
        register("orders", 1)(source)
        line = Line(source, target).begin()
        line.run()
        target("PUT", "/mode", {"mode": "READWRITE"})
        register("orders", 2)(target)
        delete("orders")(source)
        before = target.picture()
        assert line.turn().away
        assert target.picture() == before


def test_an_empty_destination_is_put_into_import_by_the_exporter() -> None:
    """Nothing has to be prepared there."""
    with places() as (source, target):
        register("orders", 1)(source)
        Line(source, target).begin(contextType="CUSTOM", context="dr").run()
        assert target("GET", "/mode/:.dr:")["mode"] == "IMPORT"
        assert target("GET", "/mode")["mode"] == "READWRITE"


def test_a_walk_that_is_short_of_time_goes_on_where_it_was() -> None:
    """On AWS a function has minutes; a registry may have more schemas than that."""
    with places() as (source, target):
        for number in range(12):
            register(f"s{number:02}", number)(source)
        use("a-first", 1, "s11")(source)
        configure("s03", compatibility="NONE")(source)
        line = Line(source, target).begin()
        turns = 0
        while line.turn(ms=0).more:
            turns += 1
            assert turns < 100
        assert turns > 3
        assert target.picture() == source.picture()


def test_a_walk_that_is_short_of_time_gets_through_the_keys_under_one_kek() -> None:
    """There may be a DEK for each subject: on AWS such a walk would begin anew with each invocation, for ever."""
    with places() as (source, target):
        kek("k")(source)
        for number in range(6):
            wrap("k", f"s{number}")(source)
        line = Line(source, target).begin()
        while line.progress.state is not ExporterState.RUNNING:
            before = target.picture()["deks"]
            line.turn(ms=0)
            assert len(target.picture()["deks"]) <= len(before) + 1
        assert target.picture() == source.picture()


def test_a_destination_that_takes_some_is_asked_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registries in a cloud refuse what is more than so many a second: pauses that double would take hours there."""
    monkeypatch.setattr(exporting, "FIRST_PAUSE_S", 0.02)
    asked = itertools.count(1)

    def limited(call: Call, carry_out: Callable[[], Any]) -> Any:
        if call.name.startswith("POST") and next(asked) % 2:
            return SimpleNamespace(status=429, headers={}, body=b"slow down")
        return carry_out()

    with places() as (source, target):
        for number in range(20):
            register(f"s{number}", number)(source)
        line = Line(source, target, between=limited).begin()
        with exporting.exporting(exporting.Surroundings(source.store, line.opened, "here", lambda _: None)):
            eventually(lambda: line.progress.state is ExporterState.RUNNING)  # a pause of a minute would not be over
        assert target.picture() == source.picture()


def busy_once(retry_after: str, at: list[float]) -> Callable[[Call, Callable[[], Any]], Any]:
    """A destination that takes no write at first. at: when writes came."""

    def limited(call: Call, carry_out: Callable[[], Any]) -> Any:
        if not call.name.startswith("POST"):
            return carry_out()
        at.append(time.monotonic())
        if len(at) > 1:
            return carry_out()
        return SimpleNamespace(status=429, headers={"Retry-After": retry_after}, body=b"slow down")

    return limited


def write_past(retry_after: str) -> float:
    """How long after the first try a destination that answers so is written to, in seconds."""
    at: list[float] = []
    with places() as (source, target):
        register("orders", 1)(source)
        line = Line(source, target, between=busy_once(retry_after, at)).begin()
        with exporting.exporting(exporting.Surroundings(source.store, line.opened, "here", lambda _: None)):
            eventually(lambda: line.progress.state is ExporterState.RUNNING)
        assert target.picture() == source.picture()
    return at[1] - at[0]


def test_a_destination_that_says_when_to_come_again_is_not_asked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is asked again at once counts that as well, and refuses for longer."""
    monkeypatch.setattr(exporting, "FIRST_PAUSE_S", 0.01)
    assert write_past("1") >= 1


@pytest.mark.parametrize("said", ["999999999", "Fri, 31 Dec 2049 23:59:59 GMT"])
def test_a_destination_that_asks_for_years_is_asked_again_after_minutes(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever stands in that header, an exporter goes on by itself."""
    monkeypatch.setattr(exporting, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(exporting, "LONGEST_WISH_S", 0.05)
    assert write_past(said) < 60


def test_a_destination_that_is_asked_too_much_is_asked_nothing_more_of_what_was_read_ahead() -> None:
    """64 requests wait at that moment; all of them would be refused as well, and counted."""
    asked = itertools.count()

    def limited(call: Call, carry_out: Callable[[], Any]) -> Any:
        if not call.name.startswith("GET /schemas"):
            return carry_out()
        next(asked)
        return SimpleNamespace(status=429, headers={"Retry-After": "1"}, body=b"")

    with places() as (source, target):
        for number in range(100):
            register(f"s{number:03}", number)(source)
        done = Line(source, target, between=limited).begin().turn()
        assert (done.away, done.wait_s) == (True, 1)
        assert next(asked) <= AT_ONCE + 1


def test_an_exporter_that_has_nothing_to_do_asks_and_writes_nothing() -> None:
    with places() as (source, target):
        register("orders", 1)(source)
        asked = Recorder()
        line = Line(source, target, between=asked).begin()
        line.run()
        asked.calls.clear()
        said = line.progress
        line.run()
        assert (asked.calls, line.progress) == ([], said)


def test_a_reset_looks_at_everything_and_mends_what_was_changed_there() -> None:
    """It is for a destination that was restored, or written to by others."""
    with places() as (source, target):
        register("orders", 1)(source)
        register("orders", 2)(source)
        line = Line(source, target).begin()
        line.run()
        target("DELETE", "/subjects/orders/versions/1")
        target("PUT", "/config/orders", {"compatibility": "NONE"})
        line.run()
        assert target.picture() != source.picture()
        for action in ("pause", "reset", "resume"):
            source("PUT", f"/exporters/line/{action}", {})
        line.run()
        assert target.picture() == source.picture()


def test_an_exporter_that_is_paused_in_the_middle_of_a_turn_stops() -> None:
    """What it had to say about its progress is not about the exporter as it is by now."""
    with places() as (source, target):
        register("orders", 1)(source)

        def pausing(call: Call, carry_out: Callable[[], Any]) -> Any:
            if call.name.startswith("POST"):
                source("PUT", "/exporters/line/pause", {})
            return carry_out()

        done = Line(source, target, between=pausing).begin().turn()
        assert done.progress is not None
        assert done.progress.state is ExporterState.PAUSED
