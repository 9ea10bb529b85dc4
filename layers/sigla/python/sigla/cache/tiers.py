"""The order in which bodies are looked for: memory, then what stands behind it. A `Bodies` in front of a `Bodies`."""

from collections.abc import Callable, Sequence

from sigla.cache.memory import Memory
from sigla.model import Body, BodyKey, Guid, SchemaId
from sigla.ports import Bodies


class Tiers:
    """A `ports.Bodies`: the same object is returned for a key as long as it is remembered.

    unsettled: whether the body that the caller sees under a key may yet be undone by the store behind; such a body is
    passed on and not remembered. A store that makes changes visible later than it was told has to call `forget` then.
    """

    def __init__(
        self, memory: Memory, behind: Bodies, *, unsettled: Callable[[BodyKey], bool] = lambda _: False
    ) -> None:
        self._memory = memory
        self._behind = behind
        self._unsettled = unsettled
        self.forget = memory.forget

    def put(self, key: BodyKey, body: Body) -> None:
        # Not remembered: only the store knows whether it is there to stay, or stood there already.
        self._behind.put(key, body)

    def get(self, key: BodyKey) -> Body:
        if self._unsettled(key):
            return self._behind.get(key)
        return self._memory.get(key) or self._load(key)

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        since = self._memory.changes
        near = {key: body for key in keys if not self._unsettled(key) and (body := self._memory.get(key))}
        far = [key for key in dict.fromkeys(keys) if key not in near]
        loaded = zip(far, self._behind.get_many(far) if far else (), strict=True)
        near |= {key: self._keep(key, body, since) for key, body in loaded}
        return [near[key] for key in keys]

    def named(self, guid: Guid) -> tuple[BodyKey, ...]:
        return self._behind.named(guid)

    def last(self, context: str) -> SchemaId:
        return self._behind.last(context)

    def bury(self, key: BodyKey) -> None:
        self._behind.bury(key)
        self.forget([key])

    def revive(self, key: BodyKey, body: Body) -> None:
        self._behind.revive(key, body)
        self.forget([key])

    def _load(self, key: BodyKey) -> Body:
        since = self._memory.changes
        return self._keep(key, self._behind.get(key), since)

    def _keep(self, key: BodyKey, body: Body, since: int) -> Body:
        return body if self._unsettled(key) else self._memory.remember(key, body, since=since)
