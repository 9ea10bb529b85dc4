"""Rows of keys, associations and exporters: whether each can be read, whether its copies agree, and putting them right.

Each DEK has a copy in a list, and its KEK counts it; an association stands in four places, its topic's row names it and
its subject's head counts it. Commits write all of that together, so only a hand or a restored table takes it apart.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from sigla import keys
from sigla.associations.nouns import Association, Associations
from sigla.changes import AssociationsChanged, KekChanged
from sigla.errors import Conflict
from sigla.exporters.nouns import Exporter
from sigla.keks.nouns import Dek, Kek
from sigla.ports.inventory import MISPLACED, UNFIT, ProgressAlone, UnreadableRow
from sigla.stores.dynamodb import associations, exporters, items, keks
from sigla.stores.dynamodb.actions import Action, Key, condition_check, delete, earlier, equals, put, update
from sigla.stores.dynamodb.commits import TRIES, Commits
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import CommitPlan, unmoved
from sigla.stores.dynamodb.reading import states
from sigla.stores.dynamodb.values import Item

_AT_ONCE: Final = 90
"""Copies that are put right in one transaction."""

Noun = TypeVar("Noun")
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class KeptRows:
    commits: Commits

    # --- reading -----------------------------------------------------------------------------------------------------

    def keys(self) -> Iterator[Kek | Dek | UnreadableRow]:
        """Yields what `ports.Inventory.key_rows` promises."""
        tools = self.commits.tools
        table, registry = tools.table, tools.places.registry
        names: dict[str, None] = {}
        for item in table.query(keys.keks_pk(registry)):
            kek = _read(item, partial(keks.kek_in, tools.places))
            if kek is not None:
                yield kek
            if isinstance(kek, Kek):
                names[kek.name] = None
        names |= dict.fromkeys(item["kek"] for item in table.query(keys.listed_deks_pk(registry)))
        for name in names:
            for item in table.query(keys.deks_pk(registry, name)):
                yield _read(item, partial(keks.dek_in, tools.places))

    def associations(self) -> Iterator[Association | UnreadableRow]:
        """Yields what `ports.Inventory.association_rows` promises."""
        tools = self.commits.tools
        pk = keys.associations_pk(tools.places.registry)
        return (_read(item, partial(_association_in, tools.places)) for item in tools.table.query(pk))

    def exporters(self) -> Iterator[Exporter | ProgressAlone | UnreadableRow]:
        """Yields what `ports.Inventory.exporter_rows` promises."""
        return exporters.all_rows(self.commits.tools)

    def drop_progress(self, exporter: str) -> None:
        """Does what `ports.Inventory.drop_progress` promises."""
        exporters.drop_progress(self.commits.tools, exporter)

    # --- associations ------------------------------------------------------------------------------------------------

    def is_whole(self, one: Association) -> bool:
        """Tells what `ports.Inventory.is_whole` promises."""
        seen = self._seen(one)
        return (
            len(seen.standing) == len(seen.places)
            and all(each == one for each in seen.standing.values())
            and seen.guids == _guids(seen.of_resource)
            and seen.counted == (len(seen.of_subject), any(each.strong for each in seen.of_subject))
        )

    def make_whole(self, one: Association, at: int) -> bool:
        """Does what `ports.Inventory.make_whole` promises."""
        return _insist(lambda: self._make_whole(one, at))

    def _make_whole(self, one: Association, at: int) -> bool:
        tools, seen = self.commits.tools, self._seen(one)
        if any(each != one for each in seen.standing.values()):
            return False
        of_subject = {*seen.of_subject, one}
        marks = at, secrets.token_hex(8)

        def plan(at: int) -> CommitPlan:
            head = states(tools.table, tools.places, [one.subject])[one.subject].head
            sets = items.named_item(one.subject) | {
                "revision": head.revision + 1,
                "nonce": marks[1],
                "at": at,
                "associations": len(of_subject),
                "strong": any(each.strong for each in of_subject) or None,
            }
            guids = _guids({*seen.of_resource, one})
            return CommitPlan(
                [
                    update(tools.places.head(one.subject), sets, add={"referred": 0}, when=unmoved(head, at)),
                    put(
                        tools.places.resource(one.resource.id),
                        {"resource": one.resource.id, "guids": guids},
                        equals(guids=seen.guids or None),
                    ),
                    *(put(place, items.association_item(one)) for place in seen.places),
                ]
            )

        self.commits.write(AssociationsChanged(one.resource.id, (), (), *marks), plan, journaled=False)
        return True

    def _seen(self, one: Association) -> "_Seen":
        tools = self.commits.tools
        places, topic, head = tools.places.association(one), tools.places.resource(one.resource.id), one.subject
        found = tools.table.get_many([*places, topic, tools.places.head(head)])
        state = items.state(head, found.get(tools.places.head(head))).head
        return _Seen(
            places,
            {place: items.association(found[place]) for place in places if place in found},
            found.get(topic, {}).get("guids", []),
            (state.associations, state.strong),
            associations.of_resource(tools, one.resource.id),
            associations.of_subject(tools, one.subject),
        )

    # --- DEKs --------------------------------------------------------------------------------------------------------

    def recount_deks(self, kek: str, at: int) -> None:
        """Does what `ports.Inventory.recount_deks` promises, copies first, counts then, as long as no key moves."""
        _insist(lambda: self._recount(kek, at))

    def _recount(self, kek: str, at: int) -> None:
        tools = self.commits.tools
        place = tools.places.kek(kek)
        row = tools.table.get(place)
        as_seen = equals(at=None if row is None else row["at"])
        deks = list(keks.deks(tools, kek))
        copies = self._copies(kek, deks)
        for first in range(0, len(copies), _AT_ONCE):
            self._write_as_seen(kek, at, copies[first : first + _AT_ONCE], condition_check(place, as_seen))
        if row is not None:
            counts = {"stored": len(deks), "active": sum(not dek.deleted for dek in deks)}
            self._write(kek, at, lambda at: [update(place, {**counts, "at": at}, when=as_seen & earlier(at))])

    def _write_as_seen(self, kek: str, at: int, copies: list[Action], check: Action) -> None:
        self._write(kek, at, lambda _: [*copies, check])

    def _copies(self, kek: str, deks: Iterable[Dek]) -> list[Action]:
        """What puts the list right."""
        places, table = self.commits.tools.places, self.commits.tools.table
        wanted: dict[Key, Item] = {places.listed_dek(dek): keks.listed_item(dek) for dek in deks}
        listed = {
            (item["pk"], item["sk"]): item
            for item in table.query(keys.listed_deks_pk(places.registry))
            if item["kek"] == kek
        }
        missing = [put(key, item) for key, item in wanted.items() if not item.items() <= listed.get(key, {}).items()]
        return missing + [delete(key) for key in listed if key not in wanted]

    def _write(self, kek: str, at: int, actions: Callable[[int], list[Action]]) -> None:
        change = KekChanged(kek, None, None, at, secrets.token_hex(8))
        self.commits.write(change, lambda at: CommitPlan(actions(at)), journaled=False)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the table says of an association. counted: how many its subject's head knows, and whether one is strong."""

    places: tuple[Key, ...]
    standing: dict[Key, Association]
    guids: list[str]
    counted: tuple[int, bool]
    of_resource: Associations
    of_subject: Associations


def _insist(attempt: Callable[[], Done]) -> Done:
    """Raises Conflict where other writers are faster each time."""
    for _ in range(TRIES):
        with suppress(Conflict):
            return attempt()
    raise Conflict


def _guids(found: Iterable[Association]) -> list[str]:
    return sorted(one.guid for one in found)


def _association_in(places: Places, item: Item) -> Association:
    """Raises one of UNFIT where it cannot be read, or belongs to another place."""
    found = items.association(item)
    if (item["pk"], item["sk"]) not in places.association(found):
        raise ValueError(MISPLACED)
    return found


def _read(item: Item, parse: Callable[[Item], Noun]) -> Noun | UnreadableRow:
    try:
        return parse(item)
    except UNFIT:
        return UnreadableRow(f"{item['sk']} of {item['pk']}")
