"""Removing what a permanent delete of a subject left behind, and burying the ids that lost their last holder with it.

No reader believes these rows any more; until they are gone they only keep their ids from being buried. Each transaction
checks the head: where a region rejoins, another table's rows take the place of what stood there, and what a sweep that
slept knows as left behind may be what the subject has now. While a region joins, nothing sweeps but what fills it: that
counts what stands there (`settling`), and would write over what another sweep has counted since. So where there is a
role, each transaction checks that as well.
"""

from math import inf

from sigla.model import BodyKey, Subject
from sigla.regions.nouns import RegionKind
from sigla.stores.dynamodb.actions import PRESENT, Action, Condition, condition_check, delete
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.reading import life
from sigla.stores.dynamodb.table import Cancelled

AT_ONCE = 20
"""Versions of one transaction: up to four actions each."""
TRIES = 8


def sweep(tools: Tools, subject: Subject, *, until: float = inf, fills: bool = False) -> tuple[BodyKey, ...]:
    """The ids it buried. May be repeated, cut off, and done by several at once.

    until: when to leave the rest to others, by `Table.elapsed`. fills: whether it is part of filling a region that
    joins; all others do nothing there.
    """
    stands = [] if fills else _role_checks(tools)
    if stands is None:
        return ()
    buried: list[BodyKey] = []
    lost = 0
    while left := life(tools.table, tools.places, subject).left:
        for at in range(0, len(left), AT_ONCE):
            if tools.table.elapsed() >= until:
                return tuple(buried)
            part = left[at : at + AT_ONCE]
            ledger = tools.ledger(subject.context)
            ledger.read(stored.row for _, stored in part)
            highest = max(generation for generation, _ in part)
            begun = condition_check(tools.places.head(subject), Condition("#generation > :left", {"left": highest}))
            checks = [begun, *stands]
            actions, garbage = [], []
            for generation, stored in part:
                row = stored.row
                ledger.remove(row)
                key = BodyKey(subject.context, row.id)
                actions.append(delete(tools.places.version(subject, generation, row.version), PRESENT))
                actions.append(delete(tools.places.holder(key, subject, row.version, generation)))
                garbage += [
                    delete(tools.places.referrer(target, version, subject, row, stored.nonce))
                    for target, version in stored.targets
                ]
            found = ledger.settle()
            try:
                tools.table.write_checked(garbage, checks)
                tools.table.transact([*checks, *actions, *ledger.actions()])
            except Cancelled:
                lost += 1
                break
            buried += found
        if lost == TRIES:
            break
    return tuple(buried)


def _role_checks(tools: Tools) -> list[Action] | None:
    """What each transaction checks: the region does not join. None if it does; nothing where there is no role."""
    role = tools.fence.known
    if not tools.fence.is_alone and (role is None or role.kind is RegionKind.JOINING):
        role = tools.fence.read()  # it may follow by now
    if role is None:
        return []
    if role.kind is RegionKind.JOINING:
        return None
    joins = RegionKind.JOINING.value
    return [condition_check(tools.places.role(), Condition("#kind <> :joining", {"joining": joins}))]
