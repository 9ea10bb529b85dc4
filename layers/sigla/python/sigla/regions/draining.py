"""What a closed primary has and its follower lacks: of a directory by the end of its journal, of a table by its rows.

A table is compared by numbers (`regions.replay`): where one is smaller in the follower, some commit is not there.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sigla.ports.clock import Clock
from sigla.ports.primary import NextAsked, Primary
from sigla.ports.replaying import Numbers, OrderedReplayer, Shipment, Shipper, WaitingReplayer
from sigla.regions.following import catch_up, deliver
from sigla.regions.nouns import Role
from sigla.regions.replay import WAIT, JournalPlace, Verdict

WINDOWS_MS: Final = (3_600_000, 24 * 3_600_000, 35 * 24 * 3_600_000)
"""How far back rows of a journal are looked at: further only where the regions differ still. All are kept so long."""
PATIENCE_S: Final = 10
"""A follower that is further behind than that is not promoted by plan."""
_STEP_S: Final = 0.5
_SHOWN: Final = 3


class ToldShipper:
    """A `ports.Shipper` of a primary that is asked as its follower asks it. end: of the journal here.

    epoch: of the follower. role: of the follower by the time that it asks: its token is another one by then, and where
    it was a primary until a moment ago, it has drawn its name since.
    """

    def __init__(self, primary: Primary, epoch: int, end: Callable[[], JournalPlace], role: Callable[[], Role]) -> None:
        self._primary = primary
        self._epoch = epoch
        self._end = end
        self._role = role

    def shipments(self, after: int = 0) -> Iterator[Shipment]:
        """From the end of the journal here, which moves as they are carried out. Raises NotFollowed, StoreError."""
        del after  # it is that end
        while told := self._primary.told(self._asked()).shipments:
            yield from told

    def _asked(self) -> NextAsked:
        role = self._role()
        asked = NextAsked(role.name, self._end(), self._epoch, wait_ms=0, all_ceilings=False, heard={})
        return asked._replace(token=role.token)


class OrderedDrain:
    """A `ports.Drain` of a journal with one order. there, here: where the journals end."""

    def __init__(
        self,
        source: Shipper,
        target: OrderedReplayer,
        *,
        there: Callable[[], JournalPlace],
        here: Callable[[], JournalPlace],
    ) -> None:
        self._source = source
        self._target = target
        self._there = there
        self._here = here

    def look(self) -> int:
        before = self._target.end()
        return catch_up(self._source, self._target).position - before

    def differences(self) -> Sequence[str]:
        there, here = self._there(), self._here()
        if there == here:
            return ()
        same = "another row" if there.position == here.position else f"row {here.position}"
        return (f"Its journal ends with row {there.position}, and the one here with {same}.",)


class WaitingDrain:
    """A `ports.Drain` of a journal that comes in any order.

    shipments: what the closed primary has committed since a time, in milliseconds since the epoch.
    """

    def __init__(
        self,
        shipments: Callable[[int], Iterator[Shipment]],
        target: WaitingReplayer,
        *,
        there: Numbers,
        here: Numbers,
        clock: Clock,
    ) -> None:
        self._shipments = shipments
        self._target = target
        self._there = there
        self._here = here
        self._clock = clock
        self._windows = list(WINDOWS_MS)
        self._last: Sequence[str] | None = None

    def look(self) -> int:
        """What waited for another commit counts as that does."""
        while True:
            self._last, since = None, self._clock.now() - self._windows[0]
            found = deliver(self._shipments(since), self._target)[Verdict.CARRY_OUT]
            if found:
                return found
            # The last look is what is told: all numbers of both tables are read once, while no region takes writes.
            self._last = self._compare()
            if not self._last or len(self._windows) == 1:
                return 0
            self._windows.pop(0)

    def differences(self) -> Sequence[str]:
        return self._compare() if self._last is None else self._last

    def _compare(self) -> Sequence[str]:
        return [*_set_aside(self._target), *compared(self._there, self._here)]


def rehearsal(
    there: Numbers, here: Numbers, target: WaitingReplayer, clock: Clock, *, bring: Callable[[], object]
) -> Sequence[str]:
    """Why a table should not be promoted now: what the primary had at the beginning has to be here soon.

    bring: fetches what is missing here. It may be told in no other way, and a client may never cease to write.
    """
    names = there.names()
    wanted = there.numbers(names)
    bring()
    why = [*_set_aside(target)]
    for _ in range(round(PATIENCE_S / _STEP_S)):
        if not (behind := _behind(wanted, here)):
            return why
        clock.sleep(_STEP_S)
    late = _first_few([names[name] for name in behind])
    return [*why, f"What was committed more than {PATIENCE_S} s ago is not here, of {late}. Wait until it is."]


def compared(there: Numbers, here: Numbers) -> Sequence[str]:
    """What does not have the same number in both, a sentence."""
    names = {**there.names(), **here.names()}
    one, other = there.numbers(names), here.numbers(names)
    apart = [what for name, what in names.items() if one[name] != other[name]]
    return [f"Not the same are {_first_few(apart)}."] if apart else []


def _behind(wanted: dict[str, int], here: Numbers) -> list[str]:
    found = here.numbers(wanted)
    return [name for name, number in wanted.items() if found[name] < number]


def _set_aside(target: WaitingReplayer) -> Iterator[str]:
    waiting, apart = len([*target.aside()]), len([*target.apart()])
    if waiting:
        yield f"{waiting} commits {WAIT}."
    if apart:
        yield f"{apart} commits diverge from what stands here."


def _first_few(what: Sequence[str]) -> str:
    more = f" and {len(what) - _SHOWN} more" if len(what) > _SHOWN else ""
    return ", ".join(sorted(what)[:_SHOWN]) + more
