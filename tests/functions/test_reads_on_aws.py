"""Reads by id while DynamoDB is unwell: what an id means needs S3 and nothing else (promise 5)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from sigla.cache import speakers
from sigla.stores.dynamodb import table
from tests.functions.deployed import ENDPOINT, Client, Deployment, deployed
from tests.functions.unwell import HANGING, WAYS, Unwell, unwell

DOORS = ("rest", "function_url")
ORDERS, CUSTOMERS, GONE = (
    {"schema": f'{{"type":"record","name":"{name}","fields":[]}}'} for name in ("Order", "Customer", "Gone")
)
READS, PATIENCE_S, SLACK_S = 20, 0.2, 5.0
"""How often one id is read; how long it may wait for the catalog; how slow this machine may be."""
ENOUGH_S = 60.0
"""What a catalog that is well may take: on a busy machine longer than the patience with one that is not."""
TRIES = 3
"""The retries of the SDK, for each question."""


@dataclass(frozen=True)
class Registered:
    """Id 1 is of `orders-value`, then also of `payments-value`; 2 of `customers`; 3 was deleted for good; 1 in `.eu`.

    guid, ts: of id 1.
    """

    deployment: Deployment
    guid: str
    ts: int


@pytest.fixture(scope="module")
def registered(loop: None) -> Iterator[Registered]:
    with pytest.MonkeyPatch.context() as patched, deployed(patched) as deployment:
        ask = Client(deployment.instance(SIGLA_CATALOG_SECONDS=str(ENOUGH_S)))
        for subject, schema in (
            ("orders-value", ORDERS),
            ("payments-value", ORDERS),
            ("customers", CUSTOMERS),
            ("gone", GONE),
            (":.eu:customers", CUSTOMERS),
        ):
            assert ask("POST", f"/subjects/{subject}/versions", schema).status == 200
        for query in ("", "?permanent=true"):
            assert ask("DELETE", f"/subjects/gone{query}").status == 200
        told = ask.get("/schemas/ids/1").body
        yield Registered(deployment, told["guid"], told["ts"])
        # Each instance that is closed notes what it has read once more, in a catalog that is not there.
        patched.setattr(table, "LONGEST_PAUSE_S", 0.0)


@contextmanager
def unreliable(way: str) -> Iterator[Unwell]:
    """A catalog that is not well."""
    with pytest.MonkeyPatch.context() as patched, unwell(way) as patient:
        patched.setattr(speakers, "REST_MS", 600_000)  # longer than any test takes
        yield patient


@pytest.fixture(params=WAYS)
def dynamodb(request: pytest.FixtureRequest) -> Iterator[Unwell]:
    with unreliable(request.param) as patient:
        yield patient


def cut_off(registered: Registered, dynamodb: Unwell, **settings: str) -> Any:
    """An instance that has nothing but S3."""
    given = {ENDPOINT: dynamodb.endpoint, "SIGLA_CATALOG_SECONDS": str(PATIENCE_S)}
    return registered.deployment.instance(**{**given, **settings})


@pytest.mark.parametrize("door", DOORS)
def test_what_an_id_means_is_told_without_the_catalog(registered: Registered, dynamodb: Unwell, door: str) -> None:
    """By its first registrant. Whether it was deleted is not claimed; what was deleted for good is gone."""
    ask = Client(cut_off(registered, dynamodb), door)
    read = ask.get("/schemas/ids/1")
    assert read.status == 200
    assert (read.body["subject"], read.body["version"]) == ("orders-value", 1)
    assert 0 <= registered.ts - read.body["ts"] < 60_000, "of the body, a moment before the version's"
    assert read.body["schema"] == ORDERS["schema"]
    assert "deleted" not in read.body
    assert read.headers["etag"]
    assert ask.get("/schemas/ids/1/schema").body == {"type": "record", "name": "Order", "fields": []}
    assert ask.get("/schemas/ids/1?subject=:.eu:").body["subject"] == ":.eu:customers"
    for subject in ("orders-value", ":.eu:customers"):
        assert ask.get(f"/schemas/ids/1?fetchMaxId=false&subject={subject}").body["subject"] == subject
    assert ask.get(f"/schemas/guids/{registered.guid}").body["schema"] == ORDERS["schema"]
    assert ask.get("/schemas/ids/3").code == 40403
    for missing in ("/schemas/ids/4", "/schemas/ids/1?subject=:.nowhere:"):
        assert ask.get(missing).code == 50001, "nobody can tell whether it is held, and its body is lost"


def test_what_only_the_catalog_knows_is_refused(registered: Registered) -> None:
    """Who uses an id, the highest one, which of several a subject means: 50001, rather than a guess; at once."""
    with unreliable(HANGING) as dynamodb:
        ask = Client(cut_off(registered, dynamodb))
        begun = time.monotonic()
        for target in (
            "/schemas/ids/1/subjects",
            "/schemas/ids/1/versions",
            "/schemas/ids/1?fetchMaxId=true",
            "/schemas/ids/1?subject=payments-value",
            "/schemas/ids/3?subject=gone",
            "/schemas/ids/1?subject=:.eu:orders-value",
            f"/schemas/guids/{registered.guid}/ids",
        ):
            refused = ask.get(target)
            assert (refused.status, refused.code) == (500, 50001), target
            assert refused.body["message"].endswith("failed while talking to the store")
        assert time.monotonic() - begun < PATIENCE_S + SLACK_S


def test_silence_costs_one_read_its_patience_and_no_other_anything(registered: Registered) -> None:
    """A catalog that never answers is asked once in a while, and not waited for as long as the SDK would."""
    with unreliable(HANGING) as dynamodb:
        ask = Client(cut_off(registered, dynamodb))
        begun = time.monotonic()
        assert all(ask.get("/schemas/ids/1").status == 200 for _ in range(READS))
        took = time.monotonic() - begun
        assert dynamodb.asked <= 2 * TRIES  # and once to note who reads, which no read waits for
    assert took < PATIENCE_S + SLACK_S


@pytest.mark.parametrize("way", WAYS)
def test_every_read_is_answered_within_a_bound(registered: Registered, way: str) -> None:
    """However the catalog fails: what fails at once may be asked again, and nothing is waited for longer."""
    with unreliable(way) as dynamodb:
        ask = Client(cut_off(registered, dynamodb))
        begun = time.monotonic()
        assert all(ask.get("/schemas/ids/2").body["subject"] == "customers" for _ in range(READS))
        took = time.monotonic() - begun
        assert dynamodb.asked <= TRIES * READS
    assert took < READS * PATIENCE_S + SLACK_S


@pytest.mark.parametrize("way", WAYS)
def test_whose_the_data_is_need_not_be_known_to_the_table(registered: Registered, way: str) -> None:
    """A bucket that bears no other identity is believed; what the table bears is asked beside, and not waited for."""
    with unreliable(way) as dynamodb:
        ask = Client(cut_off(registered, dynamodb, SIGLA_IDENTITY="a" * 32))
        begun = time.monotonic()
        assert all(ask.get("/schemas/ids/2").body["subject"] == "customers" for _ in range(READS))
        took = time.monotonic() - begun
    assert took < READS * PATIENCE_S + SLACK_S


def test_a_restricted_key_reads_what_was_born_his_and_nothing_else(registered: Registered) -> None:
    """Id 1 is held by `payments-value` as well, but only the catalog knows. The client is told so at once."""
    secrets = {prefix: registered.deployment.key(f"of-{prefix}", "reader", prefix) for prefix in ("orders", "payments")}
    healthy = registered.deployment.instance(SIGLA_AUTH="keys")
    for prefix, secret in secrets.items():
        ask = Client(healthy, "rest", f"of-{prefix}", secret)
        assert ask.get("/schemas/ids/1").body["subject"] == f"{prefix}-value"
        assert ask.get("/schemas/ids/2").code == 40403
    with unreliable(HANGING) as dynamodb:
        alone = cut_off(registered, dynamodb, SIGLA_AUTH="keys")
        for prefix, status in (("orders", 200), ("payments", 500)):
            ask = Client(alone, "rest", f"of-{prefix}", secrets[prefix])
            begun = time.monotonic()
            assert ask.get("/schemas/ids/1").status == status
            assert ask.get("/schemas/ids/2").code == 50001
            assert time.monotonic() - begun < PATIENCE_S + SLACK_S
