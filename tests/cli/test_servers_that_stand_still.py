"""Commands of two regions look at a server before they ask it for what may take minutes: it may stand still."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from sigla.cli import main
from sigla.remote import region
from tests.unit.regions.serving import serving
from tests.waiting import PATIENCE_S


@contextmanager
def asked() -> Iterator[tuple[str, list[str]]]:
    """A server that cannot say what its region is, and what it was asked."""
    seen: list[str] = []

    class Stopped(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(f"{self.command} {self.path}")
            self.send_response(500)
            self.end_headers()
            self.wfile.write(json.dumps({"error_code": 50001, "message": "Not now"}).encode())

        do_POST = do_GET  # noqa: N815 - as `http.server` calls it

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with serving(Stopped) as url:
        yield url, seen


@pytest.mark.parametrize(
    "command",
    [
        ["promote", "{}"],
        ["promote", "{}", "--force"],
        ["promote", "{}", "--undo"],
        ["rejoin", "http://b", "--primary", "{}"],
    ],
    ids=" ".join,
)
def test_nothing_that_may_take_minutes_is_asked_before_a_look(command: list[str], tmp_path: Path) -> None:
    """An answer to a look is there within seconds, or it is said that the server does not answer."""
    with asked() as (url, seen):
        words = [word.format(url) for word in command]
        report = ["--report", str(tmp_path / "report")] if "rejoin" in words else []
        assert main([*words, "--yes", *report]) == 1
    assert seen == ["GET /regions"]


END = {"position": 7, "hash": "h"}
REPORT = {
    "role": None,
    "journal": END,
    "newest": 0,
    "behind": 0,
    "problem": "",
    "installed": {"release": "1", "options": {}},
}


def test_what_takes_longer_than_a_command_waits_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One run of the command brings all of it."""
    seen, asked_again = list[str](), threading.Event()

    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(REPORT)

        def do_POST(self) -> None:
            form = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append("bring" if form["end"] is None else "join")
            if seen == ["bring"]:
                monkeypatch.setattr(region, "MERGE_S", PATIENCE_S)
                asked_again.wait(PATIENCE_S)
            asked_again.set()
            brought = {"changed": True, "commits": 7, "report": {}, "left": [], "end": END}
            self.answer(brought if form["end"] is None else {"changed": True, "waits": ""})

        def answer(self, form: object) -> None:
            body = json.dumps(form).encode()
            with suppress(OSError):  # who has waited in vain has left
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    monkeypatch.setattr(region, "MERGE_S", 0.5)
    with serving(Slow) as url:
        try:
            words = ["rejoin", "http://old", "--primary", url, "--yes", "--report", str(tmp_path / "report")]
            assert main(words) == 0
        finally:
            asked_again.set()
    told = capsys.readouterr()
    assert "7 commits of http://old were missing" in told.out
    assert "What http://old has is still being brought." in told.err
    assert seen[:2] == ["bring", "bring"]
    assert seen[-1] == "join"
