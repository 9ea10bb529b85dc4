"""A region that follows another one: it asks what comes next and carries it out, for as long as it runs."""

import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Final

from sigla.backoff import Backoff
from sigla.errors import Closed, StoreError
from sigla.model import SchemaId
from sigla.observe import failure
from sigla.ports.clock import Clock
from sigla.ports.primary import NextAsked, NextTold, Offer, Primary
from sigla.ports.regions import Region
from sigla.ports.replaying import OrderedReplayer, Shipment
from sigla.regions.followed import hear
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.refusals import NotFollowed, RefusedAs
from sigla.regions.replay import JournalPlace, Verdict
from sigla.regions.role_form import told_token

WAIT_MS: Final = 20_000
"""The primary answers after so long where it has nothing to tell: by then the follower knows that it has everything."""
FIRST_PAUSE_S: Final = 0.2
LONGEST_PAUSE_S: Final = 10.0
"""Between two questions to a primary that does not answer."""

STOPPED: Final = "region-stopped"
"""The event of the line that tells that a follower does not go on, and why."""


@dataclass(frozen=True, slots=True)
class HowFar:
    """What a follower knows of how far it has come.

    behind_ms: how old what it knows is at most; None: it has not heard from its primary since the start. problem: why
    it does not go on; empty where it does.
    """

    position: int
    behind_ms: int | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Here:
    """The registry that follows. group: its store's. end: of its journal."""

    region: Region
    replayer: OrderedReplayer
    group: Callable[[], AbstractContextManager[None]]
    end: Callable[[], JournalPlace]
    clock: Clock


def check_follows(region: Region, epoch: int) -> None:
    """Asked in the transaction of each commit that is carried out. Raises Closed."""
    role = region.role()
    if role is None or role.kind is RegionKind.PRIMARY or role.epoch != epoch:
        raise Closed


class RegionFollower:
    """A thread that follows. role: has the name by which the primary knows it. tell: takes lines for operators.

    moved: is told when more is here than before. served: as of `NextAsked`.
    """

    def __init__(
        self,
        here: Here,
        primary: Primary,
        role: Role,
        *,
        tell: Callable[[dict[str, Any]], None],
        moved: Callable[[], object] = lambda: None,
        served: str = "",
    ) -> None:
        self._here = here
        self._primary = primary
        self._role = role
        self._served = served
        self._run_name = secrets.token_hex(8)
        self._tell = tell
        self._moved = moved
        self._thread = threading.Thread(target=self._run, name="sigla-follower", daemon=True)
        self._over = threading.Event()
        self._changed = threading.Condition()
        self._heard: dict[str, SchemaId] = {}
        self._kept = self._apart = 0
        self._knows_ceilings = False
        self._complete_at: int | None = None
        self._position = here.end().position
        self._problem = ""
        self.ended = False
        """Whether it asks no more, because another copy of its directory is served."""
        self.given_up = False
        """Whether its primary said so, as far as it has answered."""
        self.is_refused = False
        """Whether what it follows answers, and does not tell it what comes next."""

    def start(self) -> None:
        self._thread.start()

    def stop(self, patience_s: float) -> None:
        """What comes then is not carried out any more; what is under way is, or it is not."""
        self._over.set()
        self._primary.interrupt()
        self._thread.join(patience_s)

    @property
    def how_far(self) -> HowFar:
        with self._changed:
            complete_at = self._complete_at
            behind = None if complete_at is None else self._here.clock.elapsed() - complete_at
            return HowFar(self._position, behind, self._problem)

    @property
    def complete_at(self) -> int | None:
        """All that the primary had at this moment is here; None where that is not known since the start."""
        return self._complete_at

    def reaches(self, position: int) -> bool:
        """Whether everything up to a row of the primary's journal is here."""
        return self._position >= position

    def wait_for(self, position: int, patience_s: float) -> bool:
        """Whether the primary knows this region, and all up to a row of its journal is here, or that comes in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._knows_ceilings and self._position >= position, patience_s)

    def follows(self, role: Role) -> bool:
        """Whether it was begun for a role of this region, as far as that says whom to follow."""
        return (role.peer, role.epoch) == (self._role.peer, self._role.epoch)

    def _run(self) -> None:
        lost, backoff = 0, Backoff(self._here.clock, FIRST_PAUSE_S, LONGEST_PAUSE_S)
        while not self._over.is_set():
            try:
                self.turn()
            except Exception as problem:  # noqa: BLE001 - whatever it is, it is told, and the primary is asked again
                if self._over.is_set():
                    return
                reason = problem.reason if isinstance(problem, NotFollowed) else None
                self._note(problem, reason)
                if reason is RefusedAs.SERVED_TWICE:
                    self._end()
                    return
                self._over.wait(backoff.most_s(lost))
                lost += 1
            else:
                lost = 0

    def _end(self) -> None:
        """The other one is told how far ids are given, and this one is not: it joins anew before it is promoted."""
        self.ended = True
        now = self._here.region.role()
        if now is not None and now.kind is RegionKind.FOLLOWER and now.epoch == self._role.epoch:
            self._here.region.set_role(now, replace(now, kind=RegionKind.JOINING))

    def turn(self) -> None:
        """One question, and what comes of its answer. Raises StoreError, NotFollowed."""
        end, role, now = self._here.end(), self._role, self._here.region.role()
        # After a silence it is to be known soon that all is well again.
        wait_ms = WAIT_MS if self._knows_ceilings and not self._problem else 0
        asked = NextAsked(
            role.name,
            end,
            role.epoch,
            wait_ms,
            not self._knows_ceilings,
            self._heard,
            self._served,
            told_token(now or role),  # a promotion may have been begun, or taken back, since it follows
            self._kept,
            self._apart,
            self._run_name,
        )
        asked_at = self._here.clock.elapsed()
        told = self._primary.told(asked)
        heard = hear(self._here.region, role.epoch, dict(told.ceilings))
        # The primary repeats those that a writer waits for.
        self._heard = {} if asked.all_ceilings else heard
        try:
            self._carry_out(told)
        finally:
            # After what comes first, but also where that cannot be carried out: it may be all that is left one day.
            if told.offer is not None:
                self._keep(told.offer)
        if role.kind is RegionKind.JOINING:
            following = replace(role, kind=RegionKind.FOLLOWER, joins=None)
            self._role = replace(following, turn=role.turn + 1)
            self._here.region.set_role(role, following)
        self._learn(told.lost, asked.token)
        self._knows_ceilings = True
        with self._changed:
            self._position, self._problem = self._here.end().position, ""
            self.given_up = self.is_refused = False
            if self._position >= told.end:
                self._complete_at = asked_at + told.waited_ms
            self._changed.notify_all()
        self._moved()

    def _keep(self, offer: Offer) -> None:
        is_kept = self._here.replayer.keep(offer.shipments)
        self._kept, self._apart = offer.number * (is_kept is True), offer.number * (is_kept is False)

    def _learn(self, lost: Sequence[str] | None, token: str) -> None:
        """What its primary is not reconciled with, it is not either; and no longer than that. token: it asked with."""
        known = self._role
        learnt: dict[str, Any] = {"reconciled": lost is None, "lost": ", ".join(lost or ())}
        learnt |= {"traces": known.traces * (lost is not None)}
        if replace(known, **learnt) == known:
            return
        now = self._here.region.role()
        # One that is being promoted is left alone: it takes what its primary says of this then.
        if now is None or (now.kind, now.epoch, told_token(now)) != (known.kind, known.epoch, token):
            return
        if self._here.region.set_role(now, replace(now, **learnt)):
            self._role = replace(known, **learnt, turn=now.turn + 1)

    def _carry_out(self, told: NextTold) -> None:
        """As far as it goes: what comes before one that cannot be carried out stays. Raises StoreError."""
        problem: Exception | None = None
        with self._here.group():
            for shipment in told.shipments:
                try:
                    self._carry_out_one(shipment)
                except Exception as failure:  # noqa: BLE001 - whatever it is, it is raised when that is durable
                    problem = failure
                    break
        if problem is not None:
            with self._changed:
                self._position = self._here.end().position
                self._changed.notify_all()
            self._moved()
            raise problem

    def _carry_out_one(self, shipment: Shipment) -> None:
        if self._here.replayer.carry_out(shipment) is Verdict.DIVERGES:
            raise Diverged(f"row {shipment.position} of the primary's journal does not fit what stands here")

    def _note(self, problem: Exception, reason: RefusedAs | None) -> None:
        """Tells it once, until it is another one."""
        is_foreseen = isinstance(problem, StoreError | NotFollowed)
        words = str(problem) if is_foreseen else f"a failure that was not foreseen ({type(problem).__qualname__})"
        with self._changed:
            told, self._problem = self._problem, words
            self.given_up |= reason is RefusedAs.GIVEN_UP
            self.is_refused = isinstance(problem, NotFollowed)
        if told != words:
            again = "when it is started again" if reason is RefusedAs.SERVED_TWICE else "in some seconds"
            self._tell({"event": STOPPED, "why": words, "again": again})
            if not is_foreseen:
                self._tell(failure(problem, request_id=""))


class Diverged(StoreError):
    """Something else was carried out here than at the primary."""
