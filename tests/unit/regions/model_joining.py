"""How a region comes to follow another one, in the model: as a new one, or because it is back."""

from tests.unit.regions.model import (
    FOLLOWER,
    JOINING,
    PRIMARY,
    Course,
    Refused,
    Role,
    Site,
    Table,
    ask,
    ceiling_of,
    written,
)


def joined(new: Site, primary: Site) -> Course[None]:
    """A region that has nothing yet follows."""
    found: Table | None = yield ask(primary, "followed")
    seen: Table = yield ask(new, "read")
    if found is None or seen.role.kind != JOINING:
        raise Refused("it is not to be followed")
    epoch = found.role.epoch
    told = found.counter is None or (
        yield ask(new, "copy_ceiling", epoch, seen.counter, max(found.counter.ceiling, ceiling_of(seen.counter, 0)))
    )
    if not told:
        raise Refused("the counter has moved: run it again")
    yield ask(new, "adopt", found.held)
    yield from written(new, seen.role, Role(epoch, FOLLOWER), reconciled=found.reconciled, lost=found.lost)


def rejoined(old: Site, new: Site, *, has_place: bool = True) -> Course[None]:
    """What the old primary had comes over, and it follows from the beginning. has_place: else it waits until it may.

    One that followed, and was given up or left behind, comes back, too.
    """
    was, found = (yield ask(old, "read")).role, (yield ask(new, "read"))
    now = found.role
    goes_on = was.kind == FOLLOWER and was.epoch == now.epoch and old.name not in found.lost
    if now.kind != PRIMARY or goes_on or was.epoch > now.epoch or (was.kind == PRIMARY and was.epoch == now.epoch):
        return
    closed = was._replace(open=False) if was.kind == PRIMARY else Role(now.epoch, JOINING)
    yield from written(old, was, closed)
    table, bodies = yield ask(old, "all")
    for id, content in bodies.items():
        yield ask(new, "put", id, content)
    yield ask(new, "adopt", table.held)
    found = yield ask(new, "read")
    # Another one that was given up before, or that this one never waited for, is not the one that was passed over.
    is_passed_over = was.kind == PRIMARY and was.epoch == now.epoch - 1 and old.name not in found.lost
    lost, is_out = found.lost - {old.name}, found.forced and not is_passed_over
    is_reconciled = found.reconciled or (not lost and not is_out)
    if closed.kind == PRIMARY and old.design.ends:
        yield from written(old, closed, closed, reconciled=False)
    is_vacant = is_passed_over and found.forced
    yield from written(new, now, now, reconciled=is_reconciled, forced=is_out, lost=lost, vacant=is_vacant)
    yield from written(old, closed, Role(now.epoch, JOINING))
    yield ask(old, "forget_rows")
    if not has_place:
        return
    primary: Table | None = yield ask(new, "followed")
    if primary is None:
        raise Refused("another one that was passed over is still out")
    if primary.counter:
        seen = (yield ask(old, "read")).counter
        higher = max(primary.counter.ceiling, ceiling_of(seen, now.epoch))
        told = yield ask(old, "copy_ceiling", now.epoch, seen, higher)
        if not told:
            raise Refused("the counter has moved: run it again")
    yield ask(old, "adopt", primary.held)
    yield from written(old, Role(now.epoch, JOINING), Role(now.epoch, FOLLOWER))
