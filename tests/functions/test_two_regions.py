"""A registry in two regions as its functions are wired: what its follower answers itself, and what it asks there."""

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from sigla import __version__, wiring
from sigla.auth import api_keys
from sigla.aws.clients import Clients
from sigla.functions.lifecycle import Handler
from sigla.functions.replay import SOURCE
from sigla.regions import rules
from sigla.regions.nouns import RegionKind
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import bringing, fence
from sigla.stores.dynamodb.store import AwsStore
from tests.contract.aws import make_table
from tests.contract.engines import REGION, in_process
from tests.functions.deployed import Reply
from tests.loops import threads_loop
from tests.unit.web.test_gateway import function_url

THERE = "eu-central-1"
CLOCK = {"source": "aws.events"}


@dataclass
class Region:
    """One of the two. store: as an operator opens it. url: where its function answers. asked: what came that way."""

    name: str
    store: AwsStore
    variables: dict[str, str]
    opened: ExitStack
    asked: list[str] = field(default_factory=list)
    url: str = ""
    handler: Handler | None = None

    def begin(self, monkeypatch: pytest.MonkeyPatch, other: "Region") -> None:
        """Its two functions, told where the other region is."""
        table, bucket = other.variables["SIGLA_TABLE"], other.variables["SIGLA_BUCKET"]
        told = {
            **self.variables,
            "SIGLA_REGION_PEER": f"dynamodb+s3://{table}/{bucket}?region={other.name}",
            "SIGLA_REGION_URL": other.url,
        }
        self.told = told
        with monkeypatch.context() as environment:
            for name, value in told.items():
                environment.setenv(name, value)
            self.handler = self.opened.enter_context(closing(wiring.lambda_handler()))
            self.replay = self.opened.enter_context(closing(wiring.replay_handler()))
            # Clients are made when they are first wanted: these, while the region is that of this function.
            self.handler(function_url("GET", "/mode"), None)
            self.replay({"source": SOURCE, "detail": {"commits": []}}, None)

    def turn(self) -> dict[str, Any]:
        return self.replay(CLOCK, None)

    def become(self, **role: Any) -> None:
        seen = self.store.region.role()
        assert seen is not None
        assert self.store.region.set_role(seen, replace(seen, **role))


@contextmanager
def answering(region: Region) -> Iterator[ThreadingHTTPServer]:
    """The function URL of a region."""

    class FunctionUrl(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

        def do_GET(self) -> None:
            region.asked.append(f"{self.command} {self.path}")
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            assert region.handler is not None
            with threads_loop():
                told = region.handler(function_url(self.command, path, query, body, headers=dict(self.headers)), None)
            content = told["body"].encode()
            self.send_response(told["statusCode"])
            for name, value in told["headers"].items():
                self.send_header(name, value)
            if "content-length" not in {name.lower() for name in told["headers"]}:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PUT = do_DELETE = do_HEAD = do_GET  # noqa: N815 - as the base calls them

    server = ThreadingHTTPServer(("127.0.0.1", 0), FunctionUrl)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Two:
    """A is the primary, and B follows it. Each has the same keys, `admin` and `reader`."""

    a: Region
    b: Region
    secret: str
    servers: dict[str, ThreadingHTTPServer]

    def ask(self, region: Region, method: str, target: str, body: Any = None, **headers: str) -> Reply:
        shown = headers.pop("shown", f"admin:{self.secret}")
        sent = {"Authorization": f"Basic {b64encode(shown.encode()).decode()}", **headers}
        path, _, query = target.partition("?")
        event = function_url(method, path, query, json.dumps(body) if body is not None else "", headers=sent)
        assert region.handler is not None
        told = region.handler(event, None)
        answered = {name.lower(): value for name, value in told["headers"].items()}
        return Reply(told["statusCode"], json.loads(told["body"]) if told["body"] else None, answered)

    def register(self, region: Region, subject: str, name: str) -> int:
        told = self.ask(region, "POST", f"/subjects/{subject}/versions", fixed(name))
        assert told.status == 200, told
        return int(told.body["id"])

    def join(self) -> None:
        assert self.a.turn()["armed"]
        role = self.a.store.region.role()
        assert role is not None
        self.a.become(armed=role.armed - rules.KNOWN_MS)
        assert self.b.turn()["follows"]


def fixed(name: str) -> dict[str, str]:
    return {"schema": json.dumps({"type": "fixed", "name": name, "size": 4})}


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Iterator[Two]:
    """Nothing is copied yet."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setattr(fence, "COPIES", 2)
    monkeypatch.setattr(bringing, "PATIENCE_S", 60.0)
    with in_process(), threads_loop(), ExitStack() as opened:
        regions = {}
        secret = ""
        for name, role in ((REGION, "primary"), (THERE, "follower")):
            clients = opened.enter_context(closing(Clients(region=name)))
            bucket = f"registry-in-{name}"
            where = {} if name == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": name}}
            clients.s3.create_bucket(Bucket=bucket, **where)
            table = make_table(clients.dynamodb)
            store = opened.enter_context(closing(AwsStore(clients, table, bucket, SystemClock())))
            if not secret:
                secret = api_keys.create(store.keys, "admin", "admin", (), now=0)[1]
                kept = store.objects
            else:
                for each in kept.names("default/keys/"):
                    (found,) = kept.read_many([each])
                    assert found is not None
                    store.objects.create(each, found.content)
            variables = {
                "AWS_DEFAULT_REGION": name,
                "SIGLA_AUTH": "keys",
                "SIGLA_BUCKET": bucket,
                "SIGLA_LOG_READS": "1",
                "SIGLA_REGION_ROLE": role,
                "SIGLA_TABLE": table,
            }
            regions[name] = Region(name, store, variables, opened)
        a, b = regions[REGION], regions[THERE]
        servers = {each.name: opened.enter_context(answering(each)) for each in (a, b)}
        for region in (a, b):
            region.url = f"http://127.0.0.1:{servers[region.name].server_port}"
        a.begin(monkeypatch, b)
        b.begin(monkeypatch, a)
        made = Two(a, b, secret, servers)
        made.register(a, "orders", "First")
        yield made


@pytest.fixture
def pair(two: Two) -> Two:
    """In step."""
    two.join()
    two.a.asked.clear()
    return two


def test_a_follower_answers_reads_by_itself_and_says_how_old_they_are(pair: Two) -> None:
    pair.b.turn()
    for target in ("/schemas/ids/1", "/subjects", "/subjects/orders/versions/latest", "/config", "/mode"):
        here, there = pair.ask(pair.b, "GET", target), pair.ask(pair.a, "GET", target)
        assert (here.status, here.body) == (there.status, there.body)
        assert 0 <= int(here.headers["x-sigla-behind"]) < 120_000
        assert "x-sigla-behind" not in there.headers
    assert pair.a.asked == []


def test_each_stack_says_what_it_runs_and_which_region_its_settings_name(pair: Two) -> None:
    """`sigla regions` compares that with what the data say: a stack may not be deployed yet with a new region."""
    for region, other in ((pair.a, pair.b), (pair.b, pair.a)):
        region.turn()
        told, role = region.store.region.installed(), region.store.region.role()
        assert told is not None
        assert role is not None
        assert (told.release, told.options["SIGLA_AUTH"], told.peer) == (__version__, "keys", other.store.url)
        assert role.other_url == told.peer


def test_nothing_is_concluded_from_what_is_not_here_yet(pair: Two) -> None:
    """An id, a subject, a version and a GUID that the primary gave a moment ago; and what neither has is 404."""
    new = pair.register(pair.a, "news", "News")
    pair.register(pair.a, "orders", "First")
    guid = pair.ask(pair.a, "GET", "/subjects/news/versions/1").headers.get("x-guid") or ""
    targets = [f"/schemas/ids/{new}", f"/schemas/ids/{new}?subject=news", "/subjects/news/versions/latest"]
    targets += ["/subjects/news/versions", f"/schemas/ids/{new}/versions", "/config/news?defaultToGlobal=true"]
    targets += [f"/schemas/guids/{guid}"] * bool(guid)
    for target in targets:
        here, there = pair.ask(pair.b, "GET", target), pair.ask(pair.a, "GET", target)
        assert (here.status, here.body) == (there.status, there.body), target
    found = pair.ask(pair.b, "POST", "/subjects/news", fixed("News"))
    assert (found.status, found.body["id"]) == (200, new)
    assert pair.ask(pair.b, "GET", "/schemas/ids/77").code == 40403
    assert pair.ask(pair.b, "GET", "/subjects/none/versions").code == 40401
    assert "GET /schemas/ids/77" in pair.a.asked


def test_what_writes_is_carried_out_by_the_primary_and_comes_back(pair: Two) -> None:
    """Also what is refused there, in its words."""
    assert pair.register(pair.b, "written", "Written") == 2
    assert pair.ask(pair.a, "GET", "/subjects/written/versions").body == [1]
    assert pair.ask(pair.b, "PUT", "/config/written", {"compatibility": "FULL"}).body == {"compatibility": "FULL"}
    refused = pair.ask(pair.b, "PUT", "/config/written", {"compatibility": "NONSENSE"})
    assert refused.code == 42203
    assert pair.ask(pair.b, "DELETE", "/subjects/none").code == 40401
    assert pair.b.turn()["carry_out"] == 0, "it has come back with the answers"
    pair.a.asked.clear()
    assert pair.ask(pair.b, "GET", "/subjects/written/versions/1").status == 200
    assert pair.a.asked == []


def test_what_is_compared_with_the_newest_versions_is_asked_of_the_primary(pair: Two) -> None:
    pair.ask(pair.a, "PUT", "/config/orders", {"compatibility": "NONE"})
    checked = pair.ask(pair.b, "POST", "/compatibility/subjects/orders/versions/latest", fixed("Other"))
    assert (checked.status, checked.body) == (200, {"is_compatible": True})


def test_a_silent_primary_leaves_reads_as_they_are_and_the_rest_is_50003(pair: Two) -> None:
    """Nothing is asked of it again for five seconds."""
    pair.servers[REGION].shutdown()
    pair.servers[REGION].server_close()
    assert pair.ask(pair.b, "GET", "/schemas/ids/1").status == 200
    for method, target, body in (
        ("GET", "/schemas/ids/77", None),
        ("GET", "/subjects/none/versions", None),
        ("POST", "/subjects/orders/versions", fixed("Second")),
        ("POST", "/compatibility/subjects/orders/versions/latest", fixed("Other")),
    ):
        told = pair.ask(pair.b, method, target, body)
        assert (told.status, told.code) == (500, 50003)
    assert pair.a.asked == []
    assert pair.ask(pair.b, "GET", "/subjects/orders/versions").body == [1]


def test_a_follower_that_knows_no_url_concludes_nothing_either(pair: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its clients try the next URL of theirs, as with a registry that has lost its leader."""
    pair.b.begin(monkeypatch, replace(pair.a, url=""))
    new = pair.register(pair.a, "news", "News")
    for method, target in (
        ("GET", f"/schemas/ids/{new}"),
        ("GET", "/subjects/news/versions"),
        ("DELETE", "/subjects/a"),
    ):
        assert pair.ask(pair.b, method, target).code == 50003
    assert pair.ask(pair.b, "GET", "/subjects/orders/versions").body == [1]


def test_strangers_are_no_matter_of_the_other_region(pair: Two) -> None:
    for method, target in (("GET", "/schemas/ids/77"), ("POST", "/subjects/orders/versions"), ("GET", "/subjects")):
        assert pair.ask(pair.b, method, target, fixed("X"), shown="admin:wrong").status == 401
    assert pair.a.asked == []


def test_what_was_sent_on_is_not_sent_on_again(pair: Two) -> None:
    """Two regions that take each other for the primary end in an answer."""
    told = pair.ask(pair.b, "POST", "/subjects/orders/versions", fixed("Second"), **{"X-Forward": "true"})
    assert (told.status, told.code) == (500, 50003)
    assert pair.ask(pair.b, "GET", "/schemas/ids/77", **{"X-Forward": "true"}).code == 50003
    assert pair.a.asked == []


def test_a_region_that_has_not_everything_yet_sends_everything_on(two: Two) -> None:
    """Until the copy is complete: a list of half of it would be believed.

    Nothing before the registry has two regions: it is not known yet whether the one at that address is the other one.
    """
    assert two.ask(two.b, "GET", "/subjects").code == 50003
    assert two.a.asked == []
    two.a.turn()
    assert two.ask(two.b, "GET", "/subjects").body == ["orders"]
    assert two.ask(two.b, "GET", "/schemas/ids/1").status == 200
    assert two.register(two.b, "meanwhile", "Meanwhile") == 2
    assert two.ask(two.b, "GET", "/").status == 200


def test_a_promotion_is_met_by_instances_that_remember_another_role(pair: Two) -> None:
    """No deployment, no start: writes are taken by the new primary, and the old one sends them there."""
    for region in (pair.a, pair.b):
        assert pair.ask(region, "GET", "/subjects").status == 200
    pair.b.turn()
    pair.a.become(kind=RegionKind.FOLLOWER, epoch=2)
    pair.b.become(kind=RegionKind.PRIMARY, epoch=2)
    given = pair.register(pair.a, "after", "After")
    assert given > rules.BLOCK
    assert pair.b.asked == ["HEAD /", "POST /subjects/after/versions"]
    assert pair.register(pair.b, "after", "After") == given
    assert pair.ask(pair.a, "GET", f"/schemas/ids/{given}").status == 200
    assert pair.a.turn()["carry_out"] == 0, "it has come back with the answer"


def test_exporters_run_in_the_primary_alone(pair: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that write to one destination would take away what the other one has written, each by what it has.

    So one that was passed over writes nothing as soon as it is closed.
    """
    told = list[Any]()
    for region in (pair.a, pair.b, pair.a):
        if told[1:]:
            pair.a.become(open=False)
        with monkeypatch.context() as environment, ExitStack() as opened:
            for name, value in region.told.items():
                environment.setenv(name, value)
            turns = opened.enter_context(closing(wiring.exporters_handler()))
            told.append(turns(CLOCK, None))
    assert told[0]["exporters"] == 0
    assert told[1:] == [{"event": "exporters", "follows": 1}, {"event": "exporters", "closed": 1}]
