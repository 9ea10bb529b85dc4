"""A store falls silent at whichever of its calls: a sentence and a status, and what stood before stands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sigla import opening
from sigla.cli import main
from sigla.errors import StoreError
from sigla.ports.store import Store
from sigla.settings import Address
from tests.attack.ports import Call, client
from tests.build import StoreOf
from tests.cli.explaining import Captured, framed, stored

REFUSED = 1
OLD = "what was exported yesterday"


@contextmanager
def silent_from(number: int) -> Iterator[list[str]]:
    """Every store of a registry that is read: from that call on it is silent. Yields the calls that were made."""
    made: list[str] = []

    def between(call: Call, carry_out: Callable[[], Any]) -> Any:
        made.append(call.name)
        if len(made) >= number:
            raise StoreError(f"{call.name} failed") from OSError("the disk is gone")
        return carry_out()

    read = opening.reading

    @contextmanager
    def reading(address: Address) -> Iterator[Store]:
        with read(address) as held:
            ports = {name: client(name, getattr(held, name), between) for name in ("catalog", "bodies", "journal")}
            inventory = client("inventory", held.inventory, between)
            yield StoreOf(**ports, inventory=inventory, clock=held.clock, marks=held.marks)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(opening, "reading", reading)
        yield made


@pytest.mark.parametrize(
    "command",
    [
        "export --data data dump.jsonl",
        "export --data data --compacted dump.jsonl",
        "scrub --data data",
        f"explain --data data {framed(2)}",
    ],
)
def test_a_command_ends_in_a_sentence_at_whichever_call(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    stored(tmp_path / "data")
    dump = tmp_path / "dump.jsonl"
    number, ended = 0, REFUSED
    while ended == REFUSED:
        number += 1
        dump.write_text(OLD)
        with silent_from(number) as made:
            ended = main(command.split())
        if ended == REFUSED:
            told = capsys.readouterr()
            assert told.err == f"sigla: In data {made[-1]} failed (the disk is gone).\n"
            assert not told.out
            assert {each.name for each in tmp_path.iterdir()} == {"data", "dump.jsonl"}
            assert dump.read_text() == OLD
    assert ended == 0
    assert number > 2, "it was asked for nothing"
