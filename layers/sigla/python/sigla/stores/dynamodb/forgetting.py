"""A table that joins anew forgets what its registry had: the rows of the catalog go, page by page.

What stays: how far ids were given, the role, the journal and its segments, names behind tokens, zones, the identity,
and what its stack runs, of which the function of the two regions tells once each half hour.
A commit of the other region's journal that was brought there is marked, so that no comparison meets it again.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import orjson

from sigla import keys
from sigla.forms import FORM
from sigla.ports.replaying import Shipment
from sigla.regions.nouns import Joins, Role
from sigla.regions.refusals import RoleChanged
from sigla.stores.dynamodb.actions import Action, Condition, Key, condition_check, delete, equals, update
from sigla.stores.dynamodb.fence import ROLE_ATTRIBUTES
from sigla.stores.dynamodb.journal import BROUGHT, time_of
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.table import MOST_ACTIONS, Cancelled
from sigla.stores.dynamodb.values import Item

_KEPT: Final = frozenset({"region", "j", "segments", "z", "principals", "reads"})
"""Kinds of partitions."""


def forget(tools: Tools) -> None:
    """May be cut off, and be called again. Nothing else writes there meanwhile but functions of the journal.

    Raises RoleChanged where it is not the time any more: a second run of the command came to its end while this one
    slept, and the region is being filled, or follows.
    """
    role = tools.fence.read()
    if role is None or role.joins is not Joins.FORGETS:
        raise RoleChanged
    own, stands = f"{keys.component(tools.places.registry)}#", equals(turn=role.turn)
    after: Key | None = None
    try:
        while True:
            found, after = tools.table.scan(after)
            gone = _gone(tools, [item for item in found if item["pk"].startswith(own)], own, stands)
            while some := list(islice(gone, MOST_ACTIONS - 1)):
                tools.table.transact([condition_check(tools.places.role(), stands), *some])
            if after is None:
                return
    except Cancelled:
        raise RoleChanged from None


def mark_brought(tools: Tools, seen: Role | None, shipments: Iterable[Shipment], unread: Iterable[Key] = ()) -> None:
    """seen: the role of that region before its commits were read. unread: rows of those that could not be.

    Raises RoleChanged where it has another by now.
    """
    stands = condition_check(tools.places.role(), equals(turn=seen.turn if seen else None))
    place = tools.places.journal
    told = [place(time_of(each.position), orjson.loads(each.form)["nonce"]) for each in shipments]
    for row in (*told, *unread):
        try:
            tools.table.transact([stands, update(row, {BROUGHT: True}, when=Condition("attribute_exists(#pk)"))])
        except Cancelled as refused:
            if refused.items:
                raise RoleChanged from None
            # A row that has expired meanwhile stays away.


def _gone(tools: Tools, items: Iterable[Item], own: str, stands: Condition) -> Iterator[Action]:
    for item in items:
        place = item["pk"], item["sk"]
        if place == tools.places.role():
            settings = {name: None for name in item if name not in {*ROLE_ATTRIBUTES, "pk", "sk", FORM}}
            if settings:
                tools.table.update(update(place, settings, when=stands))
        elif not _stays(tools, place, own):
            yield delete(place)


def _stays(tools: Tools, place: Key, own: str) -> bool:
    pk, sk = place
    is_kept = pk.removeprefix(own).partition("#")[0] in _KEPT
    return is_kept or sk == keys.NEXT or place == tools.places.installed()
