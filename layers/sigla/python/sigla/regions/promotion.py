"""A promotion: the follower becomes the primary. Each way is a course, as in `giving`, and may be cut off anywhere.

    planned     here: a token                another call that promotes this region, or takes it back, is seen
                there: closed                no commit comes there any more, once this returned
                here: the rest is brought    from the table or the journal there, until a look finds nothing
                here: compared               what was brought is the same in both
                here: primary, epoch + 1     if the token is still there. From now on it cannot be taken back
                there: follower, epoch + 1
    forced      here: primary, epoch + 1     the other region is lost, or seems to be
                      or epoch + 2           the same, of a primary that was closed

The next call goes on from the roles as it finds them. The token stays on both roles: by it the last step of a planned
promotion is told from a primary that was closed because it was promoted by force, and has what this one lacks.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from sigla.ports.regions import Roles
from sigla.ports.replaying import Drain
from sigla.regions import rules
from sigla.regions.giving import Course
from sigla.regions.nouns import KnownBy, RegionKind, Role, Trace
from sigla.regions.refusals import (
    AlreadyPromoted,
    GivenUp,
    LacksItsOwn,
    NoSecondRegion,
    NotOneRegistry,
    NotOut,
    NotRehearsed,
    NotTheFollower,
    NotToBeOpened,
    RegionsApart,
    RoleChanged,
    RoleTooNew,
    SeveralOut,
    StillJoining,
    ToAbandon,
    ToRejoin,
    WasRestored,
)

Rehearsal = Callable[[], Sequence[str]]
"""Why it should not be done now, a sentence each."""


class Promotion(NamedTuple):
    """What became of it. role: of this region. changed: False if all was so before. brought: commits, at the end."""

    role: Role
    changed: bool
    brought: int = 0


def planned(
    here: Roles, there: Roles, drain: Drain, *, rehearse: Rehearsal, token: str, now: int, url: str = "", at: str = ""
) -> Course[Promotion]:
    """Promotes this region; nothing is lost. token: of this call. now: milliseconds since the epoch.

    url: by which the other region reaches this one, which it follows from then on; empty: by the name that it knows.
    at: where that is, if it is a table: this region knows it by its name at once, since it never asks.

    Raises NoSecondRegion, NotTheFollower, GivenUp, LacksItsOwn, StillJoining, WasRestored, RoleTooNew, NotRehearsed,
    ToRejoin before anything is changed;
    RegionsApart, RoleChanged and StoreError then: it may be called again, or be taken back (`undone`).
    """
    ours, theirs = yield from both_roles(here, there)
    if ours.kind is RegionKind.PRIMARY and theirs.kind is RegionKind.FOLLOWER and theirs.epoch == ours.epoch:
        return Promotion(ours, changed=False)
    brought = 0
    if ours.kind is not RegionKind.PRIMARY:
        _check_lacks_nothing(theirs)
        check_promotable(ours, now)
        _check_promotable_after(ours, theirs, now)
        if theirs.open:  # one that is under way was rehearsed
            if why := (yield rehearse):
                raise NotRehearsed(why=" ".join(why))
            ours, theirs = yield from _after_rehearsal(here, there, ours, theirs)
        ours = yield from set_role(here, ours, replace(ours, token=token))
        theirs = yield from set_role(there, theirs, replace(theirs, open=False, token=token))
        yield from _check_under_way(here, there, ours, theirs)
        while found := (yield drain.look):
            brought += found
        apart: Sequence[str] = yield drain.differences
        if apart:
            yield from _check_under_way(here, there, ours, theirs)
            raise RegionsApart(what=" ".join(apart))
        primary = _primary(ours, theirs)
        if at and theirs.name:
            primary = replace(primary, peer=KnownBy(theirs.name), at=at)
        ours = yield from set_role(here, ours, primary)
        theirs = yield from _role(there)  # it may have taken note of its follower since
        if not _is_last_step(ours, theirs):
            raise RoleChanged
    elif not _is_last_step(ours, theirs):
        raise ToRejoin(epoch=ours.epoch)
    peer = KnownBy(url=url) if url else theirs.peer
    follower = replace(theirs, epoch=ours.epoch, kind=RegionKind.FOLLOWER, open=True, peer=peer)
    yield from set_role(there, theirs, follower)
    return Promotion(ours, changed=True, brought=brought)


def undone(here: Roles, there: Roles) -> Course[Promotion]:
    """Takes a planned promotion back that was cut off: its token first.

    Raises NoSecondRegion, AlreadyPromoted, LacksItsOwn.
    """
    ours, theirs = yield from both_roles(here, there)
    if ours.kind is not RegionKind.FOLLOWER or theirs.kind is not RegionKind.PRIMARY or ours.epoch != theirs.epoch:
        raise AlreadyPromoted(epoch=max(ours.epoch, theirs.epoch))
    if theirs.open and ours.token in ("", theirs.token):  # the same at both: that of one that came to its end
        return Promotion(ours, changed=False)
    _check_lacks_nothing(theirs)
    ours = yield from set_role(here, ours, replace(ours, token=""))
    yield from set_role(there, theirs, replace(theirs, open=True, token=""))
    return Promotion(ours, changed=True)


def forced(here: Roles, *, now: int, seen: int = 0) -> Course[Promotion]:
    """Promotes this region, whatever the other one does. seen: when that was heard of last, as of `Trace`.

    A primary that was closed is opened: for a region that took over, or was to, and is lost by now. The next epoch is
    that one's, which may go on meanwhile, and so may one that has abandoned this one. This region takes the epoch
    after it, and gives ids as any that was promoted by force.

    Raises NoSecondRegion, NotToBeOpened, StillJoining, RoleTooNew, RoleChanged.
    """
    ours = yield from _role(here)
    if ours.writes:
        return Promotion(ours, changed=False)
    check_may_be_forced(ours, now)
    known = str(ours.peer)
    later, where = (ours.epoch + 2, ours.at or known) if ours.is_closed else (ours.epoch + 1, known)
    role = replace(_primary(ours, ours), epoch=later, peer=KnownBy.of(where), token="", reconciled=False, adopts=True)
    role = role.with_trace(Trace(known, where, seen))
    return Promotion((yield from set_role(here, ours, role)), changed=True)


def passed_over(ours: Role, there: Roles) -> Course[bool]:
    """Closes the region that is passed over by this one, as `closed` does. Raises NotOneRegistry as well."""
    theirs: Role | None = yield there.role
    if theirs is not None and theirs.is_of_another_registry(ours):
        raise NotOneRegistry
    return (yield from closed(there, ours.epoch))


def closed(there: Roles, epoch: int, *, at: str = "", lacks: bool = False) -> Course[bool]:
    """Closes the primary of an epoch, so that it acknowledges nothing more. Whether it takes no writes now.

    at: where the one is served that takes them; empty where that is not known. lacks: whether it lacks what it has
    acknowledged itself, as an older copy of a directory does. Raises RoleChanged, StoreError.
    """
    theirs: Role | None = yield there.role
    if theirs is None or not (theirs.kind is RegionKind.PRIMARY and theirs.epoch <= epoch):
        return theirs is not None and not theirs.writes
    role = replace(theirs, open=False, at=at or theirs.at)
    if lacks:
        role = replace(role, reconciled=False, token="")
    yield from set_role(there, theirs, role)
    return True


def abandoned(here: Roles, region: str = "", *, forgets: bool = False) -> Course[Promotion]:
    """Gives up a region that does not come back: what it had and this one lacks is lost.

    region: its name, or its URL; empty: the only one that is out. forgets: whether this one does not look for it any
    more, as a server does by its URL; after the last one it is alone.

    Raises NoSecondRegion, NotTheFollower, NotOut, SeveralOut, RoleChanged.
    """
    ours = yield from _role(here)
    given_up = to_be_abandoned(ours, region)
    if given_up is None:
        return Promotion(ours, changed=False)
    is_passed_over = ours.has_passed_over and given_up.name not in ours.given_up
    role = ours.without(given_up.name, abandoned=None if forgets else given_up)
    role = replace(role, epoch=ours.epoch + 2) if is_passed_over else role
    if forgets and role.reconciled and not ours.is_followed:
        role = replace(role, peer=KnownBy(), at="")
    return Promotion((yield from set_role(here, ours, role)), changed=True)


def to_be_abandoned(ours: Role, region: str) -> Trace | None:
    """Which region is meant; None: nothing is left to be given up. Raises NotTheFollower, NotOut, SeveralOut."""
    if not ours.writes:
        raise NotTheFollower(kind=ours.shown_kind, epoch=ours.epoch, wanted="the primary that takes writes")
    out = ours.out
    if region:
        named = [each for each in out if region.rstrip("/") in (each.name, each.url.rstrip("/"))]
        if not named and region not in (name for each in ours.abandoned for name in each[:2]):
            raise NotOut(region=region, out=", ".join(each.name for each in out) or "none")
        return named[0] if named else None
    if len(out) > 1:
        raise SeveralOut(out=", ".join(each.name for each in out))
    return out[0] if out else None


def why_not_abandoned(shown: str, theirs: Role, ours: Role, *, otherwise: str = "stop its server") -> str:
    """Why a region that answers is not given up. shown: its URL. otherwise: what to do if it is not wanted any more."""
    if theirs.epoch > ours.epoch or (theirs.kind is RegionKind.PRIMARY and theirs.outranks(ours)):
        return _comes_back(shown, theirs)
    return (
        f"{_answers(shown, theirs)} It loses nothing if it comes back: `sigla rejoin {shown} --primary` with the URL "
        f"of this registry. If it is not wanted any more, let it rejoin, or {otherwise} first."
    )


def why_not_opened(shown: str, theirs: Role, ours: Role) -> str:
    """Why a primary that was closed is not opened by force; empty: what answers hinders nothing. shown: its URL."""
    if theirs.writes and theirs.outranks(ours):
        return _comes_back(shown, theirs)
    if theirs.follows(ours):
        return (
            f"{_answers(shown, theirs)} Its promotion was cut off: `sigla promote` for that region, with the same "
            "words as before, goes on with it, and with --undo this region takes writes again."
        )
    return ""


def why_not_dismissed(shown: str, theirs: Role, ours: Role) -> str:
    """Why the region that follows is not given up: it took over, and would be closed. Empty otherwise."""
    return _comes_back(shown, theirs) if theirs.epoch > ours.epoch else ""


def _answers(shown: str, theirs: Role) -> str:
    return f"{shown} answers: it is the {theirs.shown_kind} of epoch {theirs.epoch}."


def _comes_back(shown: str, theirs: Role) -> str:
    back = f"`sigla rejoin` with its URL, --primary {shown}"
    return f"{_answers(shown, theirs)} This region comes back to that one: {back}."


def dismissed(here: Roles, follower: str, *, seen: int = 0) -> Course[Promotion]:
    """Gives up the region that follows, which is lost, so that another one may. follower: its name, as it was seen.

    seen: when it was heard of last, as of `Trace`.

    It may have been promoted by force. Then it gives ids up to the end of the block that the next epoch is granted, and
    none beyond: for those it would have to be followed, and is not before it is reconciled. So this region takes the
    epoch after that one, and gives what is above.

    Raises NoSecondRegion, NotTheFollower, ToAbandon, RoleChanged.
    """
    ours = yield from _role(here)
    if not ours.writes:
        raise NotTheFollower(kind=ours.shown_kind, epoch=ours.epoch, wanted="the primary that takes writes")
    if ours.peer and not ours.reconciled and not ours.is_followed:
        raise ToAbandon(region=ours.peer)
    if not ours.is_followed:
        return Promotion(ours, changed=False)
    known = str(ours.peer)
    if known != follower:
        raise RoleChanged
    lost = ", ".join((*ours.given_up, known))
    role = replace(ours, epoch=ours.epoch + 2, peer=KnownBy(), at="", token="", reconciled=False, lost=lost)
    role = role.with_trace(Trace(known, ours.at, seen))
    return Promotion((yield from set_role(here, ours, role)), changed=True)


def _role(at: Roles) -> Course[Role]:
    role: Role | None = yield at.role
    if role is None:
        raise NoSecondRegion
    return role


def both_roles(here: Roles, there: Roles) -> Course[tuple[Role, Role]]:
    """Raises NoSecondRegion, NotOneRegistry."""
    ours = yield from _role(here)
    theirs = yield from _role(there)
    if theirs.is_of_another_registry(ours):
        raise NotOneRegistry
    return ours, theirs


def check_may_be_forced(ours: Role | None, now: int) -> Role:
    """Whether a region may be promoted by force that takes no writes; its role.

    Raises NoSecondRegion, NotToBeOpened, WasRestored, StillJoining, RoleTooNew.
    """
    if ours is None:
        raise NoSecondRegion
    if ours.is_closed:
        check_may_be_opened(ours)
    else:
        check_promotable(ours, now)
    return ours


def check_may_be_opened(ours: Role) -> None:
    """Whether a primary that was closed may be opened by force. Raises NotToBeOpened.

    One that waits for another region may have been given up by that, or has begun to rejoin it: that one then gives ids
    without an end. Or it is an older copy. One that is alone gives ids without an end itself.
    """
    if not ours.reconciled or not ours.peer:
        raise NotToBeOpened(epoch=ours.epoch)


def check_promotable(ours: Role, now: int) -> None:
    """Raises WasRestored, StillJoining, RoleTooNew."""
    if ours.is_restored:
        raise WasRestored(which="this region")
    if ours.kind is RegionKind.JOINING:
        raise StillJoining
    if ours.armed and now < ours.armed + rules.KNOWN_MS:
        raise RoleTooNew(minutes=-((now - ours.armed - rules.KNOWN_MS) // 60_000))


def _check_lacks_nothing(theirs: Role) -> None:
    """Whether a primary may follow, or take writes again: not one that `closed` said to lack something.

    A promotion by plan that has closed it leaves its token. Raises LacksItsOwn.
    """
    if theirs.is_closed and not theirs.reconciled and not theirs.token:
        raise LacksItsOwn


def _check_promotable_after(ours: Role, theirs: Role, now: int) -> None:
    if theirs.is_restored:
        raise WasRestored(which="the other region")
    if theirs.kind is RegionKind.PRIMARY and theirs.epoch > ours.epoch:
        raise GivenUp(epoch=ours.epoch, theirs=theirs.epoch)
    if theirs.kind is not RegionKind.PRIMARY or theirs.epoch != ours.epoch:
        raise NotTheFollower(kind=theirs.kind.value, epoch=theirs.epoch, wanted=f"the primary of epoch {ours.epoch}")
    check_promotable(replace(ours, armed=theirs.armed), now)


def _after_rehearsal(here: Roles, there: Roles, ours: Role, theirs: Role) -> Course[tuple[Role, Role]]:
    """Both roles as they stand now, with what the regions have noted by themselves: who the other one is, and where.

    Right after another promotion they do so during the rehearsal. Raises RoleChanged where an operator did something.
    """
    standing = yield from both_roles(here, there)
    if [*map(_as_operators_set, standing)] != [_as_operators_set(ours), _as_operators_set(theirs)]:
        raise RoleChanged
    return standing


def _as_operators_set(role: Role) -> tuple[object, ...]:
    return role.epoch, role.kind, role.open, role.token, role.joins


def _is_last_step(ours: Role, theirs: Role) -> bool:
    """Whether a planned promotion was cut off before the other region followed."""
    was_closed = theirs.kind is RegionKind.PRIMARY and not theirs.open and theirs.epoch == ours.epoch - 1
    return was_closed and bool(ours.token) and theirs.token == ours.token


def _check_under_way(here: Roles, there: Roles, ours: Role, theirs: Role) -> Course[None]:
    """Raises RoleChanged. Who took it back before the other region was closed found that open, and it stays so."""
    standing = yield from _role(here)
    if standing == ours:
        return
    if standing.kind is RegionKind.FOLLOWER and not standing.token:
        yield from set_role(there, theirs, replace(theirs, open=True, token=""))
    raise RoleChanged


def _primary(ours: Role, theirs: Role) -> Role:
    known = replace(ours, reconciled=theirs.reconciled, lost=theirs.lost, traces=theirs.traces)
    known = replace(known, adopts=ours.adopts or theirs.adopts)
    return replace(known, epoch=ours.epoch + 1, kind=RegionKind.PRIMARY, open=True)


def set_role(at: Roles, seen: Role, role: Role) -> Course[Role]:
    """The role as it stands then. Asked for also where nothing changes: that finishes what was cut off.

    Raises RoleChanged, StoreError.
    """
    if not (yield partial(at.set_role, seen, role)):
        raise RoleChanged
    return role if role == seen else replace(role, turn=seen.turn + 1)
