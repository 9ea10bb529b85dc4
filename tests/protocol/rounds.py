"""Confluent's clients with a list of URLs, which register, evolve, write, read and look up without a pause."""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import MessageField, SerializationContext

from tests import npm
from tests.waiting import eventually

NODE = Path(__file__).parent / "node"
Key = tuple[str, str]
"""Name and secret."""


@dataclass
class Told:
    """What a client tells of its rounds: ids with their schemas, and failures with their code.

    Each failure says when its question was asked and when it was answered, in milliseconds since the epoch.
    """

    meaning: dict[int, str] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)
    rounds: int = 0
    stale: int = 0
    """How often the latest version was older than the one that was just registered, and asked again."""

    @property
    def wrong(self) -> list[dict[str, Any]]:
        return [failure for failure in self.failures if failure["code"] in ("wrong", "ERR_ASSERTION")]

    def hear(self, line: dict[str, Any]) -> None:
        if "failed" in line:
            self.failures.append(line)
        elif "stale" in line:
            self.stale += 1
        elif self.meaning.setdefault(line["id"], line["schema"]) != line["schema"]:
            self.failures.append({"failed": f"an id means two things: {line}", "code": "wrong"})
        else:
            self.rounds += 1

    def goes_on(self) -> None:
        """Some rounds more come to their end."""
        wanted = self.rounds + 3
        eventually(lambda: self.rounds >= wanted or self.wrong, pause_s=0.005)
        assert not self.wrong, self.wrong


def now_ms() -> int:
    return int(time.time() * 1000)


@contextmanager
def in_javascript(urls: str, key: Key | None = None) -> Iterator[Told]:
    told, client = Told(), npm.installed(NODE)
    words = [npm.node_program(), str(NODE / "promoted.cjs"), urls, *([":".join(key)] if key else [])]
    with subprocess.Popen(words, cwd=client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        lines = process.stdout

        def hear() -> None:
            for line in lines:
                told.hear(json.loads(line))

        reader = threading.Thread(target=hear)
        reader.start()
        try:
            yield told
        finally:
            process.stdin.close()
            reader.join()


@contextmanager
def in_python(urls: str, key: Key | None = None) -> Iterator[Told]:
    told, over = Told(), threading.Event()
    written = SerializationContext("python", MessageField.VALUE)
    conf = {"url": urls, "max.retries": 0} | ({"basic.auth.user.info": ":".join(key)} if key else {})

    asked = now_ms()

    def ask(question: Callable[[SchemaRegistryClient], Any]) -> Any:
        """By a client of its own, which remembers nothing."""
        nonlocal asked
        asked = now_ms()
        with SchemaRegistryClient(conf) as fresh:
            return question(fresh)

    def one_round(fields: int) -> dict[str, Any]:
        listed = [{"name": f"f{at}", "type": "int", "default": 0} for at in range(fields)]
        # A name of its own: whose id is another subject's, too, is told by the catalog alone, within a second.
        text = json.dumps({"type": "record", "name": "InPython", "fields": listed})
        schema, record = Schema(text, "AVRO"), {f"f{at}": at for at in range(fields)}
        message = ask(lambda client: AvroSerializer(client, text)(record, written))
        id = int.from_bytes(message[1:5])
        read = ask(lambda client: client.get_schema(id, subject_name="python-value")).schema_str
        decoded = ask(lambda client: AvroDeserializer(client)(message, written))
        known = ask(lambda client: client.lookup_schema("python-value", schema))
        while (latest := ask(lambda client: client.get_latest_version("python-value"))).version < known.version:
            told.hear({"stale": latest.version})
        is_right = json.loads(read) == json.loads(text) and decoded == record and known.schema_id == id
        # What a region that rejoins brings may be later.
        is_latest = latest.version > known.version or latest.schema_id == id
        if not (is_right and is_latest):
            return {"failed": f"{id} is {read}, {decoded}, {known}, {latest}", "code": "wrong"}
        return {"id": id, "schema": text}

    def rounds() -> None:
        fields = 1
        while not over.is_set():
            try:
                told.hear(one_round(fields))
                fields += 1
            except Exception as failure:  # noqa: BLE001 - whatever it is, it is judged by the test
                code = failure.error_code if isinstance(failure, SchemaRegistryError) else type(failure).__name__
                told.hear({"failed": str(failure), "code": code, "asked": asked, "at": now_ms()})
                over.wait(0.02)

    thread = threading.Thread(target=rounds)
    thread.start()
    try:
        yield told
    finally:
        over.set()
        thread.join()


@contextmanager
def nobody_is_primary(clients: Sequence[Told], *others: object) -> Iterator[None]:
    """Only what is asked in here is refused, and with 50003; others: what is said of a server that is not there."""
    assert [failure for told in clients for failure in told.failures] == []
    began = now_ms()
    yield
    ended = now_ms()
    for told in clients:
        told.goes_on()
        for failure in told.failures:
            assert failure["code"] in (50003, *others), failure
            assert began <= failure["at"], (began, failure)
            assert failure["asked"] <= ended, (failure, ended)
        told.failures.clear()
