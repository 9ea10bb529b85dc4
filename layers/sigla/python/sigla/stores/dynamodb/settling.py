"""What several subjects share, counted from the rows of each: after a copy, whose parts are of different moments.

    counts        HOLDERS: how many versions hold an id, by the rows of these in its own partition
                  associations: with each resource, name and in the list of all, as they stand with their subjects
    order         ID: of a content, the ids that mean something, by the counts of these and by the versions themselves
                  ASSOCIATED: of a resource, what it has, by the rows of these in its own partition
                  generations: rows that a purge has left behind are swept
    contexts      how many subjects each of them has, by the list of all

Each reads the table once, page by page, and looks up what stands elsewhere about the rows of a page.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Final

from sigla import keys
from sigla.model import DEFAULT_CONTEXT, BodyKey, SchemaId, Subject
from sigla.stores.dynamodb import items, sweeping
from sigla.stores.dynamodb.actions import Action, Condition, Key, delete, put, update
from sigla.stores.dynamodb.copied_pages import items_at
from sigla.stores.dynamodb.copied_subjects import VERSION, attributes, generation_of
from sigla.stores.dynamodb.copy_steps import CopyStep
from sigla.stores.dynamodb.ids import KNOWN
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.table import MOST_SCANNED
from sigla.stores.dynamodb.values import Item

_COUNTED: Final = (
    "begins_with(#pk, :ids) OR begins_with(#pk, :resources) OR begins_with(#pk, :others)"
    " OR (begins_with(#pk, :subjects) AND begins_with(#sk, :association))"
)
_ORDERED: Final = (
    "begins_with(#pk, :contents) OR begins_with(#pk, :resources)"
    " OR (begins_with(#pk, :subjects) AND begins_with(#sk, :version))"
)


class Settling:
    """write: takes groups of actions, in no order. readers: where questions are asked side by side.

    Each step may be repeated; no other process may write meanwhile. Sweeps do not (`sweeping`), whatever their role was
    when they began.
    """

    def __init__(self, tools: Tools, write: Callable[[Iterable[Sequence[Action]]], None], readers: Executor) -> None:
        self._tools = tools
        self._places = tools.places
        self._write = write
        self._readers = readers
        self._own = f"{keys.component(tools.places.registry)}#"

    def _read(self, places: Iterable[Key]) -> dict[Key, Item]:
        return items_at(self._tools, self._readers, places)

    def _is_of(self, item: Item, kind: str) -> bool:
        pk: str = item["pk"]
        return pk.startswith(f"{self._own}{kind}")

    # --- what is counted in one partition ----------------------------------------------------------------------------

    def settle_counts(self, step: CopyStep) -> None:
        """It takes along the partition of an id that goes beyond a page, and how many versions of it were met."""
        own = self._own
        begins = {"ids": f"{own}i#", "resources": f"{own}a#", "others": f"{own}o", "subjects": f"{own}s#"}
        for page in step.pages(self._tools.table, Condition(_COUNTED, {**begins, "association": keys.ASSOCIATION})):
            ids = [item for item in page if self._is_of(item, "i#")]
            self._write([action] for action in self._holders(step, ids))
            self._write([action] for action in self._associations([item for item in page if "association" in item]))
        self._write([action] for action in self._uncounted(step))

    def _holders(self, step: CopyStep, rows: Iterable[Item]) -> Iterator[Action]:
        """Those of an id, and behind them its HOLDERS."""
        for item in rows:
            pk, met = step.carried or ("", 0)
            if pk != item["pk"]:
                yield from self._uncounted(step)
                pk, met = item["pk"], 0
            if item["sk"] != keys.HOLDERS:
                step.carried = [pk, met + 1]
                continue
            step.carried = None
            wanted = _counted(item, met)
            if attributes(item) != wanted | {"form": item.get("form")}:
                yield put((pk, keys.HOLDERS), wanted)

    def _uncounted(self, step: CopyStep) -> Iterator[Action]:
        """HOLDERS of an id that has none, behind the last of its rows."""
        if step.carried:
            pk, met = step.carried
            step.carried = None
            yield put((pk, keys.HOLDERS), _counted({}, met))

    def _associations(self, rows: Sequence[Item]) -> Iterator[Action]:
        """What stands with a subject is so; in the other places the same."""
        of_place = {self._with_subject(item): self._places.association(items.association(item)) for item in rows}
        found = self._read(place for places in of_place.values() for place in places)
        wanted = {key: found[own] for own, places in of_place.items() if own in found for key in places}
        for key in {key for places in of_place.values() for key in places}:
            standing = found.get(key)
            if key in wanted:
                one = items.association_item(items.association(wanted[key]))
                if standing is None or attributes(standing) != one | {"form": standing.get("form")}:
                    yield put(key, one)
            elif standing is not None:
                yield delete(key)

    def _with_subject(self, item: Item) -> Key:
        _, own, *_ = self._places.association(items.association(item))
        return own

    # --- what rests on these counts ----------------------------------------------------------------------------------

    def settle_order(self, step: CopyStep) -> None:
        own = self._own
        begins = {"contents": f"{own}f#", "resources": f"{own}a#", "subjects": f"{own}s#", "version": VERSION}
        for page in step.pages(self._tools.table, Condition(_ORDERED, begins)):
            versions = [item for item in page if self._is_of(item, "s#")]
            contents = {(item["pk"], item["sk"]): item for item in page if self._is_of(item, "f#")}
            self._write([action] for action in self._contents(contents, versions))
            resources = dict.fromkeys(item["pk"] for item in page if self._is_of(item, "a#"))
            self._write([action] for pk in resources for action in self._resource(pk))
            for subject in self._left_behind(versions):
                sweeping.sweep(self._tools, subject, until=step.until, fills=True)
                step.check_time()

    def _contents(self, contents: dict[Key, Item], versions: Iterable[Item]) -> Iterator[Action]:
        """The order of several ids is that of the source."""
        held: defaultdict[Key, set[SchemaId]] = defaultdict(set)
        for item in versions:
            row = items.version(item).row
            held[self._places.content(keys.context_of(item["pk"]), row.guid)].add(row.id)
        contents = contents | self._read(held.keys() - contents.keys())
        of_ids = {
            key: [self._places.holders(BodyKey(keys.context_of(key[0]), id)) for id in items.ids(item)]
            for key, item in contents.items()
        }
        counts = self._read(place for places in of_ids.values() for place in places)
        for key in contents.keys() | held.keys():
            content = contents.get(key, {"ids": []})
            standing = list(items.ids(content))
            wanted = [id for id, place in zip(standing, of_ids.get(key, ()), strict=True) if _means(counts.get(place))]
            wanted += sorted(held[key] - set(wanted))
            if wanted != standing:
                yield put(key, {"ids": wanted, "at": content.get("at")}) if wanted else delete(key)

    def _resource(self, pk: str) -> Iterator[Action]:
        found, place = {item["sk"]: item for item in self._tools.table.query(pk)}, (pk, keys.ASSOCIATED)
        standing = found.pop(keys.ASSOCIATED, None)
        some = [items.association(item) for item in found.values()]
        if not some:
            yield delete(place)
            return
        wanted: Item = {"resource": some[0].resource.id, "guids": sorted(one.guid for one in some)}
        if standing is None or attributes(standing) != wanted | {"form": standing.get("form")}:
            yield put(place, wanted)

    def _left_behind(self, versions: Iterable[Item]) -> list[Subject]:
        """Subjects with rows of an earlier generation than theirs."""
        met = dict.fromkeys((keys.subject_of(item["pk"]), generation_of(item["sk"])) for item in versions)
        heads = self._read(self._places.head(subject) for subject, _ in met)
        behind = (
            subject
            for subject, generation in met
            if generation != items.state(subject, heads.get(self._places.head(subject))).head.generation
        )
        return [*dict.fromkeys(behind)]

    # --- contexts ----------------------------------------------------------------------------------------------------

    def settle_contexts(self, step: CopyStep) -> None:
        pk = keys.contexts_pk(self._places.registry)
        where = Condition("#sk > :sk", {"sk": step.after[1]}) if step.after else None
        for item in self._tools.table.query(pk, where, page=MOST_SCANNED):
            context = item["context"]
            count = self._subjects_in(context)
            if item.get("count", 0) != count:
                self._write([[update(self._places.context(context), {"count": count})]])
            step.go_on_behind((pk, item["sk"]))

    def _subjects_in(self, context: str) -> int:
        if context == DEFAULT_CONTEXT:
            return 0
        where = Condition("begins_with(#sk, :sk)", {"sk": keys.list_sk(Subject(context, ""))})

        def listed(shard: int) -> int:
            pk = keys.list_pk(self._places.registry, shard)
            return sum(1 for _ in self._tools.table.query(pk, where, page=MOST_SCANNED))

        return sum(self._readers.map(listed, range(keys.LIST_SHARDS)))


def _counted(standing: Item, count: int) -> Item:
    """An id without a holder is displaced or buried, as it was; what was decided on it stands."""
    known: Item = {KNOWN: standing[KNOWN]} if KNOWN in standing else {}
    if count:
        return {"count": count} | known
    displaced = {"displaced": standing["displaced"]} if "displaced" in standing else {"buried": True}
    return {"count": 0, **displaced} | known


def _means(holders: Item | None) -> bool:
    """Whether an id is held, or displaced."""
    return holders is not None and (holders["count"] > 0 or "displaced" in holders)
