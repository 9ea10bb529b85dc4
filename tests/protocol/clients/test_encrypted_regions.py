"""Confluent's client encrypts fields by a registry in two regions, which change places, get lost, and come back.

Whatever becomes of them, each record that it has sent can be decrypted: the DEK that it was told of is there. The
regions are two servers, and two tables behind the registry's functions.
"""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any, Protocol

import httpx
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.rules.encryption.localkms.local_driver import LocalKmsDriver

from sigla.cli import main, rejoin
from tests.functions.test_two_regions import Region, Two, pair, two
from tests.protocol.clients.server import run, serving
from tests.protocol.clients.shop import avro, value_of
from tests.protocol.clients.test_encrypted_fields import KEKS, ORDER, PYTHON, SCHEMA, SERVERS_SECRET, Case, encrypting
from tests.protocol.test_bodies_in_step import Link, as_it_is, no_commits
from tests.waiting import eventually

__all__ = ["pair", "two"]


@dataclass(frozen=True)
class Topic(Case):
    """Orders of one subject: all have one of two KEKs."""

    number: int = 0

    @property
    def name(self) -> str:
        return f"orders-{self.number}"

    @property
    def kek(self) -> str:
        return "shared" if self.shared else "pii"


class Regions(Protocol):
    """A and B, one of which takes writes."""

    credentials: str

    @property
    def urls(self) -> tuple[str, str]:
        """That of the follower, or of the lost region, first, then that which takes writes."""
        ...

    def catch_up(self) -> None: ...
    def promote(self) -> None: ...
    def hold_back(self) -> None:
        """Commits do not come to the follower any more."""
        ...

    def lose(self) -> None:
        """The primary is gone, and the other one is promoted by force."""
        ...

    def come_back(self) -> None:
        """The one that was lost rejoins, and follows."""
        ...


@dataclass
class Shop:
    """messages: all that was sent, and is to be read for ever."""

    regions: Regions
    messages: dict[Topic, list[bytes]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    @contextmanager
    def client(self, url: str) -> Iterator[SchemaRegistryClient]:
        """One that remembers nothing."""
        told: dict[str, Any] = {"url": url, "max.retries": 20}  # a loaded machine takes a key late
        if self.regions.credentials:
            told["basic.auth.user.info"] = self.regions.credentials
        with SchemaRegistryClient(told) as client:
            yield client

    def begin(self) -> None:
        """A KEK that the server alone can use; the other one is made by the client."""
        kek = {"name": "shared", "kmsType": "local-kms", "kmsKeyId": "mine", "shared": True}
        assert self.ask("POST", KEKS, kek).is_success

    def settle(self) -> None:
        """Waits until keys are taken: those that follow from now on have asked for the first time."""
        patch = f"{KEKS}/shared", {"doc": f"{next(self.numbers)}"}
        eventually(lambda: self.ask("PUT", *patch).is_success)

    def produce(self, url: str = "") -> list[Topic]:
        """Orders of topics of each kind; url: that it is given, where not all."""
        kinds: list[dict[str, Any]] = [{}, {"days": 1}, {"shared": True}]
        topics = [Topic(PYTHON, number=next(self.numbers), **kind) for kind in kinds]
        for topic in topics:
            self.send(topic, url or ",".join(self.regions.urls))
        return topics

    def send(self, topic: Topic, url: str) -> None:
        conf = {"use.latest.version": True, "auto.register.schemas": False}
        with self.client(url) as client:
            client.register_schema(f"{topic.name}-value", avro(SCHEMA, rule_set=topic.rules))
            for ahead in topic.ages:
                with encrypting(topic, ahead) as rules:
                    serializer = AvroSerializer(client, avro(SCHEMA).schema_str, conf=conf, **rules)
                    message = serializer(dict(ORDER), value_of(topic.name))
                assert isinstance(message, bytes)
                assert b"Lovelace" not in message
                self.messages.setdefault(topic, []).append(message)

    def make_anew(self, topics: list[Topic]) -> None:
        """Their DEKs are deleted for good, and what these have encrypted is given up; others have their numbers."""
        _, url = self.regions.urls
        for topic in topics:
            path = f"{KEKS}/{topic.kek}/deks/{topic.name}-value?algorithm={topic.algorithm}"
            for permanent in ("false", "true"):
                assert self.ask("DELETE", f"{path}&permanent={permanent}").is_success
            del self.messages[topic]
            self.send(topic, url)

    def read(self, *urls: str) -> None:
        """All that was sent, at each of these."""
        for url in urls:
            with self.client(url) as client:
                for topic, messages in self.messages.items():
                    with encrypting(topic) as rules:
                        reader = AvroDeserializer(client, **rules)
                        for message in messages:
                            assert reader(message, value_of(topic.name)) == ORDER, (topic, url)

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """What the region that takes writes answers."""
        shown = b64encode(self.regions.credentials.encode()).decode()
        headers = {"Authorization": f"Basic {shown}"} if self.regions.credentials else {}
        return httpx.request(method, f"{self.regions.urls[1]}{path}", json=body, headers=headers, timeout=30)


def lives(regions: Regions) -> None:
    """Each record that was sent is read after each step, by clients that know nothing, at each region that is there."""
    LocalKmsDriver.register()
    shop = Shop(regions)
    shop.begin()
    first = shop.produce()
    regions.catch_up()
    shop.read(*regions.urls)
    regions.promote()
    shop.settle()
    shop.produce()
    shop.read(*regions.urls)
    regions.catch_up()
    regions.hold_back()
    shop.produce(regions.urls[1])
    shop.make_anew(first)
    regions.lose()
    shop.read(regions.urls[1])
    shop.produce(regions.urls[1])
    regions.come_back()
    shop.settle()
    shop.produce()
    shop.read(*regions.urls, ",".join(regions.urls))


# --- servers ---------------------------------------------------------------------------------------------------------


class Servers:
    """The way of A to B, which it follows after the promotion, may be altered."""

    credentials = ""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        self._folder, self._opened = folder, opened
        self._settings = {"SIGLA_LOCAL_SECRET": SERVERS_SECRET}
        self.a = opened.enter_context(serving(folder / "a", settings=self._settings))
        self.b = opened.enter_context(serving(folder / "b", "--follow", self.a.url, settings=self._settings))
        self._way = opened.enter_context(closing(Link(self.b)))
        self._writes = self.a

    @property
    def urls(self) -> tuple[str, str]:
        return (self.b.url, self.a.url) if self._writes is self.a else (self.a.url, self.b.url)

    def catch_up(self) -> None:
        eventually(lambda: len({self._end(each.url) for each in (self.a, self.b)}) == 1)

    def _end(self, url: str) -> Any:
        found = httpx.get(f"{url}/regions", headers={"X-Forward": "true"}, timeout=30).json()
        return found["journal"]["position"]

    def promote(self) -> None:
        done("promote", self.b.url, "--url", self._way.url)
        self._writes = self.b

    def hold_back(self) -> None:
        self._way.alter = no_commits

    def lose(self) -> None:
        self.b.kill()
        done("promote", self.a.url, "--force")
        self._writes = self.a

    def come_back(self) -> None:
        self._way.alter = as_it_is
        again = serving(self._folder / "b", "--port", str(self.b.port), settings=self._settings)
        self.b = self._opened.enter_context(again)
        told = ["--report", str(self._folder / "report")]
        ended = run("rejoin", self.b.url, "--primary", self.a.url, *told, "--yes")
        assert ended.returncode in (0, 1), ended.stderr  # 1: deletes are told, and not brought
        eventually(lambda: "follower" in run("regions", self.b.url).stdout)
        self.catch_up()


def done(*words: str) -> None:
    ended = run(*words, "--yes")
    assert ended.returncode == 0, ended.stderr


def test_what_was_encrypted_is_decrypted_whatever_becomes_of_two_servers(tmp_path: Path) -> None:
    with ExitStack() as opened:
        lives(Servers(tmp_path, opened))


# --- tables ----------------------------------------------------------------------------------------------------------


class Tables:
    """Nothing goes from one to the other by itself: each minute is told when it is over."""

    def __init__(self, both: Two, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._both, self._folder, self._patch = both, folder, patch
        self.credentials = f"admin:{both.secret}"
        for region in (both.a, both.b):
            region.variables["SIGLA_LOCAL_SECRET"] = SERVERS_SECRET
        self._minutes_later()
        self._writes, self._other = both.a, both.b

    def _minutes_later(self) -> None:
        """Each environment of the functions has begun since."""
        self._both.a.begin(self._patch, self._both.b)
        self._both.b.begin(self._patch, self._both.a)

    @property
    def urls(self) -> tuple[str, str]:
        return self._other.url, self._writes.url

    def catch_up(self) -> None:
        for region in (self._writes, self._other):
            region.turn()

    def promote(self) -> None:
        assert main(["promote", stores(self._other), "--primary", stores(self._writes), "--yes"]) == 0
        self._turn_round()

    def _turn_round(self) -> None:
        self._writes, self._other = self._other, self._writes

    def hold_back(self) -> None:
        """Nothing is told before the next turn."""

    def lose(self) -> None:
        server = self._both.servers[self._writes.name]
        server.shutdown()
        server.server_close()
        assert main(["promote", stores(self._other), "--force", "--yes"]) == 0
        self._turn_round()

    def come_back(self) -> None:
        name = self._other.name
        before = self._both.servers[name]
        self._both.servers[name] = self._served_again(before)
        self._patch.setattr(rejoin, "HEARD_S", 0)
        report = str(self._folder / "report")
        words = ["rejoin", stores(self._other), "--primary", stores(self._writes), "--report", report, "--yes"]
        assert main(words) in (0, 1)
        self._minutes_later()
        eventually(lambda: self._other.turn()["follows"])
        self.catch_up()

    def _served_again(self, before: ThreadingHTTPServer) -> ThreadingHTTPServer:
        server = ThreadingHTTPServer(("127.0.0.1", before.server_port), before.RequestHandlerClass)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()

        def close() -> None:
            server.shutdown()
            thread.join()
            server.server_close()

        self._other.opened.callback(close)
        return server


def stores(region: Region) -> str:
    return f"dynamodb+s3://{region.variables['SIGLA_TABLE']}/{region.variables['SIGLA_BUCKET']}?region={region.name}"


@pytest.mark.soak
def test_what_was_encrypted_is_decrypted_whatever_becomes_of_two_tables(
    pair: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lives(Tables(pair, tmp_path, monkeypatch))
