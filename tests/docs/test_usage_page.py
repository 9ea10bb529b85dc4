"""The page about `sigla usage` shows what the command prints, and what the log says of a delete."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sigla import cli
from sigla.changes.kinds import DAY_MS
from sigla.model import BodyKey, SchemaId
from sigla.ports.audits import FoundRecords, Occurrence
from sigla.registry.audits import packed
from sigla.stores.sqlite.audits import EmbeddedAudits
from tests.house import ROOT, text_of
from tests.protocol.clients.server import serving
from tests.protocol.test_auth import a_key, authorization
from tests.waiting import eventually

PAGE = text_of(ROOT / "docs" / "usage.md")
DAY, THE_DAY_BEFORE = "2026-11-28", "2026-11-27"
URL = "http://127.0.0.1:8081"
ORDERS = {"schema": '{"type":"record","name":"Order","fields":[]}'}


@pytest.mark.process
def test_the_examples_are_what_a_registry_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever types them sees the same."""
    root, billing = (
        a_key(tmp_path / "data", name, "--role", role) for name, role in (("root", "admin"), ("billing", "reader"))
    )
    monkeypatch.setenv("SIGLA_USER", "root")
    monkeypatch.setenv("SIGLA_SECRET", root.partition(":")[2])
    typed, printed = re.findall(r"```text\n\$ sigla (.*?)\n(.*?)```", PAGE, re.DOTALL)[0]
    (line,) = (json.loads(each) for each in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
    with serving(tmp_path / "data", "--auth") as server:
        server.ask("POST", "/subjects/orders-value/versions", ORDERS, authorization(root))
        server.ask("GET", "/schemas/ids/1?subject=orders-value", headers=authorization(billing))
        now = datetime.now(UTC)
        today, yesterday = now.date().isoformat(), (now - timedelta(days=1)).date().isoformat()
        expected = printed.replace(DAY, today).replace(THE_DAY_BEFORE, yesterday)
        found = Occurrence(BodyKey(".", SchemaId(1)), "orders", 1200, round(now.timestamp() * 1000) - DAY_MS)
        audit = FoundRecords(round(now.timestamp() * 1000), ("/lake",), [found], {"orders": 7 * DAY_MS})
        EmbeddedAudits(tmp_path / "data").put(packed(audit))

        def told() -> str:
            capsys.readouterr()
            assert cli.main(typed.replace(URL, server.url).split()) == 0
            return capsys.readouterr().out

        eventually(lambda: "billing" in told())
        assert told() == expected
        server.ask("DELETE", "/subjects/orders-value/versions/1", headers=authorization(root))
        server.stop()
    (logged,) = (json.loads(each) for each in server.output.splitlines() if "deleted-in-use" in each)
    assert logged.keys() - {"ts"} == line.keys()
    same = ("event", "subject", "versions", "topics", "message")
    assert {name: str(logged[name]).replace(today, DAY) for name in same} == {name: str(line[name]) for name in same}
