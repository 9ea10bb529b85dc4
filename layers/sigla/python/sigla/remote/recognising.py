"""Asks a destination whether it is the source, and remembers for a while that it is not."""

import json
from collections.abc import Callable
from typing import Final

from sigla.exporters.destination import DestinationRefused
from sigla.exporters.recognition import is_answered, new_question
from sigla.ports.clock import Clock, Moment
from sigla.remote.client import RemoteAnswer

OTHER_MS: Final = 60_000
"""For so long after its answer a destination is taken to be another registry; later its name may lead elsewhere."""
BUSY: Final = 429


class SourceCheck:
    """mark: of the source, as of `ports.itself`; where it has none nothing is asked."""

    def __init__(self, clock: Clock, mark: Callable[[], str]) -> None:
        self._clock = clock
        self._mark = mark
        self._found_other: Moment | None = None

    def is_source(self, ask: Callable[[str], RemoteAnswer]) -> bool:
        """ask: puts a question to the destination. One that fails is asked again the next time."""
        if self._found_other is not None and self._found_other.is_younger(OTHER_MS, self._clock):
            return False
        if not (mark := self._mark()):
            return False
        since, question = Moment.of(self._clock), new_question(mark)
        try:
            answer = ask(question)
        except DestinationRefused:  # its answer is longer than any of a registry
            return False
        if is_answered(question, mark, _shown_in(answer)):
            return True
        if answer.status < 500 and answer.status != BUSY:
            self._found_other = since
        return False


def _shown_in(answer: RemoteAnswer) -> object:
    try:
        return json.loads(answer.body)["exporter"]
    except (LookupError, TypeError, ValueError, RecursionError):
        return None
