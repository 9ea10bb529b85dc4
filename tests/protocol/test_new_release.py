"""One release of `sigla serve` takes the place of another while clients write and read: docs/upgrade.md."""

import json
from pathlib import Path

import pytest

from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.kept.stores import OLDEST, answers, read, restore_directory
from tests.protocol.clients.server import run
from tests.protocol.restarts import OURS, Machine, released, upgraded

WITH_LISTS = {"metadata", "ruleSet", "references"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    restore_directory(OLDEST, tmp_path / "data")
    return tmp_path / "data"


def told() -> dict[str, str]:
    """What ids mean in the store that the release left, answers by their questions."""
    return {asked: text for asked, status, text in read(OLDEST / "answers.jsonl") if asked.startswith("/schemas")}


def known() -> dict[int, str]:
    """The texts of ids that Confluent's client can read: it stumbles over lists in metadata, which it cannot hash."""
    answers = {asked.removeprefix("/schemas/ids/"): json.loads(text) for asked, text in told().items()}
    return {
        int(id): answer["schema"]
        for id, answer in answers.items()
        if id.isdecimal() and "schema" in answer and not answer.keys() & WITH_LISTS
    }


@pytest.mark.parametrize("keeps_socket", [True, False], ids=["systemd keeps the socket", "the port is closed"])
def test_an_upgrade_under_load_changes_no_read_and_loses_no_write(
    data: Path, tmp_path: Path, keeps_socket: bool
) -> None:
    """And where systemd keeps the socket, no call fails: it waits for the release that answers it."""
    old = released(OLDEST.name, tmp_path)
    done = upgraded(Machine(data, keeps_socket=keeps_socket), old or OURS, known())
    seen = done.seen
    print(f"from {OLDEST.name if old else 'this code'}: {done.gap_s * 1000:.0f} ms, {seen}")
    assert seen.changed == []
    if keeps_socket:
        assert seen.failed == []
    with EmbeddedStore(data) as store:
        registry = Registry(store.catalog, store.bodies, store.clock)
        assert {asked: text for asked, _, text in answers(registry, told())} == told()
    scrubbed = run("scrub", "--settle", "0", "--data", str(data), "--fix", "SECOND_NAME")
    assert scrubbed.returncode == 0, scrubbed.stdout + scrubbed.stderr
