"""`sigla import`: from a file, a directory, a URL; what it says, and what it says no to."""

import base64
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from sigla.cli import dumps, main, progress
from sigla.journal.replay import replayed
from sigla.model import Config
from sigla.registry import Registry
from sigla.remote import state as remote
from sigla.remote.failures import RemoteMisused, RemoteRefused
from sigla.settings import PREFIX
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.importing import CONFLICTING, IDENTICAL, IMPORTED, import_state
from tests.build import FixedClock, Terminal
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION, in_process
from tests.unit.cli.answering import Answer, always, behind_a_url, registry, without_list_of_settings
from tests.unit.cli.written import line, written
from tests.unit.journal.topic import OTHER, config, context, mode, s, schema, state, topic
from tests.unit.registry.lives import A_LIFE, contents

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"{PREFIX}REGISTRY_NAME", raising=False)


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(tmp_path / "data")


def told(captured: Captured) -> Any:
    return json.loads(captured.readouterr().out)


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_dump_comes_in_and_is_counted(tmp_path: Path, data: str, capsys: Captured) -> None:
    """Packed or not; a second time nothing is left to do."""
    plain, packed = written(tmp_path / "d.jsonl", topic(*A_LIFE)), written(tmp_path / "d.jsonl.gz", topic(*A_LIFE))
    assert main(["import", plain, "--data", data]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "imported:    9 versions, 1 id, 2 configs, 1 mode, 2 contexts",
        "identical:   nothing",
        "conflicting: nothing",
        "skipped:     nothing",
    ]
    assert main(["import", packed, "--data", data, "--json"]) == 0
    again = told(capsys)
    assert (again["imported"], again["identical"]["version"], again["dryRun"]) == ({}, 9, False)


def test_what_is_in_the_way_is_told_and_the_status_says_so(tmp_path: Path, data: str, capsys: Captured) -> None:
    """1 for a script, names for a person."""
    main(["import", written(tmp_path / "a.jsonl", topic(schema("o", 1, 1))), "--data", data])
    capsys.readouterr()
    others = topic(
        schema("o", 1, 2, OTHER), ({"keytype": "ODD"}, {}), *(schema(f"x{n}", 1, 1, OTHER) for n in range(9))
    )
    assert main(["import", written(tmp_path / "b.jsonl", others), "--data", data]) == 1
    out = capsys.readouterr().out
    assert "conflicting: 10 versions" in out
    assert "      o version 1 id 2\n" in out
    assert "  9 × its id belongs to another schema here\n" in out
    assert "      …\n" in out
    assert 'offset 1: {"keytype": "ODD"}' in out


def test_what_is_not_understood_is_remarked(tmp_path: Path, data: str, capsys: Captured) -> None:
    assert main(["import", written(tmp_path / "a.jsonl", topic(schema("o", 1, 1, "{"))), "--data", data]) == 0
    assert "1 × stored as it is" in capsys.readouterr().out


def test_a_lost_body_is_put_back_where_it_is_asked_for(tmp_path: Path, data: str, capsys: Captured) -> None:
    """As `sigla scrub` advises; the catalog alone would call its versions identical."""
    importing = ["import", written(tmp_path / "d.jsonl", topic(*A_LIFE)), "--data", data]
    assert main(importing) == 0
    lost = Path(data) / "default" / "schemas" / "_" / "0000000001.json"
    meant = json.loads(lost.read_bytes())
    lost.unlink()
    capsys.readouterr()
    assert main(["scrub", "--data", data]) == 1
    assert "sigla import --bodies" in capsys.readouterr().out
    for options in (["--dry-run"], []):
        assert main([*importing, "--bodies", "--json", *options]) == 0
        report = told(capsys)
        assert (report["imported"], report["identical"]["version"]) == ({}, 9)
        assert report["remarks"][0]["why"] == "its body was lost, and is put back"
    assert json.loads(lost.read_bytes())["schema"] == meant["schema"]
    assert main(["scrub", "--data", data]) == 0


def test_a_dry_run_leaves_no_trace(tmp_path: Path, data: str, capsys: Captured) -> None:
    """Where there is nothing nothing is made; where another process works it is not in the way."""
    source = written(tmp_path / "d.jsonl", topic(*A_LIFE))
    assert main(["import", source, "--data", data, "--dry-run", "--json"]) == 0
    tried = told(capsys)
    assert not Path(data).exists()
    Path(data).mkdir()
    for _ in range(2):  # an empty directory, and a start that was cut off
        assert main(["import", source, "--data", data, "--dry-run", "--json"]) == 0
        assert told(capsys) == tried
        (Path(data) / "catalog.sqlite").touch()
    assert main(["import", source, "--data", data, "--json"]) == 0
    done = told(capsys)
    assert {**tried, "dryRun": False} == done
    with EmbeddedStore(Path(data)):
        assert main(["import", source, "--data", data, "--dry-run", "--json"]) == 0
    assert told(capsys)["identical"]["version"] == 9


def test_a_dry_run_is_refused_where_the_import_would_be(tmp_path: Path, capsys: Captured) -> None:
    source = written(tmp_path / "d.jsonl", topic(*A_LIFE))
    for options in ([], ["--dry-run"]):
        assert main(["import", source, "--data", source, *options]) == 2
        one_sentence(capsys)


def test_data_that_is_in_use_is_not_touched(tmp_path: Path, data: str, capsys: Captured) -> None:
    with EmbeddedStore(Path(data)):
        assert main(["import", written(tmp_path / "d.jsonl", topic(*A_LIFE)), "--data", data]) == 2
    assert "Another process is using the data" in one_sentence(capsys)


def test_a_directory_is_of_one_registry(tmp_path: Path, data: str, capsys: Captured) -> None:
    """A second name would put its bodies where the first does not look, under ids of one catalog."""
    assert main(["import", written(tmp_path / "a.jsonl", topic(*A_LIFE)), "--data", data, "--registry", "a"]) == 0
    capsys.readouterr()
    for command in (["import", str(tmp_path / "a.jsonl")], ["export"], ["scrub"]):
        assert main([*command, "--data", data, "--registry", "b"]) == 2
        assert "are those of the registry a, not of b" in one_sentence(capsys)
    assert main(["scrub", "--data", data, "--registry", "a"]) == 0


def test_a_registry_in_aws_is_imported_into_and_exported_from(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, dynamodb_local: str
) -> None:
    """With the credentials of who may write there; what comes out is what went in."""
    dump = str(tmp_path / "out.jsonl")
    with in_process(dynamodb_endpoint=dynamodb_local) as clients:
        monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", dynamodb_local)
        where = ["--bucket", BUCKET, "--table", make_table(clients.dynamodb)]
        assert main(["import", written(tmp_path / "d.jsonl", topic(*A_LIFE)), *where, "--json"]) == 0
        assert told(capsys)["imported"]["version"] == 9
        assert main(["import", written(tmp_path / "d.jsonl", topic(*A_LIFE)), *where, "--dry-run", "--json"]) == 0
        assert told(capsys)["identical"]["version"] == 9
        assert main(["export", dump, *where]) == 0
    ours, theirs = state(*A_LIFE), replayed(dumps.read(Path(dump)))
    assert theirs.subjects.keys() == ours.subjects.keys()
    assert (theirs.highest, theirs.gone.keys(), theirs.settings) == (ours.highest, ours.gone.keys(), ours.settings)


def test_lines_may_come_twice_and_in_any_order(tmp_path: Path) -> None:
    """Two dumps of one topic that overlap are one."""
    records = topic(*A_LIFE)
    (tmp_path / "dumps").mkdir()
    written(tmp_path / "dumps" / "b.jsonl", records[:9])
    written(tmp_path / "dumps" / "a.jsonl.gz", records[5:][::-1])
    assert dumps.read(tmp_path / "dumps") == records


def test_segments_of_a_journal_are_put_in_order(tmp_path: Path) -> None:
    """By the time of their commits, whatever file they are in; what a restored table told twice counts once."""
    records = topic(*A_LIFE)
    folder = tmp_path / "journal" / "2026" / "11"
    folder.mkdir(parents=True)
    forms = [
        {"timestamp": r.ts, "key": r.key, "value": r.value, "at": r.offset // 3, "nonce": "n", "part": r.offset % 3}
        for r in records
    ]
    for number, some in enumerate((forms[9:], forms[:9], forms[4:6])):
        (folder / f"{number}.jsonl").write_text("".join(json.dumps(form) + "\n" for form in some))
    assert dumps.read(tmp_path / "journal") == records


FINE = line(topic(schema("o", 1, 1))[0])

BAD_FILES: list[tuple[str, bytes, str]] = [
    ("a.jsonl.gz", gzip.compress(FINE * 100)[:-10], "damaged or cut off"),
    ("a.jsonl.gz", b"\x1f\x8b" + b"\x00" * 40, "damaged or cut off"),
    ("a.jsonl.gz", gzip.compress(FINE)[:20] + b"\xff" * 40, "damaged or cut off"),
    ("a.jsonl", b"\x00\xff\xfe", "Line 1 of"),
    ("a.jsonl", FINE + b"{", "Line 2 of"),
    ("a.jsonl", b"[]", "Line 1 of"),
    ("a.jsonl", b"[" * 100_000, "Line 1 of"),
    ("a.jsonl", b"{}", "Line 1 of"),
    ("a.jsonl", b'{"key":"{}","value":"{}"}', "Line 1 of"),
    ("a.jsonl", b'{"key":{},"value":null,"timestamp":1,"offset":1}', "Line 1 of"),
    ("a.jsonl", b'{"key":"{}","value":{},"timestamp":1,"offset":1}', "Line 1 of"),
    ("a.jsonl", b'{"key":"{}","value":null,"timestamp":"1","offset":1}', "Line 1 of"),
    ("a.jsonl", b'{"key":"{}","value":null,"timestamp":1,"offset":true}', "Line 1 of"),
    ("a.jsonl", b'{"key":"{}","value":null,"timestamp":1,"offset":1e99}', "Line 1 of"),
    ("a.jsonl", b'{"key":"{}","value":null,"timestamp":' + b"9" * 5000 + b',"offset":1}', "Line 1 of"),
    ("a.jsonl", b'{"key":"{}","value":null,"timestamp":1,"at":1,"nonce":1,"part":1}', "Line 1 of"),
]


@pytest.mark.parametrize("file", BAD_FILES)
def test_a_file_that_is_no_dump_is_refused_whole(
    tmp_path: Path, data: str, capsys: Captured, file: tuple[str, bytes, str]
) -> None:
    """One sentence that names the line, before anything is written."""
    name, content, said = file
    (tmp_path / name).write_bytes(content)
    assert main(["import", str(tmp_path / name), "--data", data]) == 2
    assert said in one_sentence(capsys)
    assert not Path(data).exists()


def test_numbers_no_record_can_have_are_skipped(tmp_path: Path, data: str, capsys: Captured) -> None:
    """An offset may be as large as it likes: it only says what comes first."""
    huge = topic(schema("o", 1, 1))[0]._replace(ts=10**30, offset=10**30)
    assert main(["import", written(tmp_path / "a.jsonl", [huge]), "--data", data, "--json"]) == 1
    assert told(capsys)["skipped"] == {"record": 1}


def test_places_that_cannot_be_read_are_refused(tmp_path: Path, data: str, capsys: Captured) -> None:
    empty, mixed = tmp_path / "empty", tmp_path / "mixed"
    empty.mkdir()
    mixed.mkdir()
    (mixed / "a.jsonl").write_bytes(FINE)
    (mixed / "b.jsonl").write_bytes(b'{"key":"{}","value":null,"timestamp":1,"at":1,"nonce":"n","part":1}')
    for source, said in ((empty, "Found no files *.jsonl"), (mixed, "mixes"), (tmp_path / "none", "File not found: ")):
        assert main(["import", str(source), "--data", data]) == 2
        assert said in one_sentence(capsys)
    assert main(["import", str(mixed / "a.jsonl"), "--bucket", "b"]) == 2
    assert "--table" in one_sentence(capsys)


def one_sentence(capsys: Captured) -> str:
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("sigla: ")
    assert printed.err.count("\n") == 1
    return printed.err


# --- URLs -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def source() -> Any:
    """A registry with everything in it that an API tells."""
    with EmbeddedStore() as store:
        asked = Registry(store.catalog, store.bodies, FixedClock())
        import_state(asked, state(*A_LIFE, mode(":.__GLOBAL:", "READONLY"), context(".other"), mode("o", "READONLY")))
        yield asked


def read(answer: Answer, user: str = "", clock: FixedClock | None = None, page: int = remote.PAGE) -> Any:
    with behind_a_url(answer) as url:
        return remote.read(url, user, clock or FixedClock(), page=page)


def test_a_registry_is_imported_from_its_url(source: Registry, data: str, capsys: Captured) -> None:
    """Ids, versions, deletes, times, settings, contexts, counters: all that can be asked is the same."""
    with behind_a_url(registry(source)) as url:
        assert main(["import", url, "--data", data, "--json"]) == 0
        assert told(capsys)["imported"]["version"] == 9
        assert main(["import", url, "--data", data, "--json"]) == 0
        assert told(capsys)["imported"] == {}
    with EmbeddedStore(Path(data)) as store:
        assert contents(Registry(store.catalog, store.bodies, FixedClock())) == contents(source)


def test_more_schemas_than_a_page_are_read_to_the_end(source: Registry) -> None:
    assert sum(map(len, read(registry(source), page=4).subjects.values())) == 9


def test_credentials_come_from_the_url_or_beside_it(source: Registry) -> None:
    """A user and a password as any client sends them."""
    seen: set[str] = set()
    answers = registry(source)

    def answer(path: str, credentials: str) -> tuple[int, str]:
        seen.add(credentials)
        return answers(path, credentials)

    read(answer, "key:se cret")
    with behind_a_url(answer) as url:
        remote.read(url.replace("//", "//key:se%20cret@"), "", FixedClock(), lambda *_: None)
    assert seen == {f"Basic {base64.b64encode(b'key:se cret').decode()}"}


@pytest.mark.parametrize("status", [401, 403])
def test_who_may_not_read_is_told_so(status: int) -> None:
    with pytest.raises(RemoteRefused, match="credentials"):
        read(always(status, {"error_code": status}))


@pytest.mark.parametrize(
    "answer",
    [
        always(200, "<html>"),
        always(200, "{}"),
        always(200, [1]),
        always(200, [{"a": 1}]),
        always(404, "nothing here"),
        always(404, {"error_code": 404}),
        always(400, {}),
        always(200, []),
    ],
)
def test_what_is_no_registry_is_not_taken_for_one(answer: Answer) -> None:
    with pytest.raises(RemoteMisused, match="answers"):
        read(answer)


def test_a_registry_that_fails_is_asked_again(source: Registry) -> None:
    """A few times, with pauses; then one sentence."""
    answers, failures = registry(source), [500, 503, 429]

    def answer(path: str, credentials: str) -> tuple[int, str]:
        return (failures.pop(), "") if failures else answers(path, credentials)

    clock = FixedClock()
    assert read(answer, clock=clock).subjects
    assert len(clock.slept) == 3
    with pytest.raises(RemoteRefused, match="status 500"):
        read(always(500, ""))
    with behind_a_url(answer) as url:
        gone = url
    with pytest.raises(RemoteRefused, match="does not answer"):
        remote.read(gone, "", FixedClock(), lambda *_: None)


def test_a_registry_that_moves_is_not_imported(source: Registry) -> None:
    """Half of a change is worse than none."""
    answers = registry(source)
    with pytest.raises(RemoteRefused, match="READONLY"):
        read(lambda path, _: (200, '["new"]') if path.startswith("/subjects") else answers(path, ""))


def test_a_default_that_is_answered_is_no_setting() -> None:
    """It cannot be told whether a global setting is set to the default; it is left alone."""
    with EmbeddedStore() as store:
        empty = read(registry(Registry(store.catalog, store.bodies, FixedClock())))
    assert (empty.settings, empty.subjects, empty.contexts) == ({}, {}, ())


def test_a_level_that_is_only_answered_is_no_conflict(source: Registry) -> None:
    """An API shows the default level where none is set: an import of the dump afterwards finds all in place."""
    quiet = config("base", normalize=True)
    import_state(source, state(quiet))
    found = read(without_list_of_settings(registry(source)))
    with EmbeddedStore() as store:
        target = Registry(store.catalog, store.bodies, FixedClock())
        assert import_state(target, found).of(IMPORTED)["config"] == 3
        assert target.catalog.snapshot(s("base")).chain.own.config == Config(level="BACKWARD", normalize=True)
        again = import_state(target, state(*A_LIFE, quiet))
    assert (again.of(IDENTICAL)["config"], again.of(CONFLICTING)) == (3, {})


# --- progress ---------------------------------------------------------------------------------------------------------


def test_progress_is_shown_on_a_terminal_and_wiped_away() -> None:
    terminal = Terminal()
    with progress.shown(terminal) as tell:
        for done in range(251):
            tell("bodies", done, 250)
        tell("records", 300)
        tell("records", 301)
    lines = terminal.getvalue().split("\r\033[K")
    assert lines == ["", "bodies 0/250", "bodies 100/250", "bodies 200/250", "bodies 250/250", "records 300", ""]


def test_a_pipe_hears_nothing_of_progress() -> None:
    pipe = io.StringIO()
    with progress.shown(pipe) as tell:
        tell("bodies", 0, 1)
    assert pipe.getvalue() == ""
