"""A promotion of a registry in a table whose primary is in another one: what `regions.draining` asks of both."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

from sigla import keys
from sigla.errors import BodyMissing, Conflict
from sigla.model import BodyKey, Guid, Search, Show
from sigla.ports.replaying import Drain, Shipment
from sigla.regions.draining import WaitingDrain, rehearsal
from sigla.regions.handed_keys import HeldUp, held_up
from sigla.regions.installed import unlike
from sigla.regions.nouns import Role
from sigla.regions.refusals import NoSecondRegion
from sigla.stores.dynamodb.comparing import FAR_MS, JournalComparison
from sigla.stores.dynamodb.forgetting import forget, mark_brought
from sigla.stores.dynamodb.numbers import MOVES
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.region_turns import RegionTurns
from sigla.stores.dynamodb.told_commits import REVISION, name_of_number, numbers_of, row_of_number

if TYPE_CHECKING:
    from sigla.stores.dynamodb.catalog import AwsCatalog
    from sigla.stores.dynamodb.store import AwsStore

_EVERYTHING = Search(context=None)


class AwsNumbers:
    """A `ports.Numbers`: revisions of subjects, and how often settings, contexts, KEKs and exporters moved."""

    def __init__(self, catalog: "AwsCatalog", tools: Tools) -> None:
        self._catalog = catalog
        self._table = tools.table
        self._places = tools.places

    def names(self) -> Mapping[str, str]:
        catalog, places = self._catalog, self._places
        heads = ((places.head(each), f"subject {each}") for each in catalog.subjects(_EVERYTHING, Show.ALL))
        names = {name_of_number(row, REVISION): what for row, what in heads}
        settings = ((places.settings(each), f"settings of {each}") for each, _ in catalog.settings(_EVERYTHING))
        contexts = ((places.context(each), f"context {each}") for each in catalog.contexts())
        keks = ((places.kek(each.name), f"KEK {each.name}") for each in catalog.keks())
        exporters = ((places.exporter(each.name), f"exporter {each.name}") for each in catalog.exporters())
        moved = chain(settings, contexts, keks, exporters)
        return names | {name_of_number(row, MOVES): what for row, what in moved}

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        wanted = list(names)
        found = self._table.get_many([row_of_number(self._places, name) for name in wanted])
        return numbers_of(self._places, wanted, found)


class TablePair:
    """A `ports.RegionPair`. here: the follower. Raises NoSecondRegion."""

    def __init__(self, here: "AwsStore", there: "AwsStore") -> None:
        role = here.region.role()
        if role is None:
            raise NoSecondRegion
        self._clock = here.clock
        self._there = there.tools
        self._stores = here, there
        self._seen: Role | None = None
        """The role there, before it was asked what is missing here."""
        self._numbers = there.catalog.numbers, here.catalog.numbers
        self._comparison = JournalComparison(here, there, role, notes=False)

    @property
    def drain(self) -> Drain:
        there, here = self._numbers
        missing, target = self._comparison.missing, self._comparison.replayer
        return WaitingDrain(missing, target, there=there, here=here, clock=self._clock)

    def would_be_lost(self) -> Sequence[str]:
        for _ in self.missing():
            pass  # by then it is known which of them cannot be read
        return [*self.drain.differences(), *self._unread_told()]

    def held_up(self) -> Sequence[str]:
        here, there = self._stores
        return [*map(self._held_up_told, held_up(there.key_commits, here.handed_keys))]

    def _held_up_told(self, found: HeldUp) -> str:
        name = keys.handed_object(self._there.places.registry, found.epoch, found.kek, found.number)
        return (
            f"KEK {found.kek}, until {name} is deleted from the follower's bucket: it cannot be read ({found.why}), "
            "and no client was told that what it says is done."
        )

    def missing(self) -> Iterator[Shipment]:
        """Since an hour before this region was complete the last time."""
        self._seen = self._there.fence.read()
        until = min(self._comparison.complete_up_to(), self._clock.now())
        return self._comparison.missing(max(0, until - FAR_MS))

    def make_way(self, shipments: Sequence[Shipment]) -> None:
        here, _ = self._stores
        for key, told in chain.from_iterable(each.bodies.items() for each in shipments):
            # What was put in its place meanwhile means something.
            with suppress(BodyMissing, Conflict):
                standing = here.bodies.get(key)
                if standing.brought and standing.schema != told.schema and not self._is_anybodys(key, standing.guid):
                    here.bodies.mend(key, told, standing)

    def _is_anybodys(self, key: BodyKey, guid: Guid) -> bool:
        here, _ = self._stores
        return here.catalog.speaker(key) is not None or here.handed_ids.is_marked(key, guid)

    def unread(self) -> Sequence[int]:
        return sorted(keys.journal_at(sk) for _, sk in self._comparison.unread)

    def lapsed_since(self) -> int:
        return self._comparison.lapsed_since(self._seen.epoch) if self._seen else 0

    def mark_brought(self, shipments: Sequence[Shipment]) -> None:
        mark_brought(self._there, self._seen, shipments, self._comparison.unread)

    @property
    def urls(self) -> tuple[str, str]:
        here, there = self._stores
        return here.url, there.url

    @property
    def forget(self) -> Callable[[], None]:
        return partial(forget, self._there)

    def rehearse(self) -> Sequence[str]:
        """What came since the last turn is brought: then little is left for the time without writes.

        Where one does not say what it runs, that is for the operator to compare.
        """
        ours, theirs = (store.region.installed() for store in self._stores)
        if ours and theirs and (differing := [*unlike(ours, theirs)]):
            return differing
        bring = partial(self._comparison.catch_up, inf)
        why = rehearsal(*self._numbers, self._comparison.replayer, self._clock, bring=bring)
        return [*why, *self._unread_told()]

    def _unread_told(self) -> Sequence[str]:
        unread = len(self._comparison.unread)
        return [f"{unread} commits of the other region cannot be read here."] if unread else []

    def bring_back(self) -> None:
        """Clients that the old primary refused may have written here before it followed: it was not told of that."""
        here, there = self._stores
        RegionTurns(there, here, far=False)()
