"""Confluent's clients with the URLs of both regions register, evolve and read while these change places."""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from tests import npm
from tests.protocol.clients.server import run, serving
from tests.waiting import eventually

NODE = Path(__file__).parent / "node"
NOT_REACHED = ("ECONNREFUSED", "ECONNRESET", "ConnectError", "ReadError", "RemoteProtocolError")
"""What a client says of the last URL of its list, where that server is not there."""


@dataclass
class Told:
    """What a client tells of its rounds: ids with their schemas, and failures with their code and their time."""

    meaning: dict[int, str] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)
    rounds: int = 0

    def hear(self, line: dict[str, Any]) -> None:
        if "failed" in line:
            self.failures.append(line)
            return
        assert self.meaning.setdefault(line["id"], line["schema"]) == line["schema"]
        self.rounds += 1

    def goes_on(self) -> None:
        """Some rounds more come to their end."""
        wanted = self.rounds + 3
        eventually(lambda: self.rounds >= wanted, pause_s=0.005)


@contextmanager
def in_javascript(urls: str) -> Iterator[Told]:
    told, client = Told(), npm.installed(NODE)
    words = [npm.node_program(), str(NODE / "promoted.cjs"), urls]
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
def in_python(urls: str) -> Iterator[Told]:
    told, over = Told(), threading.Event()

    def ask(question: Callable[[SchemaRegistryClient], Any]) -> Any:
        with SchemaRegistryClient({"url": urls, "max.retries": 0}) as fresh:
            return question(fresh)

    def one_round(fields: int) -> dict[str, Any]:
        listed = [{"name": f"f{at}", "type": "int", "default": 0} for at in range(fields)]
        text = json.dumps({"type": "record", "name": "Evolving", "fields": listed})
        id = ask(lambda client: client.register_schema("python-value", Schema(text, "AVRO")))
        read = ask(lambda client: client.get_schema(id, subject_name="python-value")).schema_str
        latest = ask(lambda client: client.get_latest_version("python-value")).schema_id
        if json.loads(read) != json.loads(text) or latest != id:
            return {"failed": f"wrong: id {id} is {read}, and the latest id is {latest}", "code": "wrong", "at": 0}
        return {"id": id, "schema": text}

    def rounds() -> None:
        fields = 1
        while not over.is_set():
            try:
                told.hear(one_round(fields))
                fields += 1
            except Exception as failure:  # noqa: BLE001 - whatever it is, it is judged by the test
                code = failure.error_code if isinstance(failure, SchemaRegistryError) else type(failure).__name__
                told.hear({"failed": str(failure), "code": code, "at": round(time.time() * 1000)})
                over.wait(0.02)

    thread = threading.Thread(target=rounds)
    thread.start()
    try:
        yield told
    finally:
        over.set()
        thread.join()


@contextmanager
def nobody_is_primary(told: Told, *others: object) -> Iterator[None]:
    """Errors come in here alone, and are 50003; others: what is said of a server that is not there."""
    assert told.failures == []
    began = round(time.time() * 1000)
    yield
    ended = round(time.time() * 1000)
    told.goes_on()
    for failure in told.failures:
        assert failure["code"] in (50003, *others), failure
        assert began <= failure["at"] <= ended + 100, (began, failure, ended)
    told.failures.clear()


@pytest.mark.parametrize("client", [in_python, in_javascript])
def test_a_client_with_both_urls_hears_no_wrong_answer_while_regions_change_places(
    tmp_path: Path, client: Callable[[str], Any]
) -> None:
    """By plan and back, by force while the primary is lost, and while that one rejoins."""
    with (
        serving(tmp_path / "a") as a,
        serving(tmp_path / "b", "--follow", a.url) as b,
        client(f"{b.url},{a.url}") as told,
    ):
        told.goes_on()
        for follower in (b, a, b, a):
            with nobody_is_primary(told):
                _done("promote", follower.url)
        with nobody_is_primary(told, *NOT_REACHED):
            a.kill()
            _done("promote", b.url, "--force")
        with serving(tmp_path / "a", "--port", str(a.port)) as again:
            told.goes_on()
            ended = run("rejoin", again.url, "--primary", b.url, "--report", str(tmp_path / "report"), "--yes")
            assert ended.returncode in (0, 1), ended.stderr
            eventually(lambda: run("regions", again.url, "--json").stdout.find('"follower"') > 0)
            told.goes_on()
            assert told.failures == []
            for id, schema in told.meaning.copy().items():
                for server in (again, b):
                    assert json.loads(server.ask("GET", f"/schemas/ids/{id}").json["schema"]) == json.loads(schema)


def _done(*words: str) -> None:
    ended = run(*words, "--yes")
    assert ended.returncode == 0, ended.stderr
