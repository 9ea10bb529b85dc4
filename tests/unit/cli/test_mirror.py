"""`sigla mirror`: what it says, when it ends, and what it refuses. tests/protocol has it beside a running registry."""

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from sigla.cli import main, mirror, mirrored
from sigla.cli.misuse import Misuse, Refused
from sigla.errors import StoreError
from sigla.journal.replay import State, TopicRecord
from sigla.ports.progress import Progress, unseen
from sigla.remote import state
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.mirroring import Mirror
from sigla.upkeep.mirroring.tally import Tally
from tests.build import NOW, FixedClock
from tests.unit.cli.answering import always, behind_a_url, registry
from tests.unit.exporting.places import AVRO, Place, places

if TYPE_CHECKING:
    from sigla.cli.topics import Following

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is tried again without a pause, and at the start not at all."""
    monkeypatch.setattr(mirror, "AGAIN_S", 0.0)
    monkeypatch.setattr(mirrored, "START_MS", 0)


@pytest.fixture
def source() -> Iterator[Place]:
    with places(1) as (found,):
        found.register("orders", AVRO % 1)
        found.register(":.eu:orders", AVRO % 2)
        yield found


@pytest.fixture
def url(source: Place) -> Iterator[str]:
    with behind_a_url(registry(source.registry)) as found:
        yield found


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(tmp_path / "data")


def subjects(data: str) -> list[str]:
    with EmbeddedStore(Path(data)) as store:
        return list(Place(store)("GET", "/subjects?subjectPrefix=:*:"))


def frozen(source: Place) -> None:
    for scope in ("", "/:.__GLOBAL:"):
        source("PUT", f"/mode{scope}", {"mode": "READONLY"})


def test_once_it_brings_what_is_there_and_once_more_what_has_changed(
    source: Place, url: str, data: str, capsys: Captured
) -> None:
    assert main(["mirror", url, "--data", data, "--once"]) == 0
    beginning, brought, in_step = capsys.readouterr().out.splitlines()
    assert beginning == f"Beginning: {data} mirrors {url}."
    assert brought.endswith("Z brought 2 versions, 1 context")
    assert in_step == "In step: 2 subjects, 2 versions."
    source("DELETE", "/subjects/orders")
    source("DELETE", "/subjects/orders?permanent=true")
    source.register("trips", AVRO % 3)
    assert main(["mirror", url, "--data", data, "--once"]) == 0
    beginning, changed, _ = capsys.readouterr().out.splitlines()
    assert beginning.startswith("Going on: ")
    assert changed.endswith("Z brought 1 version; removed 1 version")
    assert subjects(data) == [":.eu:orders", "trips"]


def test_moving_over_ends_by_itself_where_the_source_is_frozen(
    source: Place, url: str, data: str, capsys: Captured
) -> None:
    frozen(source)
    assert main(["mirror", url, "--data", data, "--cut-over", "--every", "0"]) == 0
    told = capsys.readouterr().out
    assert "Moved over: 2 subjects, 2 versions. This registry takes writes now." in told
    assert f"in the place of {url}" in told
    with EmbeddedStore(Path(data)) as store:
        assert Place(store).register("mine", AVRO % 9) == 2


def test_what_is_left_to_be_frozen_is_told_when_it_has_become_less(
    source: Place, url: str, data: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """A subject with a mode of its own is one of many at first. After the two commands it is what it waits for."""
    source("PUT", "/mode/orders", {"mode": "READWRITE"})
    read = mirrored.ApiSource.next
    looks = count(1)

    def changing(api: mirrored.ApiSource) -> State | None:
        match next(looks):
            case 2:
                frozen(source)
            case 4:
                source("PUT", "/mode/orders", {"mode": "READONLY"})
        return read(api)

    monkeypatch.setattr(mirrored.ApiSource, "next", changing)
    assert main(["mirror", url, "--data", data, "--cut-over", "--every", "0"]) == 0
    shown = capsys.readouterr().out.splitlines()
    told = [line.split(". ")[0] for line in shown if "takes writes still" in line]
    assert told == [
        "The source takes writes still: the default context, :.eu:, :.eu:orders and 1 more",
        "The source takes writes still: orders",
    ]
    commands = [line.partition(f" {url}")[2] for line in shown if line.startswith("  curl ")]
    assert commands == ["/mode", "/mode/:.__GLOBAL:", "/mode/orders", "/mode/orders"]
    assert "READONLY here, as there: orders. PUT /mode/NAME gives each another mode." in shown
    assert f"Serve it: sigla serve --data {data}" in shown


def test_a_follower_is_waited_for_until_it_has_all_that_was_written_before_it_was_frozen(
    source: Place, data: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """In AWS its commits come in any order: that nothing may be written comes before what was written last."""
    frozen(source)
    read, headers, looks = mirrored.ApiSource.next, {"X-Sigla-Behind": "90000"}, count(1)

    def following(api: mirrored.ApiSource) -> State | None:
        if next(looks) == 4:
            headers["X-Sigla-Behind"] = "0"
            source("PUT", "/mode", {"mode": "READWRITE"})
            source.register("late", AVRO % 3)
            frozen(source)
        return read(api)

    monkeypatch.setattr(mirrored.ApiSource, "next", following)
    with behind_a_url(registry(source.registry), headers) as url:
        assert main(["mirror", url, "--data", data, "--cut-over", "--every", "0"]) == 0
    told = capsys.readouterr().out
    assert f"{url} follows another registry, and what it has is up to 90 s old" in told
    assert told.count("follows another") == 1
    assert "Moved over: 3 subjects, 3 versions." in told
    assert subjects(data) == [":.eu:orders", "late", "orders"]


def test_a_source_that_was_stopped_is_believed_to_be(source: Place, url: str, data: str) -> None:
    """Registries of old have no modes, or are read after their producers have gone."""
    assert main(["mirror", url, "--data", data, "--cut-over", "--source-stopped", "--every", "0"]) == 0
    with EmbeddedStore(Path(data)) as store:
        assert Place(store).get("/mode") == (200, {"mode": "READWRITE"})


def test_what_was_moved_over_is_no_longer_a_mirror(source: Place, url: str, data: str, capsys: Captured) -> None:
    """Its clients write to it: to go on would remove what they wrote."""
    frozen(source)
    assert main(["mirror", url, "--data", data, "--cut-over", "--every", "0"]) == 0
    assert main(["mirror", url, "--data", data, "--once"]) == 2
    assert "holds schemas and is not a mirror, or was moved over: " in capsys.readouterr().err


def test_nothing_is_moved_over_while_something_could_not_be_brought(
    source: Place, url: str, data: str, capsys: Captured
) -> None:
    """Clients of the new registry would miss it, and their records with it."""
    assert main(["mirror", url, "--data", data, "--once"]) == 0
    with places(1) as (another,), behind_a_url(registry(another.registry)) as other:
        another.register("orders", AVRO % 7)
        frozen(another)
        moving = ["mirror", other, "--data", data, "--cut-over", "--every", "0"]
        assert main(moving) == 1
        told = capsys.readouterr()
        assert "its id belongs to another schema here" in told.out
        assert "Nothing was moved over" in told.err
        assert "Moved over" not in told.out
        assert main([*moving, "--i-mean-it"]) == 0
        assert "Moved over" in capsys.readouterr().out


def test_what_a_turn_failed_to_bring_is_brought_before_it_is_moved_over(
    source: Place, url: str, data: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """A source tells a change once. A store that does not answer just then must not lose it."""
    frozen(source)
    whole = Mirror.turn
    turns = count(1)

    def turn(mirror: Mirror, state: State) -> Tally:
        match next(turns):
            case 1:
                tally = whole(mirror, state)
                source("PUT", "/mode", {"mode": "READWRITE"})
                source.register("trips", AVRO % 3)
                frozen(source)
                return tally
            case 2:
                raise StoreError("The store does not answer.")
            case _:
                return whole(mirror, state)

    monkeypatch.setattr(Mirror, "turn", turn)
    assert main(["mirror", url, "--data", data, "--cut-over", "--every", "0"]) == 0
    told = capsys.readouterr()
    assert "does not answer. It is tried again." in told.err
    assert "Moved over: 3 subjects, 3 versions." in told.out
    assert subjects(data) == [":.eu:orders", "orders", "trips"]


def test_a_source_that_answers_otherwise_for_a_moment_is_asked_again(
    source: Place, url: str, data: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """As one of two regions that begins anew. What was said wrongly was found by the first turn."""
    frozen(source)
    read, asked = mirrored.ApiSource.next, count(1)

    def answered(api: mirrored.ApiSource) -> State | None:
        if next(asked) == 1:
            raise Misuse("It answers, but not as a schema registry does.")
        return read(api)

    monkeypatch.setattr(mirrored.ApiSource, "next", answered)
    assert main(["mirror", url, "--data", data, "--cut-over", "--every", "0"]) == 0
    told = capsys.readouterr()
    assert "not as a schema registry does. It is tried again." in told.err
    assert "Moved over" in told.out


@pytest.mark.parametrize("words, said", [([], "Stopped: run it"), (["--cut-over"], "Stopped: nothing was moved over.")])
def test_a_signal_after_the_first_turn_is_a_clean_end(
    words: list[str], said: str, url: str, data: str, *, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Also while the source is read again, which most of the time it is."""
    read = mirrored.ApiSource.next

    def interrupted(api: mirrored.ApiSource) -> State | None:
        os.kill(os.getpid(), signal.SIGTERM)
        return read(api)

    monkeypatch.setattr(mirrored.ApiSource, "next", interrupted)
    assert main(["mirror", url, "--data", data, "--every", "0", *words]) == 0
    told = capsys.readouterr()
    assert said in told.out
    assert told.err == ""


@pytest.mark.parametrize(
    "words, said",
    [
        (["dump.jsonl"], "dump.jsonl is neither a topic nor the URL of a registry: such a topic is kafka://"),
        (["dump.jsonl"], "several brokers; such a URL is https://HOST"),
        (["kafka://u:secret@b/t"], "names no topic"),
        (["http://127.0.0.1:1", "--source-stopped"], "add --cut-over"),
        (["http://127.0.0.1:1", "--once", "--cut-over"], "give one of them"),
        (["http://127.0.0.1:1", "--bucket", "b"], "needs both --bucket and --table"),
        (
            ["https://u:secret@h", "--settings", "f"],
            "--settings is for sources that begin with kafka://: leave it out.",
        ),
        (["https://h", "--keys-topic", "keys"], "--keys-topic is for sources that begin with kafka://: leave it out."),
        (["kafka://b:9092", "--every", "2"], "--every is for sources that begin with https://: leave it out."),
        (["kafka://b:9092", "--user", "u:secret"], "--user is for sources that begin with https://: leave it out."),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(words: list[str], said: str, capsys: Captured) -> None:
    assert main(["mirror", *words]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "secret" not in told
    assert told.count("\n") == 1


def test_a_source_that_is_not_a_registry_leaves_nothing_behind(data: str, capsys: Captured) -> None:
    with behind_a_url(always(200, "<html>")) as url:
        assert main(["mirror", url, "--data", data]) == 2
    assert "not as a schema registry does" in capsys.readouterr().err
    assert not Path(data).exists()


def test_a_url_that_leads_elsewhere_is_told_with_what_to_do(data: str, capsys: Captured) -> None:
    """Such as that of Connect, or of a proxy that knows no such path."""
    with behind_a_url(always(404, {"message": "Not here"})) as url:
        assert main(["mirror", url, "--data", data]) == 2
    told = capsys.readouterr().err
    assert "with status 404. If it is not a schema registry, give the URL of one: such a URL is https://HOST" in told
    assert not Path(data).exists()


def test_what_could_not_be_brought_is_not_said_to_be_here(source: Place, url: str, data: str, capsys: Captured) -> None:
    assert main(["mirror", url, "--data", data, "--once"]) == 0
    with places(1) as (another,), behind_a_url(registry(another.registry)) as other:
        another.register("orders", AVRO % 7)
        capsys.readouterr()
        assert main(["mirror", other, "--data", data, "--once"]) == 1
    told = capsys.readouterr().out
    assert "its id belongs to another schema here" in told
    assert "Not in step: the source has 1 subject, 1 version, and some of them are not here" in told
    assert "In step" not in told


def a_record(subject: str) -> TopicRecord:
    key = {"keytype": "SCHEMA", "subject": subject, "version": 1, "magic": 1}
    value = {"subject": subject, "version": 1, "id": 1, "schema": '"int"', "deleted": False}
    return TopicRecord(json.dumps(key).encode(), json.dumps(value).encode(), 1, 0)


class Topic:
    """A topic that is followed. fails: with the next question, after what was there."""

    def __init__(self, *records: TopicRecord) -> None:
        self.waiting = list(records)
        self.fails = False

    def more(self, into: list[TopicRecord]) -> None:
        into.extend(self.waiting)
        self.waiting = []
        if self.fails:
            self.fails = False
            raise Refused("The broker is away.")

    def all(self, _: Progress, into: list[TopicRecord]) -> None:
        self.more(into)


def test_a_topic_of_keys_is_followed_from_when_it_is_there() -> None:
    """A registry makes it with its first key. A broker is asked every ten seconds, and tells of nothing twice."""
    clock, there, schemas, keys = FixedClock(), list[bool](), Topic(a_record("orders")), Topic(a_record("later"))
    asked = count()

    def is_there() -> bool:
        next(asked)
        return bool(there)

    coming = mirrored.KeysToCome(is_there, lambda: cast("Following", keys), clock)
    source = mirrored.TopicSource([cast("Following", schemas)], unseen, coming)
    assert [each.name for each in source.first().subjects] == ["orders"]
    there.append(True)
    clock.time += 9_999
    assert source.next() is None
    clock.time += 1
    found = source.next()
    assert found is not None
    assert {each.name for each in found.subjects} == {"orders", "later"}
    keys.waiting.append(a_record("more"))
    found = source.next()
    assert found is not None
    assert len(found.subjects) == 3
    clock.time += 10_000
    assert source.next() is None
    assert next(asked) == 2


@pytest.mark.parametrize("failing", ["schemas", "keys"])
def test_records_that_came_before_a_failure_are_not_lost(failing: str) -> None:
    """A consumer gives each record once."""
    topics = {"schemas": Topic(a_record("orders")), "keys": Topic(a_record("key"))}
    clock = FixedClock()
    coming = mirrored.KeysToCome(lambda: clock.time > NOW, lambda: cast("Following", topics["keys"]), clock)
    source = mirrored.TopicSource([cast("Following", topics["schemas"])], unseen, coming)
    source.first()
    topics["schemas"].waiting.append(a_record("trips"))
    topics[failing].fails = True
    clock.time += 10_000
    with pytest.raises(Refused):
        source.next()
    found = source.next()
    assert found is not None
    assert {each.name for each in found.subjects} == {"orders", "trips", "key"}


def test_a_page_that_slips_while_it_is_read_removes_nothing(
    source: Place, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that is missing once may have slipped from one page of the answer to the other."""
    api = mirrored.ApiSource(url, "", unseen, lambda: None)
    whole = api.first()
    with monkeypatch.context() as slipped:
        slipped.setattr(state, "read", lambda *_, **__: replace(whole, subjects={}))
        assert api.next() is None
    assert api.next() is None
    source("DELETE", "/subjects/orders")
    source("DELETE", "/subjects/orders?permanent=true")
    api.next()
    twice = api.next()
    assert twice is not None
    assert [subject.qualified for subject in twice.subjects] == [":.eu:orders"]
