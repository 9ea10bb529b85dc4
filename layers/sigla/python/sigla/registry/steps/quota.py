"""How much may be registered: asked before something new is stored, and never for what is there already.

What is stored is counted once, and then only when an estimate says that it is too much: an estimate that counts each
registration, those that came to nothing as well, and no delete.
"""

from collections.abc import Callable
from typing import Final, Protocol

from sigla.errors import QuotaReached
from sigla.ports.clock import Clock, Moment
from sigla.ports.tally import VersionTally

COUNTED_MS: Final = 60_000
"""How long a count is believed, where it refuses: counting may take a while, and who is refused may come again."""


class Quota:
    """So much of one thing. Any thread may ask; several that ask at once may get past it by as many.

    what: its name, for people. held: counts what is stored.
    """

    def __init__(self, most: int, what: str, held: Callable[[], int], clock: Clock) -> None:
        self._most = most
        self._what = what
        self._count = held
        self._clock = clock
        self._estimate: int | None = None
        self._counted: Moment | None = None

    def spend(self, amount: int) -> None:
        """Raises QuotaReached where there is no room for so much more."""
        if self._estimate is None or self._estimate + amount > self._most:
            self._estimate = self._counted_again()
        if self._estimate + amount > self._most:
            raise QuotaReached(what=self._what, most=self._most, again_s=COUNTED_MS // 1000)
        self._estimate += amount

    def _counted_again(self) -> int:
        if self._estimate is None or self._counted is None or not self._counted.is_younger(COUNTED_MS, self._clock):
            self._counted = Moment.of(self._clock)
            return self._count()
        return self._estimate


class SharedQuota:
    """So much of one thing, whichever of several instances is asked: they add to one number.

    What is refused stays in the number, which is at its end then, until it is counted again. Only as many get past it
    as are under way while it is counted.
    """

    def __init__(self, most: int, what: str, tally: VersionTally, clock: Clock) -> None:
        self._most = most
        self._what = what
        self._tally = tally
        self._clock = clock

    def spend(self, amount: int) -> None:
        """Raises QuotaReached where there is no room for so much more, StoreError."""
        held = self._tally.add(amount)
        if (held is None or held > self._most) and self._tally.recount(self._clock.now() - COUNTED_MS + 1):
            held = self._tally.add(amount)
        if held is not None and held > self._most:
            raise QuotaReached(what=self._what, most=self._most, again_s=COUNTED_MS // 1000)


class Fence(Protocol):
    """A quota of either kind."""

    def spend(self, amount: int) -> None: ...


class Quotas:
    """What a registration costs of each. versions, bytes: None where there is no quota."""

    def __init__(self, versions: Fence | None = None, bytes: Fence | None = None) -> None:
        self._versions = versions
        self._bytes = bytes

    def spend(self, text: str) -> None:
        """For one more version, with this text. Raises QuotaReached."""
        if self._versions is not None:
            self._versions.spend(1)
        if self._bytes is not None:
            self._bytes.spend(len(text.encode("utf-8", "surrogatepass")))
