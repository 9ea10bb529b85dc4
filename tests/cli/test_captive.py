"""Something else answers in the place of AWS, as a proxy does that wants a login first: one sentence, and 2."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sigla.cli import main

Captured = pytest.CaptureFixture[str]

PLACE = ("--bucket", "bodies", "--table", "catalog")
COMMANDS = (
    ["init", *PLACE, "--identity", "a" * 32],
    ["ids", *PLACE],
    ["export", "dump.jsonl", *PLACE],
)
OF_S3 = (
    ["keys", "list", "--bucket", "bodies"],
    ["keys", "create", "me", "--role", "admin", "--bucket", "bodies"],
)
PAGE = b"<!doctype html><html><p>Please log in.</html>"
BODIES = {
    "a page": PAGE,
    "a page in XHTML": b"<html><p>Please log in.</p></html>",
    "a page in Latin-1": "<html>B\xfcro".encode("latin-1"),
    "nothing": b"",
    "empty JSON": b"{}",
}


class Strange(BaseHTTPRequestHandler):
    """Answers the same to everything."""

    status = 200
    headers_sent: tuple[tuple[str, str], ...] = ()
    body = b""

    def handle_any(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(self.status)
        for name, value in (*self.headers_sent, ("Content-Length", str(len(self.body)))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(self.body)

    do_GET = do_HEAD = do_POST = do_PUT = handle_any  # noqa: N815 - http.server looks for these names

    def log_message(self, *_: object) -> None:
        """It says nothing."""


@contextmanager
def answering(**answer: object) -> Iterator[str]:
    """The URL of a server that answers so."""
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Strange,), answer)) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.chdir(tmp_path)
    return monkeypatch


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_an_answer_that_is_not_of_aws_is_a_sentence(
    command: list[str], body: bytes, credentials: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """It was a trace; and a page in the place of an answer must not be a table without rows, or a write."""
    with answering(body=body) as url:
        credentials.setenv("AWS_ENDPOINT_URL", url)
        assert main(command) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "the answer does not come from AWS: see AWS_ENDPOINT_URL" in told.err


@pytest.mark.parametrize("command", OF_S3, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_s3_takes_for_its_own_failure_is_a_sentence(
    command: list[str], body: bytes, credentials: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Its client takes a page with 200 for an answer that was cut off, and asks again."""
    with answering(body=body) as url:
        credentials.setenv("AWS_ENDPOINT_URL", url)
        assert main(command) != 0
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)


@pytest.mark.parametrize("command", [COMMANDS[0], OF_S3[0]], ids=lambda words: " ".join(words[:2]))
def test_a_redirect_that_leads_to_itself_is_a_sentence(
    command: list[str], credentials: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """S3's client asks again where it is sent, and each time it was sent on, until Python had enough."""
    with answering(status=301, headers_sent=(("Location", "/"),)) as url:
        credentials.setenv("AWS_ENDPOINT_URL", url)
        assert main(command) != 0
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
