"""What each page of the console costs in AWS: 20 read units, and two trips for each of its calls.

Each page is asked of an instance that has just started, in a registry that has one of everything and some hundred
subjects.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import quote

import pytest

from infra.trips import Rounds
from sigla.cache.speakers import Speakers
from sigla.changes import Author
from sigla.changes.kinds import DAY_MS
from sigla.errors import SchemaNotFound
from sigla.keys import LIST_SHARDS
from sigla.model import BodyKey, Page, SchemaId
from sigla.ports.reads import Read
from sigla.registry import Registry
from sigla.registry.attributed import attributed
from sigla.rules import names
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.store import AwsStore
from sigla.web import app
from tests.attack.stories import register
from tests.browser.filled import fill, record
from tests.browser.paid_calls import CALLER, CALLS
from tests.build import NOW, FixedClock, a_text, tiers_before
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, in_process
from tests.contract.tables import Tables
from tests.unit.aws.metering import metered
from tests.unit.web.conftest import Client

MOST_UNITS: Final = 20
MOST_TRIPS: Final = 2
DRAFT: Final = {"schema": a_text("Draft")}
JSON: Final = {"content-type": "application/json"}

SUBJECTS: Final = 400
VERSIONS: Final = 12
ALL_SHARDS: Final = ("Query",) * LIST_SHARDS


class Functions:
    """Instances of one registry, which begin without knowing anything."""

    def __init__(self, opened: ExitStack) -> None:
        self.clients = opened.enter_context(in_process(tables=Tables()))
        self._opened, self._clock = opened, FixedClock()
        table = make_table(self.clients.dynamodb)
        self.table = table
        self._store = opened.enter_context(closing(AwsStore(self.clients, table, BUCKET, self._clock)))

    def registry(self) -> Registry:
        """An instance as the function wires it: memory before the bodies, and speakers asked beside them."""
        catalog = self._opened.enter_context(closing(AwsCatalog(self.clients.dynamodb, self.table, self._clock)))
        store = self._store
        tiers = tiers_before(store.bodies, self._clock)
        return Registry(
            self._opened.enter_context(closing(Speakers(catalog, tiers, self._clock))),
            tiers,
            self._clock,
            secrets=store.secrets,
            principals=store.principals,
            reads=store.reads,
            pays_for_reads=True,
        )

    def client(self) -> Client:
        return Client(app.build(self.registry()))


@pytest.fixture(scope="module")
def functions() -> Iterator[Functions]:
    with ExitStack() as opened:
        made = Functions(opened)
        client, registry = made.client(), made.registry()
        fill(SimpleNamespace(ask=lambda method, path, body=None: client(method, path, body, JSON)))
        client("PUT", "/config/long-value", {"compatibility": "BACKWARD_TRANSITIVE"}, JSON)
        for at in range(VERSIONS):
            register("long-value", with_fields(at))(registry)
        for doc in ("One", "Two"):
            by = {"name": "by", "type": "com.acme.Customer"}
            body = {"schema": record("Deep", by, doc=doc), "references": [CUSTOMER]}
            assert client("POST", "/subjects/deep-value/versions", body, JSON).status == 200
        for at in range(SUBJECTS):
            register(f"many-{at:04}-value", a_text("A"))(registry)
        yield made


def rounds_of(call: str) -> Rounds:
    """Those that are made side by side; every other call is a round of its own."""
    if "/history" in call:
        return (("BatchGetItem", "Query"),)
    if "/stakes" in call:
        referrers = ("BatchGetItem",) if "a-value" in call else ()
        return (("BatchGetItem", "Query") * (3 if "version=" in call else 2), ("BatchGetItem", "Query", *referrers))
    if "/usage?" in call:
        return (("BatchGetItem",) * 2 + ("Query",), ("BatchGetItem", "Query"))
    if "/schemas/ids/2" in call:
        return (("GetObject", "Query"),)
    if "/diff/" in call:
        return (("BatchGetItem",), ("GetObject",) * 2)
    if "/verdict" in call:
        return (("BatchGetItem",), ("GetObject", "Query"))
    if "/console/api/settings" in call:
        return () if "after=%3A." in call else (("BatchGetItem",) * 2,)
    if call.endswith("/subjects?names=true&limit=21&subjectPrefix="):
        return (ALL_SHARDS,) * 2  # the default context lies around the named ones
    if "/versions?limit=" in call:
        return (
            (("BatchGetItem",) * 3 + ("Query",) * 2,) if "&version=" in call else (("BatchGetItem",) * 2 + ("Query",),)
        )
    if any(f"/console/api/{each}?" in call for each in ("contexts", "associations", "keks", "ids/2")):
        return ()
    if "type=&deleted=true" in call:
        return (ALL_SHARDS, ("BatchGetItem", "Query"))
    return (ALL_SHARDS,) if "/console/api/s" in call and "?" in call else ()


@pytest.mark.parametrize("page", CALLS)
def test_a_page_costs_20_units_and_two_trips_a_call(functions: Functions, page: str) -> None:
    units = 0.0
    for call in (CALLER, *CALLS[page]):
        method, target = call.split(" ")
        client = functions.client()
        with metered(functions.clients, rounds_of(call)) as meter:
            answer: Any = client(method, target, DRAFT if method == "POST" else None, JSON)
        assert answer.status in (200, 404), answer.text
        units += meter.read
        assert len(meter.seen) <= MOST_TRIPS, (call, meter.seen)
    assert units <= MOST_UNITS, (page, units)


def with_fields(count: int, first: str = "f") -> str:
    """A record that each record with fewer of its fields can be read as."""
    fields = [{"name": f"{first}{at}", "type": "int", "default": 0} for at in range(count)]
    return json.dumps({"type": "record", "name": "A", "fields": fields}, separators=(",", ":"))


ASK: Final = ("BatchGetItem",)
READ: Final = ("GetObject",)
QUERY: Final = ("Query",)
LOOK: Final = ("BatchGetItem", "BatchGetItem", "Query")
FIELDS: Final = "/console/api/subjects/{}/fields/{}"
ADDRESS: Final = {"name": "com.acme.Address", "subject": "address-value", "version": 1}
CUSTOMER: Final = {"name": "com.acme.Customer", "subject": "customers-value", "version": 1}
HOME: Final = {"name": "home", "type": "com.acme.Address"}


@pytest.mark.parametrize(
    "call, body, rounds",
    [
        ("orders-value", {"schema": a_text("New")}, (ASK, ("GetObject", "Query"))),
        ("many-0001-value", {"schema": json.dumps(json.loads(a_text("A")), indent=2)}, (ASK, READ)),
        (
            "long-value",
            {"schema": with_fields(VERSIONS)},
            (ASK, ("GetObject", "Query", "Query"), READ * (VERSIONS - 1)),
        ),
        (
            "address-value",
            {"schema": record("Home", HOME), "references": [ADDRESS]},
            (ASK, READ, ("BatchGetItem", "Query")),
        ),
        (
            "orders-value",
            {"schema": a_text("A")},
            (ASK, ("BatchGetItem", "GetObject", "GetObject", "Query", "Query")),
        ),
    ],
    ids=["new", "there already", "a transitive level", "with a reference", "of another subject"],
)
def test_a_verdict_waits_for_what_it_cannot_know_before(
    functions: Functions, call: str, body: dict[str, Any], rounds: Rounds
) -> None:
    client = functions.client()
    with metered(functions.clients, rounds, patience_s=2) as meter:
        answer: Any = client("POST", f"/console/api/subjects/{call}/verdict", body, JSON)
    assert answer.status == 200, answer.text
    assert meter.seen == tuple(tuple(sorted(each)) for each in rounds)
    assert meter.read <= MOST_UNITS


def test_the_versions_of_an_id_are_the_same_asked_at_once_as_one_after_the_other(functions: Functions) -> None:
    client = functions.client()
    client("PUT", "/mode/:.twice:", {"mode": "IMPORT"}, JSON)
    for id in (7, 8):
        body = {"schema": a_text("Twice"), "id": id, "version": 1}
        assert client("POST", f"/subjects/:.twice:a-{id}/versions", body, JSON).status == 200
    client("PUT", "/config/:.led:", {"alias": ":.twice:"}, JSON)
    at_once = functions.registry()
    in_turn = replace(at_once, pays_for_reads=False)
    for id, subject in ((2, None), (7, ":.twice:"), (8, ":.twice:"), (7, ":.led:"), (2, "orders-value"), (1, ":.eu:")):
        scope = None if subject is None else names.subject(subject)
        asks = ((each, id, scope) for each in (at_once, in_turn))
        found = [each.holders_of(SchemaId(id), subject=where, deleted=True, page=Page()) for each, id, where in asks]
        assert found[0] == found[1] != [], (id, subject)
    for each in (at_once, in_turn):
        with pytest.raises(SchemaNotFound):
            each.holders_of(SchemaId(4711), subject=None, deleted=True, page=Page())


@pytest.mark.parametrize(
    "call, rounds",
    [
        ("console/api/subjects/led-value/versions?limit=20", (ASK * 2 + QUERY, ASK * 2 + QUERY)),
        ("console/api/subjects/led-value/versions?limit=20&version=1", (ASK * 3 + QUERY * 2, ASK * 3 + QUERY * 2)),
    ],
)
def test_an_alias_leads_to_its_versions_in_two_trips(functions: Functions, call: str, rounds: Rounds) -> None:
    """What else is asked for the page is asked by the name that the answer tells."""
    functions.client()("PUT", "/config/led-value", {"alias": "customers-value"}, JSON)
    with metered(functions.clients, rounds, patience_s=2) as meter:
        answer: Any = functions.client()("GET", f"/{call}")
    assert answer.json["name"] == "customers-value"
    assert len(meter.seen) <= MOST_TRIPS, meter.seen
    assert meter.read <= MOST_UNITS


@pytest.mark.parametrize("scope", ["orders-value", ":.eu:customers-value", ":.none:none-value", ":.eu:", ":.:"])
def test_what_is_in_force_is_one_trip_and_few_units(functions: Functions, scope: str) -> None:
    """Its own settings, those of its context, of the default context and of all contexts, and the head beside them."""
    with metered(functions.clients, (ASK,)) as meter:
        answer: Any = functions.client()("GET", f"/console/api/in-force/{scope}")
    assert (answer.status, meter.seen) == (200, (ASK,)), answer.text
    assert meter.read <= 6


def test_a_history_with_names_is_two_trips(functions: Functions) -> None:
    attributed_to(functions, "named-value")
    told = expect_rounds(functions.client(), functions, "/subjects/named-value/history?limit=21", (ASK + QUERY, QUERY))
    assert [each["name"] for each in told] == ["ada"]


def test_names_are_asked_for_by_themselves_in_one_trip(functions: Functions) -> None:
    """As the console does: an answer with names waits for them."""
    attributed_to(functions, "named-value")
    history = "/subjects/named-value/history?tokens=true&limit=21"
    [entry] = expect_rounds(functions.client(), functions, history, (ASK + QUERY,))
    assert "name" not in entry
    told = expect_rounds(functions.client(), functions, f"/console/api/names?token={entry['by']}&limit=60", (QUERY,))
    assert told == {"found": [{"by": entry["by"], "name": "ada"}]}
    assert expect_rounds(functions.client(), functions, "/console/api/names?token=anyone", ()) == {"found": []}


@pytest.mark.parametrize(
    "subject, rounds, number",
    [
        ("customers", (ASK + QUERY, ASK * 2), 4),  # between those that it references and that reference it
        ("address", (ASK + QUERY, ASK), 3),
        ("deep", (ASK + QUERY, ASK), 2),
    ],
)
def test_a_picture_is_two_trips_and_each_step_further_is_two(
    functions: Functions, subject: str, rounds: Rounds, number: int
) -> None:
    client, target = functions.client(), f"/console/api/graph?subject={subject}-value&version=1&limit=14"
    told = expect_rounds(client, functions, f"{target}&step=true", rounds)
    assert len(told["nodes"]) == number
    while told["ends"]:
        at = "".join(f"&at={quote(each, safe='')}" for each in told["ends"])
        with metered(functions.clients, (QUERY * len(told["ends"]),), patience_s=2) as meter:
            told = client("GET", f"{target}{at}").json
        assert len(meter.seen) <= MOST_TRIPS
        assert meter.read <= MOST_UNITS


def test_fields_are_two_trips(functions: Functions) -> None:
    told = expect_rounds(functions.client(), functions, FIELDS.format("long-value", VERSIONS), (LOOK, READ * VERSIONS))
    assert [each["since"] for each in told["found"][1:]] == list(range(2, VERSIONS + 1))


@pytest.mark.parametrize(
    "call, rounds",
    [
        ("/subjects/{}-value/diff/1/2", (ASK, READ * 2)),
        (FIELDS.format("{}-value", 2), (LOOK, READ * 2)),
    ],
    ids=["two versions compared", "fields"],
)
@pytest.mark.parametrize("subject, depth", [("orders", 0), ("customers", 1), ("deep", 2)])
def test_what_a_schema_references_is_a_trip_more_for_each_depth_until_it_was_read(
    functions: Functions, call: str, rounds: Rounds, subject: str, depth: int
) -> None:
    client = functions.client()
    expect_rounds(client, functions, call.format(subject), (*rounds, *[READ] * depth))
    expect_rounds(client, functions, call.format(subject), rounds[:1])


def expect_rounds(client: Client, functions: Functions, target: str, rounds: Rounds) -> Any:
    """Asks it in these rounds, for 20 units at most. Returns the answer."""
    with metered(functions.clients, rounds, patience_s=2) as meter:
        answer: Any = client("GET", target)
    assert answer.status == 200, answer.text
    assert meter.seen == rounds, target
    assert meter.read <= MOST_UNITS, target
    return answer.json


def test_usage_of_ten_versions_with_an_id_each_is_two_trips(functions: Functions) -> None:
    target = "/console/api/subjects/long-value/usage?tokens=true&limit=10"
    told = expect_rounds(functions.client(), functions, target, (ASK * 2 + QUERY, ASK + QUERY * 10))
    assert len({each["id"] for each in told["found"]}) == 10


def attributed_to(functions: Functions, subject: str) -> None:
    by_ada = attributed(functions.registry(), Author("ada", "api", kept_ms=DAY_MS))
    register(subject, a_text("Named"))(by_ada)


@pytest.mark.parametrize(
    "call, rounds",
    [
        ("stakes", (ASK * 2 + QUERY * 2, ASK + QUERY)),
        ("stakes?version=1", (ASK * 3 + QUERY * 3, ASK + QUERY)),
        ("usage?limit=10", (ASK * 2 + QUERY, ASK + QUERY)),
    ],
)
def test_the_name_of_a_reader_is_one_trip_more_unless_its_token_will_do(
    functions: Functions, call: str, rounds: Rounds
) -> None:
    client = functions.client()
    register("read-value", a_text("Read"))(functions.registry())
    id = client("GET", "/subjects/read-value/versions/1").json["id"]
    functions.registry().reads.note([Read(BodyKey(".", id), "", "ada")], NOW, DAY_MS)
    told = expect_rounds(client, functions, f"/console/api/subjects/read-value/{call}", (*rounds, QUERY))
    assert '"name": "ada"' in json.dumps(told)
    with_tokens = f"{call}{'&' if '?' in call else '?'}tokens=true"
    told = expect_rounds(client, functions, f"/console/api/subjects/read-value/{with_tokens}", rounds)
    assert '"by": "p' in json.dumps(told)
    assert '"name": "ada"' not in json.dumps(told)


def search(functions: Functions, query: str, expected: Rounds) -> Any:
    with metered(functions.clients, expected, patience_s=2) as meter:
        answer: Any = functions.client()("GET", f"/console/api/search?{query}")
    assert answer.status == 200, answer.text
    assert meter.read <= MOST_UNITS, query
    assert meter.seen == expected, query
    return answer.json


def test_a_search_goes_as_far_as_20_units_and_says_so(functions: Functions) -> None:
    """Asked on and on it finds what there is, each time in two trips."""
    everything = functions.client()("GET", "/console/api/subjects?names=true&contains=CUSTOMER").json
    found, after, looks = list[dict[str, str]](), "", 0
    while True:
        first = (ALL_SHARDS,) if looks else (ALL_SHARDS, ASK)
        told = search(functions, f"contains=CUSTOMER{after and f'&after={after}'}", first)
        found += ({"subject": each["subject"]} for each in told["found"])
        looks += 1
        if "through" not in told:
            break
        after = told["through"]
    assert found == everything
    assert looks > 1


@pytest.mark.parametrize(
    "query, rounds",
    [
        ("contains=MANY", (ALL_SHARDS, ASK)),
        ("deleted=true&contains=gone", (ALL_SHARDS, ("Query",))),
        ("deleted=true", (ALL_SHARDS, ("BatchGetItem", "Query"))),
        ("subjectPrefix=&contains=a", (ALL_SHARDS, ASK)),
        ("type=PROTOBUF", (ALL_SHARDS, ASK)),
    ],
)
def test_each_look_is_two_trips(functions: Functions, query: str, rounds: Rounds) -> None:
    told = search(functions, query, rounds)
    assert len(told["found"]) <= 20
    assert told["searched"] > 0
    assert "through" in told


def test_a_function_tells_the_console_that_reads_cost_money(functions: Functions) -> None:
    assert "paid-reads" in functions.client()("GET", "/console/api/caller").json["has"]


def test_each_page_of_the_list_costs_the_same(functions: Functions) -> None:
    """The next one begins after the last name that was shown, however many names are before it."""
    client, seen, after = functions.client(), list[str](), ""
    for _ in range(5):
        target = f"/console/api/subjects?limit=21&subjectPrefix=%3A*%3A{after and f'&after={after}'}"
        with metered(functions.clients, (ALL_SHARDS,)) as meter:
            found = [each["subject"] for each in client("GET", target).json]
        assert meter.read <= MOST_UNITS
        assert len(meter.seen) <= MOST_TRIPS
        seen += found[:20]
        after = found[19]
    everything = [each["subject"] for each in client("GET", "/console/api/subjects?names=true&limit=100").json]
    assert seen == everything
