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
from sigla.model import BodyKey, Config, Settings, Subject
from sigla.stores.dynamodb import items
from sigla.stores.dynamodb.actions import Action, put
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.values import packed
from tests.attack.stories import register
from tests.browser.paid_calls import CALLER, CALLS
from tests.build import NOW, FixedClock, a_row, a_text
from tests.unit.aws.metering import metered
from tests.unit.aws.test_console_trips import JSON, MOST_TRIPS, MOST_UNITS, Functions, rounds_of

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


@pytest.fixture(scope="module")
def crowded() -> Iterator[Functions]:
    with ExitStack() as opened:
        made = Functions(opened)
        registry = made.registry()
        register("a-value", a_text("A"))(registry)
        register("b-value", a_text("B"))(registry)
        tools = Tools.of(made.clients.dynamodb, made.table, FixedClock(), "default")
        rows = (write(tools.places) for write in (context_rows, settings_rows, kek_rows, association_rows, holder_rows))
        tools.table.write_all(list(chain.from_iterable(rows)))
        yield made


@pytest.mark.parametrize("page", ["", "contexts", "settings", "associations", "encryption", "ids/default/2"])
def test_a_page_costs_what_it_costs_in_a_small_registry(crowded: Functions, page: str) -> None:
    assert sum(cost(crowded, call, rounds_of(call))[0] for call in (CALLER, *CALLS[page])) <= MOST_UNITS


def cost(functions: Functions, call: str, rounds: Rounds) -> tuple[float, Any]:
    client, (method, target) = functions.client(), call.split(" ")
    with metered(functions.clients, rounds) as meter:
        answer: Any = client(method, target, None, JSON)
    assert answer.status == 200, answer.text
    assert len(meter.seen) <= MOST_TRIPS, (call, meter.seen)
    return meter.read, answer


@pytest.mark.parametrize("what", ["contexts", "settings", "associations", "keks", "ids/2"])
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
