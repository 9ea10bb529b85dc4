"""A member that is a Memcached, of any version.

| what | by | round trips |
|---|---|---|
| claim | `get` of all keys, `add` of those that are missing, `get` of those that others added meanwhile | 1 to 3 |
| swap | `gets` of all keys, a `cas` for each that stands as expected | 1, and 1 for each |
| put | `set` | 1 |
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheClientError, MemcacheError, MemcacheServerError, MemcacheUnexpectedCloseError
from pymemcache.pool import ObjectPool

from sigla.cache.member import MemberFailed, Swap
from sigla.cache.members.transport import CONNECT_S, OPERATION_S, Endpoint, to_connect

_LONGEST_S = 30 * 86_400
"""Beyond it Memcached takes a number of seconds for a date."""

_AT_ONCE = -1
"""Seconds of what has ended when it begins."""

T = TypeVar("T")


class MemcachedMember:
    """A `Member`. Times are rounded up to seconds; what is too large is not kept, which does not count as a failure.

    connect_s: what opening a connection may take.
    """

    def __init__(self, endpoint: Endpoint, *, connect_s: float = CONNECT_S) -> None:
        self._endpoint = endpoint
        self._connect_s = connect_s
        self._pool: ObjectPool[_Client] = ObjectPool(self._connection, after_remove=_Client.close)

    def claim(self, keys: Sequence[str], value: bytes, *, lasts_ms: int) -> list[bytes | None]:
        stand = self._ask(lambda client: client.get_many(keys))
        missing = [key for key in keys if key not in stand]
        if missing:
            added = self._ask(lambda client: client.add_many(dict.fromkeys(missing, value), _seconds(lasts_ms)))
            # What others added and is gone again is as if it had never stood. There is no claim then; so whoever wants
            # to swap it for a body does nothing.
            others = [key for key in missing if not added[key]]
            stand |= self._ask(lambda client: client.get_many(others)) if others else {}
        return [stand.get(key) for key in keys]

    def swap(self, swaps: Sequence[Swap], *, lasts_ms: int) -> None:
        stand = self._ask(lambda client: client.gets_many([each.key for each in swaps]))
        for each in swaps:
            value, cas = stand.get(each.key, (None, b""))
            if value == each.expected:
                self._swap(each, cas, _seconds(lasts_ms))

    def put(self, key: str, value: bytes, *, lasts_ms: int) -> None:
        try:
            self._ask(lambda client: client.set(key, value, _seconds(lasts_ms), noreply=False))
        except _TooLarge:
            """Memcached has dropped what stood there."""

    def ping(self) -> None:
        self._ask(lambda client: client.version())

    def close(self) -> None:
        self._pool.clear()

    def _swap(self, swap: Swap, cas: bytes, seconds: int) -> None:
        try:
            self._ask(lambda client: client.cas(swap.key, swap.value, cas, seconds))
        except _TooLarge:
            # What was expected goes all the same: another reader may be waiting for what takes its place.
            self._ask(lambda client: client.cas(swap.key, b"", cas, _AT_ONCE))

    def _ask(self, call: Callable[["_Client"], T]) -> T:
        name = self._endpoint.name
        try:
            return self._answer(call)
        except TimeoutError as failure:
            raise MemberFailed(f"{name} did not answer in time") from failure
        except (MemcacheClientError, MemcacheServerError) as failure:
            told = failure.args[0] if failure.args else b"it closed the connection"
            if told == b"object too large for cache":
                raise _TooLarge from failure
            raise MemberFailed(f"{name} refused: {_server_text(told)}") from failure
        # It told of no value of which the length, or of no key that was asked for.
        except (MemcacheError, ValueError, LookupError) as failure:
            raise MemberFailed(f"{name} answered what makes no sense") from failure
        except OSError as failure:
            raise MemberFailed(f"{name} cannot be asked: {failure}") from failure

    def _answer(self, call: Callable[["_Client"], T]) -> T:
        # Connections that were closed while unused (idle, frozen, their member started anew) do not count as a failure:
        # in the end there is a new one.
        for _ in self._pool.free:
            try:
                return self._answer_once(call)
            except (MemcacheUnexpectedCloseError, ConnectionError):
                continue
        return self._answer_once(call)

    def _answer_once(self, call: Callable[["_Client"], T]) -> T:
        with self._pool.get_and_release(destroy_on_fail=True) as client:
            return call(client)

    def _connection(self) -> "_Client":
        return _Client(
            (self._endpoint.host, self._endpoint.port),
            connect_timeout=to_connect(self._connect_s),
            timeout=OPERATION_S,
            no_delay=True,
            tls_context=self._endpoint.tls,
        )


class _TooLarge(Exception):
    """The value is not kept."""


class _Client(Client):  # type: ignore[misc]  # it has no types
    def add_many(self, values: dict[str, bytes], expire: int) -> dict[str, bool | None]:
        """Whether each was added; as `set_many`, in one round trip."""
        added: dict[str, bool | None] = self._store_cmd(b"add", values, expire, noreply=False)
        return added


def _seconds(lasts_ms: int) -> int:
    return min(-(-lasts_ms // 1000), _LONGEST_S)


def _server_text(told: object) -> str:
    return told.decode("ascii", "replace")[:200] if isinstance(told, bytes) else str(told)[:200]
