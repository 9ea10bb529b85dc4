"""docs/events.md: the event, the kinds and the rule that it shows are those of the code."""

import json
import re
from pathlib import Path
from typing import Any, get_args

from sigla.changes import Change
from sigla.functions.event_bus import SOURCE
from sigla.journal.cloud_events import OF_UNKNOWN_KIND, PREFIX, TYPES, cloud_event
from tests.attack.aws import Store
from tests.attack.stories import ONE, TWO, register
from tests.attack.world import World
from tests.contract.aws import Account, moto
from tests.unit.aws.buses import matches
from tests.unit.aws.journaling import do, follow, lines, stores_of

__all__ = ["moto"]

PAGE = (Path(__file__).parents[2] / "docs" / "events.md").read_text(encoding="utf-8")


Json = dict[str, Any]

EVENT, PATTERN = map(json.loads, re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
"""The event of the page, and the pattern of its rule."""


def test_the_event_of_the_page_is_the_one_that_comes(moto: Account) -> None:
    """It is of the second version of a subject; time, nonce, token and request are put in the places of its own."""
    at, nonce = EVENT["id"].split("-")
    with World(store=Store(moto)) as world:
        do(world, register("orders-value", ONE), register("orders-value", TWO))
        follow(stores_of(world))
        line = max(lines(stores_of(world)), key=lambda line: int(line["at"]))
    line |= {"at": int(at), "nonce": nonce, "by": EVENT["data"]["by"]}
    line["via"] |= {"request": EVENT["data"]["via"]["request"]}
    _, _, identity, registry = EVENT["source"].split("/")
    made = cloud_event([line], registry=registry, identity=identity)
    assert json.dumps(made) == json.dumps(EVENT)


def test_the_page_has_every_kind_of_change() -> None:
    """A kind that is not on the page is one that no rule asks for."""
    rows = re.findall(r"^\| (`sigla\..+?`) \|", PAGE, re.MULTILINE)
    told = [kind for row in rows for kind in re.findall(r"`(.+?)`", row)]
    assert told == list(dict.fromkeys(told))
    assert set(told) == {PREFIX + type for type in (*TYPES.values(), OF_UNKNOWN_KIND)}
    assert TYPES.keys() == {kind.__name__ for kind in get_args(Change)}
    assert len(set(TYPES.values())) == len(TYPES)


def test_the_rule_of_the_page_gets_the_event_of_the_page() -> None:
    """And no event of another kind, registry or subject."""

    def gets(kind: str = EVENT["type"], **data: str) -> bool:
        event = {**EVENT, "data": EVENT["data"] | data}
        return matches(PATTERN, {"Source": SOURCE, "DetailType": kind, "Detail": json.dumps(event)})

    assert gets()
    assert not gets("sigla.version.deleted")
    assert not gets(registry="payments")
    assert not gets(subject="payments-value")
