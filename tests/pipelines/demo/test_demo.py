"""The demonstration: what is generated is what it says, and what is landed is what was generated."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sigla.decoding.reasons import Reason
from sigla_pipelines.audit.tables import NotEmpty
from sigla_pipelines.demo import __main__ as demo
from sigla_pipelines.demo import picture
from sigla_pipelines.demo.estate import Estate
from sigla_pipelines.demo.generator import (
    LEAST,
    SLICES,
    Job,
    KnownSchema,
    earned_reasons,
    jobs,
    needed_schemas,
    write_file,
)
from sigla_pipelines.demo.topics import BADS, TOPICS
from sigla_pipelines.land import files
from sigla_pipelines.land.batch import Batch
from sigla_pipelines.land.decoders import extension
from sigla_pipelines.land.driver import Driver, driver
from sigla_pipelines.land.landed import QUARANTINE, Landed
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.task import Task
from sigla_pipelines.places import open_place
from tests.pipelines.land.native import NOT_BUILT

RECORDS = 3_000


def land(landing: Driver, raw: Path, number: int) -> Sum:
    """What is new in the folder, as one batch, in this process."""
    source, total = open_place(str(raw)), Sum()
    new = files.new(source, landing.manifests.entries())

    def tasks(task: Task) -> Sequence[Landed]:
        return [task.land(files.read(source, share)) for share in files.shares(new, 1)]

    total.add(landing.land(Batch("q", number, entries=tuple(file.entry for file in new)), tasks))
    return total


@pytest.fixture
def estate(tmp_path: Path) -> Estate:
    return Estate(tmp_path / "demo")


def test_every_kind_of_badness_is_there_once() -> None:
    made = Counter(bad.reason for bad in BADS)
    assert made == Counter(Reason), (
        f"BADS in demo/topics.py: each reason once; wrong are {made - Counter(Reason)} and {Counter(Reason) - made}"
    )


def test_seven_schemas_evolve() -> None:
    evolving = [topic for topic in TOPICS if topic.level != "NONE"]
    assert sum(len(topic.written) for topic in evolving) == 7
    assert {schema.type for topic in evolving for schema in topic.written} == {"AVRO", "JSON", "PROTOBUF"}


@pytest.mark.parametrize("records", [LEAST, 12_345, 1_000_000])
def test_as_many_are_planned_as_were_asked_for(records: int, tmp_path: Path) -> None:
    """One in a hundred is bad, and of each kind about as many; offsets leave no gap."""
    made = jobs(records, tmp_path, seed=1)
    assert sum(job.records for job in made) == records
    bad = earned_reasons(made)
    assert set(bad) == {reason.value for reason in Reason}
    assert bad.total() == pytest.approx(records / 100, abs=len(Reason)), (
        "one in a hundred, and one of each kind at least"
    )
    assert max(bad.values()) - min(bad.values()) == 0
    ends: Counter[tuple[int, int]] = Counter()
    for job in made:
        assert job.first == ends[job.topic, job.partition]
        ends[job.topic, job.partition] += job.records
        assert sum(rows for _, rows in job.bad) <= job.records


@pytest.mark.parametrize("records", ["0", "-5", "999", "many"])
def test_fewer_records_than_show_every_kind_of_badness_are_refused(
    records: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        demo.main([f"--records={records}"])
    assert refused.value.code == 2
    assert f"invalid number of records '{records}': expected 1,000 or more" in capsys.readouterr().err


@pytest.mark.parametrize(
    "theirs", [["thesis.txt"], ["lake", "work", "land.yaml"], ["landed.svg", "raw"]], ids=lambda names: names[0]
)
def test_a_folder_of_somebody_else_is_not_emptied(
    theirs: list[str], estate: Estate, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor one with the very names that a demonstration's have: settings of another job lie beside its tables."""
    estate.root.mkdir()
    for name in theirs:
        (estate.root / name).write_text("name: orders\n")
    assert demo.main(["--folder", str(estate.root)]) == 2
    assert "no demonstration made: choose an empty folder" in capsys.readouterr().err
    assert sorted(path.name for path in estate.root.iterdir()) == sorted(theirs)


def test_a_demonstration_takes_the_place_of_an_earlier_one(estate: Estate) -> None:
    """The folders of one that was kept, and of one of which the picture is left; its own folders alone are removed."""
    estate.begin()
    (estate.raw / "earlier").touch()
    estate.picture.touch()
    estate.begin()
    assert list(estate.raw.iterdir()) == []
    estate.picture.touch()
    estate.clear()
    assert list(estate.root.iterdir()) == [estate.picture]
    estate.begin()
    (estate.root / "thesis.txt").touch()
    with pytest.raises(NotEmpty):
        estate.begin()


def test_the_same_seed_makes_the_same_records(estate: Estate, tmp_path: Path) -> None:
    estate.begin()
    known = estate.register(needed_schemas(0))
    for seed, folder in ((1, "a"), (1, "b"), (2, "c")):
        write_file(jobs(RECORDS, tmp_path / folder, seed)[0], known)
    a, b, c = (pq.read_table(next((tmp_path / each).rglob("*.parquet"))) for each in "abc")
    assert a == b
    assert a != c


def generated(estate: Estate, made: Sequence[Job], slice_: int, known: dict[str, KnownSchema]) -> None:
    known |= estate.register(needed_schemas(slice_))
    for job in made:
        if job.slice == slice_:
            write_file(job, known)


@pytest.mark.spark
def test_each_record_ends_where_it_belongs(estate: Estate, tmp_path: Path) -> None:
    """Good ones in their tables, bad ones in the quarantine, for the reason they were made for; then it is drawn."""
    made, known, total = jobs(RECORDS, estate.raw, seed=1), dict[str, KnownSchema](), Sum()
    with closing(driver(estate.begin())) as landing:
        for slice_ in range(SLICES):
            generated(estate, made, slice_, known)
            one = land(landing, estate.raw, slice_)
            total.read, total.landed = total.read + one.read, total.landed + one.landed
            total.reasons.update(one.reasons)
        counts = picture.over_time(landing.sink, {name: each.id for name, each in known.items()})
    assert total.reasons == earned_reasons(made)
    assert demo.judged(total, RECORDS, earned_reasons(made)) == 0
    assert demo.judged(total, RECORDS + 1, earned_reasons(made)) == 1
    written = {schema.name for topic in TOPICS for schema in topic.written}
    assert set(counts) == written
    assert 0.99 * total.landed < sum(map(sum, counts.values())) <= total.landed, "all but tombstones"
    picture.draw(counts, total.reasons, estate.picture)
    drawn = estate.picture.read_text()
    assert all(name in drawn for name in (*written, *total.reasons))
    estate.clear()
    assert list(estate.root.iterdir()) == [estate.picture]


def test_the_extension_and_python_land_the_same_values_and_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All six topics, all evolutions, every kind of badness: each row of each table, and of the quarantine."""
    if extension.installed() is None:
        pytest.skip(NOT_BUILT)
    found = []
    for native in ("on", "off"):
        monkeypatch.setenv(extension.VARIABLE, native)
        estate, known = Estate(tmp_path / native), dict[str, KnownSchema]()
        with closing(driver(estate.begin())) as landing:
            made = jobs(RECORDS, estate.raw, seed=1)
            for slice_ in range(SLICES):
                generated(estate, made, slice_, known)
            reasons = land(landing, estate.raw, 0).reasons
            tables = {each: _values(landing, each) for each in (QUARANTINE, *(topic.name for topic in TOPICS))}
        assert reasons == earned_reasons(made)
        found.append((reasons, tables))
    assert found[0] == found[1]
    assert sum(map(len, found[0][1].values())) == RECORDS


def _values(landing: Driver, table: str) -> list[Any]:
    """Its rows, without when they were set aside, in the order of their offsets."""
    rows = [row for batch in landing.sink.rows(table) for row in batch.to_pylist()]
    kept = [{name: value for name, value in row.items() if name != "_sr_seen"} for row in rows]
    return sorted(
        kept, key=lambda row: [row.get(f"_sr_{name}", row.get(name)) for name in ("topic", "partition", "offset")]
    )


def test_what_it_is_at_is_said_in_a_pipe_too(capsys: pytest.CaptureFixture[str]) -> None:
    """A newcomer may look at a log, or at a window that is not a terminal."""
    demo._say("Starting Spark …")
    assert capsys.readouterr().err == "Starting Spark …\n"
