"""Two clients that never met: what one encrypts, the other one decrypts, by the registry and a secret alone.

Under a shared KEK neither of them has a secret: only the server does. One client is Confluent's in Python. The other
one is Confluent's in JavaScript, tests/protocol/node/encrypted.cjs, or in Go, tests/protocol/go/confluent: a program
that tells all cases in one run, as it takes longer to start than to tell them.
"""

import json
import subprocess
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.common.schema_registry_client import Rule, RuleKind, RuleMode, RuleParams, RuleSet
from confluent_kafka.schema_registry.rule_registry import RuleRegistry
from confluent_kafka.schema_registry.rules.encryption.encrypt_executor import (
    Clock,
    EncryptionExecutor,
    FieldEncryptionExecutor,
)
from confluent_kafka.schema_registry.rules.encryption.localkms.local_driver import LocalKmsDriver

from tests import npm
from tests.protocol.clients.server import Server, serving
from tests.protocol.clients.shop import another, avro, value_of
from tests.protocol.clients.test_go_client import GO, built
from tests.protocol.clients.test_javascript_client import NODE

KEKS: Final = "/dek-registry/v1/keks"
ALGORITHMS = ("AES128_GCM", "AES256_GCM", "AES256_SIV")
CLIENTS_SECRET, SERVERS_SECRET = "what both clients know", "what the server alone knows"
DAY_MS = 86_400_000

ORDER: dict[str, Any] = {"number": 7, "customer": "Ada Lovelace"}
SCHEMA = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "number", "type": "long"},
        {"name": "customer", "type": "string", "confluent:tags": ["PII"]},
    ],
}


@dataclass(frozen=True)
class Case:
    """A topic with a rule. writer: who sends first, and makes the KEK (where it is not shared) and the DEK."""

    writer: str
    algorithm: str = ALGORITHMS[1]
    shared: bool = False
    days: int = 0
    payload: bool = False

    @property
    def name(self) -> str:
        parts = ["shared"] * self.shared + ["rotated"] * bool(self.days) + ["payload"] * self.payload
        return "-".join((self.writer, self.algorithm, *parts))

    @property
    def kek(self) -> str:
        return f"kek-{self.name}"

    @property
    def secret(self) -> str | None:
        """What the clients are told."""
        return None if self.shared else CLIENTS_SECRET

    @property
    def ages(self) -> tuple[int, ...]:
        """How far the clock of the writer is ahead, for each message."""
        return (0, 3 * DAY_MS) if self.days else (0,)

    @property
    def rules(self) -> RuleSet:
        params = {
            "encrypt.kek.name": self.kek,
            "encrypt.kms.type": "local-kms",
            "encrypt.kms.key.id": "mine",
            "encrypt.dek.algorithm": self.algorithm,
        }
        rule = Rule(
            name="hide",
            doc=None,
            kind=RuleKind.TRANSFORM,
            mode=RuleMode.WRITEREAD,
            type="ENCRYPT_PAYLOAD" if self.payload else "ENCRYPT",
            tags=None if self.payload else ["PII"],
            params=RuleParams(params | ({"encrypt.dek.expiry.days": str(self.days)} if self.days else {})),
            expr=None,
            on_success=None,
            on_failure="ERROR,ERROR",
            disabled=False,
        )
        domain, encoding = (None, [rule]) if self.payload else ([rule], None)
        return RuleSet(migration_rules=None, domain_rules=domain, encoding_rules=encoding)


PYTHON, OTHER = "python", "other"
CASES = [
    case
    for writer in (PYTHON, OTHER)
    for case in (
        *(
            Case(writer, algorithm, shared=shared, days=days)
            for algorithm in ALGORITHMS
            for shared in (False, True)
            for days in (0, 1)
        ),
        Case(writer, payload=True),
    )
]
named = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


class Ahead(Clock):
    """A clock that is ahead of the registry's by so many milliseconds."""

    def __init__(self, ahead_ms: int) -> None:
        self.ahead_ms = ahead_ms

    def now(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead_ms


@contextmanager
def encrypting(case: Case, ahead_ms: int = 0) -> Iterator[dict[str, Any]]:
    """What a serializer is told of rules: an executor of its own, so that nothing is remembered."""
    rules = RuleRegistry()  # type: ignore[no-untyped-call]  # as the client has it
    executor = (EncryptionExecutor if case.payload else FieldEncryptionExecutor)(Ahead(ahead_ms))
    rules.register_executor(executor)
    yield {"rule_conf": {"secret": case.secret} if case.secret else {}, "rule_registry": rules}
    executor.close()  # type: ignore[no-untyped-call]  # as the client has it


def sent(client: SchemaRegistryClient, case: Case, ahead_ms: int) -> bytes:
    conf = {"use.latest.version": True, "auto.register.schemas": False}
    with encrypting(case, ahead_ms) as rules:
        message = AvroSerializer(client, json.dumps(SCHEMA), conf=conf, **rules)(dict(ORDER), value_of(case.name))
    assert isinstance(message, bytes)
    return message


@dataclass(frozen=True)
class Exchange:
    """messages: what was sent, by the case, oldest first. read: what the other client read of each; None: it failed."""

    server: Server
    messages: dict[Case, list[bytes]]
    read: dict[Case, list[Any]]
    failed: list[str]


def javascript(_: Path) -> tuple[list[str], Path]:
    return [npm.node_program(), str(NODE / "encrypted.cjs")], npm.installed(NODE)


def go(folder: Path) -> tuple[list[str], Path]:
    return [str(built(GO / "confluent", folder))], folder


Program = Callable[[Path], tuple[list[str], Path]]
"""The other client: the words that begin it and where it runs, given a folder to build it in."""


@pytest.fixture(scope="module", params=[javascript, pytest.param(go, marks=pytest.mark.soak)])
def exchange(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exchange]:
    folder = tmp_path_factory.mktemp("office")
    program: Program = request.param
    words, place = program(folder)
    LocalKmsDriver.register()
    settings = {"SIGLA_LOCAL_SECRET": SERVERS_SECRET}
    with serving(tmp_path_factory.mktemp("registry") / "data", settings=settings) as server:
        yield exchanged(server, words, place, folder)


def exchanged(server: Server, words: Sequence[str], place: Path, folder: Path) -> Exchange:
    """All cases: Python sends what it has to, the other client reads that and sends, and Python reads."""
    messages: dict[Case, list[bytes]] = {case: [] for case in CASES}
    read: dict[Case, list[Any]] = {case: [] for case in CASES}
    with another(server) as client:
        for case in CASES:
            client.register_schema(f"{case.name}-value", avro(SCHEMA, rule_set=case.rules))
            if case.shared:
                kek = {"name": case.kek, "kmsType": "local-kms", "kmsKeyId": "mine", "shared": True}
                assert server.ask("POST", KEKS, kek).status == 200
            if case.writer == PYTHON:
                messages[case] += [sent(client, case, ahead) for ahead in case.ages]
    steps = [
        (case, {"topic": case.name, "secret": case.secret, "ahead_ms": ahead, "order": ORDER, "message": message})
        for case in CASES
        for ahead, message in zip(
            case.ages, [b64encode(each).decode() for each in messages[case]] or no_message(case), strict=True
        )
    ]
    (folder / "cases.json").write_text(json.dumps([step for _, step in steps]), encoding="utf-8")
    told = told_by([*words, server.url, str(folder)], place)
    failed = [line["failed"] for line in told if line["failed"]]
    for (case, _), line in zip(steps, told, strict=True):
        if case.writer == PYTHON:
            read[case].append(line.get("order"))
        elif not line["failed"]:
            messages[case].append(b64decode(line["message"]))
    with another(server) as client:
        for case in CASES:
            if case.writer == OTHER:
                with encrypting(case) as rules:
                    reader = AvroDeserializer(client, **rules)
                    read[case] += [reader(message, value_of(case.name)) for message in messages[case]]
    return Exchange(server, messages, read, failed)


def no_message(case: Case) -> Sequence[str | None]:
    """The other client sends the messages of the case."""
    return [None] * len(case.ages)


def told_by(words: Sequence[str], place: Path) -> list[dict[str, Any]]:
    run = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


@named
def test_what_one_client_encrypts_the_other_one_decrypts(exchange: Exchange, case: Case) -> None:
    """In another language and process, with nothing but the address of the registry and, where needed, a secret."""
    assert exchange.read[case] == [ORDER] * len(case.ages), exchange.failed


@named
def test_the_bytes_on_the_way_hold_no_clear_text(exchange: Exchange, case: Case) -> None:
    """Else both would read each other without any encryption at all. Three letters may stand in a base64 by chance."""
    for message in exchange.messages[case]:
        assert b"Lovelace" not in message


@pytest.mark.parametrize("case", [case for case in CASES if case.days], ids=lambda case: case.name)
def test_a_data_key_that_is_too_old_is_followed_by_another(exchange: Exchange, case: Case) -> None:
    """By `encrypt.dek.expiry.days` of the rule; messages of all ages stay readable."""
    path = f"{KEKS}/{case.kek}/deks/{case.name}-value/versions"
    versions = exchange.server.ask("GET", path, algorithm=case.algorithm)
    assert (versions.status, versions.json) == (200, [1, 2])


@named
def test_raw_keys_are_handed_out_under_a_shared_kek_alone(exchange: Exchange, case: Case) -> None:
    """There the clients need them; elsewhere the server does not know them."""
    path = f"{KEKS}/{case.kek}/deks/{case.name}-value"
    answer = exchange.server.ask("GET", path, algorithm=case.algorithm)
    assert answer.status == 200
    assert ("keyMaterial" in answer.json) is case.shared
    raw = answer.json.get("keyMaterial")
    assert not raw or raw not in exchange.server.said
