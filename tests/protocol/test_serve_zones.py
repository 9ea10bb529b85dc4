"""`sigla serve --zones` as its user meets it: the addresses, their rings, the page, and how all of it ends."""

import json
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psutil
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.error import SchemaRegistryError

from sigla.cache import servers as cache_servers
from tests.caches import needs_valkey
from tests.protocol.clients.server import Answer, Server, ask, run, serving, start
from tests.protocol.clients.shop import NOTED_ORDER, ORDER, avro, value_of, written
from tests.protocol.test_auth import a_key
from tests.protocol.test_serve import assert_misuse
from tests.waiting import PATIENCE_S, eventually

SCHEMAS, READERS = 12, 4


class Zoned:
    """A running registry with three zones."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.zones: list[dict[str, Any]] = server.ask("GET", "/zones").json
        self.urls = [zone["url"] for zone in self.zones]
        self.rings = next(line for line in server.complaints if "rings" in line)

    def ask(self, zone: int, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """In the first, second or third zone."""
        host, _, port = self.urls[zone - 1].removeprefix("http://").partition(":")
        with closing(HTTPConnection(host, int(port), timeout=PATIENCE_S)) as connection:
            return ask(connection, method, path, body, headers)

    def client(self, zone: int, **conf: Any) -> SchemaRegistryClient:
        return SchemaRegistryClient({"url": self.urls[zone - 1], **conf})

    def live(self) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = self.server.ask("GET", "/zones/live.json").json["zones"]
        return told

    @property
    def caches(self) -> list[psutil.Process]:
        names = [name for kind in cache_servers.KINDS.values() for name in kind.programs]
        children = psutil.Process(self.server.process.pid).children(recursive=True)
        return [child for child in children if child.name() in names]


@contextmanager
def three_zones(*arguments: str, data: Path | None = None, **settings: str) -> Iterator[Zoned]:
    with serving(data, "--zones", "3", *arguments, settings=settings) as server:
        yield Zoned(server)


@pytest.fixture(scope="module", params=[pytest.param("servers", marks=needs_valkey), "within"])
def zoned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zoned]:
    """With rings of processes, and with those of a machine on which there is no cache server."""
    path = {} if request.param == "servers" else {"PATH": str(tmp_path_factory.mktemp("nothing"))}
    with three_zones(data=tmp_path_factory.mktemp("registry") / "data", **path) as zoned:
        assert ("processes" in zoned.rings) is (request.param == "servers"), zoned.rings
        yield zoned


def registered(zoned: Zoned, name: str, count: int = SCHEMAS) -> list[int]:
    """So many schemas, each through the next zone; their ids."""
    texts = [json.dumps({"type": "record", "name": f"{name}{number}", "fields": []}) for number in range(count)]
    answers = [
        zoned.ask(1 + number % 3, "POST", f"/subjects/{name}{number}/versions", {"schema": text})
        for number, text in enumerate(texts)
    ]
    return [answer.json["id"] for answer in answers]


# --- at the terminal -------------------------------------------------------------------------------------------------


def test_the_banner_says_where_each_zone_is(zoned: Zoned) -> None:
    banner = zoned.server.banner
    for zone in zoned.zones:
        assert f"{zone['url']}   {zone['id']}" in banner
    assert f"schema.registry.url={','.join(zoned.urls)}" in banner
    assert f"{zoned.urls[0]}/zones/live" in banner
    assert "rings     caches within this process (valkey-server" in banner or zoned.caches


def test_help_says_what_zones_are() -> None:
    said = run("serve", "--help").stdout
    assert "--zones N" in said
    assert "/zones/live" in said


def free_ports() -> int:
    """A port with two free ones after it."""
    while True:
        first = cache_servers.free_port()
        with ExitStack() as held:
            try:
                for port in range(first, first + 3):
                    held.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first


def test_zones_take_the_port_that_was_asked_for_and_those_that_follow() -> None:
    first = free_ports()
    with three_zones("--port", str(first)) as zoned:
        assert zoned.urls == [f"http://127.0.0.1:{port}" for port in (first, first + 1, first + 2)]


def test_a_port_in_use_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    """Also one of the others: an address that answers is not one that was announced."""
    first = free_ports()
    with socket.create_server(("127.0.0.1", first + 2)):
        done = run("serve", "--port", str(first), "--zones", "3", "--data", str(tmp_path / "data"))
        assert_misuse(done, str(first + 2), "in use")
    assert not (tmp_path / "data").exists()
    with socket.create_server(("127.0.0.1", first)):
        """The first one was given back."""


@pytest.mark.parametrize(
    "arguments, word",
    [(("--zones", "0"), "'0'"), (("--zones", "ten"), "'ten'"), (("--zones", "3", "--port", "65534"), "65536")],
    ids=" ".join,
)
def test_zones_that_cannot_be_are_refused(arguments: tuple[str, ...], word: str) -> None:
    done = run("serve", "--memory", *arguments)
    assert done.returncode == 2
    assert word in done.stderr


def test_a_ring_of_another_deployment_is_refused(tmp_path: Path) -> None:
    """Here bodies are as near as a ring would be: with zones or without, what was asked for cannot be meant."""
    for zones in ((), ("--zones", "3")):
        done = run("serve", "--port", "0", "--memory", *zones, SIGLA_RING="valkey://127.0.0.1:6379")
        assert_misuse(done, "SIGLA_RING")


def test_without_zones_there_is_no_page_of_them() -> None:
    with serving(None) as server:
        assert server.ask("GET", "/zones").json == []
        assert server.ask("GET", "/zones/live").status == 404
        assert server.ask("GET", "/zones/live.json").status == 404


# --- the whole idea --------------------------------------------------------------------------------------------------


def test_the_directory_lists_all_zones_at_each_of_them(zoned: Zoned) -> None:
    for number in (1, 2, 3):
        told = zoned.ask(number, "GET", "/zones").json
        assert [(zone["id"], zone["name"], zone["url"], zone["healthy"]) for zone in told] == [
            (f"local-az{at}", f"local-{'abc'[at - 1]}", zoned.urls[at - 1], True) for at in (1, 2, 3)
        ]
    # On a busy machine a cache may be late once.
    eventually(lambda: not [zone for zone in zoned.ask(1, "GET", "/zones").json if "reason" in zone])


def test_confluents_client_finds_in_every_zone_what_was_registered_in_one(zoned: Zoned) -> None:
    """At once: no zone remembers that something was not there."""
    with ExitStack() as opened:
        producer, *consumers = (opened.enter_context(zoned.client(number)) for number in (1, 2, 3))
        for consumer in consumers:
            with pytest.raises(SchemaRegistryError):
                consumer.get_latest_version("shared-value")
        message = written(producer, "shared", ORDER, {"number": 1, "customer": "Ada"}, {})
        for consumer in consumers:
            assert AvroDeserializer(consumer)(message, value_of("shared")) == {"number": 1, "customer": "Ada"}
            assert consumer.get_latest_version("shared-value").version == 1
        assert consumers[0].register_schema("shared-value", avro(NOTED_ORDER)) > 0
        assert producer.get_latest_version("shared-value").version == 2


def test_each_zone_reads_each_schema_from_s3_once(zoned: Zoned) -> None:
    """All zones at the same time, each by several clients on connections of their own."""
    ids = registered(zoned, "Herd")
    before = zoned.live()
    wrong: list[Answer] = []

    def read(zone: int) -> None:
        for id in ids:
            answer = zoned.ask(zone, "GET", f"/schemas/ids/{id}")
            if answer.status != 200:
                wrong.append(answer)

    readers = [threading.Thread(target=read, args=(1 + number % 3,)) for number in range(3 * READERS)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(PATIENCE_S)
    assert wrong == []
    for was, now in zip(before, zoned.live(), strict=True):
        grown = {name: now[name] - was[name] for name in ("s3", "ring", "memory", "failures")}
        assert grown["s3"] + grown["ring"] + grown["memory"] == SCHEMAS * READERS
        # A member that was too slow for a busy machine counts as a failure; then S3 is asked once more.
        assert grown["s3"] == SCHEMAS or grown["failures"], grown


def test_a_permanent_delete_is_seen_in_every_zone_at_once(zoned: Zoned) -> None:
    (id,) = registered(zoned, "Doomed", 1)
    for number in (1, 2, 3) * 6:
        assert zoned.ask(number, "GET", f"/schemas/ids/{id}").status == 200
    assert zoned.ask(2, "DELETE", "/subjects/Doomed0").json == [1]
    assert zoned.ask(2, "DELETE", "/subjects/Doomed0?permanent=true").json == [1]
    for number in (1, 2, 3) * 6:
        assert zoned.ask(number, "GET", f"/schemas/ids/{id}").json["error_code"] == 40403


def test_the_page_is_one_file_at_every_address(zoned: Zoned) -> None:
    pages = {zoned.ask(number, "GET", "/zones/live").body for number in (1, 2, 3)}
    assert len(pages) == 1
    assert pages.pop().startswith(b"<!doctype html>")


def test_every_line_of_the_log_names_its_zone(zoned: Zoned) -> None:
    for number in (1, 2, 3):
        zoned.ask(number, "GET", "/subjects", **{"X-Request-ID": f"in-zone-{number}"})
    for number in (1, 2, 3):
        zoned.server.wait_for(lambda server, number=number: f"in-zone-{number}" in server.output)  # type: ignore[misc] # the loop's own
        (line,) = [json.loads(line) for line in zoned.server.lines if f"in-zone-{number}" in line]
        assert line["zone"] == f"local-az{number}"


def test_what_zones_wrote_a_registry_without_them_reads(tmp_path: Path) -> None:
    """One data directory, whoever serves it."""
    with three_zones(data=tmp_path / "data") as zoned:
        ids = registered(zoned, "Kept", 3)
    with serving(tmp_path / "data") as server:
        assert [server.ask("GET", f"/schemas/ids/{id}").status for id in ids] == [200] * 3


def test_a_key_is_good_in_every_zone(tmp_path: Path) -> None:
    """And without one the page is not shown."""
    data = tmp_path / "data"
    key = a_key(data, "team", "--role", "writer")
    with three_zones("--auth", data=data) as zoned:
        for number in (1, 2, 3):
            with zoned.client(number, **{"basic.auth.user.info": key}) as client:
                assert client.register_schema("orders-value", avro(ORDER)) == 1
            assert zoned.ask(number, "GET", "/subjects").status == 401
            assert zoned.ask(number, "GET", "/zones/live").status == 401
            assert zoned.ask(number, "GET", "/zones/live.json").status == 401
            assert len(zoned.ask(number, "GET", "/zones").json) == 3


# --- caches that fail, and the end -----------------------------------------------------------------------------------


@needs_valkey
def test_a_zone_whose_caches_die_goes_on(tmp_path: Path) -> None:
    """One killed, one that hears nothing any more: clients get answers, and an operator sees which."""
    with three_zones(data=tmp_path / "data") as zoned:
        ids = registered(zoned, "Hardy")
        dead, hung = (member["name"].partition(":")[2] for member in zoned.live()[0]["members"])
        by_port = {each.net_connections("tcp")[0].laddr.port: each for each in zoned.caches}
        by_port[int(dead)].kill()
        by_port[int(hung)].suspend()
        for id in ids * 3:
            assert zoned.ask(1, "GET", f"/schemas/ids/{id}").status == 200
        down = "2 of the 2 members of its ring do not answer"
        # One of the others may be late once, on a busy machine.
        eventually(lambda: [zone.get("reason") for zone in zoned.ask(2, "GET", "/zones").json] == [down, None, None])
        assert [bool(member["failure"]) for member in zoned.live()[0]["members"]] == [True, True]
        assert all(zone["healthy"] for zone in zoned.ask(2, "GET", "/zones").json)


@needs_valkey
@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_caches_end_with_the_server_however_it_ends(ended_by: signal.Signals) -> None:
    server = start("--port", "0", "--memory", "--zones", "3")
    try:
        server.wait_until_ready()
        caches = Zoned(server).caches
        assert len(caches) == 6
        server.process.send_signal(ended_by)
        assert server.wait() == (-ended_by if ended_by is signal.SIGKILL else 0), server.said
        eventually(lambda: not [cache for cache in caches if cache.is_running()])
    finally:
        if server.alive():
            server.kill()


@needs_valkey
@pytest.mark.parametrize("moment", [1, 4, 11], ids="{} children".format)
def test_caches_end_with_a_server_that_was_not_ready_yet(moment: int) -> None:
    """Killed in the middle of its start: each cache is one child, and what ends it another."""
    server = start("--port", "0", "--memory", "--zones", "3")
    children: list[psutil.Process] = []

    def has_come_so_far() -> bool:
        children[:] = psutil.Process(server.process.pid).children(recursive=True)
        return len(children) >= moment

    eventually(has_come_so_far, pause_s=0.001)
    server.kill()
    eventually(lambda: not [child for child in children if child.is_running()])


@pytest.mark.parametrize(
    "script, said",
    [
        ("print('no such option'); sys.exit(1)", "no such option"),
        ("serve(b'-ERR syntax error\\r\\n')", "syntax error"),
    ],
    ids=["does not start", "too old"],
)
def test_a_cache_server_that_is_of_no_use_is_done_without(tmp_path: Path, script: str, said: str) -> None:
    """The zones come up all the same, and the banner says why their rings are what they are."""
    program = tmp_path / "valkey-server"
    program.write_text(f"#!{sys.executable}\n{USELESS}{script}\n")
    program.chmod(0o755)
    with three_zones(PATH=str(tmp_path)) as zoned:
        assert "caches within this process" in zoned.rings
        assert said in zoned.rings
        assert psutil.Process(zoned.server.process.pid).children(recursive=True) == []


USELESS = """\
import socket, sys

def serve(answer):
    listening = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])))
    while True:
        connection, _ = listening.accept()
        while connection.recv(1000):
            connection.sendall(answer)

"""


def test_the_end_takes_no_longer_than_what_has_begun() -> None:
    """Connections that are kept open, and a page that looks each second, do not hold up others."""
    with three_zones() as zoned, ExitStack() as kept:
        for url in zoned.urls:
            address = url.removeprefix("http://").partition(":")
            connection = kept.enter_context(socket.create_connection((address[0], int(address[2])), PATIENCE_S))
            connection.sendall(b"GET /zones/live.json HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
        began = time.monotonic()
        zoned.server.stop()
        assert time.monotonic() - began < 30, "the server waited for those who have nothing to say"
