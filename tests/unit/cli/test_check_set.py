"""`sigla check` with sigla.yaml: sets of files, and what they were in a revision of git."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sigla.cli import main
from sigla.contract import MOST_CONTENTS
from sigla.model import Draft, Subject
from sigla.registry import Registry
from sigla.remote.state import PAGE
from sigla.schema_files import remote_facts, remote_ids
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock
from tests.unit.cli import answering

Captured = pytest.CaptureFixture[str]
ALL = "schemas: [{files: '**/*.avsc', subject: '{stem}-value'}]"


def record(name: str, *types: str) -> str:
    fields = ", ".join(f'{{"name": "f{at}", "type": "{each}"}}' for at, each in enumerate(types))
    return f'{{"type": "record", "name": "{name}", "fields": [{fields}]}}'


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.avsc").write_text(text)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("sigla.yaml").write_text(ALL)
    return tmp_path


@pytest.fixture
def served() -> Iterator[Registry]:
    with EmbeddedStore() as store:
        yield Registry(store.catalog, store.bodies, FixedClock())


def verdicts(capsys: Captured) -> dict[str, tuple[str, int | None]]:
    told: Any = json.loads(capsys.readouterr().out)
    return {each["file"]: (each["verdict"], each["version"]) for each in told["files"]}


def checked(served: Registry, capsys: Captured, *words: str) -> dict[str, tuple[str, int | None]]:
    with answering.behind_a_url(answering.registry(served)) as url:
        status = main(["check", "--registry", url, "--format", "json", *words])
    found = verdicts(capsys)
    assert status == int(any(verdict in ("refused", "not checked") for verdict, _ in found.values()))
    return found


def test_a_file_is_checked_against_what_earlier_ones_would_have_registered(served: Registry, capsys: Captured) -> None:
    """B is new, and A uses it: neither is in the registry yet."""
    write(a=record("A", "B"), b=record("B"))
    assert checked(served, capsys) == {"b.avsc": ("new", 1), "a.avsc": ("new", 1)}


def test_what_rests_on_a_refused_file_is_not_checked(served: Registry, capsys: Captured) -> None:
    """It would be judged by a version that will not be registered."""
    served.register(Subject(".", "b-value"), Draft(record("B")))
    write(a=record("A", "B"), b=record("B", "int"), c=record("C", "A"), d=record("D"))
    told = checked(served, capsys)
    assert told == {
        "b.avsc": ("refused", None),
        "a.avsc": ("not checked", None),
        "c.avsc": ("not checked", None),
        "d.avsc": ("new", 1),
    }


def test_a_circle_costs_the_files_in_it_and_no_others(served: Registry, capsys: Captured) -> None:
    """Where the reference is; what rests on them is not checked."""
    write(a=record("A", "int", "B"), b=record("B", "A"), c=record("C", "B"), d=record("D"))
    told = checked(served, capsys)
    assert told == {
        "a.avsc": ("refused", None),
        "b.avsc": ("refused", None),
        "c.avsc": ("not checked", None),
        "d.avsc": ("new", 1),
    }
    with answering.behind_a_url(answering.registry(served)) as url:
        assert main(["check", "--registry", url]) == 1
    assert (
        "a.avsc:1:98: 42201: a.avsc references b.avsc, which references a.avsc: of such a circle a registry takes none"
        in capsys.readouterr().out.splitlines()
    )


@pytest.mark.parametrize(
    "name, text, missing",
    [
        ("a.avsc", '{"type": "record", "namespace": "n", "name": "A", "fields": [\n  {"name": "x", "type": "Bb"}]}',
         ("2:25", "n.Bb")),
        ("a.proto", 'syntax = "proto3";\nimport "google/type/date.proto";\nimport "b.proto";\nmessage A { B b = 1; }',
         ("3:8", "b.proto")),
        ("a.json", '{"properties": {"x":\n {"$ref": "https://a/b.json"}}}', ("2:11", "https://a/b.json")),
    ],
)  # fmt: skip
def test_a_name_that_no_file_has_is_told_where_it_stands(
    name: str, text: str, missing: tuple[str, str], served: Registry, capsys: Captured
) -> None:
    """A word that is misspelt, a file that was moved or forgotten, what only the registry has."""
    write(b=record("n.B"))
    Path(name).write_text(text)
    Path("sigla.yaml").write_text(f"schemas: [{{files: [b.avsc, {name}], subject: '{{stem}}-{{path}}'}}]")
    with answering.behind_a_url(answering.registry(served)) as url:
        assert main(["check", "--registry", url, name]) == 1
    (told, _) = capsys.readouterr().out.splitlines()
    assert told.startswith(f"{name}:{missing[0]}: 42201: ")
    assert told.endswith(
        f"; no file of sigla.yaml is {missing[1]}: correct the name, add the file, or say its subject in `references`"
    )


def test_the_level_of_the_file_is_the_one_that_counts(served: Registry, capsys: Captured) -> None:
    """It is set before the schema is registered."""
    served.register(Subject(".", "b-value"), Draft(record("B")))
    write(b=record("B", "int"))
    Path("sigla.yaml").write_text(ALL.replace("}]", ", compatibility: FORWARD}]"))
    assert checked(served, capsys) == {"b.avsc": ("new", 2)}


def test_a_setting_that_would_be_refused_is_told_with_its_line(served: Registry, capsys: Captured) -> None:
    """IMPORT is for subjects that have no version."""
    served.register(Subject(".", "b-value"), Draft(record("B")))
    write(b=record("B"))
    Path("sigla.yaml").write_text("schemas:\n- {files: b.avsc, subject: b-value, mode: IMPORT}")
    with answering.behind_a_url(answering.registry(served)) as url:
        assert main(["check", "--registry", url]) == 1
    assert capsys.readouterr().out.startswith("sigla.yaml:2:1: 42205: Cannot import since found existing subjects")


def test_only_what_is_named_is_checked_with_what_it_needs(served: Registry, capsys: Captured) -> None:
    """As a hook names the files of a commit."""
    Path("sub").mkdir()
    write(a=record("A", "B"), b=record("B"), c=record("C"))
    Path("sub/d.avsc").write_text(record("D", "C"))
    assert checked(served, capsys, "a.avsc") == {"b.avsc": ("new", 1), "a.avsc": ("new", 1)}
    assert checked(served, capsys, "sub") == {"c.avsc": ("new", 1), "sub/d.avsc": ("new", 1)}
    assert main(["check", "--registry", "http://127.0.0.1:1", "none.avsc"]) == 2
    assert capsys.readouterr().err == "sigla: sigla.yaml has no entry for none.avsc: add one, or leave the file out.\n"


def test_names_are_told_from_where_the_command_runs(
    served: Registry, capsys: Captured, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Editors and CI make links of them."""
    write(a=record("A"))
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")
    assert checked(served, capsys, "--config", "../sigla.yaml") == {"../a.avsc": ("new", 1)}


def test_many_files_take_few_requests(served: Registry, capsys: Captured) -> None:
    """One for each page of versions, of settings and of contents, however many files there are."""
    for number in range(60):
        served.register(Subject(".", f"t{number}-value"), Draft(record(f"R{number}")))
        write(**{f"t{number}": record(f"R{number}", *(["R3"] if number == 7 else []))})
    Path("sigla.yaml").write_text(f"{ALL}\nconfig: {{compatibility: FORWARD}}\nmode: READWRITE")
    asked: list[str] = []
    answer = answering.registry(served)

    def counted(path: str, credentials: str) -> tuple[int, str]:
        asked.append(path.partition("?")[0])
        return answer(path, credentials)

    with answering.behind_a_url(counted) as url:
        assert main(["check", "--registry", url]) == 0
    assert sorted(asked) == ["/associations/subjects/t3-value", "/schemas", "/schemas/guids", "/settings"]
    assert capsys.readouterr().out.splitlines()[0] == "t7.avsc: would be version 2 of t7-value"


@pytest.mark.parametrize("command", ["check", "plan"])
def test_a_thousand_files_take_twelve_requests(
    command: str, served: Registry, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of a thousand subjects with three versions each, with a tenth of what a request asks for."""
    monkeypatch.setattr(remote_facts, "PAGE", PAGE // 10)
    monkeypatch.setattr(remote_ids, "MOST_CONTENTS", MOST_CONTENTS // 10)
    for number in range(100):
        subject = Subject(".", f"t{number}-value")
        served.change_config(subject, {"level": "FORWARD"})
        for version in range(1, 4):
            served.register(subject, Draft(record(f"R{number}", *["int"] * version)))
        write(**{f"t{number}": record(f"R{number}", *["int"] * (3 + number % 2))})
    asked: list[str] = []
    answer = answering.registry(served)

    def counted(path: str, credentials: str) -> tuple[int, str]:
        asked.append(path.partition("?")[0])
        return answer(path, credentials)

    with answering.behind_a_url(counted) as url:
        assert main([command, "--registry", url]) == 0
    assert len(asked) <= 12, asked
    assert ("50 new" if command == "check" else "50 changes") in capsys.readouterr().out


# --- against a revision ----------------------------------------------------------------------------------------------


def commit() -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Schemas"]):
        subprocess.run([*git, *words], check=True)


def against(capsys: Captured, *words: str) -> dict[str, tuple[str, int | None]]:
    assert main(["check", "--against", "HEAD", "--format", "json", *words]) in (0, 1)
    return verdicts(capsys)


@pytest.mark.process
def test_files_are_compared_with_what_they_were(capsys: Captured) -> None:
    """Where the main branch is what is registered, CI needs no registry."""
    write(a=record("A", "B"), b=record("B"), c=record("C", "int"))
    commit()
    assert against(capsys) == {"b.avsc": ("known", 1), "a.avsc": ("known", 1), "c.avsc": ("known", 1)}
    write(b=record("B", "int"), c=record("C"), d=record("D"))
    assert against(capsys) == {
        "b.avsc": ("refused", None),
        "a.avsc": ("not checked", None),
        "c.avsc": ("new", 2),
        "d.avsc": ("new", 1),
    }


@pytest.mark.process
def test_the_declaration_of_that_revision_says_what_files_were(capsys: Captured) -> None:
    """A file that is moved is still the schema of its subject."""
    write(a=record("A"))
    commit()
    Path("new").mkdir()
    Path("a.avsc").rename("new/renamed.avsc")
    Path("new/renamed.avsc").write_text(record("A", "int"))
    Path("sigla.yaml").write_text("schemas: [{files: new/renamed.avsc, subject: a-value}]")
    assert against(capsys) == {"new/renamed.avsc": ("refused", None)}


@pytest.mark.process
def test_a_file_that_was_no_schema_is_not_compared(capsys: Captured) -> None:
    """It is told: else a check that never was would look like one that passed."""
    write(a="{")
    commit()
    write(a=record("A"))
    assert main(["check", "--against", "HEAD"]) == 0
    assert "a.avsc was invalid in HEAD: nothing is compared with it." in capsys.readouterr().out


@pytest.mark.process
def test_files_that_moved_with_their_declaration_are_compared_with_nothing(capsys: Captured) -> None:
    """It is told: else a check that never was would look like one that passed."""
    write(a=record("A"))
    commit()
    Path("new").mkdir()
    for name in ("sigla.yaml", "a.avsc"):
        Path(name).rename(f"new/{name}")
    assert main(["check", "--against", "HEAD", "--config", "new/sigla.yaml"]) == 0
    assert "None of these files was in HEAD: they are compared with nothing.\n" in capsys.readouterr().out


@pytest.mark.process
def test_one_file_needs_no_declaration_there_either(capsys: Captured) -> None:
    """As against a registry."""
    write(a=record("A"))
    commit()
    Path("sigla.yaml").unlink()
    write(a=record("A", "int"))
    assert against(capsys, "--subject", "a", "a.avsc") == {"a.avsc": ("refused", None)}


@pytest.mark.process
@pytest.mark.parametrize("revision", ["none", "--help", "HEAD:x"])
def test_an_unknown_revision_is_a_mistake(revision: str, capsys: Captured) -> None:
    """Two, and not one: nothing was checked."""
    write(a=record("A"))
    commit()
    assert main(["check", f"--against={revision}"]) == 2
    assert capsys.readouterr().err.startswith(f"sigla: git does not show {revision} (")
