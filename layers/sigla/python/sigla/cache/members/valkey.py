"""A member that is a Valkey, or a Redis of version 7.0 or newer.

| what | by | why |
|---|---|---|
| claim | `SET … NX GET PX` | answers what stands or takes the lease; a hit writes nothing, and counts as a use |
| swap | `EVAL` of three lines | atomic, and as fast as `EVALSHA`, which may have to be told the script first |
| put | `SET … PX` | |

A user needs `+ping +get +set +eval` on all keys.
"""

import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Any

from valkey import Connection, ConnectionPool, CredentialProvider, Valkey, exceptions
from valkey._parsers import _RESP2Parser
from valkey.backoff import NoBackoff
from valkey.client import Pipeline
from valkey.retry import Retry

from sigla.cache.member import MemberFailed, Swap
from sigla.cache.members.transport import CONNECT_S, OPERATION_S, Deadline, Endpoint, to_connect

_SWAP = """\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end"""

Password = Callable[[], str]
"""Made for each connection; raises OSError."""


class ValkeyMember:
    """A `Member`. password: of `user`; without a user it has no name. connect_s: what connecting may take."""

    def __init__(
        self, endpoint: Endpoint, *, user: str = "", password: Password = str, connect_s: float = CONNECT_S
    ) -> None:
        self._name = endpoint.name
        self._pool = ConnectionPool(
            _TimedConnection,
            parser_class=_Parser,
            host=endpoint.host,
            port=endpoint.port,
            tls=endpoint.tls,
            connect_s=connect_s,
            credential_provider=_Credentials(user, password) if user else None,
            socket_timeout=OPERATION_S,
            # A connection that was closed while unused (idle, frozen, its member started anew) is opened anew once, and
            # does not count as a failure. What did not answer in time is not asked again.
            retry=Retry(NoBackoff(), 1, (exceptions.ConnectionError,)),
            retry_on_error=[exceptions.ConnectionError],
            # Two round trips, to tell the server of the library.
            lib_name=None,
            lib_version=None,
        )
        self._client = Valkey(connection_pool=self._pool)

    def claim(self, keys: Sequence[str], value: bytes, *, lasts_ms: int) -> list[bytes | None]:
        with self._client.pipeline(transaction=False) as batch:
            for key in keys:
                batch.set(key, value, nx=True, get=True, px=lasts_ms)
            return [self._value(answer) for answer in self._send(batch)]

    def swap(self, swaps: Sequence[Swap], *, lasts_ms: int) -> None:
        with self._client.pipeline(transaction=False) as batch:
            for each in swaps:
                batch.execute_command("EVAL", _SWAP, 1, each.key, each.expected, each.value, lasts_ms)
            self._send(batch)

    def put(self, key: str, value: bytes, *, lasts_ms: int) -> None:
        with self._client.pipeline(transaction=False) as batch:
            batch.set(key, value, px=lasts_ms)
            self._send(batch)

    def ping(self) -> None:
        with self._client.pipeline(transaction=False) as batch:
            batch.ping()
            self._send(batch)

    def close(self) -> None:
        self._pool.disconnect(inuse_connections=False)

    def _send(self, batch: Pipeline) -> list[Any]:
        """All in one round trip."""
        try:
            # Raised by the library, an error would tell what was sent: bodies.
            answers: list[Any] = batch.execute(raise_on_error=False)
        except exceptions.TimeoutError as failure:
            raise MemberFailed(f"{self._name} did not answer in time") from failure
        except (exceptions.InvalidResponse, ValueError) as failure:
            raise self._senseless() from failure
        except (exceptions.ValkeyError, OSError) as failure:
            raise MemberFailed(f"{self._name} cannot be asked: {_shown(failure)}") from failure
        for answer in answers:
            if isinstance(answer, Exception):
                raise MemberFailed(f"{self._name} refused: {_shown(answer)}")
        return answers

    def _value(self, answer: object) -> bytes | None:
        if answer is None or isinstance(answer, bytes):
            return answer
        raise self._senseless()

    def _senseless(self) -> MemberFailed:
        return MemberFailed(f"{self._name} answered what makes no sense")


class _Credentials(CredentialProvider):
    def __init__(self, user: str, password: Password) -> None:
        self._user = user
        self._password = password

    def get_credentials(self) -> tuple[str, str]:
        try:
            return self._user, self._password()
        except OSError as failure:
            # The library would keep a connection that is not authenticated.
            raise exceptions.AuthenticationError(str(failure)) from failure


class _Parser(_RESP2Parser):
    """The library's, but a list may hold nothing: no command here answers with one.

    The library follows each list in a list down to the end of the stack, where whatever is finalized fails as well.
    """

    _reading = False

    def _read_response(self, disable_decoding: bool = False) -> Any:  # noqa: FBT001, FBT002 - the library's signature
        if self._reading:
            raise exceptions.InvalidResponse("a list")
        self._reading = True
        try:
            return super()._read_response(disable_decoding)  # type: ignore[no-untyped-call]  # the library's has no types
        finally:
            self._reading = False


class _TimedConnection(Connection):
    """The library's, but all of connecting has one time; the library gives each of its parts that of an operation."""

    def __init__(self, *, tls: ssl.SSLContext | None, connect_s: float, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]  # the library's has no types
        self._tls = tls
        self._connect_s = connect_s

    def _connect(self) -> socket.socket:
        self._deadline = Deadline(to_connect(self._connect_s))
        self.socket_connect_timeout = self._deadline.left()
        sock: socket.socket = super()._connect()  # type: ignore[no-untyped-call]  # the library's has no types
        if self._tls is None:
            return sock
        try:
            sock.settimeout(self._deadline.left())
            return self._tls.wrap_socket(sock, server_hostname=self.host)
        except BaseException:
            sock.close()
            raise

    def on_connect(self) -> None:
        """TCP and TLS are done, and `_sock` is what `_connect` returned."""
        assert self._sock  # noqa: S101 - see above
        self._sock.settimeout(self._deadline.left())
        super().on_connect()  # type: ignore[no-untyped-call]  # the library's has no types
        self._sock.settimeout(OPERATION_S)


def _shown(failure: Exception) -> str:
    # A server repeats the arguments of a command that it does not know: bodies, a token.
    return str(failure).partition(", with args")[0][:200]
