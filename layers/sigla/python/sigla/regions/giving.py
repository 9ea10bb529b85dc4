"""How ids are given in two regions: what is asked of whom, and in which order.

Each way is a generator that yields its requests: `carried_out` carries them out one after the other. So tests let
anything come in between: another's request, an answer that gets lost, the end of the process, a promotion.
"""

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeVar

from sigla.contract import HIGHEST
from sigla.errors import Closed, Conflict, IdsExhausted, StoreError
from sigla.model import SchemaId
from sigla.ports.regions import Peer, Region
from sigla.regions import rules
from sigla.regions.nouns import Counter, RegionKind, RegionSeen, Role
from sigla.regions.refusals import IdMayBeGiven, NoBlock

T = TypeVar("T")
Course = Generator[Callable[[], Any], Any, T]

_RACES = 8
"""So often another of the same region may have been faster in raising a ceiling."""


def carried_out(course: Course[T]) -> T:
    """What a course comes to; what one of its requests raises, it is told."""
    go: Callable[[], Callable[[], Any]] = partial(next, course)
    try:
        while True:
            request = go()
            try:
                go = partial(course.send, request())
            except StoreError as failure:
                go = partial(course.throw, failure)
    except StopIteration as returned:
        value: T = returned.value
        return value


def drawn(here: Region, there: Peer | None, context: str) -> Course[SchemaId]:
    """The next id of a context. Raises Closed, IdsExhausted, NoBlock."""
    while True:
        role = yield from _serving(here)
        counter: Counter | None = yield partial(here.draw, context, role.epoch)
        if counter is not None:
            yield from ahead(here, there, context, role, counter)
            return counter.next
        counter = yield from _own(here, context, role.epoch)
        if counter.next >= HIGHEST:
            raise IdsExhausted(context=context)
        if counter.next >= counter.ceiling:
            yield from _raised(here, there, context, role, counter.ceiling + rules.BLOCK)


def ahead(here: Region, there: Peer | None, context: str, role: Role, counter: Counter) -> Course[None]:
    """Raises the ceiling in time. Where that is not possible now, the ids that are left are given all the same."""
    if rules.is_due(counter):
        try:
            yield from _raised(here, there, context, role, counter.ceiling + rules.BLOCK)
        except (Closed, NoBlock, StoreError):
            return


def admitted(here: Region, there: Peer | None, context: str, id: SchemaId, is_held: Callable[[], bool]) -> Course[None]:
    """Whether an id may be brought along: within the bounds of those that are drawn.

    is_held: whether the catalog knows the id with the very same content. Raises Closed, IdMayBeGiven, NoBlock.
    """
    counter = yield from reached(here, there, context, id)
    role = yield from _serving(here)
    if id < counter.first and not role.reconciled and not (yield is_held):
        raise IdMayBeGiven(id=id, region=role.shown_out)


def reached(here: Region, there: Peer | None, context: str, id: SchemaId) -> Course[Counter]:
    """The counter of this epoch; its ceiling is not below the id, and the other region begins above the id.

    Raises Closed, NoBlock.
    """
    told: Counter | None = None
    while True:
        role = yield from _serving(here)
        counter = yield from _own(here, context, role.epoch)
        if id <= counter.ceiling and (counter == told or rules.is_heard_of(counter, id)):
            return counter
        yield from _raised(here, there, context, role, max(id, counter.ceiling) + rules.BLOCK)
        if counter.ceiling == HIGHEST:  # no counter says of these ids that the other region has heard of them
            told = counter


def passed_over(here: Region, there: Peer | None, context: str, to: SchemaId) -> Course[None]:
    """Ids up to this one are not given any more. Raises Closed, NoBlock."""
    while True:
        counter = yield from reached(here, there, context, to)
        if (yield partial(here.pass_over, context, counter.epoch, to)):
            return


def set_back(here: Region, there: Peer | None, context: str, after: SchemaId) -> Course[None]:
    """Whether ids of a context may go on after this one. Raises Closed, IdMayBeGiven, NoBlock."""
    counter = yield from reached(here, there, context, after)
    role = yield from _serving(here)
    if after + 1 < counter.first and not role.reconciled:
        raise IdMayBeGiven(id=after + 1, region=role.shown_out)


def tell_ceiling(here: Region, there: Peer, context: str) -> Course[None]:
    """The other region knows how far ids of the context are given. Raises Closed, NoBlock."""
    role = yield from _serving(here)
    counter = yield from _own(here, context, role.epoch)
    if counter.ceiling > rules.granted(role.epoch):
        yield from _raised(here, there, context, role, counter.ceiling)


def kept_ahead(here: Region, there: Peer, context: str) -> Course[None]:
    """As `tell_ceiling`; a block more where half of the last one is used. Raises Closed, NoBlock."""
    role = yield from _serving(here)
    counter = yield from _own(here, context, role.epoch)
    is_half_used = counter.ceiling - counter.next <= rules.BLOCK // 2
    wanted = counter.ceiling + rules.BLOCK * is_half_used
    if wanted > rules.granted(role.epoch):
        yield from _raised(here, there, context, role, wanted)


def without_ids(here: Region) -> list[str]:
    """Contexts that get no new id until a region that was passed over by force is back, or given up."""
    role = here.role()
    if role is None or not role.has_passed_over:
        return []
    return sorted(context for context, counter in here.counters() if rules.is_used_up(counter, role.epoch))


def _serving(here: Region) -> Course[Role]:
    role: Role | None = yield here.role
    if role is None or not role.writes:
        raise Closed
    return role


def _own(here: Region, context: str, epoch: int) -> Course[Counter]:
    """The counter, taken over for this epoch if another one wrote it last. That shuts out whoever gave ids then.

    Raises Closed if a later epoch has begun there, Conflict if this region is in another one.
    """
    while True:
        seen: RegionSeen = yield partial(here.look, context)
        if seen.role is None or seen.role.epoch != epoch:
            raise Conflict
        if seen.counter and seen.counter.epoch > epoch:
            raise Closed
        if seen.counter and seen.counter.epoch == epoch:
            return seen.counter
        yield partial(here.set_counter, context, seen.counter, rules.begun(seen.counter, epoch))


def _raised(here: Region, there: Peer | None, context: str, role: Role, wanted: int) -> Course[None]:
    """The other region first: whoever begins there begins above it, whether or not this one ever hears of it.

    there: None for a directory that is not served: while a command holds it, no region begins to follow.
    """
    if there is None and role.is_alone:
        yield partial(here.raise_own, context, role.epoch, SchemaId(min(wanted, HIGHEST)))
        return
    if there is None:
        raise NoBlock(context=context, region=role.peer)
    try:
        ceiling = yield from _heard_by(there, context, role.epoch, wanted)
    except Closed:
        raise
    except StoreError as silent:
        raise NoBlock(context=context, region=role.peer) from silent
    yield partial(here.raise_own, context, role.epoch, ceiling)


def _heard_by(there: Peer, context: str, epoch: int, wanted: int) -> Course[SchemaId]:
    """The ceiling that the other region knows of now. Raises Closed, StoreError."""
    for _ in range(_RACES):
        seen: RegionSeen = yield partial(there.look, context)
        if seen.role is None or seen.role.kind is RegionKind.JOINING:
            break
        if seen.counter and seen.counter.epoch > epoch:
            raise Closed
        ceiling = rules.raised(wanted, seen.counter, epoch)
        try:
            done = yield partial(there.raise_for, context, epoch, seen.counter, ceiling)
        except StoreError:
            # Perhaps it was done, and only its answer got lost.
            done = rules.is_told((yield partial(there.look, context)).counter, epoch, ceiling)
            if not done:
                raise
        if done:
            return ceiling
    raise StoreError("the other region raises no ceiling for this one")
