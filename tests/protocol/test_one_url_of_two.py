"""A URL that leads to either of two regions, as that of a load balancer does: no command takes one for the other."""

import json
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from itertools import cycle
from pathlib import Path
from typing import Any

from tests.protocol.clients.server import Server, run, serving
from tests.unit.regions.serving import serving as answering
from tests.waiting import eventually


def balanced(*servers: Server) -> AbstractContextManager[str]:
    """The URL of what asks each of them in turn."""
    turns = cycle(servers)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

        def do_GET(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = next(turns).ask(self.command, self.path, json.loads(sent) if sent else None)
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        do_POST = do_GET  # noqa: N815 - as `http.server` calls it

    return answering(Handler)


def role(server: Server) -> tuple[str, int, bool]:
    found = server.ask("GET", "/regions").json["role"]
    return found["kind"], found["epoch"], found["open"]


def test_what_was_seen_of_one_server_is_not_done_at_the_other_one(tmp_path: Path) -> None:
    """The primary is looked at, so nothing is asked, and its follower would be promoted by force."""
    with serving(tmp_path / "a") as a, serving(tmp_path / "b", "--follow", a.url) as b:
        before = role(a), role(b)
        for way in ([], ["--force"], ["--undo"]):
            with balanced(a, b) as url:
                refused = run("promote", url, *way)
            assert (refused.returncode, refused.stdout) == (2, ""), refused.stderr
            assert "Nothing was changed. Another server answers by this URL" in refused.stderr
            assert "not that of a load balancer." in refused.stderr
        assert (role(a), role(b)) == before


def test_one_server_by_two_urls_is_not_compared_with_itself(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as a, serving(tmp_path / "b", "--follow", a.url) as b:
        eventually(lambda: b.ask("GET", "/regions").json["behind"] is not None)
        for server in (a, b):
            shown = run("regions", server.url, f"http://localhost:{server.port}")
            assert (shown.returncode, shown.stdout) == (2, "")
            assert "Both URLs lead to one server, perhaps through a load balancer" in shown.stderr
        assert "would lose nothing now" in run("regions", a.url, b.url).stdout
