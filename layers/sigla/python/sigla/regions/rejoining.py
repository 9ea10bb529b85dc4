"""A region that was passed over by force comes back: what its new primary lacks is brought there, then it joins.

    there: closed              it acknowledges nothing more
    what is missing            comes here (`upkeep.rejoining`), and is told
    there: known as brought    those commits are not brought again when that region is a primary one day
    there: not reconciled      it is not opened any more, should the rest be cut off: from now on ids here have no bound
    here: reconciled           ids of that region may be brought along
    there: joining, to forget  it answers for nothing by itself
    there: forgotten           rows of its catalog; how far it gave ids stays, and so do bodies and journal
    there: joining             it is filled as any region that joins

here: the primary. Cut off anywhere, all of it is done again. A server forgets nothing: it joins anew (`Joins.ANEW`),
and so knows that what it has is to be replaced by a copy, which it makes by itself.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from sigla.ports.regions import Roles
from sigla.regions import promotion
from sigla.regions.arming import check_may_be_armed
from sigla.regions.giving import Course
from sigla.regions.nouns import Joins, KnownBy, RegionKind, Role
from sigla.regions.refusals import NotTheFollower, NotToRejoin, RoleChanged


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
    One that was given up while it followed, or joined, comes back in the same way; it has nothing to be brought. So
    does one whose table was restored to an earlier moment, whatever it was then: what it has and here lacks is brought.

    Raises HasAFollower, NoSecondRegion, NotTheFollower, NotToRejoin, RoleChanged, and what these raise.
    """
    if tables:
        yield from _check_has_place(here, there)
    met = yield from _closed(here, there, anew=bool(url), follower=not url)
    if met is None:
        return False
    ours, theirs = met
    is_to_join = theirs.kind is RegionKind.PRIMARY or theirs.is_restored or bool(url)
    joins = Joins.ANEW if url else Joins.FORGETS
    where = url or (tables[0] if tables else "")
    peer = KnownBy(url=where) if where else theirs.peer
    if is_to_join:
        yield bring
    if theirs.kind is RegionKind.PRIMARY:
        theirs = yield from promotion.set_role(there, theirs, replace(theirs, reconciled=False))
    ours = yield from _reconciled(here, ours, theirs, tables[1] if tables else "")
    if forget is None and not url:
        return True
    if is_to_join:
        joining = replace(_joining(theirs, joins), epoch=ours.epoch, open=True, peer=peer)
        theirs = yield from promotion.set_role(there, theirs, joining)
    if theirs.joins is Joins.ANEW:
        return True
    if forget is not None:
        yield forget
    filled = replace(theirs, joins=None, token="", peer=peer, reconciled=True, lost="")
    yield from promotion.set_role(there, theirs, filled)
    return True


def brought(here: Roles, there: Roles, *, bring: Callable[[], None]) -> Course[bool]:
    """The first part of it alone, for servers. Whether anything was to be done."""
    if (yield from _closed(here, there, anew=True)) is None:
        return False
    yield bring
    return True


def _check_has_place(here: Roles, there: Roles) -> Course[None]:
    """Whether a region that comes back may follow then. Raises HasAFollower, NoSecondRegion, ToAbandon."""
    ours, theirs = yield from promotion.both_roles(here, there)
    comes_back = _is_left_behind(theirs, ours) or _has_begun(theirs) or theirs.is_restored
    if ours.writes and ours.peer != KnownBy(theirs.name) and comes_back:
        check_may_be_armed(reconciled(ours, theirs))


def _has_begun(theirs: Role) -> bool:
    """Whether it has begun to rejoin, and was cut off."""
    return theirs.kind is RegionKind.JOINING and theirs.joins is Joins.FORGETS


def _is_left_behind(theirs: Role, ours: Role) -> bool:
    """Whether it does not go on by itself: as a region that joins does not, either, once its place is not kept."""
    if theirs.kind is RegionKind.JOINING and ours.peer == KnownBy(theirs.name):
        return False
    return theirs.epoch < ours.epoch


def _is_refused(theirs: Role, ours: Role) -> bool:
    """Whether a server that follows, or joins, is refused by this primary, or asks another region."""
    return theirs.epoch < ours.epoch or (theirs.name in ours.given_up and theirs.joins is not Joins.ANEW)


def _closed(here: Roles, there: Roles, *, anew: bool, follower: bool = False) -> Course[tuple[Role, Role] | None]:
    """The roles of both. The region that comes back takes no writes then; None where it joins or follows already.

    anew: whether it is a server, which makes its copy by itself, also where it followed or was to join, and does not go
    on: it was given up, or left behind in an epoch before. follower: also a store that followed, or joined, when it was
    given up or passed over. From now on it is not promoted.
    """
    ours, theirs = yield from promotion.both_roles(here, there)
    if not ours.writes:
        raise NotTheFollower(kind=ours.shown_kind, epoch=ours.epoch, wanted="the primary that takes writes")
    if theirs.epoch > ours.epoch or (theirs.kind is RegionKind.PRIMARY and not ours.outranks(theirs)):
        raise NotToRejoin(epoch=theirs.epoch, kind=theirs.kind.value)
    if theirs.kind is RegionKind.PRIMARY:
        return ours, (yield from promotion.set_role(there, theirs, replace(theirs, open=False)))
    if _has_begun(theirs) or theirs.is_restored:
        return ours, theirs
    if not (anew and _is_refused(theirs, ours)) and not (follower and _is_left_behind(theirs, ours)):
        return None
    return ours, (yield from promotion.set_role(there, theirs, _joining(theirs, Joins.FORGETS)))


def _joining(theirs: Role, joins: Joins) -> Role:
    """A token that a promotion has left means nothing any more."""
    return replace(theirs, kind=RegionKind.JOINING, joins=joins, token="")


def _reconciled(here: Roles, ours: Role, theirs: Role, url: str) -> Course[Role]:
    """url: where the region is that is back, if it follows from then on and never says so itself.

    ours: this region as it was before anything was brought. In a later epoch it was passed over meanwhile, and what was
    brought is not all that it lacks by now. Raises HasAFollower and the like where another one has the place meanwhile.
    """
    role: Role | None = yield partial(here.role)
    if role is None or not role.writes or role.epoch != ours.epoch:
        raise RoleChanged
    known = reconciled(role, theirs)
    if theirs.name and url:
        peer = KnownBy(theirs.name)
        if role.peer != peer:
            check_may_be_armed(known)
        known = replace(known, peer=peer, at=url, token="")
    return (yield from promotion.set_role(here, role, known))


def reconciled(role: Role, theirs: Role) -> Role:
    """What a primary is once a region is back. One that it did not wait for changes nothing.

    It knows by its name one that followed it, and was given up, or passed over. Else the one that was passed over is
    the primary of the epoch before.
    """
    is_before = theirs.was_primary and theirs.epoch == role.epoch - 1
    is_known = theirs.name in [each.name for each in role.out] or (role.has_passed_over and is_before)
    return role.without(theirs.name) if is_known else role.without_traces(theirs.name)
