"""`/console/api/subjects/{subject}/stakes`: what hangs on a subject, or on one version, before it is deleted."""

from dataclasses import replace
from typing import Any

import pytest

from sigla.auth.permissions import principal
from sigla.changes.kinds import DAY_MS
from sigla.model import BodyKey, SchemaId
from sigla.ports.clock import day_of
from sigla.ports.reads import Read
from sigla.registry import Registry
from sigla.registry.stakes import MOST_PAID
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from tests.build import NOW, FixedClock, a_text
from tests.unit.web.conftest import Client
from tests.unit.web.test_console_api import asked_by

JSON = {"content-type": "application/json"}


def write(client: Client, subject: str, text: str, *references: dict[str, Any]) -> int:
    answer = client("POST", f"/subjects/{subject}/versions", {"schema": text, "references": references}, JSON)
    assert answer.status == 200, answer.text
    return int(answer.json["id"])


def stakes(client: Client, path: str) -> Any:
    answer = client("GET", f"/console/api/subjects/{path}")
    assert answer.status == 200, answer.text
    return answer.json


@pytest.fixture
def filled(client: Client) -> Client:
    """Three versions of `v`, the second soft-deleted; `w` references the first."""
    client("PUT", "/config", {"compatibility": "NONE"}, JSON)
    for at in range(3):
        write(client, "v", a_text(f"V{at}"))
    client("DELETE", "/subjects/v/versions/2")
    write(client, "w", '"int"', {"name": "V0", "subject": "v", "version": 1})
    return client


REFERRER = {"subject": "w", "version": 1, "id": 4, "deleted": False, "referenced": 1}


def test_a_subject_has_its_versions_and_those_that_reference_any_of_them(filled: Client) -> None:
    filled("PUT", "/config/led", {"alias": "v"}, JSON)
    told = stakes(filled, "v/stakes")
    assert told == stakes(filled, "led/stakes")
    assert told == {
        "subject": "v",
        "latest": 3,
        "versions": {"stored": 3, "active": 2, "highest": 3, "more": False},
        "referrers": {"found": [REFERRER], "more": False},
        "reads": {"versions": 3, "readers": 0},
    }
    filled("DELETE", "/subjects/w")
    filled("DELETE", "/subjects/v")
    told = stakes(filled, "v/stakes")
    assert "latest" not in told
    assert told["versions"] == {"stored": 3, "active": 0, "highest": 3, "more": False}
    assert filled("GET", "/console/api/subjects/nothing/stakes").json["error_code"] == 40401


def test_a_version_has_its_own_and_the_others_are_counted(filled: Client) -> None:
    told = stakes(filled, "v/stakes?version=1")
    assert told["versions"] == {"stored": 3, "active": 1, "highest": 3, "more": False}
    assert told["referrers"] == {"found": [REFERRER], "more": False}
    assert told["reads"]["versions"] == 1
    told = stakes(filled, "v/stakes?version=3")
    assert told["referrers"] == {"found": [], "more": False}
    assert stakes(filled, "v/stakes?version=9")["reads"]["versions"] == 0
    assert filled("GET", "/console/api/subjects/v/stakes?version=latest").status == 404


def test_the_last_reader_is_told_and_how_many_there_are() -> None:
    """By name to administrators alone."""
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock(), principals=store.principals, reads=store.reads)
        client = Client(app.build(registry))
        client("PUT", "/config", {"compatibility": "NONE"}, JSON)
        ids = [write(client, "v", a_text(f"V{at}")) for at in range(3)]
        for name, id, day in (("old", ids[0], NOW - DAY_MS), ("billing", ids[0], NOW), ("old", ids[1], NOW - DAY_MS)):
            store.reads.note([Read(BodyKey(".", SchemaId(id)), "", name)], day, 400 * DAY_MS)
        told = stakes(client, "v/stakes")["reads"]
        assert (told["readers"], told["versions"]) == (2, 3)
        assert (told["last"]["name"], told["last"]["day"]) == ("billing", day_of(NOW))
        assert "since" in told
        told = stakes(client, "v/stakes?version=2")["reads"]
        assert (told["readers"], told["last"]["name"]) == (1, "old")
        assert stakes(client, "v/stakes?version=3")["reads"]["readers"] == 0
        reader = asked_by(registry, principal("ada", "reader", []))
        assert "name" not in stakes(reader, "v/stakes")["reads"]["last"]


def test_where_reads_cost_money_a_part_is_told_and_called_one(registry: Registry, filled: Client) -> None:
    paying = Client(app.build(replace(registry, pays_for_reads=True)))
    for at in range(MOST_PAID.referrers):
        write(filled, f"w{at}", '"int"', {"name": "V0", "subject": "v", "version": 1})
    for at in range(MOST_PAID.versions):
        write(filled, "v", a_text(f"W{at}"))
    told = stakes(paying, "v/stakes")
    assert told["versions"] == {"stored": 20, "active": 20, "highest": 23, "more": True}
    assert (len(told["referrers"]["found"]), told["referrers"]["more"]) == (5, True)
    assert told["reads"]["versions"] == MOST_PAID.read
    assert stakes(paying, "v/stakes?version=1")["versions"]["active"] == 20
    assert stakes(filled, "v/stakes")["versions"] == {"stored": 23, "active": 22, "highest": 23, "more": False}
