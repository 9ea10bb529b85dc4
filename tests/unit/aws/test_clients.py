"""How we speak to AWS: within the time there is, over connections that are kept, and counted."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from sigla.aws.clients import CONFIG, CONNECTIONS, PROBING, Clients
from sigla.errors import StoreError
from sigla.registry import Options
from sigla.stores.s3.objects import SIDE_BY_SIDE, Objects
from tests.build import FixedClock
from tests.contract.aws import make_table
from tests.contract.engines import in_process

Answer = tuple[int, bytes, int]
"""Status, content, and how long it claims to be; a status of 0 hangs up without a word."""


def ok(content: bytes = b"") -> Answer:
    return 200, content, len(content)


BROKEN: Answer = (500, b"", 0)
HANGS_UP: Answer = (0, b"", 0)


class Server(ThreadingHTTPServer):
    """Gives the answers it is told, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[Answer] = []
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def _answer(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.rfile.read(int(headers.get("content-length", 0)))
        self.server.asked.append((self.path, headers))
        status, content, length = self.server.answers.pop(0)
        self.close_connection = not status or length != len(content)
        if status:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.send_header("ETag", '"tag"')
            self.send_header("x-amz-request-id", "1")
            self.end_headers()
            self.wfile.write(content)

    do_GET = do_PUT = _answer  # noqa: N815 - the server looks for these names

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def clients(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    made = Clients(region="us-east-1", s3_endpoint=server.url)
    yield made
    made.close()


@pytest.fixture
def objects(clients: Clients) -> Iterator[Objects]:
    made = Objects(clients.s3, "bucket", clock=FixedClock())
    yield made
    made.close()


def longest_s(config: Any) -> float:
    """All tries of a call that is never answered, and the longest pauses between them."""
    tries = config.retries["total_max_attempts"]
    pauses = sum(2**number for number in range(tries - 1))
    return float(tries * (config.connect_timeout + config.read_timeout) + pauses)


def test_a_call_that_is_never_answered_ends_within_the_time_of_a_write() -> None:
    """What is left is for the refusal."""
    assert longest_s(CONFIG) < Options().retrying_seconds < 29  # where API Gateway gives up


def test_a_zone_that_never_answers_is_told_of_within_the_time_of_its_heartbeat() -> None:
    """The row and the line are written afterwards, while there is time."""
    assert longest_s(PROBING) <= 25


def test_every_thread_of_an_adapter_has_a_connection() -> None:
    """None waits for another's, and none is thrown away after use."""
    assert CONFIG.max_pool_connections == CONNECTIONS >= SIDE_BY_SIDE


def test_one_connection_serves_many_calls(server: Server, objects: Objects) -> None:
    """A handshake costs more than a read."""
    server.answers = [ok(b"a"), ok(b"b"), ok()]
    assert [stored and stored.content for stored in (objects.read("1"), objects.read("2"))] == [b"a", b"b"]
    assert objects.create("3", b"c")
    assert server.connections == 1


def test_an_object_is_sent_as_it_is(server: Server, objects: Objects) -> None:
    """In one piece, without a checksum behind it, and without asking first whether it may come."""
    server.answers = [ok()]
    objects.create("name", b"content")
    (_, headers) = server.asked[0]
    assert headers["content-length"] == "7"
    assert headers["if-none-match"] == "*"
    assert headers["content-type"] == "application/json"
    assert not {"expect", "x-amz-trailer", "content-encoding", "transfer-encoding"} & headers.keys()
    assert not [name for name in headers if name.startswith("x-amz-checksum")]


@pytest.mark.parametrize("trouble", [BROKEN, HANGS_UP], ids=["5xx", "hangs up"])
def test_a_moment_of_trouble_is_not_noticed(server: Server, objects: Objects, trouble: Answer) -> None:
    """The client asks again."""
    server.answers = [trouble, ok(b"a")]
    stored = objects.read("1")
    assert stored is not None
    assert stored.content == b"a"


@pytest.mark.parametrize("trouble", [BROKEN, HANGS_UP], ids=["5xx", "hangs up"])
def test_lasting_trouble_is_told_after_three_tries(
    server: Server, clients: Clients, objects: Objects, trouble: Answer
) -> None:
    """Which are one call to us."""
    server.answers = [trouble] * 9
    with pytest.raises(StoreError, match="reading 1 failed in S3"):
        objects.read("1")
    assert len(server.asked) == 3
    assert clients.calls.read() == {"GetObject": 1}


def test_an_answer_that_is_cut_off_is_not_taken_for_the_whole(server: Server, objects: Objects) -> None:
    """A body must be read to its end."""
    server.answers = [(200, b"half", 8)]
    with pytest.raises(StoreError):
        objects.read("1")


def test_the_environment_says_where_aws_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for every tool of AWS; an argument says it louder."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    clients = Clients(dynamodb_endpoint="http://127.0.0.1:8000")
    assert clients.s3.meta.endpoint_url == "http://127.0.0.1:4566"
    assert clients.dynamodb.meta.endpoint_url == "http://127.0.0.1:8000"
    assert clients.s3.meta.region_name == "eu-central-1"
    clients.close()


@pytest.mark.parametrize("other", [{}, {"AWS_DEFAULT_REGION": "us-east-1"}])
def test_the_region_is_the_one_that_is_deployed_to(other: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever deployed by AWS_REGION alone types `sigla init` and `sigla keys` next: there, and not in another one."""
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    for name, value in {"AWS_REGION": "eu-central-1", **other}.items():
        monkeypatch.setenv(name, value)
    clients = Clients()
    assert {clients.s3.meta.region_name, clients.dynamodb.meta.region_name} == {"eu-central-1"}
    clients.close()


def test_every_call_of_every_service_is_counted() -> None:
    """By its operation, also from many threads at once."""
    with in_process() as clients:
        before = clients.calls.read()
        make_table(clients.dynamodb)
        clients.s3.list_buckets()
        asks: list[Callable[[], None]] = [lambda: clients.calls(_Model("GetObject"))] * 200
        threads = [threading.Thread(target=ask) for ask in asks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert clients.calls.read() - before == {"CreateTable": 1, "ListBuckets": 1, "GetObject": 200}


class _Model:
    def __init__(self, name: str) -> None:
        self.name = name


def test_clients_are_made_when_they_are_wanted_and_only_once() -> None:
    """A function that reads bodies does not pay for DynamoDB."""
    clients = Clients(region="us-east-1")
    assert "dynamodb" not in vars(clients)
    assert clients.s3 is clients.s3
    clients.close()
