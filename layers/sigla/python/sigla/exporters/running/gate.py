"""Whether a context of the destination may be written to: it is in IMPORT (EXP-5).

An exporter puts an empty context into IMPORT by itself. One that has schemas and is in another mode belongs to other
writers, or was taken into use after a disaster: there it neither writes nor deletes, and says what to do.
"""

from typing import Final

from sigla.contract import IMPORT, READWRITE
from sigla.exporters.destination import Destination, DestinationAway
from sigla.model import DEFAULT_CONTEXT, Subject
from sigla.ports.clock import Clock, Moment

KNOWN_MS: Final = 5_000
"""For so long an exporter believes that a context is in IMPORT."""
MOST_KNOWN: Final = 1_000
"""Contexts, and subjects with a mode of their own, of which that is remembered."""

CLOSED: Final = (
    "{context} of {shown} is in mode {mode}, and has schemas already: an exporter writes where the mode is IMPORT. If "
    'it may write over what is there, send PUT {path}?force=true with {{"mode": "IMPORT"}} to it; otherwise give the '
    "exporter another context."
)
STOPPED: Final = "{context} of {shown} is in mode {mode}: an exporter writes where the mode is IMPORT."


class Gate:
    """What was found is believed for a moment."""

    def __init__(self, destination: Destination, clock: Clock) -> None:
        self._destination = destination
        self._clock = clock
        self._open: dict[Subject, Moment] = {}

    def pass_through(self, subject: Subject) -> None:
        """Returns where the subject, or the scope, may be written. Raises DestinationAway."""
        scope = Subject(subject.context, "")
        if self._is_known(scope) or self._is_known(subject):
            return
        if len(self._open) > MOST_KNOWN:
            self._open.clear()
        mode = self._destination.mode(scope)
        if mode == READWRITE and self._destination.is_empty(scope.context):
            self._destination.begin_import(scope)
            mode = IMPORT
        if mode == IMPORT:
            self._open[scope] = Moment.of(self._clock)
        elif subject.name and self._destination.mode(subject) == IMPORT:
            self._open[subject] = Moment.of(self._clock)
        else:
            raise DestinationAway(_closed(scope, mode, self._destination.shown))

    def _is_known(self, scope: Subject) -> bool:
        since = self._open.get(scope)
        return since is not None and since.is_younger(KNOWN_MS, self._clock)


def _closed(scope: Subject, mode: str, shown: str) -> str:
    in_default = scope.context == DEFAULT_CONTEXT
    context = "The default context" if in_default else f"The context {scope.context}"
    path = "/mode" if in_default else f"/mode/{scope.qualified}"
    return (CLOSED if mode == READWRITE else STOPPED).format(context=context, shown=shown, mode=mode, path=path)
