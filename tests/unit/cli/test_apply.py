"""`sigla plan` and `sigla apply`: files say what a registry is to be."""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sigla.cli import main
from sigla.model import LATEST, Config, Draft, Metadata, Show, Subject
from sigla.registry import Registry
from sigla.rules import names
from sigla.schema_files import applying
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, Terminal
from tests.unit.cli.writing import Died, Served, behind_a_url

Captured = pytest.CaptureFixture[str]
DECLARATION = """
config: {compatibility: FORWARD}
schemas:
- files: '*.avsc'
  subject: '{stem}-value'
  compatibility: BACKWARD
  metadata: {properties: {owner: us}}
settings:
  other: {mode: READONLY}
owns: ['*']
"""


def record(name: str, *types: str) -> str:
    fields = ", ".join(f'{{"name": "f{at}", "type": "{each}", "default": 0}}' for at, each in enumerate(types))
    return f'{{"type": "record", "name": "{name}", "fields": [{fields}]}}'


def using(name: str, other: str) -> str:
    return f'{{"type": "record", "name": "{name}", "fields": [{{"name": "x", "type": "{other}"}}]}}'


FILES = {"a.avsc": using("A", "B"), "b.avsc": record("B"), "sigla.yaml": DECLARATION}


def write(folder: Path, **changed: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in {**FILES, **changed}.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(applying, "FIRST_PAUSE_S", 0.0)
    return tmp_path


@pytest.fixture
def registry() -> Iterator[Registry]:
    with EmbeddedStore() as store:
        yield Registry(store.catalog, store.bodies, FixedClock())


@pytest.fixture
def served(registry: Registry) -> Iterator[Served]:
    with behind_a_url(Served(registry)) as found:
        yield found


def state(registry: Registry) -> dict[str, Any]:
    """All that files can say of it."""
    everywhere = names.search(":*:")
    settings = {scope.qualified: (each.config, each.mode) for scope, each in registry.catalog.settings(everywhere)}
    found: dict[str, Any] = {"settings": settings, "global": registry.config(Subject(".", "")).level}
    for subject in registry.catalog.subjects(everywhere, show=Show.ALL):
        rows = registry.catalog.history(subject)
        found[subject.qualified] = [(row.version, row.guid, row.deleted) for row in rows]
    return found


def apply(served: Served, *words: str, folder: str = ".") -> int:
    return main(["apply", "--registry", served.url, "--yes", "--config", f"{folder}/sigla.yaml", *words])


def plan(served: Served, capsys: Captured, *words: str) -> list[Any]:
    capsys.readouterr()
    assert main(["plan", "--registry", served.url, "--json", *words]) in (0, 3)
    changes: list[Any] = json.loads(capsys.readouterr().out)["changes"]
    return changes


def told_by_plan(served: Served, capsys: Captured, *words: str) -> list[str]:
    capsys.readouterr()
    assert main(["plan", "--registry", served.url, *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_plan_tells_what_is_done_and_in_which_order(served: Served, capsys: Captured) -> None:
    """B before A, which references it; a level before the schema that it is for; READONLY at the end."""
    assert main(["plan", "--registry", served.url]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told == [
        "~ global: compatibilityLevel BACKWARD -> FORWARD",
        "~ b-value: compatibilityLevel not set -> BACKWARD",
        "+ b-value: version 1 from b.avsc",
        "~ a-value: compatibilityLevel not set -> BACKWARD",
        "+ a-value: version 1 from a.avsc",
        "~ other: mode not set -> READONLY",
        f"6 changes to {served.url}.",
    ]
    assert served.writes == []


def test_what_is_planned_is_done_and_then_there_is_nothing_to_do(served: Served, capsys: Captured) -> None:
    """The plan of what was applied is empty; applied twice changes nothing."""
    assert apply(served) == 0
    assert served.writes == [
        "PUT /config",
        "PUT /config/b-value",
        "POST /subjects/b-value/versions",
        "PUT /config/a-value",
        "POST /subjects/a-value/versions",
        "PUT /mode/other",
    ]
    assert plan(served, capsys) == []
    assert main(["plan", "--registry", served.url, "--detailed-exitcode"]) == 0
    assert apply(served) == 0
    assert capsys.readouterr().out.endswith(f"{served.url} is as the files say: nothing to change.\n")
    assert len(served.writes) == 6
    registered = served.registry.version(Subject(".", "a-value"), LATEST)
    assert registered.schema.metadata == Metadata(properties={"owner": "us"})
    assert [(each.name, each.subject, each.version) for each in registered.schema.references] == [("B", "b-value", 1)]


@pytest.mark.parametrize(
    "text",
    [
        '{"fields": [], "name": "B",   "type": "record"}',
        '\n{"type":"record","name":"B","fields":[]}\n',
        '{"type": "record", "name": "B", "namespace": "", "fields": []}',
    ],
)
def test_spelling_is_no_change(text: str, served: Served, here: Path, capsys: Captured) -> None:
    """White space, and the order of keys."""
    assert apply(served) == 0
    (here / "b.avsc").write_text(text)
    assert plan(served, capsys) == []


def test_a_new_version_takes_along_what_references_it(served: Served, here: Path, capsys: Captured) -> None:
    """The reference has a version, so the file that uses it has another meaning."""
    assert apply(served) == 0
    (here / "b.avsc").write_text(record("B", "int"))
    assert [(each["subject"], each["version"]) for each in plan(served, capsys)] == [("b-value", 2), ("a-value", 2)]
    assert main(["plan", "--registry", served.url, "--detailed-exitcode"]) == 3
    assert apply(served) == 0
    assert plan(served, capsys) == []


def test_what_would_be_refused_is_told_and_nothing_is_done(served: Served, here: Path, capsys: Captured) -> None:
    """All or nothing where that can be known."""
    assert apply(served) == 0
    (here / "b.avsc").write_text(using("B", "string"))
    (here / "c.avsc").write_text(record("C"))
    count = len(served.writes)
    capsys.readouterr()
    assert apply(served) == 1
    told = capsys.readouterr().out
    assert told.startswith("b.avsc:1:")
    assert "a.avsc:1:1: not checked: it references b.avsc" in told
    assert len(served.writes) == count


def test_deletes_come_only_with_prune_and_only_of_what_is_owned(served: Served, here: Path, capsys: Captured) -> None:
    """Other teams' subjects are in the registry as well."""
    assert apply(served) == 0
    for name in ("old", "x-old"):
        served.registry.register(Subject(".", name), Draft(record("Old")))
    served.registry.register(Subject(".", "other2"), Draft(record("Other")))
    (here / "a.avsc").unlink()
    (here / "b.avsc").unlink()
    (here / "c.avsc").write_text(record("C"))
    (here / "sigla.yaml").write_text(DECLARATION.replace("'*']", "a-*, b-value, old]"))
    assert [each["action"] for each in plan(served, capsys)] == ["config", "register"]
    remark = "3 subjects that `owns` names are in no file (a-value, b-value, old); --prune would delete them."
    assert remark in told_by_plan(served, capsys)
    pruned = plan(served, capsys, "--prune")[2:]
    assert [(each["action"], each["subject"]) for each in pruned] == [
        ("delete", "a-value"),
        ("delete", "b-value"),
        ("delete", "old"),
    ]
    assert remark not in told_by_plan(served, capsys, "--prune")
    assert apply(served, "--prune") == 0
    assert plan(served, capsys, "--prune") == []
    assert not any("in no file" in line for line in told_by_plan(served, capsys))
    left = {each.qualified for each in served.registry.catalog.subjects(names.search(""), show=Show.ACTIVE)}
    assert left == {"c-value", "x-old", "other2"}


def test_prune_needs_to_know_what_the_files_own(served: Served, here: Path, capsys: Captured) -> None:
    """Else a repository would delete the subjects of all others."""
    (here / "sigla.yaml").write_text(DECLARATION.replace("owns: ['*']", ""))
    assert apply(served, "--prune") == 2
    assert "sigla.yaml does not say among which subjects: add `owns`" in capsys.readouterr().err


@pytest.mark.parametrize("said, done", [("y\n", True), ("n\n", False), ("\n", False)])
def test_a_person_is_asked(
    said: str, served: Served, monkeypatch: pytest.MonkeyPatch, capsys: Captured, *, done: bool
) -> None:
    """Whoever types it sees the plan first."""
    monkeypatch.setattr("sys.stdin", Terminal(said))
    assert main(["apply", "--registry", served.url]) == int(not done)
    assert bool(served.writes) is done
    assert "Do these? [y/N]" in capsys.readouterr().err


def test_a_program_says_yes(served: Served, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """It would wait for ever."""
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert main(["apply", "--registry", served.url]) == 2
    assert capsys.readouterr().err == "sigla: Do these? No person is there to answer: add --yes.\n"
    assert served.writes == []


def test_a_directory_is_applied_to_without_a_server(here: Path, capsys: Captured) -> None:
    """As `sigla import` writes to one."""
    words = ["--data", str(here / "data")]
    with EmbeddedStore(here / "data"):
        pass
    assert main(["apply", *words, "--yes"]) == 0
    capsys.readouterr()
    assert main(["plan", *words, "--detailed-exitcode"]) == 0
    assert capsys.readouterr().out.endswith("is as the files say: nothing to change.\n")


# --- others write as well --------------------------------------------------------------------------------------------


def at(number: int, do: Callable[[], object]) -> Callable[[int], None]:
    done: list[int] = []

    def hook(write: int) -> None:
        if write == number and not done:
            done.append(write)
            do()

    return hook


def fail() -> None:
    raise Died


@pytest.mark.parametrize("ours", [True, False], ids=["Sigla", "another registry"])
@pytest.mark.parametrize("number", range(6))
def test_what_another_writer_has_changed_stops_it(number: int, *, ours: bool, served: Served, capsys: Captured) -> None:
    """It says what is done and what is not; the next one does the rest."""
    served.ours = ours
    scopes = ["", "b-value", "b-value", "a-value", "a-value", "other"]
    scope = Subject(".", scopes[number])

    def meddle() -> None:
        served.registry.change_config(scope, {"group": "x"})

    # Others are read right before each write: what comes between is not noticed there.
    if ours:
        served.before = at(number, meddle)
    elif number:
        served.after = at(number - 1, meddle)
    else:
        return
    assert apply(served) == 1
    told = capsys.readouterr().out
    assert f"Stopped at {scope.name or 'global'}: it has changed since it was planned.\nNot done:\n" in told
    assert f"\n{number} of 6 changes to {served.url} are done." in told
    assert apply(served) == 0
    assert plan(served, capsys) == []
    found = served.registry.config(scope)
    assert (found.group, found.level) == ("x", "BACKWARD" if number else "FORWARD")


@pytest.mark.parametrize("ours", [True, False], ids=["Sigla", "another registry"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", range(6))
def test_a_call_that_dies_is_asked_about_and_done_once(
    number: int, when: str, *, ours: bool, served: Served, capsys: Captured
) -> None:
    """Whether it was done is seen in the registry."""
    served.ours = ours
    setattr(served, when, at(number, fail))
    assert apply(served) == 0
    assert plan(served, capsys) == []
    assert [len(served.registry.catalog.history(Subject(".", name))) for name in ("a-value", "b-value")] == [1, 1]


@pytest.mark.parametrize("number", range(6))
def test_a_registry_that_goes_away_ends_it_and_the_next_one_finishes(
    number: int, served: Served, capsys: Captured
) -> None:
    """As a deployment of the registry may."""

    def gone(write: int) -> None:
        if write >= number:
            raise Died

    served.before = gone
    assert apply(served) == 1
    told = capsys.readouterr().out
    assert f"{number} of 6 changes to {served.url} are done. What is done stays; the next apply does the rest." in told
    served.before = lambda _: None
    assert apply(served) == 0
    assert plan(served, capsys) == []


@pytest.mark.parametrize("number", range(6))
def test_two_applies_of_the_same_files_end_as_one(number: int, served: Served, capsys: Captured) -> None:
    """Two runs of CI for one commit: both are done, and nothing is there twice."""
    statuses: list[int] = []
    served.before = at(number, lambda: statuses.append(apply(served)))
    assert apply(served) == 0
    assert statuses == [0]
    assert plan(served, capsys) == []
    assert [len(served.registry.catalog.history(Subject(".", name))) for name in ("a-value", "b-value")] == [1, 1]


@pytest.mark.parametrize("number", range(5))
def test_of_two_applies_of_different_files_one_loses(
    number: int, served: Served, here: Path, registry: Registry, capsys: Captured
) -> None:
    """Each subject is as one of the two says, and whoever did not have its way says so.

    They meet where the first one has something left to do that the second one changes.
    """
    others = DECLARATION.replace("BACKWARD", "FULL").replace("FORWARD", "NONE").replace("owner: us", "owner: them")
    write(here / "others", **{"b.avsc": record("B", "int"), "sigla.yaml": others})
    statuses: list[int] = []
    served.before = at(number, lambda: statuses.append(apply(served, folder="others")))
    assert apply(served) == 1
    assert statuses == [0]
    found = state(registry)
    for subject in ("a-value", "b-value"):
        view = registry.look(Subject(".", subject))
        meta = registry.version(Subject(".", subject), LATEST).schema.metadata
        assert meta is not None
        assert (view.chain.own.config, meta.properties["owner"]) == (Config(level="FULL"), "them")
    assert found["settings"]["other"][1] == "READONLY"


def test_applies_of_different_files_can_meet_anywhere(served: Served, here: Path, capsys: Captured) -> None:
    """Also where the second one is itself stopped: no subject is half of each."""
    others = DECLARATION.replace("BACKWARD", "FULL").replace("owner: us", "owner: them")
    write(here / "others", **{"sigla.yaml": others})
    orders: Sequence[tuple[int, int]] = [(first, second) for first in range(6) for second in range(first, 6)]
    for first, second in orders[:: max(1, len(orders) // 8)]:
        served.writes.clear()
        served.before = at(first, lambda: apply(served, folder="others"))
        served.after = at(second, fail)
        apply(served)
        served.before = served.after = lambda _: None
        assert apply(served) == 0
        assert plan(served, capsys) == []
