"""A KEK may name further keys, for the day on which its own does not answer: they are tried in turn."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sigla.ports.kms import KeyService, KmsDenied, KmsFailed, KmsKey

ALTERNATES = "encrypt.alternate.kms.key.ids"
"""The property of a KEK with their ids, separated by commas. Clients of Confluent know it by the same name."""

MOST_KEYS = 8
"""Tried for one request, the KEK's own included: what a client writes there must not become a thousand calls."""


def named_keys(key: KmsKey) -> Iterator[KmsKey]:
    """Yields the KEK's own key, then the others that its settings name."""
    ids = (each.strip() for each in (key.props.get(ALTERNATES) or "").split(","))
    distinct = dict.fromkeys((key.id, *filter(None, ids)))
    yield from (replace(key, id=each) for each in [*distinct][:MOST_KEYS])


class InTurn:
    """Several keys as one `KeyService`: the first that does it. opening: returns the service of one key each."""

    def __init__(self, opening: Sequence[Callable[[], KeyService]]) -> None:
        self._opening = opening

    def wrap(self, raw: bytes) -> bytes:
        """Raises KmsFailed when every key failed, KmsDenied when every key was denied."""
        return self._first(lambda service: service.wrap(raw))

    def unwrap(self, wrapped: bytes) -> bytes:
        """Raises as `wrap` does."""
        return self._first(lambda service: service.unwrap(wrapped))

    def _first(self, ask: Callable[[KeyService], bytes]) -> bytes:
        problems: list[KmsFailed] = []
        for open_service in self._opening:
            try:
                return ask(open_service())
            except KmsFailed as problem:
                problems.append(problem)
        denied = all(isinstance(each, KmsDenied) for each in problems)
        raise (KmsDenied if denied else KmsFailed)("; ".join(dict.fromkeys(each.cause for each in problems)))
