"""Two copies of one warmed function go on from the same moment: nothing drawn or remembered before may be common."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.test import EnvironBuilder, run_wsgi_app

from sigla.aws.clients import Clients
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION

ROOT = Path(__file__).parents[2]


class _Kept(BaseHTTPRequestHandler):
    """A connection to moto's application that is kept, as AWS keeps them; moto's own server closes each."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body at once: no side waits for an acknowledgement
    application = DomainDispatcherApplication(create_backend_app)

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        asked = EnvironBuilder(self.path, method=self.command, headers=list(self.headers.items()), data=body)
        chunks, status, headers = run_wsgi_app(self.application, asked.get_environ(), buffered=True)
        content = b"".join(chunks)
        self.send_response(int(status.split()[0]))
        for name, value in headers.items():
            if name.lower() not in ("connection", "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = _answer  # noqa: N815 - the server looks for these names

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """AWS, for other processes."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Kept) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def facts(endpoint: str) -> Any:
    """What `restored.py` tells, run once."""
    aws = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ENDPOINT_URL": endpoint,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in aws.items():
            patch.setenv(name, value)
        clients = Clients()
        clients.s3.create_bucket(Bucket=BUCKET)
        table = make_table(clients.dynamodb)
        clients.close()
    told = {"SIGLA_TABLE": table, "SIGLA_BUCKET": BUCKET, "SIGLA_LOG_READS": "0.5"}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SIGLA_"))}
    ran = subprocess.run(
        [sys.executable, "-m", "tests.functions.restored"],
        cwd=ROOT,
        env=clean | aws | told,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(ran.stdout)


@pytest.fixture
def copies(facts: Any) -> tuple[Any, Any]:
    assert facts["warm"]["status"] == 200
    one, other = facts["restored"]
    return one, other


def test_copies_draw_each_their_own(copies: tuple[Any, Any]) -> None:
    """Pauses, nonces and request ids; two writers who pause alike meet again and again."""
    one, other = copies
    assert not set(one["drawn"]) & set(other["drawn"])


def test_copies_open_connections_of_their_own(facts: Any, copies: tuple[Any, Any]) -> None:
    """Two who write into one connection read each other's answers."""
    assert facts["warm"]["connections"], "the function was warm"
    for copy in copies:
        assert not copy["connections"]["before"]
    one, other = (set(copy["connections"]["after"]) for copy in copies)
    assert one
    assert other
    assert not one & other


def test_a_key_that_was_accepted_before_is_asked_for_again(copies: tuple[Any, Any]) -> None:
    """A snapshot may be months old; a revoked key is refused by every copy."""
    assert [copy["left"] for copy in copies] == [401, 401]


def test_a_copy_remembers_no_body(facts: Any, copies: tuple[Any, Any]) -> None:
    """The key, the row and the body are read again; of them the warm function asked for the row alone."""
    assert facts["warm"]["calls"] == 1
    assert [copy["first"]["calls"] for copy in copies] == [3, 3]


def test_the_first_request_of_a_copy_is_a_cold_start(copies: tuple[Any, Any]) -> None:
    """Whoever looks for slow requests finds those that were the first."""
    assert [(copy["first"]["cold"], copy["cold starts"]) for copy in copies] == [(True, 1), (True, 1)]


def test_what_one_copy_writes_the_other_reads(copies: tuple[Any, Any]) -> None:
    one, other = copies
    assert (one["written"], other["written"]) == (200, 200)
    assert one["seen"] == ["orders"]
    assert other["seen"] == ["of-1", "orders"]


def test_each_copy_draws_which_reads_it_logs(copies: tuple[Any, Any]) -> None:
    """Else all of them would leave out the same reads, and the sample would not be one."""
    one, other = copies
    assert one["reads"] != other["reads"]
    assert {True, False} == set(one["reads"]) == set(other["reads"])
