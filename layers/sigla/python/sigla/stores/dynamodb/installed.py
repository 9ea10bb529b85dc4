"""What the stack of a table runs, for the other region: a promotion by plan is of two that are alike.

The function of the two regions says so in its first turn, and each half hour from then on: it comes with the stack, in
one deployment with what answers clients. What is older than `LATELY_MS` says nothing, as where a stack has no such
function any more.
"""

from typing import Final

from sigla.ports.clock import Clock
from sigla.regions.installed import Installed
from sigla.stores.dynamodb.actions import update
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.table import Table
from sigla.stores.dynamodb.values import Item, packed, unpacked

LATELY_MS: Final = 7_200_000


def tell_installed(tools: Tools, installed: Installed) -> None:
    told: Item = {"at": tools.clock.now(), "form": packed(installed.compared), "peer": installed.peer}
    tools.table.update(update(tools.places.installed(), told))


def installed_in(table: Table, places: Places, clock: Clock) -> Installed | None:
    found = table.get(places.installed())
    if found is None or clock.now() - found["at"] > LATELY_MS:
        return None
    return Installed(**unpacked(found["form"]), peer=found.get("peer", ""))
