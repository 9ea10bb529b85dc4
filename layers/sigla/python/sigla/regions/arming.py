"""A registry gets a second region and goes on meanwhile: the other one joins it, and no id has to wait for that.

A region that joins is told of no ceiling: it may have forgotten what it gave. So what the registry may give until it
has joined is said before: a block for each context whose first one is used up, or nearly. For some tenths of a second,
between the role and the counters, a new schema in such a context may be refused with 50002.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from sigla.errors import Conflict
from sigla.model import SchemaId
from sigla.ports.regions import Region
from sigla.regions import rules
from sigla.regions.giving import Course
from sigla.regions.nouns import Counter, RegionKind, RegionSeen, Role
from sigla.regions.refusals import AlreadyARegion

FIRST: Final = 1
"""The epoch in which a registry gets its role."""
_RACES: Final = 64
"""So often others may draw an id while its context's counter is written."""


def armed(here: Region, there: Region, contexts: Iterable[str], *, names: tuple[str, str], now: int) -> Course[None]:
    """Here is primary then, and there joins it. May be cut off anywhere, and be done again.

    contexts: all of the registry. there: has nothing yet, which is for the caller to look at. names: of here and of
    there. now: milliseconds since the epoch. Raises AlreadyARegion, StoreError.
    """
    ours: Role | None = yield here.role
    theirs: Role | None = yield there.role
    if ours is not None and (ours.kind, ours.epoch) != (RegionKind.PRIMARY, FIRST):
        raise AlreadyARegion(region=names[0])
    if theirs is not None and (theirs.kind, theirs.epoch) != (RegionKind.JOINING, 0):
        raise AlreadyARegion(region=names[1])
    yield partial(there.set_role, theirs, theirs or Role(0, RegionKind.JOINING, peer=names[0]))
    told: dict[str, SchemaId] = {}
    for context in contexts:
        seen: RegionSeen = yield partial(here.look, context)
        if seen.counter is not None and seen.counter.ceiling > rules.granted(FIRST) - rules.BLOCK // 2:
            told[context] = yield from _told_ceiling(there, context, seen.counter)
    yield partial(here.set_role, ours, ours or Role(FIRST, RegionKind.PRIMARY, peer=names[1], armed=now))
    yield from _begun(here, told)


def _told_ceiling(there: Region, context: str, counter: Counter) -> Course[SchemaId]:
    """The ceiling of which the other region knows."""
    wanted = max(counter.next + rules.BLOCK, counter.ceiling)
    for _ in range(_RACES):
        seen: RegionSeen = yield partial(there.look, context)
        ceiling = rules.raised(wanted, seen.counter, FIRST)
        if (yield partial(there.copy_ceiling, context, FIRST, seen.counter, ceiling)):
            return ceiling
    raise Conflict("the other region's counters have too many writers")


def _begun(here: Region, told: Mapping[str, SchemaId]) -> Course[None]:
    for context, ceiling in told.items():
        for _ in range(_RACES):
            seen: RegionSeen = yield partial(here.look, context)
            if seen.counter is None or seen.counter.epoch >= FIRST:
                yield partial(here.raise_own, context, FIRST, ceiling)
                break
            counter = Counter(seen.counter.next, ceiling, FIRST, SchemaId(1))
            if (yield partial(here.set_counter, context, seen.counter, counter)):
                break
        else:
            raise Conflict("a context's ids are drawn too fast")
