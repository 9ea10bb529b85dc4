"""Two regions of `sigla serve`, of which one is open to whoever reaches it."""

import json
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from tests.protocol.clients.server import run, serving


def test_an_open_server_has_no_credentials_that_it_could_be_made_to_send(tmp_path: Path) -> None:
    """Whoever reached it had it ask any address whether it is the other region, with the key of an administrator."""
    made = run("keys", "create", "admin", "--role", "admin", "--data", str(tmp_path / "a"), "--json")
    secret = json.loads(made.stdout)["secret"]
    user = {"SIGLA_USER": "admin", "SIGLA_SECRET": secret}
    asked: list[str | None] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers["Authorization"])
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with serving(tmp_path / "a", "--auth") as primary:
        none = run("serve", "--port", "0", "--data", str(tmp_path / "none"), "--follow", primary.url, **user)
        assert (none.returncode, "Start it with --auth" in none.stderr) == (2, True)
        assert not (tmp_path / "none").exists(), "it is no follower yet"
        with serving(tmp_path / "b", "--auth", "--follow", primary.url, settings=user):
            pass
        for more in (["--follow", primary.url], []):
            refused = run("serve", "--port", "0", "--data", str(tmp_path / "b"), *more, **user)
            assert (refused.returncode, refused.stdout) == (2, "")
            assert "Start it with --auth" in refused.stderr
    with (
        serving(tmp_path / "c", settings=user) as alone,
        HTTPServer(("127.0.0.1", 0), Elsewhere) as elsewhere,
        ThreadPoolExecutor(1) as thread,
    ):
        answering = thread.submit(elsewhere.handle_request)
        url = f"http://127.0.0.1:{elsewhere.server_address[1]}"
        assert alone.ask("POST", "/regions/reach", {"url": url}).json["why"]
        answering.result()
    assert asked == [None]
