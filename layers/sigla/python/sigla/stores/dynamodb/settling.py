"""What several subjects share, counted from the rows of each: after a copy, whose parts are of different moments.

HOLDERS, ID       of an id, how many versions hold it; of a content, the ids that mean something
contexts          how many subjects each of them has
associations      with each resource, name and in the list of all, as they stand with their subjects
generations       rows that a purge has left behind are swept
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from sigla import keys
from sigla.model import BodyKey, Guid, SchemaId, Subject
from sigla.stores.dynamodb import items, sweeping
from sigla.stores.dynamodb.actions import Action, Key, delete, put, update
from sigla.stores.dynamodb.copied_subjects import VERSION, attributes, generation_of
from sigla.stores.dynamodb.ids import KNOWN
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.values import Item

_OF_RESOURCES: Final = frozenset({"a", "o"})
"""Partitions of associations beside those of subjects."""


@dataclass(slots=True)
class _Shared:
    """held: versions of each id. contents: the ids of each content, by context. subjects: of each context.

    generations: of each subject whose rows are of several. The others are rows, by their keys.
    """

    held: Counter[BodyKey] = field(default_factory=Counter)
    contents: defaultdict[tuple[str, Guid], set[SchemaId]] = field(default_factory=lambda: defaultdict(set))
    subjects: Counter[str] = field(default_factory=Counter)
    generations: defaultdict[Subject, set[int]] = field(default_factory=lambda: defaultdict(set))
    holders: dict[BodyKey, Item] = field(default_factory=dict)
    ids: dict[Key, Item] = field(default_factory=dict)
    contexts: dict[str, Item] = field(default_factory=dict)
    associations: list[Item] = field(default_factory=list)
    copies: dict[Key, Item] = field(default_factory=dict)


class Settling:
    """write: takes groups of actions, in no order."""

    def __init__(self, tools: Tools, write: Callable[[Iterable[Sequence[Action]]], None]) -> None:
        self._tools = tools
        self._write = write

    def settle(self) -> None:
        """May be repeated; no other process may write meanwhile."""
        shared = self._shared()
        self._write([action] for action in self._differences(shared))
        for subject in self._left_behind(shared):
            sweeping.sweep(self._tools, subject)

    def _left_behind(self, shared: _Shared) -> list[Subject]:
        """Subjects with rows of an earlier generation than theirs."""
        places = self._tools.places
        heads = self._tools.table.get_many([places.head(subject) for subject in shared.generations])
        return [
            subject
            for subject, generations in shared.generations.items()
            if generations != {items.state(subject, heads.get(places.head(subject))).head.generation}
        ]

    # --- what stands here --------------------------------------------------------------------------------------------

    def _shared(self) -> _Shared:
        shared = _Shared()
        own = f"{keys.component(self._tools.places.registry)}#"
        after: Key | None = None
        while True:
            found, after = self._tools.table.scan(after)
            for item in found:
                if item["pk"].startswith(own):
                    _count_item(shared, item, item["pk"].removeprefix(own).partition("#")[0])
            if after is None:
                return shared

    # --- what should -------------------------------------------------------------------------------------------------

    def _differences(self, shared: _Shared) -> Iterator[Action]:
        yield from self._holders(shared)
        yield from self._contents(shared)
        for context, item in shared.contexts.items():
            if item.get("count", 0) != shared.subjects[context]:
                yield update(self._tools.places.context(context), {"count": shared.subjects[context]})
        yield from self._associations(shared)

    def _holders(self, shared: _Shared) -> Iterator[Action]:
        for key in shared.held.keys() | shared.holders.keys():
            standing, count = shared.holders.get(key), shared.held[key]
            wanted = self._counted(standing, count)
            if standing is None or attributes(standing) != wanted | {"form": standing.get("form")}:
                yield put(self._tools.places.holders(key), wanted)

    def _counted(self, standing: Item | None, count: int) -> Item:
        """An id without a holder is displaced or buried, as it was; what was decided on it stands."""
        known: Item = {KNOWN: standing[KNOWN]} if standing and KNOWN in standing else {}
        if count:
            return {"count": count} | known
        displaced = standing.get("displaced") if standing else None
        return {"count": 0, **({"displaced": displaced} if displaced is not None else {"buried": True})} | known

    def _contents(self, shared: _Shared) -> Iterator[Action]:
        """The order of several ids is that of the source."""
        places = self._tools.places
        of_key = {places.content(*content): content for content in shared.contents}
        for key in of_key.keys() | shared.ids.keys():
            standing = list(items.ids(shared.ids.get(key)))
            alive = shared.contents[of_key[key]] if key in of_key else set[SchemaId]()
            context = of_key[key][0] if key in of_key else keys.context_of(key[0])
            wanted = [id for id in standing if id in alive or _is_displaced(shared, BodyKey(context, id))]
            wanted += sorted(alive - set(wanted))
            if wanted != standing:
                at = shared.ids[key].get("at") if key in shared.ids else None
                yield put(key, {"ids": wanted, "at": at}) if wanted else delete(key)

    def _associations(self, shared: _Shared) -> Iterator[Action]:
        places = self._tools.places
        wanted: dict[Key, Item] = {}
        guids: defaultdict[str, list[str]] = defaultdict(list)
        for item in shared.associations:
            one = items.association(item)
            guids[one.resource.id].append(one.guid)
            wanted |= dict.fromkeys(places.association(one), items.association_item(one))
        for resource, some in guids.items():
            wanted[places.resource(resource)] = {"resource": resource, "guids": sorted(some)}
        own = {(item["pk"], item["sk"]) for item in shared.associations}
        for key in shared.copies.keys() - wanted.keys():
            yield delete(key)
        for key in wanted.keys() - own:
            standing = shared.copies.get(key)
            if standing is None or attributes(standing) != wanted[key] | {"form": standing.get("form")}:
                yield put(key, wanted[key])


def _is_displaced(shared: _Shared, key: BodyKey) -> bool:
    return not shared.held[key] and "displaced" in shared.holders.get(key, {})


def _count_item(shared: _Shared, item: Item, kind: str) -> None:
    pk, sk = item["pk"], item["sk"]
    if kind == "s" and sk.startswith(VERSION):
        subject, row = keys.subject_of(pk), items.version(item).row
        shared.held[BodyKey(subject.context, row.id)] += 1
        shared.contents[subject.context, row.guid].add(row.id)
        shared.generations[subject].add(generation_of(sk))
    elif kind == "s" and sk.startswith(keys.ASSOCIATION):
        shared.associations.append(item)
    elif kind in _OF_RESOURCES:
        shared.copies[pk, sk] = item
    elif kind == "i" and sk == keys.HOLDERS:
        shared.holders[keys.id_of(pk)] = item
    elif kind == "f":
        shared.ids[pk, sk] = item
    elif kind == "c":
        shared.contexts[item["context"]] = item
    elif kind == "n":
        shared.subjects[item["context"]] += 1
