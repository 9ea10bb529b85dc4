"""The keys of one issuer, as far as they are known here.

They are believed for a day after they were read, and read again long before that. A `kid` that is not
among them may be that of a new key, so they are read again at once, though not more often than every 30 seconds:
everybody can invent a `kid`. Whoever needs them while they are being read waits for that one reading.
"""

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Lock, Thread
from typing import Final, NamedTuple

from sigla.auth.tokens.issuers import Issuer
from sigla.auth.tokens.key_sets import Key, KeySet, KeySource
from sigla.errors import IssuerSilent
from sigla.ports.clock import Clock

KEPT_MS: Final = 24 * 3_600_000
"""So long keys are believed after the issuer was asked: one that it has withdrawn is good for no longer."""

AGAIN_MS: Final = 30_000
"""Between two readings for the sake of an unknown `kid`."""

RETRY_MS: Final = 5_000
"""Between two readings of which the first failed."""

PATIENCE_MS: Final = 3_000
"""So long a reading is waited for."""


class Manner(NamedTuple):
    """How keys are read. start: runs a reading. refreshed_ms: when what is known is read again."""

    start: Callable[[Callable[[], None]], None]
    refreshed_ms: int


def _on_a_thread(reading: Callable[[], None]) -> None:
    """No end of the process waits for it."""
    Thread(target=reading, name="issuer", daemon=True).start()


BESIDE: Final = Manner(_on_a_thread, 3_600_000)
"""On a thread of its own: who comes meanwhile and knows its key does not wait."""

AT_ONCE: Final = Manner(lambda reading: reading(), 300_000)
"""Where threads stand still between requests, as in a function, and reading costs next to nothing."""


class Published:
    """Any thread may use it. tell: is told why a reading failed."""

    def __init__(
        self,
        issuer: Issuer,
        source: KeySource,
        clock: Clock,
        manner: Manner = BESIDE,
        *,
        tell: Callable[[Issuer, IssuerSilent], None] = lambda _issuer, _why: None,
    ) -> None:
        self._issuer = issuer
        self._source = source
        self._clock = clock
        self._manner = manner
        self._tell = tell
        self._lock = Lock()
        self._known: KeySet | None = None
        self._failed: IssuerSilent | None = None
        self._asked: int | None = None
        self._flight: Future[None] | None = None

    def knows(self, kid: str) -> bool:
        """Whether `find` answers without waiting for others."""
        known = self._believed()
        return known is not None and (kid in known.keys or not self._may_ask())

    def find(self, kid: str) -> tuple[Key, ...]:
        """The keys of this name, perhaps none. Raises IssuerSilent where no key of the issuer is known."""
        known = self._believed()
        if known is None or kid not in known.keys:
            self._await()
        elif self._clock.now() - known.read >= self._manner.refreshed_ms:
            self._ask()
        known = self._believed()
        if known is None:
            raise self._failed or IssuerSilent("it does not answer in time")
        return known.keys.get(kid, ())

    def _believed(self) -> KeySet | None:
        known = self._known
        return known if known is not None and self._clock.now() - known.read < KEPT_MS else None

    def _may_ask(self) -> bool:
        """Whether a reading is under way, or the last one is long enough ago."""
        pause = RETRY_MS if self._failed else AGAIN_MS
        return self._flight is not None or self._asked is None or self._clock.elapsed() - self._asked >= pause

    def _await(self) -> None:
        flight, asked = self._ask()
        if flight is not None:
            wait([flight], max(0, asked + PATIENCE_MS - self._clock.elapsed()) / 1000)

    def _ask(self) -> tuple[Future[None] | None, int]:
        """The reading that is under way, which may be begun now, and when it began; none where it is too early."""
        with self._lock:
            if self._flight is not None or not self._may_ask():
                return self._flight, self._asked or 0
            self._asked = asked = self._clock.elapsed()
            flight = self._flight = Future()
        self._manner.start(lambda: self._read(flight))
        return flight, asked

    def _read(self, flight: Future[None]) -> None:
        try:
            self._known, self._failed = self._source.read(self._issuer), None
        except IssuerSilent as silent:
            self._failed = silent
            self._tell(self._issuer, silent)
        finally:
            self._flight = None
            flight.set_result(None)
