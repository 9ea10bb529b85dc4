"""What a region does for the other one, each minute, depends on what it is.

    primary     it looks at the other region's role. A greater epoch there closes this one: it was
                promoted. None there is told: that table was made anew, or is another one. It tells
                ceilings again: that of the default context, and with `far` all of them. Where no region
                follows, or another one than is asked here, it asks nothing
    joining     it goes on with the copy of the other region's table, and follows once that is complete
    follower    it compares the two journals, and carries out what is missing here: of the last minutes, and with
                `far` of the last hour
                neither does anything once its primary has given it up. One that has compared nothing for as long as
                rows of the journal are kept never is complete again: some may have gone that it lacks
    restored    nothing, before it has rejoined; nor does one whose other region was restored
    no role     nothing

Two regions of before a registry had a pair get one: the primary draws it, and the follower takes it over from there.

Each turn may be cut off, repeated, and done by several at once.
"""

from collections import Counter
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, assert_never

from sigla.errors import Closed, StoreError
from sigla.model import DEFAULT_CONTEXT
from sigla.observe import Facts
from sigla.regions import giving
from sigla.regions.names import drawn_pair
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.refusals import NoBlock
from sigla.regions.replay import Verdict
from sigla.regions.shipping import NotAllowed
from sigla.stores.dynamodb.actions import Condition, equals, update
from sigla.stores.dynamodb.comparing import FAR_MS, NEAR_MS, JournalComparison
from sigla.stores.dynamodb.copying import TableCopy
from sigla.stores.dynamodb.table import Cancelled

if TYPE_CHECKING:
    from sigla.stores.dynamodb.store import AwsStore

WORK_MS: Final = 50_000
"""How long a turn works: the next one comes after a minute, and goes on."""
STOPS: Final = ("closed", "forgotten", "elsewhere", "given_up", "restored", "lapsed")
"""What keeps a region from being kept in step until a person looks at it, as a turn tells it."""
COUNTED: Final = (Verdict.CARRY_OUT, Verdict.EARLY, Verdict.DIVERGES, Verdict.UNKNOWN)


class RegionTurns:
    """here, there: the registry in both regions.

    far: whether it does what is done now and then. alone_ms: for so long a copy is left to whoever is at it; 0: whoever
    comes takes over at once.
    """

    def __init__(self, here: "AwsStore", there: "AwsStore", *, far: bool = True, alone_ms: int = 0) -> None:
        self._here = here
        self._there = there
        self._far = far
        self._alone_ms = alone_ms
        self._clock = here.clock

    def __call__(self) -> Facts:
        """What was done. Raises StoreError where the own region does not answer."""
        begun, role = self._clock.elapsed(), self._here.region.role()
        if role is None:
            return {}
        try:
            did = self._turn(role, begun + WORK_MS)
        except NotAllowed:
            # A change of the role was cut off, or another one is under way: the same call finishes it, or finds that.
            did = {"refused": not self._here.region.set_role(role, role)}
        return {"role": role.kind.value, "epoch": role.epoch, **did}

    def _turn(self, role: Role, until: float) -> Facts:
        if role.is_restored:
            return {"restored": True}
        match role.kind:
            case RegionKind.PRIMARY:
                return self._lead(role)
            case RegionKind.JOINING:
                return self._join(role, until)
            case RegionKind.FOLLOWER:
                return self._follow(role, until)
            case _:
                assert_never(role.kind)

    # --- primary -----------------------------------------------------------------------------------------------------

    def _lead(self, role: Role) -> Facts:
        """The other region's silence hinders nothing: a commit rests on the role here."""
        if role.is_alone:
            return {"alone": True}
        if role.is_elsewhere(self._there.url):
            return {"elsewhere": True}
        try:
            theirs = self._there.region.role()
        except StoreError:
            return {"silent": True}
        if theirs is None:
            return {"forgotten": True}
        if theirs.is_restored:
            return {"restored": True}
        if theirs.epoch > role.epoch:
            if role.open:
                self._here.region.set_role(role, replace(role, open=False))
            return {"closed": True}
        if role.writes and theirs.kind is RegionKind.FOLLOWER:
            if not role.pair and theirs.follows(role):
                self._here.region.set_role(role, replace(role, pair=theirs.pair or drawn_pair()))
            return {"ceilings": self._tell_ceilings()}
        return {}

    def _tell_ceilings(self) -> int:
        """For how many contexts the other region knows how far ids are given, and that is far enough for now."""
        told = 0
        for context in (DEFAULT_CONTEXT, *(self._here.catalog.contexts() if self._far else ())):
            try:
                giving.carried_out(giving.kept_ahead(self._here.region, self._there.region, context))
            except (Closed, NoBlock):
                break
            told += 1
        return told

    # --- joining -----------------------------------------------------------------------------------------------------

    def _join(self, role: Role, until: float) -> Facts:
        here, there = self._here, self._there
        if role.joins:  # its catalog is being forgotten (`regions.rejoining`)
            return {"copied": False}
        theirs = there.region.role()
        if theirs is not None and theirs.is_restored:
            return {"restored": True}
        if _is_given_up(role, theirs):
            return {"given_up": True}
        if not _is_known(role, theirs):
            return {"copied": False}
        is_copied, has = self._copies_alone(until)
        if not is_copied:
            return {"copied": False, **has}
        theirs = there.region.role()
        if theirs is None or theirs.kind is not RegionKind.PRIMARY or not _is_known(role, theirs):
            return {"copied": True}
        following = replace(role, kind=RegionKind.FOLLOWER, epoch=theirs.epoch, armed=theirs.armed)
        return {"copied": True, "follows": here.region.set_role(role, following)}

    def _copies_alone(self, until: float) -> tuple[bool, Facts]:
        """Whether the copy is complete, and what it has. A turn that finds another one at it leaves it to that one."""
        here, there, now = self._here, self._there, self._clock.now()
        table, place, over = here.tools.table, here.tools.places.copying_alone(), now + self._alone_ms
        free = Condition("attribute_not_exists(#until) OR #until <= :now", {"now": now})
        try:
            if self._alone_ms:
                table.update(update(place, {"until": over}, when=free))
        except Cancelled:
            return False, {}
        try:
            with closing(TableCopy(there.tools, here.tools, there.objects, here.objects, self._clock)) as copy:
                return copy.go_on(until), dict(copy.has)
        finally:
            if self._alone_ms:
                with suppress(Cancelled, StoreError):
                    table.update(update(place, {"until": now}, when=equals(until=over)))

    # --- follower ----------------------------------------------------------------------------------------------------

    def _follow(self, role: Role, until: float) -> Facts:
        theirs = self._there.region.role()
        if theirs is not None and theirs.is_restored:
            return {"restored": True}
        if _is_given_up(role, theirs):
            return {"given_up": True}
        if not role.pair and theirs is not None and role.name and theirs.peer == KnownBy(role.name) and theirs.pair:
            self._here.region.set_role(role, replace(role, pair=theirs.pair))
        comparison = JournalComparison(self._here, self._there, role)
        verdicts = comparison.catch_up(until, back_ms=FAR_MS if self._far else NEAR_MS)
        now, waits = self._clock.now(), comparison.waits()
        return {
            **counted(verdicts),
            "waiting": waits.waiting,
            "waiting_ms": 0 if waits.oldest is None else max(1, now - waits.oldest),
            "apart": waits.apart,
            "behind_ms": max(0, now - comparison.complete_up_to()),
            **({"unread": waits.unread} if waits.unread else {}),
            **({"lapsed": True} if comparison.is_lapsed else {}),
        }


def _is_given_up(ours: Role, theirs: Role | None) -> bool:
    """Whether a region that follows, or joins, is not to go on: it was given up, or another one took over."""
    if theirs is None or theirs.kind is not RegionKind.PRIMARY:
        return False
    is_left_behind = ours.kind is RegionKind.FOLLOWER and theirs.epoch > ours.epoch
    return is_left_behind or ours.name in theirs.given_up


def _is_known(ours: Role, theirs: Role | None) -> bool:
    """Whether the primary knows a region that joins by its name: until then the copy does not begin."""
    return not ours.name or theirs is None or theirs.peer == KnownBy(ours.name)


def counted(verdicts: Counter[Verdict]) -> Facts:
    """Those that hardly ever are, where they are: each line is paid."""
    told = [*COUNTED, *([Verdict.LOST] if verdicts[Verdict.LOST] else [])]
    return {verdict.name.lower(): verdicts[verdict] for verdict in told}
