"""A region that was passed over by force comes back: what its new primary lacks is brought there, then it joins.

    there: closed              it acknowledges nothing more
    what is missing            comes here (`upkeep.rejoining`), and is told
    there: known as brought    those commits are not brought again when that region is a primary one day
    here: reconciled           ids of that region may be brought along from now on
    there: joining, a token    it answers for nothing by itself
    there: forgotten           rows of its catalog; how far it gave ids stays, and so do bodies and journal
    there: joining             it is filled as any region that joins

here: the primary. Cut off anywhere, all of it is done again.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from sigla.ports.regions import Roles
from sigla.regions import promotion
from sigla.regions.giving import Course
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.refusals import NotTheFollower, NotToRejoin, RoleChanged

_FORGETS = "rejoining"
"""The token of a region that joins and has not forgotten its catalog yet: it is not filled meanwhile."""


def rejoined(
    here: Roles, there: Roles, *, bring: Callable[[], None], forget: Callable[[], None] | None
) -> Course[bool]:
    """Whether anything was to be done.

    bring: what is missing here, and marks it. forget: all rows but those above; None where a region that joins begins
    with nothing anyway, and this one stays closed.

    Raises NoSecondRegion, NotTheFollower, NotToRejoin, RoleChanged, and what these raise.
    """
    ours, theirs = yield from promotion.both_roles(here, there)
    if not ours.writes:
        raise NotTheFollower(kind=ours.kind.value, epoch=ours.epoch, wanted="the primary that takes writes")
    if theirs.epoch > ours.epoch or (theirs.kind is RegionKind.PRIMARY and theirs.epoch == ours.epoch):
        raise NotToRejoin(epoch=theirs.epoch, kind=theirs.kind.value)
    if theirs.kind is not RegionKind.PRIMARY and not theirs.token:
        return False
    if theirs.kind is RegionKind.FOLLOWER:
        return False
    if theirs.kind is RegionKind.PRIMARY:
        theirs = yield from promotion.set_role(there, theirs, replace(theirs, open=False))
        yield bring
        ours = yield from _reconciled(here, theirs.name)
        if forget is None:
            return True
        joining = replace(theirs, epoch=ours.epoch, kind=RegionKind.JOINING, open=True, token=_FORGETS)
        theirs = yield from promotion.set_role(there, theirs, joining)
    if forget is not None:
        yield forget
    yield from promotion.set_role(there, theirs, replace(theirs, token="", reconciled=True, lost=""))
    return True


def _reconciled(here: Roles, name: str) -> Course[Role]:
    """name: of the region that is back. Others that were given up, or passed over, may be out still."""
    role: Role | None = yield partial(here.role)
    if role is None or not role.writes:
        raise RoleChanged
    if role.reconciled:
        return role
    lost = [each for each in role.lost.split(", ") if each]
    others = [each for each in lost if each != name]
    one_is_passed_over = others != lost and "://" in role.peer
    reconciled = replace(role, reconciled=not others and not one_is_passed_over, lost=", ".join(others))
    return (yield from promotion.set_role(here, role, reconciled))
