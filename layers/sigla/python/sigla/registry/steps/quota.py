"""How much may be registered: asked before something new is stored, and never for what is there already.

What is stored is counted once, and then only when an estimate says that it is too much: an estimate that counts each
registration, those that came to nothing as well, and no delete.
"""

from collections.abc import Callable
from typing import Final

from sigla.errors import QuotaReached
from sigla.ports.clock import Clock, Moment

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


class Quotas:
    """What a registration costs of each. versions, bytes: None where there is no quota."""

    def __init__(self, versions: Quota | None = None, bytes: Quota | None = None) -> None:
        self._versions = versions
        self._bytes = bytes

    def spend(self, text: str) -> None:
        """For one more version, with this text. Raises QuotaReached."""
        if self._versions is not None:
            self._versions.spend(1)
        if self._bytes is not None:
            self._bytes.spend(len(text.encode("utf-8", "surrogatepass")))
