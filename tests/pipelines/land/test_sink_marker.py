"""A work directory is about the tables that it has landed to: others would have holes that no one sees."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from sigla.model import Draft, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land import gc_job, maintain_job, replay_job
from sigla_pipelines.land.batch import Batch
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.landed import Landed
from sigla_pipelines.land.settings import InvalidLanding, SinkPart, read_settings
from sigla_pipelines.land.sinks import sink_marker
from sigla_pipelines.land.sinks.parquet import Parquet
from sigla_pipelines.land.task import Task
from sigla_pipelines.places import Folder

pytestmark = pytest.mark.usefixtures("unsynced")


def keep(root: Path, lake: str = "lake", work: str = "work", **sink: str) -> None:
    """As with a batch. root: of both folders."""
    part = SinkPart.model_validate({"lake": lake, **sink})
    sink_marker.keep(Folder(str(root / work)), Folder(str(root / lake)), part)


def nothing(task: Task) -> list[Landed]:
    """Lands no records."""
    return [task.land([])]


def config(root: Path, lake: str = "lake", **sink: str) -> str:
    with embedded(Settings(), root / "data") as (registry, _):
        registry.register(Subject(".", "orders-value"), Draft('"int"'))
    form = {
        "registry": {"data": str(root / "data")},
        "source": {"kind": "files", "path": str(root / "raw")},
        "bind": [{"topic": "orders"}],
        "sink": {"lake": str(root / lake), **sink},
        "work": str(root / "work"),
    }
    (root / "land.yaml").write_text(yaml.safe_dump(form))
    return str(root / "land.yaml")


@pytest.mark.parametrize(
    "before, now, said",
    [
        ({"kind": "parquet"}, {}, "`sink.kind` was parquet and is iceberg now"),
        ({}, {"kind": "parquet"}, "`sink.kind` was iceberg and is parquet now"),
        ({}, {"lake": "lake2"}, r"`sink.lake` was ../lake and is ../lake2 now"),
        ({}, {"namespace": "eu"}, "`sink.namespace` was sigla and is eu now"),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, before: dict[str, str], now: dict[str, str], said: str) -> None:
    keep(tmp_path, **before)
    keep(tmp_path, **before)
    with pytest.raises(
        InvalidLanding, match=rf"^{tmp_path}/work belongs to other tables: {said}\. Restore the old value, or use a new"
    ):
        keep(tmp_path, **now)
    keep(tmp_path, **{**now, "work": "work2"})


def test_what_is_of_no_tables_may_change(tmp_path: Path) -> None:
    """Parquet has no namespace; how files are written is each batch's own matter."""
    keep(tmp_path, kind="parquet")
    keep(tmp_path, kind="parquet", namespace="eu", zstd="9", evolve="pin")


def test_folders_may_be_moved_together(tmp_path: Path) -> None:
    """Or mounted elsewhere."""
    keep(tmp_path / "here")
    shutil.move(tmp_path / "here", tmp_path / "there")
    keep(tmp_path / "there")


def test_tables_that_were_moved_are_the_same(tmp_path: Path) -> None:
    """Whoever says so removes what says where they were."""
    keep(tmp_path)
    (tmp_path / "work" / sink_marker.NAME).unlink()
    keep(tmp_path, lake="larger")


def test_a_job_with_other_tables_ends_with_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before it replays or removes anything."""
    with closing(driver(read_settings(Path(config(tmp_path))))) as opened:
        opened.land(Batch("q", 0), nothing)
    for job in (replay_job, gc_job):
        assert job.main([config(tmp_path, lake="lake2")]) == 2
        out, told = capsys.readouterr()
        assert not out
        assert "`sink.lake` was ../lake and is ../lake2 now" in told


def test_a_batch_with_other_tables_is_not_decided(tmp_path: Path) -> None:
    """Also where both drivers were there before the first batch."""
    first, second = (driver(read_settings(Path(config(tmp_path, lake, kind="parquet")))) for lake in ("lake", "lake2"))
    first.land(Batch("q", 0), nothing)
    with pytest.raises(InvalidLanding, match="belongs to other tables"):
        second.land(Batch("q", 1), nothing)
    assert [manifest.number for manifest in first.manifests.all()] == [0]


def test_who_could_not_land_may_say_another_lake(tmp_path: Path) -> None:
    """The first one was a slip, or cannot be written to."""

    def silent(_: Task) -> list[Landed]:
        raise OSError("no such bucket")

    with pytest.raises(OSError, match="no such bucket"):
        driver(read_settings(Path(config(tmp_path, "slip", kind="parquet")))).land(Batch("q", 0), silent)
    driver(read_settings(Path(config(tmp_path, kind="parquet")))).land(Batch("q", 0), nothing)


def test_who_only_looks_keeps_nothing(tmp_path: Path) -> None:
    """It may not even be allowed to write there."""
    assert gc_job.main([config(tmp_path)]) == 0
    assert not (tmp_path / "work").exists()


def test_plain_parquet_has_nothing_to_maintain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Told before Spark is begun."""
    assert maintain_job.main([config(tmp_path, kind="parquet")]) == 2
    assert capsys.readouterr().err.startswith("`maintain` needs Iceberg tables, and `sink.kind` is parquet. ")


def test_settings_that_name_no_kind_go_on_with_the_one_that_the_work_directory_has(tmp_path: Path) -> None:
    """A default that changes must not stop a job, nor begin other tables beside those that it has."""
    with closing(driver(read_settings(Path(config(tmp_path, kind="parquet"))))) as opened:
        opened.land(Batch("q", 0), nothing)
    with closing(driver(read_settings(Path(config(tmp_path))))) as opened:
        assert isinstance(opened.sink, Parquet)
        opened.land(Batch("q", 1), nothing)
    with pytest.raises(InvalidLanding, match=r"`sink\.kind` was parquet and is iceberg now"):
        driver(read_settings(Path(config(tmp_path, kind="iceberg"))))


def test_a_work_directory_that_does_not_tell_its_kind_is_not_guessed_at(tmp_path: Path) -> None:
    """Its `sink.json` is removed where tables were moved; of other tables its manifests would say what is not so."""
    with closing(driver(read_settings(Path(config(tmp_path, kind="parquet"))))) as opened:
        opened.land(Batch("q", 0), nothing)
    (tmp_path / "work" / sink_marker.NAME).unlink()
    with pytest.raises(InvalidLanding, match=r"does not record the kind of their tables\. Write `kind: parquet` or"):
        driver(read_settings(Path(config(tmp_path))))
    with closing(driver(read_settings(Path(config(tmp_path, kind="parquet"))))) as opened:
        assert isinstance(opened.sink, Parquet)
