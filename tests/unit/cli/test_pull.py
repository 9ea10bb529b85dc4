"""`sigla pull`: files of a registry, and what is in the way."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sigla.cli import main, pull
from sigla.model import Draft, Metadata, OfferedReference, Subject
from sigla.registry import Registry
from sigla.rules import names
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock
from tests.unit.cli.writing import Served, behind_a_url

Captured = pytest.CaptureFixture[str]
ADDRESS = '{"type":"record","name":"Address","namespace":"a","fields":[]}'
ORDER = '{"type":"record","name":"Order","namespace":"a","fields":[{"name":"to","type":"Address"}]}'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def registry() -> Iterator[Registry]:
    """References, settings of every kind, three languages, two contexts."""
    with EmbeddedStore() as store:
        made = Registry(store.catalog, store.bodies, FixedClock())
        made.register(Subject(".", "address"), Draft(ADDRESS, metadata=Metadata(properties={"owner": "us"})))
        reference = OfferedReference("a.Address", "address", 1)
        made.register(Subject(".", "order"), Draft(ORDER, "AVRO", (reference,)))
        made.register(Subject(".eu", "pay"), Draft('syntax = "proto3"; message Pay {}', "PROTOBUF"))
        made.register(Subject(".", "customer"), Draft('{"title":"Customer","type":"object"}', "JSON"))
        made.change_config(Subject(".", "order"), {"level": "FULL"})
        made.change_config(Subject(".", ""), {"level": "FORWARD"})
        made.change_mode(Subject(".", "later"), "READONLY")
        yield made


@pytest.fixture
def served(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    with behind_a_url(Served(registry)) as found:
        monkeypatch.setenv("SIGLA_URL", found.url)
        yield found


def told(capsys: Captured, *words: str, status: int = 0) -> list[str]:
    capsys.readouterr()
    assert main(["pull", *words]) == status
    return capsys.readouterr().out.splitlines()


def planned(capsys: Captured) -> list[Any]:
    capsys.readouterr()
    assert main(["plan", "--json"]) == 0
    changes: list[Any] = json.loads(capsys.readouterr().out)["changes"]
    return changes


def test_files_and_their_declaration_are_written(served: Served, capsys: Captured) -> None:
    """Names, references and settings as they are; the plan is empty, and a second pull has nothing to do."""
    assert told(capsys) == [
        "+ contexts/eu/pay.proto: version 1 of :.eu:pay",
        "+ address.avsc: version 1 of address",
        "+ customer.json: version 1 of customer",
        "+ order.avsc: version 1 of order",
        "+ sigla.yaml",
        f"4 schemas of {served.url}: 4 written.",
    ]
    said = Path("sigla.yaml").read_text().partition("\n")[2]
    assert said == (
        "config:\n  compatibility: FORWARD\nschemas:\n- files: contexts/eu/pay.proto\n  subject: :.eu:pay\n"
        "- files: address.avsc\n  subject: address\n  metadata:\n    properties:\n      owner: us\n"
        "- files: customer.json\n  subject: customer\n"
        "- files: order.avsc\n  subject: order\n  references:\n    a.Address: address\n  config:\n"
        "    compatibility: FULL\nsettings:\n  later:\n    mode: READONLY\n"
    )
    assert Path("customer.json").read_text() == '{\n  "title": "Customer",\n  "type": "object"\n}\n'
    assert planned(capsys) == []
    assert told(capsys) == [f"4 schemas of {served.url}: 4 as they were."]
    assert served.writes == []


@pytest.mark.parametrize("ours", [True, False], ids=["Sigla", "another registry"])
def test_what_was_pulled_makes_an_empty_registry_the_same(
    served: Served, capsys: Captured, here: Path, *, ours: bool
) -> None:
    """A second stage, or the registry that comes after this one."""
    served.ours = ours
    told(capsys)
    with EmbeddedStore(here / "data"):
        pass
    assert main(["apply", "--data", "data", "--yes"]) == 0
    assert main(["plan", "--data", "data", "--detailed-exitcode"]) == 0
    with EmbeddedStore(here / "data") as store:
        made = Registry(store.catalog, store.bodies, FixedClock())
        for subject in served.registry.catalog.subjects(names.search(":*:")):
            assert [row.guid for row in made.catalog.history(subject)] == [
                row.guid for row in served.registry.catalog.history(subject)
            ]


def test_a_file_keeps_its_place_and_its_form(served: Served, capsys: Captured) -> None:
    """Whoever formats their files, and sorts them into folders, finds them as they were."""
    told(capsys)
    Path("shop").mkdir()
    Path("order.avsc").rename("shop/orders.avsc")
    Path("shop/orders.avsc").write_text(ORDER)
    Path("sigla.yaml").write_text(f"# ours\n{Path('sigla.yaml').read_text()}".replace("order.avsc", "shop/orders.avsc"))
    assert told(capsys) == [f"4 schemas of {served.url}: 4 as they were."]
    assert Path("shop/orders.avsc").read_text() == ORDER
    assert Path("sigla.yaml").read_text().startswith("# ours\n")


def test_an_older_version_is_written_over(served: Served, capsys: Captured) -> None:
    """Nothing is lost: the registry has it."""
    told(capsys)
    served.registry.change_config(Subject(".", "customer"), {"level": "NONE"})
    served.registry.register(Subject(".", "customer"), Draft('{"type":"string"}', "JSON"))
    Path("customer.json").write_text('{"title": "Customer","type":"object"}')
    assert told(capsys) == [
        "~ customer.json: version 2 of customer",
        "~ sigla.yaml",
        f"4 schemas of {served.url}: 3 as they were, 1 written.",
    ]
    assert planned(capsys) == []


def test_what_was_changed_by_hand_is_not_written_over(served: Served, capsys: Captured) -> None:
    """All or nothing: the files stay one state of the registry."""
    told(capsys)
    changed = ADDRESS.replace("Address", "Adress")
    Path("address.avsc").write_text(changed)
    Path("customer.json").unlink()
    assert told(capsys, status=1) == ["address.avsc: changed by hand", "Nothing was written. --force writes over it."]
    assert not Path("customer.json").exists()
    assert told(capsys, "--force", "--dry-run")[-1] == (
        f"4 schemas of {served.url}: 2 as they were, 2 written; nothing was done."
    )
    assert Path("address.avsc").read_text() == changed
    told(capsys, "--force")
    assert planned(capsys) == []


def test_a_declaration_that_people_made_stays_or_is_asked_about(served: Served, capsys: Captured) -> None:
    """Its patterns and comments are theirs. What it does not say of settings is left as it is, as in a plan."""
    told(capsys)
    ours = (
        "schemas:\n- {files: '*.*sc', subject: '{stem}'}  # all of Avro\n- {files: '*.json', subject: '{stem}'}\n"
        "- {files: 'contexts/eu/*', subject: ':.eu:{stem}'}\n"
    )
    Path("sigla.yaml").write_text(ours)
    assert told(capsys)[-1] == f"4 schemas of {served.url}: 4 as they were."
    served.registry.register(Subject(".", "new"), Draft('"string"'))
    Path("mine.avsc").write_text('"int"')
    assert told(capsys)[:2] == [
        "+ new.avsc: version 1 of new",
        f"mine.avsc: its subject is not in {served.url}; --prune removes it",
    ]
    assert Path("sigla.yaml").read_text() == ours
    Path("sigla.yaml").write_text(ours.replace("{stem}'}\n", "{stem}', compatibility: NONE}\n"))
    assert told(capsys, status=1)[0] == "sigla.yaml: changed by hand, and the registry is not as it says"
    told(capsys, "--force")
    assert [(each["action"], each["subject"]) for each in planned(capsys)] == [("register", "mine")]


def test_files_of_subjects_that_are_gone_are_removed_when_asked(served: Served, capsys: Captured) -> None:
    """Else they are told: the next apply would register them anew."""
    told(capsys)
    served.registry.delete_subject(Subject(".", "customer"))
    assert f"customer.json: its subject is not in {served.url}; --prune removes it" in told(capsys)
    assert told(capsys, "--prune") == [
        "- customer.json: customer is not there any more",
        "~ sigla.yaml",
        f"3 schemas of {served.url}: 3 as they were, 1 removed.",
    ]
    assert planned(capsys) == []
    Path("mine.avsc").write_text('"int"')
    said = Path("sigla.yaml").read_text().replace("schemas:\n", "schemas:\n- {files: mine.avsc, subject: mine}\n")
    Path("sigla.yaml").write_text(said)
    assert "mine.avsc: changed by hand" in told(capsys, "--prune", status=1)
    assert Path("mine.avsc").exists()


def test_a_part_is_pulled_beside_what_is_there(served: Served, capsys: Captured) -> None:
    """A team has its own subjects: others' settings are not theirs, and what they use of others has a version."""
    assert told(capsys, "ord*", ":.eu:pay")[-1] == f"2 schemas of {served.url}: 2 written."
    said = Path("sigla.yaml").read_text()
    assert "a.Address:\n      subject: address\n      version: 1\n" in said
    assert "FORWARD" not in said
    assert "later" not in said
    assert planned(capsys) == []
    assert told(capsys, "customer")[-1] == f"1 schema of {served.url}: 1 written."
    assert {path.name for path in Path().rglob("*.*") if path.is_file()} == {
        "order.avsc", "pay.proto", "customer.json", "sigla.yaml"
    }  # fmt: skip
    assert planned(capsys) == []
    capsys.readouterr()
    assert main(["pull", "none"]) == 2
    assert capsys.readouterr().err == f"sigla: {served.url} has no subject that is called so: none.\n"


def test_an_alias_has_settings_and_no_file(served: Served, capsys: Captured) -> None:
    """What is registered by its name goes to another subject."""
    served.registry.change_config(Subject(".", "customer"), {"alias": "address"})
    assert "customer is an alias of address: its own versions are not pulled." in told(capsys)
    assert planned(capsys) == []


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("number", range(5))
def test_an_interrupted_pull_is_finished_by_the_next_one(
    number: int, capsys: Captured, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sigla.yaml comes last, and no file is half written."""
    write: Callable[[Path, str], None] = pull._write_file
    done: list[Path] = []

    def cut_off(place: Path, text: str) -> None:
        if len(done) == number:
            place.parent.mkdir(parents=True, exist_ok=True)
            with pull._begun(place) as begun:
                begun.write_text(text[: len(text) // 2])
                raise KeyboardInterrupt
        write(place, text)
        done.append(place)

    monkeypatch.setattr(pull, "_write_file", cut_off)
    assert main(["pull"]) == 130
    assert len([path for path in here.rglob("*") if path.is_file()]) == number
    monkeypatch.setattr(pull, "_write_file", write)
    told(capsys)
    assert planned(capsys) == []
