"""Writing in a world that moves: say what was seen, and if it is no longer so, look and decide again.

A verb that writes is an attempt: ask, decide, commit. A commit compares what was asked with what is there
(`sigla.changes`), and comes to one of three things:

    written          The verb answers. Ids that lost their last holder get their tombstones; if that fails now, whoever
                     follows the journal does it later.
    Conflict         Nothing was written. The attempt begins again with its first question, after a pause that grows and
                     is drawn by lot, so that two writers do not meet for ever. At the deadline the client gets 50002.
    OutcomeUnknown   The store cannot say: an answer that never came, a disk that failed. Every commit leaves the mark
                     of its writer, so the catalog is asked whether ours is there (`was_written`). If it is not, that is
                     a Conflict: even if another write has covered our mark, the next attempt finds what we wrote.
"""

import secrets
from collections.abc import Callable
from itertools import count
from typing import TypeVar

from sigla import effort
from sigla.backoff import Backoff
from sigla.changes import Change
from sigla.changes.conflicts import GoneMeanwhile
from sigla.errors import Conflict, OutcomeUnknown, TimedOut
from sigla.registry.resources import Resources
from sigla.registry.tombstones import bury_after_commit

FIRST_PAUSE_S = 0.02
LONGEST_PAUSE_S = 1.0

Result = TypeVar("Result")


def nonce() -> str:
    """A fresh mark for one write, from the operating system's randomness, which no snapshot of a process repeats."""
    return secrets.token_hex(8)


def until_committed(resources: Resources, operation: str, attempt: Callable[[], Result]) -> Result:
    """Repeats an attempt (ask, decide, commit) while it loses races, with full jitter, until the deadline.

    Raises TimedOut, and whatever the attempt refuses.
    """
    deadline = resources.clock.now() + 1000 * resources.options.retrying_seconds
    backoff = Backoff(resources.clock, FIRST_PAUSE_S, LONGEST_PAUSE_S)
    for lost in count():
        try:
            return attempt()
        except Conflict:
            if resources.clock.now() >= deadline:
                raise TimedOut(operation=operation) from None
            with effort.resting():
                backoff.pause(lost)
    raise AssertionError  # count() does not end


def commit(resources: Resources, change: Change) -> None:
    """Commits, and settles an unknown outcome by looking for the change's own mark.

    Raises Conflict if it was not written. The body of an id that was taken to live, and does not, says so then.

    Ids that lost their last holder get their tombstones afterwards: the catalog is what decides, a tombstone only tells
    those who read without it.
    """
    try:
        buried = resources.catalog.commit(change)
    except OutcomeUnknown:
        if not change.was_written(resources.catalog):
            raise Conflict from None
        effort.committed()
        return
    except GoneMeanwhile as gone:
        bury_after_commit(resources, [gone.key])
        raise
    effort.committed()
    bury_after_commit(resources, buried)
