"""`/console/api/graph`: whom a subject references, and who references it, also by way of others."""

from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from sigla.auth.permissions import principal
from sigla.registry import Registry
from tests.unit.web.conftest import Client
from tests.unit.web.test_console_api import ask, asked_by, field, record, register

GRAPH = "/console/api/graph"


def reference(name: str, subject: str, version: int = 1) -> dict[str, Any]:
    return {"name": name, "subject": subject, "version": version}


@pytest.fixture
def linked(client: Client) -> Client:
    """Street ← address ← customer ← order, and address ← depot; street has two versions."""
    register(client, "street", record(field("s"), name="Street"))
    register(client, "street", record(field("s"), field("n", default=""), name="Street"))
    register(
        client, "address", record(field("s", "Street"), name="Address"), references=[reference("Street", "street")]
    )
    for subject, name in (("customer", "Customer"), ("depot", "Depot")):
        register(client, subject, record(field("a", "Address"), name=name),
                 references=[reference("Street", "street"), reference("Address", "address")])  # fmt: skip
    known = [reference("Street", "street"), reference("Address", "address"), reference("Customer", "customer")]
    register(client, "order", record(field("c", "Customer"), name="Order"), references=known)
    return client


def drawn(told: Any) -> set[str]:
    named = [f"{each['subject']} {each['version']}" for each in told["nodes"]]
    return {f"{named[each['from']]} > {named[each['to']]}" for each in told["edges"]}


def test_a_graph_leads_both_ways_and_through_others(linked: Client) -> None:
    told = ask(linked, "GET", "/console/api/graph?subject=address")
    assert {each["subject"] for each in told["nodes"]} == {"address", "street", "customer", "depot", "order"}
    edges = drawn(told)
    assert {"address 1 > street 1", "customer 1 > address 1", "depot 1 > address 1", "order 1 > customer 1"} <= edges
    assert {each.get("name") for each in told["edges"] if each["from"] == 0} == {"Street"}
    assert told["more"] is False


def test_a_graph_of_one_version_has_no_other_of_its_subject(linked: Client) -> None:
    told = ask(linked, "GET", "/console/api/graph?subject=street&version=2")
    assert (len(told["nodes"]), told["edges"]) == (1, [])
    assert linked("GET", "/console/api/graph?subject=street&version=9").status == 404
    assert linked("GET", "/console/api/graph?subject=nowhere").json["error_code"] == 40401
    assert linked("GET", "/console/api/graph").json["error_code"] == 40401


def test_a_graph_has_a_bound_and_says_so(linked: Client) -> None:
    told = ask(linked, "GET", "/console/api/graph?subject=address&limit=3")
    assert (len(told["nodes"]), told["more"]) == (3, True)


def test_a_soft_deleted_referrer_is_told_as_such(linked: Client) -> None:
    linked("DELETE", "/subjects/order")
    told = ask(linked, "GET", "/console/api/graph?subject=customer")
    assert [each["deleted"] for each in told["nodes"] if each["subject"] == "order"] == [True]


@pytest.mark.usefixtures("linked")
def test_a_graph_stops_where_a_caller_may_not_look(registry: Registry) -> None:
    """What a schema references is a part of it; what references it from beyond is not there."""
    told = ask(asked_by(registry, principal("ada", "reader", ["address"])), "GET", "/console/api/graph?subject=address")
    assert told["nodes"] == [
        {"subject": "address", "version": 1, "id": 3, "deleted": False},
        {"subject": "street", "version": 1},
    ]


class Drawn(NamedTuple):
    """nodes: what is told of each version. edges: by which name one references another."""

    nodes: dict[tuple[str, int], Any]
    edges: dict[tuple[tuple[str, int], tuple[str, int]], str]

    @classmethod
    def of(cls, told: Any) -> "Drawn":
        keys = [(each["subject"], each["version"]) for each in told["nodes"]]
        edges = {(keys[each["from"]], keys[each["to"]]): each.get("name", "") for each in told["edges"]}
        return cls(dict(zip(keys, told["nodes"], strict=True)), edges)


def in_steps(client: Client, subject: str, limit: int) -> Drawn:
    """As the console draws it where each read costs money, with one end at a time."""
    path = f"{GRAPH}?subject={subject}&version=1&limit={limit}"
    told = ask(client, "GET", f"{path}&step=true")
    nodes, edges = Drawn.of(told)
    ends, known = told["ends"], set(told["ends"])
    while ends:
        told = ask(client, "GET", f"{path}&at={quote(ends.pop(), safe='')}")
        part = Drawn.of(told)
        new = [each for each in told["ends"] if each not in known]
        ends, known = ends + new, known | {*new}
        nodes |= {key: node for key, node in part.nodes.items() if "id" not in nodes.get(key, {})}
        edges |= part.edges
    return Drawn(nodes, edges)


@pytest.fixture
def chained(linked: Client) -> Client:
    """Order ← parcel ← van ← fleet beside the others: each references the one before it alone."""
    for before, name in (("Order", "Parcel"), ("Parcel", "Van"), ("Van", "Fleet")):
        references = [reference(before, before.lower())]
        register(linked, name.lower(), record(field("b", before), name=name), references=references)
    return linked


@pytest.mark.parametrize("limit", [2, 14])
@pytest.mark.parametrize("subject", ["street", "address", "customer", "depot", "order", "van", "fleet"])
def test_what_is_drawn_in_steps_is_the_whole_graph(chained: Client, subject: str, limit: int) -> None:
    whole = Drawn.of(ask(chained, "GET", f"{GRAPH}?subject={subject}&version=1"))
    assert in_steps(chained, subject, limit) == whole


def test_a_step_tells_what_is_next_to_a_version_alone(chained: Client) -> None:
    told = ask(chained, "GET", f"{GRAPH}?subject=van&version=1&step=true")
    assert {each["subject"] for each in told["nodes"]} == {"parcel", "van", "fleet"}
    assert told["more"]
    told = ask(chained, "GET", f"{GRAPH}?subject=street&version=2&step=true")
    assert (told["edges"], told["ends"], told["more"]) == ([], [], False)


def test_a_step_by_an_alias_goes_on_to_what_references(linked: Client) -> None:
    ask(linked, "PUT", "/config/road", {"alias": "street"})
    told = ask(linked, "GET", f"{GRAPH}?subject=road&version=1&step=true")
    assert [each["subject"] for each in told["nodes"]] == ["street"]
    (end,) = told["ends"]
    told = ask(linked, "GET", f"{GRAPH}?subject=road&at={quote(end, safe='')}")
    assert {each["subject"] for each in told["nodes"]} == {"street", "address", "customer", "depot", "order"}


@pytest.mark.parametrize("end", ["x", "referenced/./street/1/x", "referring/./street/1/x", "beside/./street/1/0"])
def test_what_was_never_told_as_an_end_is_none(linked: Client, end: str) -> None:
    assert linked("GET", f"{GRAPH}?subject=street&at={quote(end, safe='')}").status == 404


@pytest.mark.usefixtures("linked")
def test_an_end_leads_a_caller_nowhere_where_it_may_not_look(registry: Registry) -> None:
    asked = asked_by(registry, principal("ada", "reader", ["address"]))
    for end, status in (("referenced/./customer/1/0", 200), ("referring/./customer/1/", 403)):
        answer = asked("GET", f"{GRAPH}?subject=address&at={quote(end, safe='')}")
        assert answer.status == status, answer.text
        assert answer.json.get("nodes", []) == []
