"""What reads cost in two regions, by each route: a follower asks AWS as often, and for as many units, as its primary.

And both as a registry that is alone, but for questions for keys, which look what the region is by now.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from botocore.client import BaseClient

from infra.region_usage import ASKING_FOR_A_KEY
from sigla import wiring
from tests.functions.test_two_regions import Region, Two, fixed, pair, two
from tests.unit.aws.metering import Meter

__all__ = ["pair", "two"]

REFERRING = {
    "schemaType": "AVRO",
    "schema": '{"type": "record", "name": "Line", "fields": [{"name": "of", "type": "First"}]}',
    "references": [{"name": "First", "subject": "orders", "version": 1}],
}
DEK = {"subject": "orders", "encryptedKeyMaterial": "d3JhcHBlZA=="}
KEKS = "/dek-registry/v1/keks"
BY_SUBJECT = "/subjects/orders"
ROUTES = (
    "/schemas/ids/1",
    "/schemas/ids/1?subject=orders",
    "/schemas/ids/1/schema",
    "/schemas/ids/1/subjects",
    "/schemas/ids/1/versions",
    "/schemas/ids/2",
    "/schemas/guids/{guid}",
    "/schemas/guids/{guid}/ids",
    "/schemas?subjectPrefix=orders",
    "/subjects",
    f"{BY_SUBJECT}/versions",
    f"{BY_SUBJECT}/versions/1",
    f"{BY_SUBJECT}/versions/1/schema",
    f"{BY_SUBJECT}/versions/1/referencedby",
    f"{BY_SUBJECT}/versions/latest",
    "/subjects/lines/versions/latest",
    "/config",
    "/config/orders?defaultToGlobal=true",
    "/mode",
    "/mode/orders?defaultToGlobal=true",
    "/contexts",
)
LOOKUPS = ((BY_SUBJECT, fixed("First")), ("/subjects/lines", REFERRING))
LOOK = int(ASKING_FOR_A_KEY.trips.read)
"""Units of the row that says what the region is by now."""
OF_KEYS = {
    KEKS: (Counter[str](), 0),
    f"{KEKS}/k": (Counter[str](), LOOK),
    # What was handed over is carried out before the list is read, and what the region is, is asked with the KEK.
    f"{KEKS}/k/deks": (Counter({"BatchGetItem": 1}), 2 * LOOK + 1),
    f"{KEKS}/k/deks/orders": (Counter[str](), LOOK),
    f"{KEKS}/k/deks/orders/versions/1": (Counter[str](), LOOK),
}
"""What each takes in two regions besides: calls, and units."""


@dataclass
class Asked:
    """calls: what AWS was asked. meter: what DynamoDB charges for it."""

    calls: Counter[str] = field(default_factory=Counter)
    meter: Meter = field(default_factory=lambda: Meter((), 0.0))

    @property
    def cost(self) -> tuple[Counter[str], float, int]:
        return self.calls, self.meter.read, self.meter.write


@contextmanager
def aws_asked() -> Iterator[Asked]:
    """By whichever client of this process."""
    found, ask = Asked(), BaseClient._make_api_call

    def call(client: Any, name: str, parameters: Any) -> Any:
        answer = ask(client, name, parameters)
        if name != "PutObject":  # when a key was used last is put there behind an answer, at any moment
            found.calls[name] += 1
        found.meter.end(answer, SimpleNamespace(name=name), {"metered": parameters})
        return answer

    with patch.object(BaseClient, "_make_api_call", call):
        yield found


@pytest.fixture
def regions(pair: Two, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Two, dict[str, Region]]]:
    """Functions that have just begun. Who reads is noted behind the answers, at any moment, and so not here."""
    for method, target, body in (
        ("POST", "/subjects/lines/versions", REFERRING),
        ("PUT", "/config/orders", {"compatibility": "FULL"}),
        ("POST", KEKS, {"name": "k", "kmsType": "local-kms", "kmsKeyId": "id"}),
        ("POST", f"{KEKS}/k/deks", DEK),
    ):
        assert pair.ask(pair.a, method, target, body).status == 200, target
    pair.b.turn()
    with ExitStack() as opened:
        found = {}
        for name, region, told in (
            ("alone", pair.a, pair.a.variables),
            ("primary", pair.a, pair.a.told),
            ("follower", pair.b, pair.b.told),
        ):
            with monkeypatch.context() as environment:
                for variable, value in {**told, "SIGLA_USAGE": "false"}.items():
                    environment.setenv(variable, value)
                handler = opened.enter_context(closing(wiring.lambda_handler()))
                found[name] = replace(region, handler=handler)
                pair.ask(found[name], "GET", "/mode")
        pair.a.asked.clear()
        yield pair, found


def costs(pair: Two, region: Region, method: str, target: str, body: Any) -> list[tuple[Counter[str], float, int]]:
    """What it takes the first time, and the second."""
    found = []
    for _ in range(2):
        with aws_asked() as each:
            answer = pair.ask(region, method, target, body)
        assert answer.status == 200, (target, answer)
        found.append(each.cost)
    return found


def test_reads_cost_in_either_region_what_they_cost_alone(regions: tuple[Two, dict[str, Region]]) -> None:
    pair, found = regions
    guid = pair.ask(pair.a, "GET", "/schemas/ids/1").body["guid"]
    reads = [("GET", target.format(guid=guid), None) for target in ROUTES]
    for method, target, body in (*reads, *(("POST", *lookup) for lookup in LOOKUPS)):
        told = {name: costs(pair, region, method, target, body) for name, region in found.items()}
        assert told["alone"] == told["primary"] == told["follower"], (target, told)
    assert pair.a.asked == [], "the follower has asked nothing of its primary"


def test_questions_for_keys_cost_the_same_in_either_region(regions: tuple[Two, dict[str, Region]]) -> None:
    """And no more calls than alone, but for the DEKs under a KEK: those that were handed over are carried out first."""
    pair, found = regions
    for target, (more, units) in OF_KEYS.items():
        told = {name: costs(pair, region, "GET", target, None) for name, region in found.items()}
        assert told["primary"] == told["follower"], (target, told)
        for (calls, read, write), (alone, read_alone, write_alone) in zip(told["primary"], told["alone"], strict=True):
            assert (calls - alone, read - read_alone, write - write_alone) == (more, units, 0), target
    assert pair.a.asked == [], "the follower has asked nothing of its primary"
