"""Where bodies are looked for: memory, the zone's ring, what stands behind. A `Bodies` in front of a `Bodies`."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from sigla.cache.memory import Memory
from sigla.cache.single_flight import SingleFlight
from sigla.errors import ForeignData, StoreError
from sigla.model import Body, BodyKey
from sigla.ports.bodies import Bodies
from sigla.ports.in_front import BodiesInFront


class Tiers(BodiesInFront):
    """A `ports.Bodies`: the same object is returned for a key as long as it is remembered.

    What is put is not remembered: only the store knows whether it is there to stay, or stood there already.

    unsettled: whether the body that the caller sees under a key may yet be undone by the store behind; such a body is
    passed on and not kept. A store that makes changes visible later than it was told has to call `forget` then.
    """

    def __init__(
        self,
        memory: Memory,
        flight: SingleFlight,
        behind: Bodies,
        *,
        unsettled: Callable[[BodyKey], bool] = lambda _: False,
    ) -> None:
        super().__init__(behind)
        self._memory = memory
        self._flight = flight
        self._unsettled = unsettled

    def get(self, key: BodyKey) -> Body:
        if self._unsettled(key):
            return self._bodies.get(key)
        near = self._memory.get(key)
        if near is not None:
            self._flight.counts.memory += 1
            return near
        return self._read([key])[0]

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        near = {key: body for key in keys if not self._unsettled(key) and (body := self._memory.get(key))}
        self._flight.counts.memory += len(near)
        far = [key for key in dict.fromkeys(keys) if key not in near]
        unsettled = [key for key in far if self._unsettled(key)]
        settled = [key for key in far if key not in unsettled]
        near |= zip(settled, self._read(settled) if settled else (), strict=True)
        near |= zip(unsettled, self._bodies.get_many(unsettled) if unsettled else (), strict=True)
        return [near[key] for key in keys]

    def bury(self, key: BodyKey) -> None:
        with self._changing(key):
            self._bodies.bury(key)

    def revive(self, key: BodyKey, body: Body) -> None:
        with self._changing(key):
            self._bodies.revive(key, body)

    def mend(self, key: BodyKey, body: Body, seen: Body | None) -> None:
        with self._changing(key):
            self._bodies.mend(key, body, seen)

    def forget(self, keys: Collection[BodyKey]) -> None:
        """These bodies changed: reads under way, in the whole zone, do not bring the old ones back."""
        self._flight.close(keys)
        self._memory.forget(keys)

    @contextmanager
    def _changing(self, key: BodyKey) -> Iterator[None]:
        try:
            yield
        finally:
            # Also after a failure: its outcome may be unknown.
            self.forget([key])

    def _read(self, keys: Sequence[BodyKey]) -> list[Body]:
        since = self._memory.changes
        try:
            read = self._flight.get_many(keys, self._bodies.get_many)
        except ForeignData:
            raise
        except StoreError:
            known = [body for key in keys if (body := self._memory.spared(key))]
            if len(known) == len(keys):
                return known
            raise
        return [self._keep(key, body, since) for key, body in zip(keys, read, strict=True)]

    def _keep(self, key: BodyKey, body: Body, since: int) -> Body:
        return body if self._unsettled(key) else self._memory.remember(key, body, since=since)
