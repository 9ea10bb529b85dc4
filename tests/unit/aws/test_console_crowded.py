"""What pages of the console cost in AWS in a registry that has very many of something: what they cost in a small one.

The rows are written as commits leave them, and not by commits: that would take minutes.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import Any, Final
from urllib.parse import quote

import pytest

from infra.trips import Rounds
from sigla.associations.nouns import WEAK, Association, Resource
from sigla.keks import records
from sigla.keks.nouns import Kek
from sigla.model import BodyKey, Config, Reference, SchemaId, Settings, Subject, Version
from sigla.ports.log import LogEntry, Matter
from sigla.registry.fields import MOST_PAID
from sigla.stores.dynamodb import histories, items
from sigla.stores.dynamodb.actions import Action, put
from sigla.stores.dynamodb.items import Stored
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.values import packed
from tests.attack.stories import register
from tests.browser.paid_calls import CALLER, CALLS, of_subject
from tests.build import NOW, FixedClock, a_row, a_text
from tests.unit.aws.metering import metered
from tests.unit.aws.test_console_trips import (
    ASK,
    FIELDS,
    JSON,
    LOOK,
    MOST_TRIPS,
    MOST_UNITS,
    QUERY,
    READ,
    Functions,
    rounds_of,
)

MANY: Final = 3000


def context_rows(places: Places) -> Iterable[Action]:
    for at in range(MANY):
        yield put(places.context(f".team-{at:05}"), {"context": f".team-{at:05}", "at": NOW, "count": 1})


def settings_rows(places: Places) -> Iterable[Action]:
    for at in range(MANY):
        scope, set_there = Subject(".", f"orders-{at:05}-value"), Settings(Config(level="FULL"), "READONLY", "nonce")
        yield put(places.listed_settings(scope), items.named_item(scope) | items.settings_item(set_there))


def kek_rows(places: Places) -> Iterable[Action]:
    for at in range(MANY):
        name = f"kek-{at:05}"
        kek = Kek(name, "aws-kms", f"arn:aws:kms:eu-central-1:123456789012:key/{at:036}", ts=NOW, revision="nonce")
        form = {"kek": packed(records.kek_json(kek)), "revision": "nonce", "at": NOW, "stored": 1, "active": 1}
        yield put(places.kek(name), form)


def association_rows(places: Places) -> Iterable[Action]:
    for at in range(MANY):
        resource = Resource(f"orders-{at:05}", "lkc-123456", f"lkc-123456:orders-{at:05}")
        one = Association(Subject(".", f"orders-{at:05}-value"), f"{at:032}", resource, "value", WEAK, NOW, NOW)
        *_, listed = places.association(one)
        yield put(listed, items.association_item(one))


def holder_rows(places: Places) -> Iterable[Action]:
    for at in range(MANY):
        subject, row = Subject(".", f"orders-{at:05}-value"), a_row(1, id=2)
        head = {"revision": 1, "nonce": "nonce", "at": NOW, "generation": 0, "highest": 1}
        yield put(places.head(subject), items.named_item(subject) | head | {"newest": items.row_value(row)})
        yield put(places.holder(BodyKey(".", row.id), subject, row.version, 0), items.holder_item(subject, row, 0))


def referrer_rows(places: Places) -> Iterable[Action]:
    """Each of a subject of its own, which has this one version: the dearest there may be."""
    for at in range(MANY):
        referrer, row = Subject(".", f"refers-{at:05}-value"), a_row(1, id=2)
        head = {"revision": 1, "nonce": "nonce", "at": NOW, "generation": 0, "highest": 1}
        yield put(places.head(referrer), items.named_item(referrer) | head | {"newest": items.row_value(row)})
        yield put(places.version(referrer, 0, row.version), items.version_item(Stored(row, "nonce", (), DIGESTS)))
        place = places.referrer(Subject(".", "a-value"), Version(1), referrer, row, "nonce")
        yield put(place, items.referrer_item(referrer, 0, row, Version(1), "nonce"))


PICTURE: Final = "/console/api/graph?limit=14&step=true&"
LONG: Final = Subject(".", "long-value")
VERSIONS: Final = 10_000
DIGESTS: Final = ("digest" * 7, "other digest" * 3)


def version_rows(places: Places) -> Iterable[Action]:
    """For each registration the version, and what the history tells of it."""
    for at in range(1, VERSIONS + 1):
        row = a_row(at, id=2, text=a_text("B"))
        yield put(places.version(LONG, 0, row.version), items.version_item(Stored(row, "nonce", (), DIGESTS)))
        matter = Matter("SCHEMA", LONG.qualified, version=row.version, id=row.id)
        yield histories.put_entry(places, LONG, LogEntry(NOW + at, f"{at:032}", "register", (matter,)))
    head = {"revision": VERSIONS, "nonce": "nonce", "at": NOW, "generation": 0, "highest": VERSIONS}
    yield put(
        places.head(LONG),
        items.named_item(LONG) | head | {"newest": items.row_value(a_row(VERSIONS, id=2, text=a_text("B")))},
    )


WIDE: Final = Subject(".", "wide-value")


def wide_rows(places: Places) -> Iterable[Action]:
    """A version that references twenty of those above; twenty others of them reference it."""
    referenced = tuple(Reference(f"R{at}", f"refers-{at:05}-value", Version(1)) for at in range(20))
    row = a_row(1, id=2, references=referenced)
    head = {"revision": 1, "nonce": "nonce", "at": NOW, "generation": 0, "highest": 1}
    yield put(places.head(WIDE), items.named_item(WIDE) | head | {"newest": items.row_value(row)})
    yield put(places.version(WIDE, 0, row.version), items.version_item(Stored(row, "nonce", (), DIGESTS)))
    for at in range(20, 40):
        referrer, other = Subject(".", f"refers-{at:05}-value"), a_row(1, id=2)
        place = places.referrer(WIDE, row.version, referrer, other, "nonce")
        yield put(place, items.referrer_item(referrer, 0, other, row.version, "nonce"))


NAMES: Final = 700


def principal_rows(places: Places) -> Iterable[Action]:
    for at in range(NAMES):
        sets = {"name": f"team-{at:04}-producer", "token": f"p{at:016x}", "until": 2 * NOW, "expires": 2 * NOW // 1000}
        yield put(places.principal(f"team-{at:04}-producer"), sets)


def read_rows(places: Places) -> Iterable[Action]:
    """Each reader has named a subject of its own."""
    for at in range(MANY):
        by, subject = f"p{at:016x}", f"a-subject-of-a-team-that-reads-{at:05}-value"
        sets = {"by": by, "subject": subject, "day": "2026-11-28", "expires": 2 * NOW // 1000}
        yield put(places.read(BodyKey(".", SchemaId(2)), subject, by), sets)


ROWS: Final = (
    read_rows,
    principal_rows,
    context_rows,
    settings_rows,
    kek_rows,
    association_rows,
    holder_rows,
    version_rows,
    referrer_rows,
    wide_rows,
)


@pytest.fixture(scope="module")
def crowded() -> Iterator[Functions]:
    with ExitStack() as opened:
        made = Functions(opened)
        registry = made.registry()
        register("a-value", a_text("A"))(registry)
        register("b-value", a_text("B"))(registry)
        tools = Tools.of(made.clients.dynamodb, made.table, FixedClock(), "default")
        rows = (write(tools.places) for write in ROWS)
        tools.table.write_all(list(chain.from_iterable(rows)))
        yield made


@pytest.mark.parametrize("page", ["", "contexts", "settings", "associations", "encryption", "ids/default/2"])
def test_a_page_costs_what_it_costs_in_a_small_registry(crowded: Functions, page: str) -> None:
    assert sum(cost(crowded, call, rounds_of(call))[0] for call in (CALLER, *CALLS[page])) <= MOST_UNITS


@pytest.mark.parametrize("version", [VERSIONS, VERSIONS - 19, 5000, 1])
def test_the_page_of_a_version_costs_the_same_however_many_there_are(crowded: Functions, version: int) -> None:
    """Also of one that the first part of the list does not tell."""
    calls = (CALLER, *of_subject(LONG.name, version, named=True))
    costs, answers = zip(*(cost(crowded, call, rounds_of(call)) for call in calls), strict=True)
    assert sum(costs) <= MOST_UNITS, costs
    told = answers[1].json
    assert [each["version"] for each in told["found"]] == [*range(VERSIONS, VERSIONS - 20, -1)]
    assert [each["version"] for each in told["near"]] == [each for each in (version, version - 1) if each]
    assert told["latest"] == VERSIONS


def test_the_first_names_are_told_with_the_page_and_others_for_20_units_each(crowded: Functions) -> None:
    """Of 700: those of a history beside a page of a version, and then as far as it takes."""
    page = (CALLER, *of_subject(LONG.name, 5000, named=True))
    wanted = {f"p{at:016x}": f"team-{at:04}-producer" for at in (3, 400, 699)}
    call = f"GET /console/api/names?{'&'.join(f'token={each}' for each in wanted)}"
    units, answer = cost(crowded, f"{call}&limit=60", ())
    assert units + sum(cost(crowded, each, rounds_of(each))[0] for each in page) <= MOST_UNITS
    assert [each["name"] for each in answer.json["found"]] == ["team-0003-producer"]
    units, answer = cost(crowded, f"{call}&limit=1000&after={answer.json['after']}", ())
    assert units <= MOST_UNITS
    assert {each["by"]: each["name"] for each in answer.json["found"]} == dict(list(wanted.items())[1:])
    assert "after" not in answer.json


def cost(functions: Functions, call: str, rounds: Rounds) -> tuple[float, Any]:
    client, (method, target) = functions.client(), call.split(" ")
    with metered(functions.clients, rounds) as meter:
        answer: Any = client(method, target, None, JSON)
    assert answer.status == 200, answer.text
    assert len(meter.seen) <= MOST_TRIPS, (call, meter.seen)
    return meter.read, answer


@pytest.mark.parametrize("of", ["", "&version=1"])
def test_who_refers_to_a_subject_costs_the_same_however_many_do(crowded: Functions, of: str) -> None:
    """What the page of a version asks, and the question before it is deleted."""
    seen, after = list[str](), ""
    for _ in range(4):
        call = f"GET /console/api/subjects/a-value/referrers?limit=14{of}{after}"
        units, answer = cost(crowded, call, rounds_of(call))
        assert units <= MOST_UNITS
        seen += [each["subject"] for each in answer.json["found"]]
        after = f"&after={quote(answer.json['after'], safe='')}"
    assert len(seen) == len(set(seen)) == 56


@pytest.mark.parametrize(
    "calls",
    [
        ("subjects/long-value/stakes?tokens=true",),
        ("subjects/long-value/stakes?version=5000&tokens=true", "ids/2?limit=2"),
        ("subjects/a-value/stakes?tokens=true",),
        ("subjects/a-value/stakes?version=1&tokens=true", "ids/1?limit=2"),
        ("subjects/long-value/usage?tokens=true&limit=10",),
        ("subjects?names=true&limit=21&subjectPrefix=", "settings?limit=20&subjectPrefix=&after=%3A.%3A"),
        (
            "subjects?names=true&limit=21&subjectPrefix=%3A.eu%3A",
            "settings?limit=20&subjectPrefix=%3A.eu%3A&after=%3A.eu%3A",
        ),
    ],
    ids=" ".join,
)
def test_a_question_costs_the_same_however_much_hangs_on_it(crowded: Functions, calls: tuple[str, ...]) -> None:
    """Before something is deleted, restored, or configured; each of all its calls."""
    assert (
        sum(cost(crowded, f"GET /console/api/{call}", rounds_of(f"/console/api/{call}"))[0] for call in calls)
        <= MOST_UNITS
    )


def test_of_the_readers_of_an_id_some_are_told_however_many_there_are(crowded: Functions) -> None:
    tokens = "tokens=true"
    call = f"GET /console/api/subjects/long-value/usage?{tokens}&limit=10"
    units, answer = cost(crowded, call, rounds_of("/usage?"))
    assert units <= MOST_UNITS
    assert [(len(each["reads"]), each["more"]) for each in answer.json["found"]] == [(20, True)] * 10
    for call in ("stakes?", "stakes?version=5000&"):
        units, answer = cost(crowded, f"GET /console/api/subjects/long-value/{call}{tokens}", rounds_of(f"/{call}"))
        assert units <= MOST_UNITS
        assert (answer.json["reads"]["readers"], answer.json["reads"]["more"]) == (20, True)


def test_what_hangs_on_a_subject_is_told_as_a_part(crowded: Functions) -> None:
    told = crowded.client()("GET", "/console/api/subjects/long-value/stakes").json
    assert told["versions"] == {"stored": 20, "active": 20, "highest": VERSIONS, "more": True}
    told = crowded.client()("GET", "/console/api/subjects/a-value/stakes").json
    assert told["referrers"]["more"]


def test_a_picture_and_each_step_further_cost_20_units_whatever_refers_to_it(crowded: Functions) -> None:
    """The fifth step begins at versions to which nothing refers."""
    call = f"GET {PICTURE}subject=a-value&version=1"
    units, answer = cost(crowded, call, (ASK + QUERY, ASK))
    seen, costs, ends = {each["subject"] for each in answer.json["nodes"]}, [units], answer.json["ends"]
    assert len(seen) == 8
    for _ in range(4):
        at, ends = ends[-1:], ends[:-1]
        units, answer = cost(crowded, f"{call}&at={quote(at[0], safe='')}", (QUERY, ASK))
        seen |= {each["subject"] for each in answer.json["nodes"]}
        costs.append(units)
        ends += answer.json["ends"]
    assert len(seen) == 8 + 4 * 14
    at = "".join(f"&at={quote(each, safe='')}" for each in ends[:5])
    units, answer = cost(crowded, f"{call}{at}", (QUERY * 5,))
    assert (answer.json["nodes"], answer.json["more"]) == ([], False)
    assert max(*costs, units) <= MOST_UNITS


def test_a_picture_of_much_on_both_sides_costs_20_units_and_each_step_further_too(crowded: Functions) -> None:
    call = f"GET {PICTURE}subject={WIDE.name}&version=1"
    first, answer = cost(crowded, call, (ASK + QUERY, ASK * 2))
    seen = {each["subject"] for each in answer.json["nodes"]}
    assert len(seen) == 14
    on_both_sides = [each for each in answer.json["ends"] if WIDE.name in each]
    at = "".join(f"&at={quote(each, safe='')}" for each in on_both_sides)
    further, answer = cost(crowded, f"{call}{at}", (ASK + QUERY, ASK * 2))
    seen |= {each["subject"] for each in answer.json["nodes"]}
    assert len(seen) == 14 + 14
    assert max(first, further) <= MOST_UNITS


@pytest.mark.parametrize("version", [5000, 1])
def test_a_picture_of_one_version_does_not_read_the_others(crowded: Functions, version: int) -> None:
    units, answer = cost(crowded, f"GET {PICTURE}subject=long-value&version={version}", (ASK + QUERY,))
    assert (len(answer.json["nodes"]), answer.json["more"]) == (1, False)
    assert units <= MOST_UNITS


def test_fields_of_a_version_cost_20_units_and_two_trips_however_many_are_before_it(crowded: Functions) -> None:
    after = ""
    for _ in range(3):
        units, answer = cost(crowded, f"GET {FIELDS.format(LONG.name, VERSIONS)}{after}", (LOOK, READ))
        assert units <= MOST_UNITS
        assert ["since" in each for each in answer.json["found"]] == [False]
        after = f"?after={answer.json['after']}"
    assert after == f"?after={VERSIONS - 3 * MOST_PAID}"


@pytest.mark.parametrize(
    "what", ["contexts", "settings", "associations", "keks", "ids/2", "subjects/long-value/versions"]
)
def test_more_of_a_list_costs_the_same_wherever_it_begins(crowded: Functions, what: str) -> None:
    """And brings what was not told before."""
    seen, after, costs = list[Any](), "", list[float]()
    for _ in range(4):
        call = f"GET /console/api/{what}?limit=20{after}"
        units, answer = cost(crowded, call, rounds_of(call))
        costs.append(units)
        seen += [str(each) for each in answer.json["found"]]
        after = f"&after={quote(answer.json['after'], safe='')}"
    assert max(costs) <= MOST_UNITS
    assert len(seen) == len(set(seen)) == 80
