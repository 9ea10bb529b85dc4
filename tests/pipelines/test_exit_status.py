"""How a job ends that cannot go on: which sentence, which status, and when it is a fault of the job's after all."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from botocore.exceptions import EndpointConnectionError

from sigla.errors import StoreError, Unusable
from sigla.settings import InvalidSetting
from sigla.stores.not_opened import DataNotOpened
from sigla.terminal.statuses import MISUSED, NOT_DONE
from sigla_pipelines.audit import job as audit
from sigla_pipelines.exit_status import exit_status_of
from sigla_pipelines.land import gc_job, replay_job
from sigla_pipelines.land import job as land
from sigla_pipelines.load import job as load
from sigla_pipelines.scrub import job as scrub

AGAIN = "Start it again."


class Unwilling(Exception):
    """What this job tells by itself."""


def in_a_task(*lines: str) -> RuntimeError:
    """As Spark tells it: what led to what, then the trace of its own."""
    trace = [f'Traceback (most recent call last):\n  File "x.py", line 1, in f\n    g()\n{line}' for line in lines]
    return RuntimeError("Job aborted: \n" + "\n\nThe above exception was …:\n\n".join(trace) + "\n\n\tat org.apache.X")


def caused(failure: Exception, cause: Exception) -> Exception:
    failure.__cause__ = cause
    return failure


SILENT = f"A store does not answer: {{}}. {AGAIN}"

FAILURES = {
    "its own": (Unwilling("Not with me."), "Not with me.", MISUSED),
    "its own, in a task": (in_a_task("tests.x.Unwilling: Not with me."), "Not with me.", MISUSED),
    "no registry": (DataNotOpened("Found no registry in x."), "Found no registry in x.", MISUSED),
    "no region": (InvalidSetting("Say which region."), "Say which region.", MISUSED),
    "a store": (StoreError("S3 is silent"), SILENT.format("S3 is silent"), NOT_DONE),
    "a store, and why": (caused(StoreError("no s3"), OSError("x")), SILENT.format("no s3 (x)"), NOT_DONE),
    "a store, told twice": (caused(StoreError("no s3: x"), OSError("x")), SILENT.format("no s3: x"), NOT_DONE),
    "no table": (Unusable("asked: no such table"), "asked: no such table", MISUSED),
    "no table, in a task": (in_a_task("sigla.errors.Unusable: asked: no such table"), "asked: no such table", MISUSED),
    "a store, in a task": (
        in_a_task(
            'botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL: "http://x"',
            "sigla.errors.StoreError: reading s3://x failed in S3",
        ),
        SILENT.format("reading s3://x failed in S3"),
        NOT_DONE,
    ),
    "pyarrow, in a task": (
        in_a_task("OSError: When reading: AWS Error NETWORK_CONNECTION during HeadObject: curlCode: 7"),
        SILENT.format("When reading: AWS Error NETWORK_CONNECTION during HeadObject: curlCode: 7"),
        NOT_DONE,
    ),
    "botocore": (
        EndpointConnectionError(endpoint_url="http://x"),
        SILENT.format('Could not connect to the endpoint URL: "http://x"'),
        NOT_DONE,
    ),
    "a full disk": (
        OSError(errno.ENOSPC, "No space left on device"),
        SILENT.format("[Errno 28] No space left on device"),
        NOT_DONE,
    ),
    "a folder that is a file": (
        NotADirectoryError(errno.ENOTDIR, "Not a directory", "/etc/hostname/x"),
        "/etc/hostname/x cannot be used (Not a directory).",
        MISUSED,
    ),
    "pyarrow, of a bucket that is not there": (
        OSError("When initiating multiple part upload: AWS Error NO_SUCH_BUCKET during CreateMultipartUpload"),
        "When initiating multiple part upload: AWS Error NO_SUCH_BUCKET during CreateMultipartUpload.",
        MISUSED,
    ),
    "pyarrow, of a bucket that is not his, in a task": (
        in_a_task("OSError: When reading: AWS Error ACCESS_DENIED during GetObject"),
        "When reading: AWS Error ACCESS_DENIED during GetObject.",
        MISUSED,
    ),
    "a folder whose name is too long": (
        OSError(errno.ENAMETOOLONG, "File name too long", "/x"),
        "/x cannot be used (File name too long).",
        MISUSED,
    ),
    "pyarrow, of a name that is too long": (
        OSError(errno.ENAMETOOLONG, "Failed to open local file '/x'"),
        f"[Errno {errno.ENAMETOOLONG}] Failed to open local file '/x'.",
        MISUSED,
    ),
    "a name that is too long, in a task": (
        in_a_task(f"OSError: [Errno {errno.ENAMETOOLONG}] File name too long: '/x'"),
        f"[Errno {errno.ENAMETOOLONG}] File name too long: '/x'.",
        MISUSED,
    ),
    "a folder that a task may not write to": (
        in_a_task("PermissionError: [Errno 13] Permission denied: '/proc/x'"),
        "[Errno 13] Permission denied: '/proc/x'.",
        MISUSED,
    ),
}


def raising(failure: Exception) -> Callable[[], int]:
    def work() -> NoReturn:
        raise failure

    return work


@pytest.mark.parametrize("name", FAILURES)
def test_what_is_no_fault_of_the_job_is_a_sentence_and_a_status(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    failure, sentence, status = FAILURES[name]
    assert exit_status_of(raising(failure), {Unwilling: MISUSED}, again=AGAIN) == status
    assert capsys.readouterr().err == f"{sentence}\n"


@pytest.mark.parametrize("failure", [KeyError("x"), in_a_task("KeyError: 'x'"), RuntimeError("OSError in the middle")])
def test_a_fault_of_the_job_keeps_its_trace(failure: Exception) -> None:
    with pytest.raises(type(failure)) as raised:
        exit_status_of(raising(failure), {}, again=AGAIN)
    assert raised.value is failure


def test_what_spark_gave_up_for_is_told_where_nothing_else_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    known = StoreError("S3 is silent")
    assert exit_status_of(raising(known), {}, again=AGAIN, spark=lambda _: "Spark gave up.") == NOT_DONE
    assert "S3 is silent" in capsys.readouterr().err
    assert exit_status_of(raising(RuntimeError("x")), {}, again=AGAIN, spark=lambda _: "Spark gave up.") == NOT_DONE
    assert capsys.readouterr().err == "Spark gave up.\n"


def test_a_job_that_ends_well_has_its_own_status() -> None:
    assert exit_status_of(lambda: 1, {}, again=AGAIN) == 1


@pytest.mark.parametrize("main", [land.main, replay_job.main, gc_job.main])
def test_settings_that_s3_does_not_give_are_no_misuse(
    main: Callable[[list[str]], int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The landing jobs are begun by a file, which may lie in a bucket; without a listener there."""
    for name, value in {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert main(["s3://nobody/land.yaml"]) == NOT_DONE
    assert "A store does not answer: reading s3://nobody/land.yaml failed" in capsys.readouterr().err


@pytest.mark.parametrize("main", [audit.main, scrub.main, load.main])
@pytest.mark.parametrize("where", [[], ["--bucket", "b"], ["--data", "d", "--bucket", "b"], ["--table", "t"]])
def test_half_an_address_is_misuse(
    main: Callable[[list[str]], int], where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every job says it in the same words, and begins nothing."""
    rest = ["dump.jsonl"] if main is load.main else ["--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as refused:
        main([*rest, *where])
    assert refused.value.code == MISUSED
    assert "--bucket" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


SENSELESS = {
    "no directory": (["--data", ""], "--data: Invalid name ''"),
    "a directory of a shell": (["--data", "~/registry"], "--data: Only a shell expands ~/registry"),
    "bytes that are no text": (["--data", "a\udcff"], r"--data: Invalid name 'a\udcff'"),
    "no bucket, and no table": (["--bucket", "", "--table", ""], "--bucket: Invalid name ''"),
    "no table": (["--bucket", "b", "--table", ""], "--table: Invalid name ''"),
    "no registry": (["--data", "d", "--registry", ""], "--registry: Invalid name ''"),
}


@pytest.mark.parametrize("main", [audit.main, scrub.main, load.main])
@pytest.mark.parametrize("name", SENSELESS)
def test_what_a_shell_made_of_nothing_is_not_the_folder_that_one_is_in(
    main: Callable[[list[str]], int], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A variable that is not set: a load would make a registry in the current folder."""
    where, said = SENSELESS[name]
    with pytest.raises(SystemExit) as refused:
        main([*(["dump.jsonl"] if main is load.main else ["--out", str(tmp_path / "out")]), *where])
    assert refused.value.code == MISUSED
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "main, asked, said",
    [
        (audit.main, ["--context", ".a:b"], "a context cannot contain a colon"),
        (scrub.main, ["--grace", "nan"], "invalid number of seconds 'nan'"),
        (scrub.main, ["--grace", "-1"], "invalid number of seconds '-1'"),
        (scrub.main, ["--grace", "inf"], "invalid number of seconds 'inf'"),
        (scrub.main, ["--grace", "long"], "invalid number of seconds 'long'"),
        (load.main, ["--writers", "9999999999"], "invalid number of tasks '9999999999'"),
        (load.main, ["--option", "=x"], "invalid option '=x': expected K=V"),
        (load.main, ["--option", "subscribe=x"], "the option subscribe cannot be set here"),
        (load.main, ["--option", "kafka.bootstrap.servers=x"], "the option kafka.bootstrap.servers cannot be set here"),
        (load.main, ["--work", ""], "--work: Invalid name ''"),
        (load.main, ["--report", "~/report"], "--report: Only a shell expands ~/report"),
    ],
)
def test_an_option_that_no_job_can_go_by_is_misuse(
    main: Callable[[list[str]], int], asked: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main([*(["dump.jsonl"] if main is load.main else ["--out", "out"]), "--data", "d", *asked])
    assert refused.value.code == MISUSED
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "main, option, said",
    [
        (audit.main, "--records", "Found no files *.parquet in {}."),
        (scrub.main, "--export", "Found no files *.json.gz in {}."),
    ],
)
def test_a_place_of_something_else_is_told_before_anything_begins(
    main: Callable[[list[str]], int], option: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without any records every id would be called unused."""
    (tmp_path / "mine").touch()
    assert main(["--out", str(tmp_path / "out"), "--data", "d", option, str(tmp_path)]) == MISUSED
    assert capsys.readouterr().err == f"{said.format(tmp_path)}\n"
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]


def test_a_context_has_its_dot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without it no id would be found, and every one called unknown."""
    with pytest.raises(SystemExit) as refused:
        audit.main(["--data", "d", "--out", str(tmp_path / "out"), "--context", "blue"])
    assert refused.value.code == MISUSED
    assert "a context begins with a dot, so write .blue" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "1e306", "soon"])
def test_a_grace_is_a_number_of_seconds(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        scrub.main(["--data", "d", "--out", str(tmp_path / "out"), f"--grace={text}"])
    assert refused.value.code == MISUSED
    assert f"invalid number of seconds {text!r}" in capsys.readouterr().err
