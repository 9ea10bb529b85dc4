"""A function that starts from a snapshot (Lambda SnapStart): many processes go on from one moment.

Whatever was drawn or remembered before that moment they would have in common: seeds, connections, credentials, accepted
keys, bodies since deleted, the time of the last commit, whether the next request is the first. A list of all this would
be forgotten; so everything is closed before the snapshot and built again after each restore. What is kept is what
never changes: imported modules, and what they read of their own files.

Source: AWS Lambda Developer Guide, "Handling uniqueness with Lambda SnapStart".
"""

import random
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

Handler = Callable[[Any, Any], dict[str, Any]]
"""From an event and Lambda's context to an answer."""

Build = Callable[[ExitStack], Handler]
"""Makes a handler, and puts on the stack what is to be closed with it."""


class Renewed:
    """A `Handler` that is built at once, and anew after each restore."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._open()
        _register(before=self.close, after=self.renew)

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        return self._handler(event, context)

    def close(self) -> None:
        """What is open is closed; nothing may be asked before `renew`."""
        self._opened.close()

    def renew(self) -> None:
        random.seed()
        self.close()
        self._open()

    def _open(self) -> None:
        with ExitStack() as opened:
            self._handler = self._build(opened)
            self._opened = opened.pop_all()


def _register(*, before: Callable[[], None], after: Callable[[], None]) -> None:
    """Lambda's runtime has the library for its hooks within itself; elsewhere no snapshots are taken."""
    try:
        from snapshot_restore_py import (  # type: ignore[import-not-found]  # noqa: PLC0415 - only Lambda has it
            register_after_restore,
            register_before_snapshot,
        )
    except ImportError:
        return
    register_before_snapshot(before)
    register_after_restore(after)
