"""A region that was passed over by force comes back: what its new primary lacks is brought there, then it joins.

    there: closed              it acknowledges nothing more
    what is missing            comes here (`upkeep.rejoining`), and is told
    there: known as brought    those commits are not brought again when that region is a primary one day
    here: reconciled           ids of that region may be brought along from now on
    there: joining, a token    it answers for nothing by itself
    there: forgotten           rows of its catalog; how far it gave ids stays, and so do bodies and journal
    there: joining             it is filled as any region that joins

here: the primary. Cut off anywhere, all of it is done again. A server forgets nothing: it joins with a token by which
it knows that what it has is to be replaced by a copy, which it makes by itself.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from sigla.ports.regions import Roles
from sigla.regions import promotion
from sigla.regions.arming import check_may_be_armed
from sigla.regions.giving import Course
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.refusals import NotTheFollower, NotToRejoin, RoleChanged

_FORGETS: Final = "rejoining"
"""The token of a region that joins and has not forgotten its catalog yet: it is not filled meanwhile."""
ANEW: Final = "anew"
"""The token of a region that joins with a copy of its primary, and has something else as yet."""


def rejoined(
    here: Roles,
    there: Roles,
    *,
    bring: Callable[[], None],
    forget: Callable[[], None] | None,
    url: str = "",
    tables: tuple[str, str] | None = None,
) -> Course[bool]:
    """Whether anything was to be done.

    bring: what is missing here, and marks it. forget: all rows but those above; None where a region that joins begins
    with nothing anyway, and this one stays closed. url: of here, for a server that makes its copy by itself.

    tables: the URLs of here and there, where these are tables: here knows the other one by its name before that joins.
    One that was given up while it followed comes back in the same way; it has nothing to be brought.

    Raises HasAFollower, NoSecondRegion, NotTheFollower, NotToRejoin, RoleChanged, and what these raise.
    """
    if tables:
        yield from _check_has_place(here, there)
    theirs = yield from _closed(here, there, follower=tables is not None)
    if theirs is None:
        return False
    token, peer = (ANEW, url) if url else (_FORGETS, tables[0] if tables else theirs.peer)
    joining = replace(theirs, kind=RegionKind.JOINING, open=True, token=token, peer=peer)
    if theirs.kind is RegionKind.FOLLOWER:  # from now on it is not promoted
        theirs = yield from promotion.set_role(there, theirs, joining)
    if theirs.kind is RegionKind.PRIMARY:
        yield bring
    ours = yield from _reconciled(here, theirs.name, tables[1] if tables else "")
    if theirs.kind is RegionKind.PRIMARY:
        if forget is None and not url:
            return True
        theirs = yield from promotion.set_role(there, theirs, replace(joining, epoch=ours.epoch))
    if theirs.token == ANEW:
        return True
    if forget is not None:
        yield forget
    yield from promotion.set_role(there, theirs, replace(theirs, token="", reconciled=True, lost=""))
    return True


def brought(here: Roles, there: Roles, *, bring: Callable[[], None]) -> Course[bool]:
    """The first part of it alone, after which everything else is as before. Whether anything was to be done."""
    theirs = yield from _closed(here, there)
    if theirs is None or theirs.kind is not RegionKind.PRIMARY:
        return False
    yield bring
    return True


def _check_has_place(here: Roles, there: Roles) -> Course[None]:
    """Whether a region that comes back may follow then. Raises HasAFollower, NoSecondRegion, ToAbandon."""
    ours, theirs = yield from promotion.both_roles(here, there)
    if ours.writes and theirs.name != ours.peer and (_is_left_behind(theirs, ours) or _has_begun(theirs)):
        check_may_be_armed(reconciled(ours, theirs.name))


def _has_begun(theirs: Role) -> bool:
    """Whether it has begun to rejoin, and was cut off."""
    return theirs.kind is RegionKind.JOINING and theirs.token == _FORGETS


def _is_left_behind(theirs: Role, ours: Role) -> bool:
    return theirs.kind is not RegionKind.JOINING and theirs.epoch < ours.epoch


def _closed(here: Roles, there: Roles, *, follower: bool = False) -> Course[Role | None]:
    """The region that comes back, closed; None where nothing is to be done, because it joins or follows.

    follower: also one that followed when it was given up.
    """
    ours, theirs = yield from promotion.both_roles(here, there)
    if not ours.writes:
        raise NotTheFollower(kind=ours.kind.value, epoch=ours.epoch, wanted="the primary that takes writes")
    if theirs.epoch > ours.epoch or (theirs.kind is RegionKind.PRIMARY and theirs.epoch == ours.epoch):
        raise NotToRejoin(epoch=theirs.epoch, kind=theirs.kind.value)
    if theirs.kind is RegionKind.PRIMARY:
        return (yield from promotion.set_role(there, theirs, replace(theirs, open=False)))
    return theirs if _has_begun(theirs) or (follower and _is_left_behind(theirs, ours)) else None


def _reconciled(here: Roles, name: str, url: str) -> Course[Role]:
    """name: of the region that is back. url: where it is, if it follows from then on and never says so itself."""
    role: Role | None = yield partial(here.role)
    if role is None or not role.writes:
        raise RoleChanged
    known = reconciled(role, name)
    if name and url:
        known = replace(known, peer=name, at=url, token="")
    return (yield from promotion.set_role(here, role, known))


def reconciled(role: Role, name: str) -> Role:
    """What a primary is once a region is back. Others that were given up, or passed over, may be out still.

    While some are that were given up, it is as it was then: not reconciled, and to be followed by another one.
    """
    if role.reconciled:
        return role
    others = [each for each in role.given_up if each != name]
    if others != role.given_up and "://" in role.peer:
        return replace(role, lost=", ".join(others)).without_traces(name)
    peer = "" if others else role.peer
    return replace(role, reconciled=not others, lost=", ".join(others), peer=peer).without_traces(name, role.peer)
