"""What was written in the other region at the wish of this one is carried out here before the client has its answer.

The commits that the answer names are read in the other table and carried out, as the function of two regions does it,
which comes seconds later and finds them done. Where one of them rests on another that is still under way, or where none
is named, the journals are compared: what was committed there until then is here afterwards.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from sigla.errors import StoreError
from sigla.regions.following import deliver
from sigla.regions.moved import Moved
from sigla.regions.nouns import RegionKind
from sigla.stores.dynamodb.comparing import CommitName, JournalComparison
from sigla.stores.dynamodb.journal import LATE_MS
from sigla.stores.dynamodb.places import JOURNAL_SHARDS
from sigla.stores.dynamodb.told_commits import REVISION

if TYPE_CHECKING:
    from sigla.stores.dynamodb.store import AwsStore

PATIENCE_S: Final = 2.0
"""For so long the answer to a write waits until what was written is here."""
PAUSE_S: Final = 0.1


class BroughtBack:
    """here: the region that has sent a write on. there: the one that has carried it out."""

    def __init__(self, here: "AwsStore", there: "AwsStore", *, patience_s: float | None = None) -> None:
        self._here = here
        self._there = there
        self._clock = here.clock
        self._patience_s = PATIENCE_S if patience_s is None else patience_s

    def __call__(self, moved: Moved) -> bool:
        """Whether all that a write has moved, which was answered a moment ago, is here for whoever reads from now on.

        Also where this region does not follow any more: what it answers then is its own. A call that is not answered
        in time is left to itself: what it does is right, however late.
        """
        pool = ThreadPoolExecutor(1, thread_name_prefix="brought-back")
        try:
            return pool.submit(self._bring, moved).result(self._patience_s)
        except TimeoutError:
            return False
        finally:
            pool.shutdown(wait=False)

    def _bring(self, moved: Moved) -> bool:
        until = self._clock.elapsed() + round(1000 * self._patience_s)
        with suppress(StoreError):
            if self._is_known(moved):
                return True
        while True:
            with suppress(StoreError):
                if self._is_compared(moved, until):
                    return True
            if self._clock.elapsed() >= until:
                return False
            self._clock.sleep(PAUSE_S)

    def _is_known(self, moved: Moved) -> bool:
        """By what the answer tells. Raises StoreError."""
        comparison = self._comparison()
        if comparison is None:
            return True
        if moved.commits:
            verdicts = deliver(comparison.named(moved.commits), comparison.replayer)
            carried_out = sum(verdicts.values()) >= len(moved.commits)
            return moved.is_whole and carried_out and self._are_here(moved.commits)
        return self._is_seen(moved)

    def _is_compared(self, moved: Moved, until: int) -> bool:
        """By what the other journal has. Raises StoreError."""
        with ThreadPoolExecutor(JOURNAL_SHARDS, thread_name_prefix="journal") as pool:
            comparison = self._comparison(pool)
            if comparison is None:
                return True
            comparison.catch_up(until, back_ms=LATE_MS)
            if comparison.is_complete:
                return True
        # Others may hold the comparison up that this write does not rest on.
        return moved.is_whole and (self._are_here(moved.commits) if moved.commits else self._is_seen(moved))

    def _comparison(self, pool: ThreadPoolExecutor | None = None) -> JournalComparison | None:
        """None where this region does not follow."""
        role = self._here.region.role()
        if role is None or role.kind is not RegionKind.FOLLOWER:
            return None
        return JournalComparison(self._here, self._there, role, pool)

    def _are_here(self, commits: Sequence[CommitName]) -> bool:
        rows = [self._here.tools.places.journal(at, nonce) for at, nonce in commits]
        return len(self._here.tools.table.get_many(rows)) == len(set(rows))

    def _is_seen(self, moved: Moved) -> bool:
        """Whether the subject is here as the other region saw it."""
        if moved.seen is None:
            return False
        subject, revision = moved.seen
        head = self._here.tools.table.get(self._here.tools.places.head(subject))
        return int((head or {}).get(REVISION, 0)) >= revision
