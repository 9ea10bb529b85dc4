"""The page about files shows what `sigla check` prints for the set that it describes."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sigla import cli
from sigla.model import Draft, Subject
from sigla.registry import Registry
from sigla.schema_files import declaration, file_sets
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock
from tests.house import ROOT, text_of
from tests.unit.cli import answering, writing

PAGE = text_of(ROOT / "docs" / "files.md")
ADDRESS = '{"name": "to", "type": "com.acme.Address"}'
FILES = {
    "events/order.avsc": '{"type": "record", "namespace": "com.acme", "name": "Order", "fields": [\n'
    '    {"name": "id", "type": "string"},\n    {"name": "to", "type": "Address"}]}',
    "events/basket.avsc": '{"type": "record", "namespace": "com.acme", "name": "Basket", "fields": [\n'
    '    {"name": "order", "type": "Order"}]}',
    "events/address.avsc": '{"type": "record", "namespace": "com.acme", "name": "Address", "fields": []}',
    "protos/common/money.proto": 'syntax = "proto3"; package common; message Money { int64 units = 1; }',
    "protos/payment.proto": 'syntax = "proto3"; import "common/money.proto"; message P { common.Money m = 1; }',
    "more/refund.proto": 'syntax = "proto3"; message Refund { string id = 1; }',
    "customers/customer.json": '{"title": "Customer", "type": "object"}',
}
NEW_ORDER = (
    '{"type": "record", "namespace": "com.acme", "name": "Order", "fields": [\n'
    '    {"name": "id", "type": "string"},\n    {"name": "to", "type": "Address"},\n'
    '    {"doc": "says why",\n    "name": "note", "type": "string"}]}'
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the page, committed; then the order has a field more."""
    monkeypatch.chdir(tmp_path)
    (content,) = re.findall(r"```yaml sigla.yaml\n(.*?)```", PAGE, re.DOTALL)
    for path, text in {**FILES, "sigla.yaml": content}.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "All schemas"]):
        subprocess.run([*git, *words], check=True)
    Path("events/order.avsc").write_text(NEW_ORDER)
    return tmp_path


@pytest.fixture
def url() -> Iterator[str]:
    """A registry that has the order as it was, and what it references."""
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        address = '{"type": "record", "namespace": "com.acme", "name": "Address", "fields": []}'
        registry.register(
            Subject(".", "com.acme.Order"), Draft(FILES["events/order.avsc"].replace('"Address"', address))
        )
        with answering.behind_a_url(answering.registry(registry)) as found:
            yield found


@pytest.mark.process
@pytest.mark.usefixtures("repository")
def test_the_commands_print_what_the_page_shows(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever types them sees the same."""
    shown = re.findall(r"```text\n\$ sigla (check.*?)\n(.*?)```", PAGE, re.DOTALL)
    assert len(shown) == 2
    for typed, printed in shown:
        assert cli.main(typed.replace("$REGISTRY", url).split()) == 1
        assert capsys.readouterr().out == printed.replace("$REGISTRY", url)


@pytest.mark.process
def test_plan_apply_and_pull_print_what_the_page_shows(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One command behind the other, from the files as they were committed to a registry that has nothing."""
    (repository / "events/order.avsc").write_text(FILES["events/order.avsc"])
    shown = re.findall(r"```text\n\$ sigla ((?:plan|apply|pull).*?)\n(.*?)```", PAGE, re.DOTALL)
    assert [typed.split()[0] for typed, _ in shown] == ["plan", "apply", "plan", "pull"]
    with (
        EmbeddedStore() as store,
        writing.behind_a_url(writing.Served(Registry(store.catalog, store.bodies, FixedClock()))) as served,
    ):
        for typed, printed in shown:
            if typed.startswith("pull"):
                (repository / "elsewhere").mkdir()
                monkeypatch.chdir(repository / "elsewhere")
            assert cli.main(typed.replace("$REGISTRY", served.url).split()) == 0
            assert capsys.readouterr().out == printed.replace("$REGISTRY", served.url)


def test_each_key_is_on_the_page() -> None:
    """The page is what people write sigla.yaml with."""
    keys = {*declaration._TOP, *declaration._SCOPE, *declaration._ENTRY}
    assert [key for key in keys if f"`{key}`" not in PAGE] == []
    assert [field for field in file_sets._FIELDS if f"`{{{field}}}`" not in PAGE] == []


def test_every_piece_of_yaml_is_read() -> None:
    """The references of the page belong to an entry."""
    for said in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL):
        entry = {"files": "a.avsc", "subject": "a", **yaml.safe_load(said)}
        assert declaration.read_declaration(yaml.safe_dump({"schemas": [entry]}).encode()).entries[0].references
