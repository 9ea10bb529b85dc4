"""A registry without keys is for its own machine; the browsers of that machine bring pages from everywhere."""

import pytest

from sigla.registry import Registry
from sigla.web import app
from sigla.web.http.guard import Guard
from sigla.web.http.refusals import ForeignHost, ForeignOrigin
from sigla.web.local import server
from tests.unit.web.conftest import Client

HERE = b"127.0.0.1:8081"


def refuses(guard: Guard, host: bytes | None, origin: bytes | None = None, method: str = "GET") -> type | None:
    headers = {name: said for name, said in ((b"host", host), (b"origin", origin)) if said is not None}
    for _ in range(2):  # a name that was seen before is judged no otherwise
        try:
            guard(method, headers)
        except ForeignHost as refusal:
            return type(refusal)
    return None


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8081",
        "LocalHost.:8081",
        "registry.localhost",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.8.9.10:8081",
        "[::1]",
        "[::1]:8081",
        "[0:0:0:0:0:0:0:1]:8081",
        "host.docker.internal",
        "HOST.docker.internal.:9",
    ],
)
def test_names_of_this_machine_are_served(host: str) -> None:
    """Whatever port a tunnel or a container gives it."""
    assert refuses(Guard(["host.docker.internal:8081"]), host.encode()) is None


@pytest.mark.parametrize("named", ["fd00::8081", "FD00:0::8081", "[fd00::8081]", "[fd00::8081]:80"])
def test_an_address_of_ipv6_is_named_with_brackets_or_without(named: str) -> None:
    """A client puts it into brackets; who starts a registry gives the address alone."""
    assert refuses(Guard([named]), b"[fd00::8081]:9000") is None
    assert refuses(Guard([named]), b"[fd00::8082]:9000") is not None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8081",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "notlocalhost",
        "0.0.0.0:8081",
        "[::]:8081",
        "10.0.0.1",
        "2130706433",
        "user@localhost",
        "localhost evil.example",
        "localhost,evil.example",
        "localhost:8081:8081",
        "localhost:port",
        "::1",
        "[::1",
        "localhost..",
        ":8081",
        "b\xfccher.example",
    ],
)
def test_a_name_that_is_made_to_lead_here_is_refused(host: str) -> None:
    """DNS rebinding: a page of evil.example asks evil.example, which is 127.0.0.1 by now, and may read the answer."""
    assert refuses(Guard(), host.encode("latin-1")) is ForeignHost


@pytest.mark.parametrize("host", [None, b""])
def test_whoever_sends_no_name_is_no_browser(host: bytes | None) -> None:
    """Probes of load balancers speak HTTP/1.0; a browser cannot be made to leave the name out."""
    assert refuses(Guard(), host) is None
    assert refuses(Guard(), host, b"http://evil.example", "POST") is ForeignOrigin


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "http://127.0.0.1:3000", "file://", "x://", "*"])
def test_a_page_from_elsewhere_writes_nothing(method: str, origin: str) -> None:
    """A form needs no answer to do its harm, and another server of this machine may show pages of others."""
    assert refuses(Guard(origins=["http://trusted.example"]), HERE, origin.encode(), method) is ForeignOrigin


@pytest.mark.parametrize(
    "origin", [None, "http://127.0.0.1:8081", "https://127.0.0.1:8081", "http://trusted.example", "x://trusted"]
)
def test_our_own_pages_and_trusted_ones_write(origin: str | None) -> None:
    """`/docs` tries requests; a proxy in front may speak TLS."""
    guard = Guard(origins=["http://trusted.example", "x://trusted"])
    assert refuses(guard, HERE, origin.encode() if origin else None, "POST") is None


def test_where_others_reach_it_every_name_is_served_and_a_page_from_elsewhere_writes_nothing() -> None:
    """An open registry of a company is in the network of everybody who looks at a page there."""
    guard = Guard(None, origins=["http://trusted.example"])
    for host in (b"registry.internal:8081", b"10.0.0.1:8081", b"not a host"):
        assert refuses(guard, host) is None
        assert refuses(guard, host, b"http://evil.example", "POST") is ForeignOrigin
        assert refuses(guard, host, b"null", "POST") is ForeignOrigin
        assert refuses(guard, host, b"http://trusted.example", "POST") is None
        assert refuses(guard, host, b"http://" + host, "POST") is None


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_a_page_from_elsewhere_may_ask(method: str) -> None:
    """It does not get to see the answer: that is the browser's part, and CORS."""
    assert refuses(Guard(), HERE, b"http://evil.example", method) is None


def test_everybody_trusted_is_everybody() -> None:
    """As `SIGLA_CORS_ORIGINS=*` has it."""
    assert refuses(Guard(origins=["*"]), HERE, b"http://any.example", "POST") is None


def test_names_cost_no_memory_without_end() -> None:
    """A client may send any port behind a name that is good."""
    guard = Guard()
    for port in range(1000):
        guard("GET", {b"host": b"localhost:%d" % port})
    assert len(guard._known) < 100


@pytest.mark.parametrize(
    "path", ["/subjects", "/nowhere", "/health", "/health/live", "/metrics", "/docs", "/openapi.json"]
)
def test_the_refusal_is_the_contracts_wherever_it_is_asked(registry: Registry, path: str) -> None:
    """Metrics tell names of subjects, too. It is counted, and told in the log like any other."""
    client = Client(server.application(registry, options=app.HttpOptions(guard=Guard())))
    told = client("GET", path, headers={"host": "evil.example"})
    assert told.refusal == (403, 403, "The registry is not known as 'evil.example': name that host in SIGLA_HOSTS")
    assert 'status="403"} 1' in client("GET", "/metrics").text


def test_a_refused_write_has_written_nothing(registry: Registry) -> None:
    client = Client(server.application(registry, options=app.HttpOptions(guard=Guard())))
    sent = {"host": "localhost:8081", "origin": "http://evil.example", "content-type": "application/json"}
    told = client("POST", "/subjects/orders/versions", {"schema": '"int"'}, sent)
    assert told.refusal == (
        403,
        403,
        "Pages of 'http://evil.example' may not write here: name that origin in SIGLA_CORS_ORIGINS",
    )
    assert client("GET", "/schemas/ids/1").status == 404


@pytest.mark.parametrize("name, said", [("host", "evil.example"), ("origin", "http://evil.example")])
def test_a_second_name_or_origin_opens_nothing(registry: Registry, name: str, said: str) -> None:
    """A client that sends two of them does not count as one that sends none."""
    client = Client(app.build(registry, options=app.HttpOptions(guard=Guard())))
    sent = [("host", "localhost"), ("origin", "http://localhost"), (name, said), ("content-type", "application/json")]
    assert client("POST", "/subjects/orders/versions", {"schema": '"int"'}, sent).status == 403


def test_a_preflight_to_a_foreign_name_is_refused_too(registry: Registry) -> None:
    """It is answered before any route is looked for, and names who may call."""
    trusted = "https://ui.example"
    options = app.HttpOptions(guard=Guard(origins=[trusted]), cors_origins=(trusted,))
    client = Client(server.application(registry, options=options))
    asked = {"Origin": trusted, "Access-Control-Request-Method": "POST"}
    assert client("OPTIONS", "/subjects", headers={**asked, "Host": "localhost"}).status == 200
    assert client("OPTIONS", "/subjects", headers={**asked, "Host": "evil.example"}).status == 403
