"""Commands of two regions look at a server before they ask it for what may take minutes: it may stand still."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sigla.cli import main


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

        do_POST = do_GET  # noqa: N815 - as the class that calls it wants it

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Stopped) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", seen
        finally:
            server.shutdown()
            thread.join()


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
