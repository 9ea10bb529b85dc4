"""Where `regions.url` names another registry by mistake, or another product: nothing goes there, or comes back.

Each registry is as its functions are wired; the other product knows nothing of pairs, and would take what it is sent.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from sigla import wiring
from sigla.aws.clients import Clients
from sigla.ports.primary import ANOTHER
from sigla.regions.nouns import RegionKind, Role
from sigla.remote import primary
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.store import AwsStore
from tests.contract.aws import make_table
from tests.contract.engines import REGION
from tests.functions.test_two_regions import Region, Two, answering, fixed, pair, two
from tests.unit.web.test_gateway import function_url

__all__ = ["pair", "two"]

WANTED_ELSEWHERE = (
    ("GET", "/schemas/ids/2", None),
    ("GET", "/subjects/others/versions/latest", None),
    ("POST", "/compatibility/subjects/others/versions/latest", fixed("More")),
    ("POST", "/subjects/mine/versions", fixed("Mine")),
    ("PUT", "/config", {"compatibility": "NONE"}),
    ("DELETE", "/subjects/others", None),
)
"""What only the primary may answer; of each the other registry would have an answer."""


@contextmanager
def another_registry(pair: Two, monkeypatch: pytest.MonkeyPatch, *, is_one_of_two: bool) -> Iterator[Region]:
    """In a table and a bucket of its own, with the keys of these and two schemas. is_one_of_two: it has a pair."""
    with closing(Clients(region=REGION)) as clients:
        bucket = "another-bucket"
        where = {} if REGION == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": REGION}}
        clients.s3.create_bucket(Bucket=bucket, **where)
        table = make_table(clients.dynamodb)
        with closing(AwsStore(clients, table, bucket, SystemClock())) as store:
            for each in pair.a.store.objects.names("default/keys/"):
                (found,) = pair.a.store.objects.read_many([each])
                assert found is not None
                store.objects.create(each, found.content)
            if is_one_of_two:
                assert store.region.set_role(None, Role(1, RegionKind.PRIMARY, pair="that of others"))
            variables = {**pair.a.variables, "SIGLA_TABLE": table, "SIGLA_BUCKET": bucket}
            region = Region(REGION, store, variables, pair.a.opened)
            with answering(region) as server:
                region.url = f"http://127.0.0.1:{server.server_port}"
                if is_one_of_two:
                    region.begin(monkeypatch, pair.b)
                else:
                    region.handler = begun_alone(pair, region, monkeypatch)
                for name in ("Others", "More"):
                    pair.register(region, "others" if name == "Others" else "more", name)
                yield region


def begun_alone(pair: Two, region: Region, monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as environment:
        for name, value in region.variables.items():
            environment.setenv(name, value)
        handler = pair.a.opened.enter_context(closing(wiring.lambda_handler()))
        handler(function_url("GET", "/mode"), None)
    return handler


@pytest.mark.parametrize("is_one_of_two", [False, True], ids=["alone", "of another pair"])
def test_another_registry_where_the_settings_say_the_primary_is_takes_nothing_and_is_not_believed(
    pair: Two, monkeypatch: pytest.MonkeyPatch, is_one_of_two: bool
) -> None:
    """It would have an answer for each, and a place for what is written."""
    with another_registry(pair, monkeypatch, is_one_of_two=is_one_of_two) as other:
        pair.b.begin(monkeypatch, replace(pair.a, url=other.url))
        for asked in WANTED_ELSEWHERE:
            monkeypatch.setattr("sigla.web.two_regions.SILENT_MS", 0)
            told = pair.ask(pair.b, *asked)
            assert (told.status, told.code) == (500, 50003), asked
            assert "not known" not in told.body["message"], "nothing was carried out, and a client may ask elsewhere"
        assert {line.split()[0] for line in other.asked} == {"GET", "HEAD"}
        assert pair.ask(other, "GET", "/subjects").body == ["more", "others"]
        assert pair.ask(other, "GET", "/config").body == {"compatibilityLevel": "BACKWARD"}
        assert pair.ask(pair.b, "GET", "/schemas/ids/1").status == 200


@pytest.mark.parametrize("is_one_of_two", [False, True], ids=["alone", "of another pair"])
def test_a_registry_carries_nothing_out_that_is_for_another_one(
    pair: Two, monkeypatch: pytest.MonkeyPatch, is_one_of_two: bool
) -> None:
    """Also where a region of before sends it without having looked who answers."""
    role = pair.a.store.region.role()
    assert role is not None
    with another_registry(pair, monkeypatch, is_one_of_two=is_one_of_two) as other:
        sent = {"X-Forward": "true", "X-Sigla-Pair": role.pair}
        for asked in WANTED_ELSEWHERE:
            told = pair.ask(other, *asked, **sent)
            assert (told.code, told.headers["x-sigla-pair"]) == (50003, ANOTHER), asked
        assert pair.ask(other, "GET", "/subjects").body == ["more", "others"]
        assert "x-sigla-pair" not in pair.ask(other, "GET", "/subjects").headers
    known = pair.ask(pair.a, "GET", "/subjects", **sent)
    assert (known.status, known.headers["x-sigla-pair"]) == (200, role.pair)


@contextmanager
def other_product() -> Iterator[tuple[str, list[str]]]:
    """Its URL, and what it was sent: it takes all of it, and says nothing of a pair."""
    sent = list[str]()

    class Product(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

        def do_GET(self) -> None:
            sent.append(f"{self.command} {self.path}")
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            content = b'{"id":7}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) * (self.command != "HEAD")])

        do_POST = do_PUT = do_DELETE = do_HEAD = do_GET  # noqa: N815 - as the base calls them

    server = ThreadingHTTPServer(("127.0.0.1", 0), Product)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", sent
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_another_product_is_written_nothing(pair: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older release, or one of Confluent: that it knows no pair is found out by a question."""
    monkeypatch.setattr("sigla.web.two_regions.SILENT_MS", 0)
    with other_product() as (url, sent):
        pair.b.begin(monkeypatch, replace(pair.a, url=url))
        for asked in WANTED_ELSEWHERE:
            told = pair.ask(pair.b, *asked)
            assert (told.status, told.code) == (500, 50003), asked
            assert "not known" not in told.body["message"]
        assert {line.split()[0] for line in sent} == {"GET", "HEAD"}


def test_who_answers_is_asked_once_before_what_is_written_and_not_before_each(
    pair: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each answer of the primary tells it as well, so that only the first write after a minute takes a trip more."""

    def asked(ask: Callable[[], object]) -> list[str]:
        pair.a.asked.clear()
        ask()
        return [line.split()[0] for line in pair.a.asked]

    def write() -> None:
        for name in ("One", "Two", "Three"):
            pair.register(pair.b, name.lower(), name)

    assert asked(write) == ["HEAD", "POST", "POST", "POST"]
    assert asked(lambda: pair.ask(pair.b, "GET", "/schemas/ids/77")) == ["GET"]
    pair.b.begin(monkeypatch, pair.a)
    assert asked(lambda: pair.ask(pair.b, "GET", "/schemas/ids/77")) == ["GET"]
    assert asked(write) == ["POST"] * 3, "the read has told it"
    monkeypatch.setattr(primary, "PROVEN_MS", 0)
    assert asked(write) == ["HEAD", "POST"] * 3


def test_two_regions_of_before_there_were_pairs_get_one(pair: Two) -> None:
    """Until then what is sent on is sent as it was. The primary draws it, and the follower has the same."""
    for region in (pair.a, pair.b):
        region.become(pair="")
    assert pair.register(pair.b, "before", "Before") == 2
    assert pair.a.asked == ["POST /subjects/before/versions"]
    for region in (pair.a, pair.b):
        region.turn()
    pairs = {role.pair for region in (pair.a, pair.b) if (role := region.store.region.role())}
    assert len(pairs) == 1
    assert pairs != {""}
    pair.a.asked.clear()
    assert pair.register(pair.b, "after", "After") == 3
    assert pair.a.asked == ["HEAD /", "POST /subjects/after/versions"]


def test_a_primary_of_before_that_was_passed_over_draws_no_pair(pair: Two) -> None:
    """Two that were drawn apart would be of two registries, and the region could not come back."""
    for region in (pair.a, pair.b):
        region.become(pair="")
    pair.b.become(kind=RegionKind.PRIMARY, epoch=2, reconciled=False, adopts=True)
    for _ in range(2):
        for region in (pair.a, pair.b):
            region.turn()
    assert [role.pair for region in (pair.a, pair.b) if (role := region.store.region.role())] == ["", ""]
