"""What a primary tells its follower: rows of its journal, and how far ids are given. Over whatever they are sent."""

import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import count, islice
from typing import Final

from sigla.errors import StoreError
from sigla.keys import LONGEST_NAME
from sigla.model import SchemaId
from sigla.ports.clock import Clock
from sigla.ports.primary import NextAsked, NextTold, Offer
from sigla.ports.regions import Region
from sigla.ports.replaying import Shipment, Shipper
from sigla.regions.names import drawn_pair
from sigla.regions.nouns import Counter, KnownBy, RegionKind, RegionSeen, Role
from sigla.regions.refusals import NotFollowed, RefusedAs
from sigla.regions.replay import JournalPlace

AT_ONCE: Final = 200
"""Commits of an answer."""
CEILINGS_AT_ONCE: Final = 3
"""Contexts of which an answer tells how far ids are given: the next question repeats them, and has to be short."""
NAMES_AT_ONCE: Final = LONGEST_NAME
"""Bytes of their names, if they are several: six characters of a question may stand for one."""
BYTES_AT_ONCE: Final = 4 * 2**20
"""After so many an answer ends."""
PATIENCE_S: Final = 2.0
"""For so long a writer waits until the follower knows how far ids are given, and has kept the bodies of new ones."""
DISMISS: Final = (
    "If that one is lost for good, `sigla regions dismiss` with the URL of this registry makes room for another"
)
RUNS: Final = 1_000
"""So many starts of followers are remembered."""
SILENT_MS: Final = 60_000
"""A follower that has not asked for so long is not waited for."""


class Taking(StrEnum):
    """What became of an offer."""

    KEPT = "kept"
    APART = "apart"
    """Something else stands there."""
    SILENT = "silent"
    """That is not known: it may yet be kept."""


class PolledFollower:
    """The follower, as its primary sees it, which asks and is never asked: a `ports.regions.Peer`.

    What it should know is in the next answer, and the one after that says that it does. Any thread may wait for it.
    """

    def __init__(self, clock: Clock, is_alone: Callable[[], bool]) -> None:
        """is_alone: whether no region follows, as the transaction sees it in which ids are given."""
        self._clock = clock
        self._is_alone = is_alone
        self._changed = threading.Condition()
        self._wanted: dict[str, SchemaId] = {}
        self._asked_at: int | None = None
        self._epoch = 0
        self._numbers = count(secrets.randbits(48) + 1)
        self._offer: Offer | None = None
        self._taking = Taking.SILENT
        self._is_silent = False
        self._run = ""
        self._runs_before = deque[str](maxlen=RUNS)
        self.wake: Callable[[], None] = lambda: None
        """Has an answer that waits sent at once."""

    def check_run(self, run: str) -> None:
        """One that was followed by another run has ended, unless its directory was copied. Raises NotFollowed.

        The newer one goes on: a follower that is started again is not to wait until the one before has fallen silent.
        """
        with self._changed:
            if run in self._runs_before:
                raise NotFollowed(
                    why="another copy of this follower's directory is served, and asks as the same follower. Serve one "
                    "of them, and begin anew with an empty directory",
                    reason=RefusedAs.SERVED_TWICE,
                )
            if run and run != self._run:
                self._runs_before.extend([self._run] if self._run else [])
                self._run = run

    def asks(self, asked: NextAsked) -> None:
        """Takes note of what it has heard."""
        with self._changed:
            self._asked_at, self._epoch, self._is_silent = self._clock.elapsed(), asked.epoch, False
            if self._offer is not None and self._offer.number in (asked.kept, asked.apart):
                self._taking = Taking.KEPT if self._offer.number == asked.kept else Taking.APART
                self._offer = None
            for context, ceiling in asked.heard.items():
                if self._wanted.get(context, ceiling + 1) <= ceiling:
                    del self._wanted[context]
            self._changed.notify_all()

    @property
    def wanted(self) -> dict[str, SchemaId]:
        """Some ceilings that it should know."""
        with self._changed:
            some = dict(islice(self._wanted.items(), CEILINGS_AT_ONCE))
        while len(some) > 1 and sum(len(context.encode()) for context in some) > NAMES_AT_ONCE:
            some.popitem()
        return some

    @property
    def offer(self) -> Offer | None:
        """What waits for it to be kept."""
        return self._offer

    @property
    def is_silent(self) -> bool:
        """Whether it did not take the last offer in time, and has not asked since."""
        return self._is_silent

    def take(self, shipments: Sequence[Shipment]) -> Taking:
        """Offers it commits, and waits; one that is known to be silent is not waited for. For one thread at a time."""
        with self._changed:
            if self._is_silent:
                return Taking.SILENT
            self._offer, self._taking = Offer(next(self._numbers), shipments), Taking.SILENT
        self.wake()
        with self._changed:
            self._is_silent = not self._changed.wait_for(lambda: self._offer is None, PATIENCE_S)
            self._offer = None
            return self._taking

    @property
    def asked_ms_ago(self) -> int | None:
        """None if it has not asked since the start."""
        with self._changed:
            return None if self._asked_at is None else self._clock.elapsed() - self._asked_at

    def look(self, context: str) -> RegionSeen:  # noqa: ARG002 - as `Peer`
        """What it was told is kept here; its counters it knows best, and never lowers one."""
        if not self._is_alone():
            self._check_answers()
        return RegionSeen(Role(self._epoch, RegionKind.FOLLOWER), None)

    def raise_for(self, context: str, epoch: int, seen: Counter | None, ceiling: SchemaId) -> bool:
        """Raises StoreError where it does not say in time that it knows.

        Who begins to follow later is told of all ceilings before it may be promoted.
        """
        del epoch, seen  # of the follower's own counter, which it looks at itself
        if self._is_alone():
            return True
        self._check_answers()
        with self._changed:
            self._wanted[context] = max(ceiling, self._wanted.get(context, SchemaId(0)))
        self.wake()
        with self._changed:
            if self._changed.wait_for(lambda: context not in self._wanted, PATIENCE_S):
                return True
        raise StoreError("the follower does not say that it knows how far ids are given")

    def _check_answers(self) -> None:
        ago = self.asked_ms_ago
        if ago is None or ago > SILENT_MS:
            raise StoreError("the follower does not ask")


class Followed:
    """A primary of which another region asks what comes next. place: where a row of its journal stands; None: nowhere.

    counters: all that there are, by their contexts.
    """

    def __init__(
        self,
        region: Region,
        shipper: Shipper,
        follower: PolledFollower,
        clock: Clock,
        *,
        place: Callable[[int], JournalPlace | None],
        end: Callable[[], int],
        counters: Callable[[], Iterator[tuple[str, Counter]]],
    ) -> None:
        self._region = region
        self._shipper = shipper
        self.follower = follower
        self._clock = clock
        self._place = place
        self._end = end
        self._counters = counters

    def begin(self) -> None:
        """A region that asks for a copy may follow. From now on this is one of two regions. Raises NotFollowed."""
        role = self._region.role()
        if role is None:
            self._region.set_role(None, Role(1, RegionKind.PRIMARY, pair=drawn_pair()))
            self.begin()
        else:
            check_may_follow(role, "")

    def check_begin(self) -> None:
        """Whether `begin` would go on. Raises NotFollowed."""
        role = self._region.role()
        if role is not None:
            check_may_follow(role, "")

    def check(self, asked: NextAsked) -> None:
        """Whether it is the follower, and has the beginning of this journal. Raises NotFollowed.

        The first one that asks is, and that is written down before it is told anything: what is given from then on, it
        has to know first.
        """
        role = self._region.role()
        if role is None:
            raise NotFollowed(why="it has no follower yet, and one begins with a copy")
        if asked.follower in role.given_up:
            raise NotFollowed(
                why="this follower was given up there. `sigla rejoin` has it follow again", reason=RefusedAs.GIVEN_UP
            )
        if role.kind is RegionKind.PRIMARY and role.epoch != asked.epoch:
            epochs = f"it is in epoch {role.epoch}, and the follower in epoch {asked.epoch}"
            raise NotFollowed(why=f"{epochs}. `sigla rejoin` has it follow again")
        follower = KnownBy(asked.follower)
        if role.peer != follower:
            check_may_follow(role, asked.token)
        if asked.end.position and self._place(asked.end.position) != asked.end:
            raise NotFollowed(why=f"its journal has another row {asked.end.position}: the two have gone apart")
        self.follower.check_run(asked.run)
        if not asked.run:
            return  # it is asked beside the follower, which says itself where it is
        known = replace(role, peer=follower, at=asked.served or role.at)
        if known != role and not self._region.set_role(role, known):
            self.check(asked)

    def place(self, position: int) -> JournalPlace | None:
        """Where a row of the journal stands; None: nowhere."""
        return self._place(position)

    def has_news(self, asked: NextAsked) -> bool:
        waits = self.follower.wanted or self.follower.offer
        return self._end() > asked.end.position or bool(waits)

    def tell(self, asked: NextAsked, since: int) -> NextTold:
        """What comes next, as far as it is there. since: when the question came, on the clock that only goes on."""
        waited_ms, end = self._clock.elapsed() - since, self._end()
        ceilings = self.follower.wanted
        if asked.all_ceilings:
            for context, counter in self._counters():
                ceilings[context] = max(counter.ceiling, ceilings.get(context, SchemaId(0)))
        role = self._region.role()
        lost = role.given_up if role and not role.reconciled else None
        return NextTold(self._next(asked.end.position), end, waited_ms, ceilings, lost, self.follower.offer)

    def _next(self, after: int) -> list[Shipment]:
        """Up to one that cannot be told: that alone is to hold up what comes behind it. Raises StoreError."""
        told, size = list[Shipment](), 0
        try:
            for shipment in islice(self._shipper.shipments(after), AT_ONCE):
                told.append(shipment)
                size += len(shipment.form) + sum(len(body.schema.text) for body in shipment.bodies.values())
                if size > BYTES_AT_ONCE:
                    break
        except StoreError:
            if not told:
                raise
        return told


def check_may_follow(role: Role, token: str) -> None:
    """Whether a region that does not follow yet may begin. token: of its role. Raises NotFollowed."""
    if role.kind is not RegionKind.PRIMARY:
        raise NotFollowed(why="it follows another one itself. Give the URL of that one")
    if not role.peer:
        return
    if role.peer.name:
        raise NotFollowed(why=f"{role.peer} follows it already, and there can be one. {DISMISS}")
    if not role.reconciled:  # else both regions could give ids without an end
        out = " and ".join((*role.given_up, str(role.peer)))
        raise NotFollowed(
            why=f"it was promoted by force, and {out} may have what it lacks. Run `sigla rejoin` first, or "
            "`sigla regions abandon` if that never comes back"
        )
    if role.token != token:
        raise NotFollowed(why=f"{role.peer} was the primary before it, and is to follow it. {DISMISS}")


def hear(region: Region, epoch: int, ceilings: dict[str, SchemaId]) -> dict[str, SchemaId]:
    """Keeps what the primary says of ceilings, in a follower, or one that is joining; those that are kept now.

    Raises StoreError.
    """
    heard = {}
    for context, ceiling in ceilings.items():
        counter = region.look(context).counter
        if counter and counter.epoch > epoch:
            continue
        if (counter and counter.epoch == epoch and counter.ceiling >= ceiling) or region.copy_ceiling(
            context, epoch, counter, SchemaId(max(ceiling, counter.ceiling if counter else 0))
        ):
            heard[context] = ceiling
    return heard
