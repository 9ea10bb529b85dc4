"""A registry gets a second region and goes on meanwhile: the other one joins it, and no id has to wait for that.

It is its first one, or another in the place of one that is lost: then the registry has gone on to a later epoch
(`promotion.dismissed`), or has given up the region that was passed over (`promotion.abandoned`).

A region that joins is told of no ceiling: it may have forgotten what it gave. So what the registry may give until it
has joined is said before: a block for each context whose last one is used up, or nearly. For some tenths of a second,
between the role and the counters, a new schema in such a context may be refused with 50002.

    there: joining             with a name of its own, by which this region knows it
    there: ceilings            of contexts whose ids are used up soon
    here: its name             from now on no ceiling is raised here alone
    here: ceilings             as they were told there

What was raised here alone in between comes with the copy, which looks at every counter after all of this.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from sigla.errors import Conflict
from sigla.model import SchemaId
from sigla.ports.regions import Region
from sigla.regions import rules
from sigla.regions.giving import Course
from sigla.regions.nouns import KnownBy, RegionKind, RegionSeen, Role
from sigla.regions.refusals import AlreadyARegion, HasAFollower, NotTheFollower, ToAbandon

FIRST: Final = 1
"""The epoch in which a registry gets its role."""
_RACES: Final = 64
"""So often others may draw an id while its context's counter is written."""
_JOINING: Final = Role(0, RegionKind.JOINING)


def armed(
    here: Region,
    there: Region,
    contexts: Iterable[str],
    *,
    names: tuple[str, str],
    urls: tuple[str, str],
    pair: str,
    now: int,
) -> Course[None]:
    """Here is primary then, and there joins it. May be cut off anywhere, and be done again.

    contexts: all of the registry. there: has nothing yet, which is for the caller to look at. names, urls: of here and
    of there; a name is drawn for each call, and is not used where the region has one. pair: as of `Role`; drawn, and
    not used where the registry has one. now: milliseconds since the epoch. Raises AlreadyARegion, HasAFollower,
    NotTheFollower, ToAbandon, StoreError.
    """
    ours: Role | None = yield here.role
    theirs: Role | None = yield there.role
    pair = next((role.pair for role in (ours, theirs) if role and role.pair), pair)
    joining = replace(theirs or _JOINING, name=_name_of(theirs) or names[1], peer=KnownBy(url=urls[0]), pair=pair)
    if theirs is not None and not _may_join(theirs, joining, ours):
        raise AlreadyARegion(region=urls[1])
    peer = KnownBy(joining.name)
    if ours is not None and ours.peer != peer:
        check_may_be_armed(ours)
    yield from _set(there, theirs, joining)
    epoch = ours.epoch if ours else FIRST
    told: dict[str, SchemaId] = {}
    for context in contexts:
        seen: RegionSeen = yield partial(here.look, context)
        counter = rules.as_of(seen.counter, epoch)
        if seen.counter is not None and counter.ceiling - counter.next < rules.BLOCK // 2:
            told[context] = yield from _told_ceiling(there, context, epoch, counter.next + rules.BLOCK)
    role = ours or Role(FIRST, RegionKind.PRIMARY, armed=now)
    followed = replace(role, name=_name_of(role) or names[0], peer=peer, at=urls[1], token="", pair=pair)
    yield from _set(here, ours, followed)
    yield from _begun(here, epoch, told)


def check_may_be_armed(role: Role) -> None:
    """Whether another region may begin to follow. Raises HasAFollower, NotTheFollower, ToAbandon."""
    if not role.writes:
        raise NotTheFollower(kind=role.kind.value, epoch=role.epoch, wanted="the primary that takes writes")
    if role.is_followed:
        raise HasAFollower(region=role.peer)
    if role.peer and not role.reconciled:
        raise ToAbandon(region=role.peer)


def _may_join(theirs: Role, joining: Role, ours: Role | None) -> bool:
    """Whether it has begun to join this registry, and nothing else. One that was given up does not go on."""
    is_new = (theirs.kind, theirs.epoch) == (RegionKind.JOINING, 0) and theirs.peer in (KnownBy(), joining.peer)
    return is_new and not theirs.is_restored and (ours is None or joining.name not in ours.given_up)


def _name_of(role: Role | None) -> str:
    return role.name if role else ""


def _set(at: Region, seen: Role | None, role: Role) -> Course[None]:
    """Asked for also where nothing changes: that finishes what was cut off."""
    if not (yield partial(at.set_role, seen, role)):
        raise Conflict("a role was changed by another at the same time")


def _told_ceiling(there: Region, context: str, epoch: int, wanted: int) -> Course[SchemaId]:
    """The ceiling of which the other region knows."""
    for _ in range(_RACES):
        seen: RegionSeen = yield partial(there.look, context)
        ceiling = rules.raised(wanted, seen.counter, epoch)
        if (yield partial(there.copy_ceiling, context, epoch, seen.counter, ceiling)):
            return ceiling
    raise Conflict("the other region's counters have too many writers")


def _begun(here: Region, epoch: int, told: Mapping[str, SchemaId]) -> Course[None]:
    for context, ceiling in told.items():
        for _ in range(_RACES):
            seen: RegionSeen = yield partial(here.look, context)
            if seen.counter is not None and seen.counter.epoch >= epoch:
                yield partial(here.raise_own, context, epoch, ceiling)
                break
            counter = rules.begun(seen.counter, epoch)
            counter = counter._replace(ceiling=max(counter.ceiling, ceiling))
            if (yield partial(here.set_counter, context, seen.counter, counter)):
                break
        else:
            raise Conflict("a context's ids are drawn too fast")
