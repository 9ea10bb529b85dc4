"""`sigla ids`: how many are left, and where numbering goes on."""

import json
from pathlib import Path

import pytest

from sigla.cli import main
from sigla.model import BodyKey, SchemaId
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, a_body, a_draft, a_text
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION, in_process
from tests.unit.registry.tell import s

Captured = pytest.CaptureFixture[str]

LAST = 2**31 - 1


@pytest.fixture
def data(tmp_path: Path) -> str:
    """Two schemas, and in a context of its own one whose imported id left none for others."""
    with EmbeddedStore(tmp_path / "data") as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        for name in ("A", "B"):
            register(registry, name)
        registry.register(s(":.eu:a"), a_draft(a_text("A")))
        registry.change_mode(s(":.eu:far"), "IMPORT")
        registry.register(s(":.eu:far"), a_draft(a_text("Far"), id=LAST, version=1))
    return str(tmp_path / "data")


def register(registry: Registry, name: str) -> SchemaId | None:
    return registry.register(s(name), a_draft(a_text(name))).id


def next_ids(folder: str | Path, subject: str) -> SchemaId | None:
    with EmbeddedStore(Path(folder)) as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        return registry.register(s(subject), a_draft(a_text("Next"))).id


def test_each_context_tells_how_many_ids_it_has_left(data: str, capsys: Captured) -> None:
    """Before they run out."""
    with EmbeddedStore(Path(data)):
        assert main(["ids", "--data", data]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["context", "highest", "next", "left"],
        [".", "2", "3", str(LAST - 2)],
        [".eu", str(LAST), "-", "0"],
    ]
    assert main(["ids", "--context", ".eu", "--data", data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"context": ".eu", "highest": LAST, "next": None, "left": 0}]


def test_a_context_without_ids_goes_on_where_it_is_told_to(data: str, capsys: Captured) -> None:
    assert main(["ids", "--context", ".eu", "--continue-after", "1", "--data", data]) == 0
    assert capsys.readouterr().out == f"New ids of context .eu continue with 2; before it was {LAST + 1}.\n"
    assert main(["ids", "--context", ".eu", "--continue-after", "99", "--data", data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"context": ".eu", "before": 1, "next": 100}
    assert next_ids(data, ":.eu:b") == 100


@pytest.mark.parametrize("arguments", [["--context", ".", "--continue-after", "1"], ["--context", ".eu"]])
def test_numbering_does_not_go_on_among_ids_that_mean_something(
    data: str, capsys: Captured, arguments: list[str]
) -> None:
    """Live, displaced or buried: each would have to be met and skipped."""
    after = [] if "--continue-after" in arguments else ["--continue-after", str(LAST - 100_000)]
    assert main(["ids", *arguments, *after, "--data", data]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"sigla: Id {2 if not after else LAST} of context ")
    assert told.endswith("must be free: choose another number.\n")
    assert main(["ids", "--data", data, "--json"]) == 0
    assert [row["highest"] for row in json.loads(capsys.readouterr().out)] == [2, LAST]


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["--continue-after", "5"], "--context"),
        (["--context", "eu"], "'eu'"),
        (["--context", ""], "empty"),
        (["--context", ".eu:x"], "'.eu:x'"),
        (["--context", ".", "--continue-after", "-1"], "continue-after"),
        (["--context", ".", "--continue-after", str(LAST)], "expected 0 to 2147483646"),
        (["--context", ".", "--continue-after", "9" * 5000], "expected 0 to 2147483646"),
        (["--context", ".", "--continue-after", "5", "--table", "t"], "--bucket"),
    ],
)
def test_misuse_is_refused_in_a_sentence(data: str, capsys: Captured, arguments: list[str], word: str) -> None:
    try:
        status = main(["ids", *arguments, "--data", data])
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status == 2
    assert word in capsys.readouterr().err.splitlines()[-1]


def test_a_served_directory_keeps_its_numbering(data: str, capsys: Captured) -> None:
    """The server would go on by what it has in mind."""
    with EmbeddedStore(Path(data)):
        assert main(["ids", "--context", ".", "--continue-after", "900", "--data", data]) == 2
    told = capsys.readouterr().err
    assert data in told
    assert "Traceback" not in told


def test_no_registry_is_made_by_looking_for_one(tmp_path: Path, capsys: Captured) -> None:
    for more in ([], ["--context", ".", "--continue-after", "5"]):
        assert main(["ids", *more, "--data", str(tmp_path / "nothing")]) == 2
        assert "nothing" in capsys.readouterr().err
    assert not (tmp_path / "nothing").exists()


def test_a_registry_that_is_built_from_its_journal_goes_on_in_the_same_place(
    data: str, tmp_path: Path, capsys: Captured
) -> None:
    """Otherwise a restore would bring the end of the ids back."""
    main(["ids", "--context", ".eu", "--continue-after", "41", "--data", data])
    dump = str(tmp_path / "dump.jsonl")
    assert main(["export", dump, "--data", data]) == 0
    assert main(["import", dump, "--data", str(tmp_path / "copy")]) == 0
    assert next_ids(tmp_path / "copy", ":.eu:b") == 42


def test_a_registry_in_aws_is_told_in_the_same_way(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """While it is served: whoever draws an id meanwhile is seen."""
    with in_process() as clients:
        monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
        where = ["--bucket", BUCKET, "--table", make_table(clients.dynamodb)]
        assert main(["ids", "--context", ".eu", "--continue-after", "41", *where]) == 0
        capsys.readouterr()
        assert main(["ids", "--context", ".eu", *where, "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)
        assert (row["highest"], row["next"]) == (41, 42)


def test_a_scrub_finds_nothing_wrong_with_numbering_that_was_set(data: str, capsys: Captured) -> None:
    """And a scrub that puts flaws right does not take it back."""
    main(["ids", "--context", ".eu", "--continue-after", "41", "--data", data])
    assert main(["scrub", "--settle", "0", "--fix", "COUNTER_BEHIND", "--data", data]) == 0
    assert next_ids(data, ":.eu:b") == 42


def test_numbering_that_comes_near_a_far_id_is_not_put_right_to_the_very_end(data: str, capsys: Captured) -> None:
    """Numbers after the next body are as good as any."""
    main(["ids", "--context", ".eu", "--continue-after", "100", "--data", data])
    with EmbeddedStore(Path(data)) as store:
        store.bodies.put(BodyKey(".eu", SchemaId(150)), a_body(text=a_text("Near")))
    assert main(["scrub", "--settle", "0", "--fix", "COUNTER_BEHIND", "--grace", "0", "--data", data]) in {0, 1}
    assert next_ids(data, ":.eu:b") == 151


@pytest.mark.parametrize("context", ["*", ".__GLOBAL", ".\udcff", "." + "x" * 800, ".a:b", "team", ":.team:", ""])
def test_a_context_that_can_hold_nothing_is_refused_in_a_sentence(data: str, capsys: Captured, context: str) -> None:
    """Not even its numbering can be set."""
    with pytest.raises(SystemExit) as ended:
        main(["ids", "--data", data, "--context", context, "--continue-after", "5"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    said = ("nothing can be registered there", "begins with a dot", "cannot contain a colon", "it is empty")
    assert any(each in told for each in said)
