"""The history of a subject over HTTP: who sees what of it, and which subject is meant."""

from collections.abc import Iterator
from typing import Any

import pytest

from sigla.auth.permissions import Principal, reach
from sigla.changes import Author
from sigla.model import Page
from sigla.registry import Registry
from sigla.registry.attributed import attributed
from sigla.rules import names
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from tests.build import FixedClock, Recognises, a_draft, a_text
from tests.unit.auth.guarded import KINDS
from tests.unit.web.conftest import Client

ORDERS = names.subject("orders-value")


@pytest.fixture
def registry() -> Iterator[Registry]:
    """Ada has registered a version of `orders-value`, and Bob has deleted it."""
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock(), principals=store.principals)
        asked_by(registry, "ada").register(ORDERS, a_draft(a_text()))
        asked_by(registry, "bob").delete_subject(ORDERS)
        yield registry


def asked_by(registry: Registry, name: str) -> Registry:
    return attributed(registry, Author(name, "api", f"request-of-{name}", "192.0.2.1"))


def principal(header: bytes | None) -> Principal:
    name, kind, *prefixes = (header or b"").decode().split()
    return Principal(name, KINDS[kind], reach(prefixes))


def ask(registry: Registry, who: str, target: str) -> Any:
    client = Client(app.build(registry, options=app.HttpOptions(authenticate=Recognises(principal))))
    return client("GET", target, headers={"authorization": who})


def test_a_history_is_told_in_the_words_of_the_log(registry: Registry) -> None:
    """Newest first, with all that an administrator may know."""
    deleted, added = ask(registry, "root admin", "/subjects/orders-value/history").json
    tokens = {kept.name: kept.token for kept in registry.principals.names(registry.clock.now())}
    assert added == {
        "at": "2023-11-14T22:13:20.000Z",
        "by": tokens["ada"],
        "name": "ada",
        "change": "Registered",
        "via": {"way": "api", "request": "request-of-ada", "address": "192.0.2.1"},
        "is": deleted["was"],
        "commit": added["commit"],
        "about": [{"type": "SCHEMA", "subject": "orders-value", "version": 1, "id": 1}],
    }
    assert (deleted["change"], deleted["name"]) == ("SubjectDeleted", "bob")
    assert deleted["about"] == [{"type": "DELETE_SUBJECT", "subject": "orders-value", "version": 1, "gone": True}]


def test_a_reader_is_told_its_own_name_alone_and_no_address(registry: Registry) -> None:
    """Whoever changed a subject has the same token everywhere, so that changes of one hand are recognised."""
    deleted, added = ask(registry, "ada reader orders-", "/subjects/orders-value/history").json
    assert (added["name"], added["by"][0]) == ("ada", "p")
    assert "name" not in deleted
    assert deleted["via"] == {"way": "api", "request": "request-of-bob"}


def test_an_administrator_of_a_prefix_is_one_of_its_subjects(registry: Registry) -> None:
    deleted, _ = ask(registry, "root admin orders-", "/subjects/orders-value/history").json
    assert (deleted["name"], deleted["via"]["address"]) == ("bob", "192.0.2.1")


def test_the_history_of_another_prefix_is_refused(registry: Registry) -> None:
    """Whether there is one or not."""
    for subject in ("orders-value", "never-heard-of"):
        refusal = ask(registry, "eve admin payments-", f"/subjects/{subject}/history").refusal
        assert refusal == (403, 40301, f"User is denied operation Read on Subject: {subject}")


def test_a_registry_without_keys_tells_everything(registry: Registry) -> None:
    client = Client(app.build(registry))
    assert client("GET", "/subjects/orders-value/history").json[0]["name"] == "bob"


def test_a_subject_that_is_deleted_for_good_has_a_history_and_one_never_heard_of_has_none(registry: Registry) -> None:
    registry.delete_subject(ORDERS, permanent=True)
    changes = [entry["change"] for entry in ask(registry, "root admin", "/subjects/orders-value/history").json]
    assert changes == ["SubjectPurged", "SubjectDeleted", "Registered"]
    refusal = ask(registry, "root admin", "/subjects/payments/history").refusal
    assert refusal == (404, 40401, "Subject 'payments' not found.")


def test_a_history_is_paged_like_other_lists(registry: Registry) -> None:
    """An offset behind the end is an empty page of a subject that is there."""
    everything = ask(registry, "root admin", "/subjects/orders-value/history").json
    pages = [ask(registry, "root admin", f"/subjects/orders-value/history?offset={n}&limit=1").json for n in (0, 1, 2)]
    assert pages == [[everything[0]], [everything[1]], []]


def test_a_subject_is_found_as_by_other_reads(registry: Registry) -> None:
    """Below a context, by a qualified name, and through an alias."""
    abroad = names.subject(":.eu:orders-value")
    registry.register(abroad, a_draft(a_text("Abroad")))
    registry.change_config(names.subject("also-orders"), {"alias": "orders-value"})
    for target in ("/contexts/.eu/subjects/orders-value/history", "/subjects/:.eu:orders-value/history"):
        (entry,) = ask(registry, "root admin", target).json
        assert entry["about"][0]["subject"] == ":.eu:orders-value"
    aliased = ask(registry, "root admin", "/subjects/also-orders/history").json
    assert aliased == ask(registry, "root admin", "/subjects/orders-value/history").json
    assert ask(registry, "root reader also-", "/subjects/also-orders/history").refusal[:2] == (403, 40301)


def test_versions_of_an_earlier_release_have_a_history_that_is_empty() -> None:
    """It begins with the first commit that was noted, and a subject that is there is not denied."""
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        registry.register(ORDERS, a_draft(a_text()))
        store._unit._database.writer.execute("DELETE FROM history")
        assert registry.subject_history(ORDERS, page=Page()) == []


def test_names_are_told_by_themselves_to_whom_histories_tell_them(registry: Registry) -> None:
    for who, told in (
        ("root admin", ["bob", "ada"]),
        ("ada reader", [None, "ada"]),
        ("root admin orders-", ["bob", "ada"]),
    ):
        entries = ask(registry, who, "/subjects/orders-value/history?tokens=true").json
        assert not any("name" in each for each in entries)
        asked = "&".join(f"token={each['by']}" for each in entries)
        answer = ask(registry, who, f"/console/api/names?{asked}").json
        assert list(answer) == ["found"]
        by = {each["by"]: each["name"] for each in answer["found"]}
        assert [by.get(each["by"]) for each in entries] == told


def test_names_are_looked_for_as_far_as_was_asked_for(registry: Registry) -> None:
    """Where that goes on is a name: a key with a reach is told of none whose token it does not know."""
    bob, ada = (each["by"] for each in ask(registry, "root admin", "/subjects/orders-value/history").json)
    first = {"found": [{"by": ada, "name": "ada"}]}
    assert ask(registry, "root admin", f"/console/api/names?limit=1&token={ada}").json == first
    assert ask(registry, "root admin", f"/console/api/names?limit=1&token={bob}").json == {"found": [], "after": "ada"}
    told = ask(registry, "root admin", f"/console/api/names?limit=1&token={bob}&after=ada").json
    assert told == {"found": [{"by": bob, "name": "bob"}]}
    assert ask(registry, "root admin orders-", f"/console/api/names?limit=1&token={bob}").json == told
    assert ask(registry, "root admin orders-", "/console/api/names?limit=1&token=p0").json == {"found": []}
    assert ask(registry, "root admin", "/console/api/names").json == {"found": []}
