"""`sigla zone-url`: what a start script puts into `schema.registry.url`, and what it says when it is not the best."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from sigla.cli import main
from sigla.cli.zone_url import in_order
from sigla.ports.zones import Zone
from sigla.remote.failures import RemoteMisused
from sigla.remote.zones import directory
from tests.build import NOW, FixedClock
from tests.unit.aws.metadata import Ec2, Ecs, served

A = Zone("use1-az1", "us-east-1a", "https://a.example", healthy=True, checked=NOW)
B = Zone("use1-az2", "us-east-1b", "https://b.example", healthy=True, checked=NOW)
C = Zone("use1-az4", "us-east-1c", "https://c.example", healthy=False, checked=NOW, reason="its function fails")
ZONES = (A, B, C)

Captured = pytest.CaptureFixture[str]


class Registry:
    """Answers GET /zones with what a test says, one answer after the other, the last one again and again."""

    def __init__(self, *answers: tuple[int, Any]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str | None]] = []
        self.url = ""

    def answer(self, path: str, credentials: str | None) -> tuple[int, bytes]:
        self.asked.append((path, credentials))
        status, told = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return status, told if isinstance(told, bytes) else json.dumps(told).encode()


def told_of(*zones: Zone) -> tuple[int, list[dict[str, Any]]]:
    """As `GET /zones` tells them."""
    fields = ("id", "name", "url", "healthy", "checked", "reason")
    return 200, [{name: getattr(zone, name) for name in fields if getattr(zone, name) != ""} for zone in zones]


@contextmanager
def running(registry: Registry) -> Iterator[Registry]:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = registry.answer(self.path, self.headers.get("Authorization"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        registry.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield registry
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nowhere in AWS, and without a proxy."""
    for name in ("AWS_LAMBDA_METADATA_API", "ECS_CONTAINER_METADATA_URI_V4", "SIGLA_ZONE", "SCHEMA_REGISTRY_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def serving() -> Iterator[Callable[..., Registry]]:
    with ExitStack() as opened:
        yield lambda *answers: opened.enter_context(running(Registry(*answers)))


# --- the list --------------------------------------------------------------------------------------------------------


def test_the_own_zone_comes_first_and_the_registry_last(serving: Callable[..., Registry], capsys: Captured) -> None:
    """What is not healthy comes after it: better a hung zone than nothing, but nothing else is worse."""
    registry = serving(told_of(A, B, C))
    assert main(["zone-url", "--registry", registry.url, "--zone", "use1-az2"]) == 0
    told = capsys.readouterr()
    assert told.out == f"https://b.example,https://a.example,{registry.url},https://c.example\n"
    assert told.err == ""
    assert registry.asked == [("/zones", None)]


def test_a_registry_without_public_urls_is_asked_by_one_of_its_zones(
    serving: Callable[..., Registry], capsys: Captured
) -> None:
    """There is no address besides: the list is that of the zones, each once, with whatever path they have."""
    registry = serving((200, []))
    registry.url += "/v1"
    one = replace(A, name="", url=registry.url)
    other = replace(B, name="", url="https://b1c2-vpce-0bb.execute-api.us-east-1.amazonaws.com/v1")
    registry.answers = [told_of(one, other)]
    assert main(["zone-url", "--registry", registry.url, "--zone", "use1-az2"]) == 0
    assert capsys.readouterr().out == f"{other.url},{one.url}\n"


def test_it_takes_the_url_and_the_zone_from_the_environment(
    serving: Callable[..., Registry], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = serving(told_of(A, B))
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", f"{registry.url}/prod/")
    monkeypatch.setenv("SIGLA_ZONE", "us-east-1b")
    assert main(["zone-url"]) == 0
    assert capsys.readouterr().out == f"https://b.example,https://a.example,{registry.url}/prod\n"
    assert registry.asked == [("/prod/zones", None)]


def test_a_url_may_be_written_as_one_likes(serving: Callable[..., Registry], capsys: Captured) -> None:
    """Without credentials nothing is said about them."""
    registry = serving(told_of(A))
    given = registry.url.replace("http", "HTTP") + "//"
    assert main(["zone-url", "--registry", given, "--zone", "use1-az1"]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == (f"https://a.example,{registry.url}\n", "")


@pytest.mark.parametrize("endpoint, variable", [(Ec2(), "EC2"), (Ecs(), "ECS")])
def test_it_finds_its_own_zone(
    serving: Callable[..., Registry],
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    endpoint: Ec2 | Ecs,
    variable: str,
) -> None:
    """By its id where the machine knows it, else by its name."""
    registry = serving(told_of(B, A))
    with served(endpoint) as host:
        if variable == "EC2":
            monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
            monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f"http://{host}")
        else:
            monkeypatch.setenv("ECS_CONTAINER_METADATA_URI_V4", f"http://{host}/v4/of-this-container")
        assert main(["zone-url", "--registry", registry.url, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["urls"] == ["https://a.example", "https://b.example", registry.url]
    assert told["here"]["told_by"] == variable
    assert [zone["id"] for zone in told["zones"]] == ["use1-az2", "use1-az1"]


def test_an_id_is_not_taken_for_the_same_name_of_another_account(
    serving: Callable[..., Registry], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here us-east-1a is use1-az2, and where the registry is deployed it is use1-az1."""
    registry = serving(told_of(A, B))
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    with served(Ec2(zone_id="use1-az2", zone_name="us-east-1a")) as host:
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f"http://{host}")
        assert main(["zone-url", "--registry", registry.url]) == 0
    assert capsys.readouterr().out.startswith("https://b.example,")


def test_clients_that_lose_their_zone_spread_over_the_others() -> None:
    """Each machine has an order of its own, and keeps it."""
    zones = [A, B, *(replace(A, id=f"use1-az{n}", url=f"https://{n}.example") for n in (4, 5, 6))]
    orders = {
        machine: in_order("https://r.example", zones, A, machine=f"ip-10-0-0-{machine}") for machine in range(200)
    }
    assert all(urls[0] == A.url and urls[-1] == "https://r.example" for urls in orders.values())
    seconds = [urls[1] for urls in orders.values()]
    assert all(30 <= seconds.count(zone.url) <= 70 for zone in zones[1:])
    assert orders[7] == in_order("https://r.example", zones[::-1], A, machine="ip-10-0-0-7")


def test_a_url_is_told_once() -> None:
    """Whoever gives the URL of a zone gets it where that zone belongs."""
    assert in_order(B.url, ZONES, A, machine="m") == [A.url, B.url, C.url]


# --- what it says when the list is not the best ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "zone, word",
    [("use1-az9", "no endpoint in use1-az9"), ("", "set --zone"), ("use1-az4", "its function fails")],
)
def test_a_list_without_the_own_zone_is_explained(
    serving: Callable[..., Registry], capsys: Captured, zone: str, word: str
) -> None:
    """One sentence on standard error; the list is good all the same: the others, in whatever order."""
    registry = serving(told_of(*ZONES))
    assert main(["zone-url", "--registry", registry.url, "--zone", zone]) == 0
    told = capsys.readouterr()
    *others, last, sick = told.out.strip().split(",")
    assert (set(others), last, sick) == ({A.url, B.url}, registry.url, C.url)
    assert word in told.err
    assert len(told.err.splitlines()) == 1


def test_a_registry_without_zones_has_its_own_url(serving: Callable[..., Registry], capsys: Captured) -> None:
    """A start script works before there are zones, and on a laptop."""
    registry = serving(told_of())
    assert main(["zone-url", "--registry", registry.url, "--zone", "use1-az1"]) == 0
    told = capsys.readouterr()
    assert told.out == f"{registry.url}\n"
    assert "no endpoints for zones" in told.err


def test_credentials_are_neither_printed_nor_sent(serving: Callable[..., Registry], capsys: Captured) -> None:
    """The list is put into files and logs; a client's key is given to the client by itself."""
    registry = serving(told_of(A))
    given = registry.url.replace("//", "//reader:s3cr@t@")
    assert main(["zone-url", "--registry", given, "--zone", "use1-az1"]) == 0
    told = capsys.readouterr()
    assert told.out == f"https://a.example,{registry.url}\n"
    assert "basic.auth.user.info" in told.err
    assert "s3cr" not in told.err
    assert registry.asked == [("/zones", None)]


# --- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("passing", [(500, b"x"), (503, b""), (429, b"")])
def test_a_registry_that_fails_for_a_moment_is_asked_again(
    serving: Callable[..., Registry], passing: tuple[int, bytes]
) -> None:
    registry, clock = serving(passing, passing, told_of(A)), FixedClock()
    assert [zone.url for zone in directory(registry.url, clock)] == [A.url]
    assert len(registry.asked) == 3
    assert len(clock.slept) == 2


def test_a_registry_that_goes_on_failing_is_asked_three_times(serving: Callable[..., Registry]) -> None:
    registry = serving((500, b""))
    with pytest.raises(RemoteMisused, match="status 500"):
        directory(registry.url, FixedClock())
    assert len(registry.asked) == 3


@pytest.mark.parametrize(
    "answer, word",
    [
        ((404, {"error_code": 404, "message": "HTTP 404 Not Found"}), "status 404"),
        ((200, b"<html>"), "not with a list of zones"),
        ((200, {}), "not with a list of zones"),
        ((200, {"id": "x"}), "not with a list of zones"),
        ((200, [{"id": "x"}]), "not with a list of zones"),
        ((200, 7), "not with a list of zones"),
        ((200, [told_of(A)[1][0] | {"url": "javascript:x"}]), "not with a list of zones"),
        ((200, [told_of(A)[1][0] | {"url": "https://a.example,https://evil.example"}]), "not with a list of zones"),
        ((200, [told_of(A)[1][0] | {"url": 7}]), "not with a list of zones"),
    ],
)
def test_a_registry_without_a_directory_is_told_in_a_sentence(
    serving: Callable[..., Registry], capsys: Captured, answer: tuple[int, Any], word: str
) -> None:
    """Nothing is printed that a script could take for a list."""
    registry = serving(answer)
    assert main(["zone-url", "--registry", registry.url]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert word in told.err
    assert len(registry.asked) == 1


def test_a_registry_that_is_not_there_is_told_in_a_sentence() -> None:
    with running(Registry()) as gone:
        pass
    with pytest.raises(RemoteMisused, match=rf"^{gone.url}/zones does not answer \(Connection refused\)\.$"):
        directory(gone.url, FixedClock())


@pytest.mark.parametrize(
    "url", ["registry.example", "me:s3cret@registry.example", "ftp://x", "http://", "http://[", "http://h:x"]
)
def test_a_url_that_is_none_is_told_in_a_sentence(capsys: Captured, url: str) -> None:
    assert main(["zone-url", "--registry", url]) == 2
    told = capsys.readouterr().err
    assert "Invalid URL of a registry" in told
    assert "s3cret" not in told


def test_without_a_url_it_says_how_to_give_one(capsys: Captured) -> None:
    assert main(["zone-url"]) == 2
    assert "SCHEMA_REGISTRY_URL" in capsys.readouterr().err
