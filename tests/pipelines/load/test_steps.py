"""What a step does with its rows, without Spark."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from sigla.journal.replay import Skipped
from sigla.model import Subject
from sigla.settings import Address
from sigla.upkeep.importing import CONFLICTING, IMPORTED, SKIPPED
from sigla_pipelines.load import job, source, steps, transform
from sigla_pipelines.load.frames import Row, frozen, thawed
from sigla_pipelines.load.work import Files, Here
from tests.attack.importer import Had
from tests.attack.stories import BASE, ONE, TWO, USING, register
from tests.attack.world import World


@pytest.fixture
def world() -> Iterator[World]:
    with World() as made:
        yield made


@pytest.fixture
def opened(world: World) -> steps.Open:
    return steps.Open(world.registry, nullcontext)


def a_row(name: str, had: Had, **fields: Any) -> Row:
    """A version on its way, whose reference leads to the first version of `uses`."""
    put = had.put(Subject(".", name))
    return {
        "offset": put.offset,
        "context": ".",
        "name": name,
        "version": put.version,
        "id": put.id,
        "late": False,
        "targets": None,
        "put": frozen(put),
        "placed": None,
        **fields,
    }


def used(id: int | None) -> list[Row]:
    return [{"context": ".", "name": "base", "version": 1, "id": id}]


def test_a_body_waits_for_what_it_references(opened: steps.Open, world: World) -> None:
    """Until another wave has brought it, or none can; then it is stored as it is, and that is told."""
    using = a_row("using", Had(1, 2, USING, "base"), targets=used(1))
    [waiting] = steps.place_bodies(opened, [using])
    assert (waiting["waiting"], waiting["id"], thawed(waiting["put"]).id) == (True, 2, 2)
    assert not world.store.bodies.named(thawed(using["put"]).guid)
    [base] = steps.place_bodies(opened, [a_row("base", Had(1, 1, BASE))])
    assert thawed(base["placed"]).digests
    [placed] = steps.place_bodies(opened, [waiting])
    assert [target.id for target in thawed(placed["placed"]).targets] == [1]
    placed, *told = steps.place_waiting(opened, [a_row("lonely", Had(1, 3, USING, "base"), targets=used(8))])
    assert not thawed(placed["placed"]).digests
    assert [each["outcome"] for each in told] == [steps.REMARK]


def test_a_reference_that_the_topic_does_not_know_may_be_known_here(opened: steps.Open, world: World) -> None:
    """A dump may be of some subjects only."""
    register("base", BASE)(world.registry)
    [placed] = steps.place_bodies(opened, [a_row("using", Had(1, 2, USING, "base"), targets=used(None))])
    assert [target.id for target in thawed(placed["placed"]).targets] == [1]


def test_what_stands_here_is_told_and_what_is_missing_goes_on(opened: steps.Open, world: World) -> None:
    """A number with another content is a conflict, and nothing is written over."""
    register("orders", ONE)(world.registry)
    rows = [a_row("orders", Had(1, 9, TWO)), a_row("orders", Had(2, 8, TWO))]
    missing, conflict = steps.compare(opened, rows)
    assert (missing["version"], missing.get("outcome")) == (2, None)
    assert (conflict["outcome"], conflict["kind"]) == (CONFLICTING.value, "version")


def test_an_id_that_means_something_else_here_is_never_written(opened: steps.Open, world: World) -> None:
    """Neither where the body told so, nor where the topic itself gave it two meanings."""
    register("orders", ONE)(world.registry)
    [taken] = steps.place_bodies(opened, [a_row("other", Had(1, 1, TWO))])
    assert thawed(taken["placed"]) == steps.OTHER_MEANING
    [placed] = steps.place_bodies(opened, [a_row("other", Had(1, 5, ONE))])
    rows = [
        a_row("other", Had(1, 1, TWO), placed=taken["placed"]),
        a_row("other", Had(2, 5, TWO), placed=placed["placed"]),
        a_row("other", Had(3, 5, ONE), placed=placed["placed"]),
    ]
    told = [(each["outcome"], each["about"]) for each in steps.write(opened, rows)]
    conflict = CONFLICTING.value
    assert told == [
        (conflict, "other version 1 id 1"),
        (conflict, "other version 2 id 5"),
        (IMPORTED.value, "other version 3 id 5"),
    ]
    assert [row.version for row in world.store.catalog.history(Subject(".", "other"))] == [3]


def test_a_dry_run_tells_what_would_be_and_makes_nothing(tmp_path: Path) -> None:
    """Neither the directory nor a body: references among what is new are followed all the same."""
    nowhere = Address.of(str(tmp_path / "none"))
    with job._worker(Files(None, ""), nowhere, 1, dry_run=True) as worker:
        assert isinstance(worker, Here)
        base = a_row("base", Had(1, 1, BASE))
        using = a_row("using", Had(1, 2, USING, "base"), targets=used(1))
        placed = [*steps.place_bodies(worker.open, [base]), *steps.place_bodies(worker.open, [using])]
        ready = [{**row, "placed": each["placed"]} for row, each in zip([base, using], placed, strict=True)]
        told = [*steps.write(worker.open, ready)]
    assert [(each["outcome"], each["about"]) for each in told] == [
        ("imported", "base version 1 id 1"),
        ("imported", "using version 1 id 2"),
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_the_sum_of_its_facts() -> None:
    """Reasons with examples, remarks beside them, counts of what has no name."""
    report = steps.total(
        [
            steps.fact("imported", "version", "a", ""),
            steps.fact("identical", "version", "", "", 3),
            steps.fact("skipped", "record", "offset 4: x", "why"),
            steps.fact(steps.REMARK, "version", "b", "odd"),
        ]
    )
    assert (report.of(IMPORTED), report.of(SKIPPED)) == ({"version": 1}, {"record": 1})
    assert report.form()["identical"] == {"version": 3}
    assert report.reasons[SKIPPED, "why"].examples == ["offset 4: x"]
    assert report.remarks["odd"].count == 1


def test_a_record_without_a_key_is_skipped_and_told() -> None:
    """Kafka takes it. The others count all the same."""
    raw: list[Row] = [
        {"key": None, "value": None, "timestamp": 1, "offset": 7},
        {"key": '{"keytype":"NOOP","magic":0}', "value": None, "timestamp": 1, "offset": 8},
    ]
    keyless, nothing = transform._parse_records(raw)
    assert (keyless["kind"], nothing["kind"]) == ("Skipped", "Nothing")
    assert thawed(keyless["event"]) == Skipped(7, "no key", transform.NOT_A_RECORD)


@pytest.mark.parametrize(
    "asked, sentence",
    [
        (["dump.jsonl"], "--data --bucket"),
        (["dump.jsonl", "--data", "d", "--bucket", "b"], "--data"),
        (["dump.jsonl", "--bucket", "b"], "--table"),
        (["dump.jsonl", "--data", "d", "--writers", "-3"], "invalid number of tasks '-3'"),
        (["dump.jsonl", "--data", "d", "--option", "x"], "invalid option 'x': expected K=V"),
    ],
)
def test_a_load_that_is_not_asked_for_properly_begins_nothing(
    asked: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """No session is opened for it."""
    with pytest.raises(SystemExit) as ended:
        job.main(asked)
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_dump_that_is_not_there_is_no_empty_registry(tmp_path: Path) -> None:
    """Nor are folders with nothing in them."""
    (tmp_path / "2026" / "11").mkdir(parents=True)
    for place in (tmp_path, tmp_path / "dump.jsonl"):
        with pytest.raises(source.NoSource, match=r"not found|contains no files"):
            source.read_records(None, str(place))


@pytest.mark.parametrize("url", ["kafka://", "kafka:///topic", "kafka://[::1/topic"])
def test_a_topic_without_a_broker_is_told(url: str) -> None:
    with pytest.raises(source.NoSource, match=r"Invalid source kafka://.*: expected kafka://BROKERS/TOPIC"):
        source.read_records(None, url)
