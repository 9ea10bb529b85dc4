"""The region that is followed, asked over HTTP: a `ports.primary.Primary`, and where requests are sent on to."""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from http.client import HTTPException, HTTPResponse
from typing import Final, NamedTuple
from urllib.parse import urlencode, urlsplit

from sigla.errors import StoreError
from sigla.ports.clock import Clock
from sigla.ports.primary import FOLLOWER, NextAsked, NextTold
from sigla.regions import wire
from sigla.regions.refusals import NotFollowed
from sigla.remote.client import trusting
from sigla.remote.connections import RemoteConnection, RemoteLimits
from sigla.remote.failures import RemoteMisused
from sigla.remote.urls import is_url, shown_url

JOURNAL: Final = "/regions/journal"
COPY: Final = "/regions/copy"

PIECE: Final = 2**20
FORWARD_LIMITS: Final = RemoteLimits(patience_s=25.0, whole_s=25.0, longest=2**28)
"""As long as a request that is sent on may take."""


class Forwarded(NamedTuple):
    """What the primary answers."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NotSent(Exception):
    """Nothing was executed: the primary could not be connected to."""


class RemotePrimary:
    """Any thread may ask. credentials: NAME:SECRET of an administrator there; empty where it is open.

    Raises RemoteMisused for a URL of another form.
    """

    def __init__(self, url: str, credentials: str, clock: Clock) -> None:
        if not is_url(url):
            raise RemoteMisused(f"Invalid URL of a registry {shown_url(url)}: such a URL is http://HOST:PORT.")
        self.shown = shown_url(url)
        parts = urlsplit(url)
        self._tls = trusting() if parts.scheme == "https" else None
        self._host, self._port, self._path = parts.hostname or "", parts.port, parts.path.rstrip("/")
        said = f"Basic {b64encode(credentials.encode()).decode()}"
        self._headers = {"Authorization": said} if credentials else {}
        self._own = {FOLLOWER: said} if credentials else {}
        self._clock = clock
        self._waiting: RemoteConnection | None = None
        self._over = False

    def told(self, asked: NextAsked) -> NextTold:
        query = {
            "follower": asked.follower,
            "after": asked.end.position,
            "hash": asked.end.hash,
            "epoch": asked.epoch,
            "wait": asked.wait_ms,
            "ceilings": "all" if asked.all_ceilings else "",
            "heard": json.dumps(asked.heard),
        }
        with closing(self._connection(asked.wait_ms / 1000 + 10)) as connection:
            self._waiting = connection
            try:
                answer = self._asked(connection, f"{JOURNAL}?{urlencode(query)}")
                return wire.told_of(answer.read())
            except (OSError, HTTPException, ValueError) as silence:
                raise StoreError(f"{self.shown} does not answer ({silence})") from silence
            finally:
                self._waiting = None

    def copy(self, follower: str, write: Callable[[bytes], object]) -> None:
        with closing(self._connection(60.0)) as connection:
            try:
                answer = self._asked(connection, f"{COPY}?{urlencode({'follower': follower})}")
                while piece := answer.read(PIECE):
                    write(piece)
            except (OSError, HTTPException) as silence:
                raise StoreError(f"{self.shown} does not answer ({silence})") from silence

    def forward(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Forwarded:
        """Sends a request on, once. Raises NotSent, StoreError where it is not known what became of it."""
        with closing(RemoteConnection(self._host, self._port, FORWARD_LIMITS, self._clock, self._tls)) as connection:
            try:
                connection.connect()
            except OSError as silence:
                raise NotSent(f"{self.shown} cannot be connected to ({silence})") from silence
            try:
                connection.request(method, self._path + target, body or None, {**headers, **self._own})
                answer = connection.getresponse()
                said = {name.lower(): value for name, value in answer.getheaders()}
                return Forwarded(answer.status, said, answer.read())
            except (OSError, HTTPException) as silence:
                raise StoreError(f"{self.shown} does not answer ({silence})") from silence

    def interrupt(self) -> None:
        """By another thread: ends what this one waits for."""
        self._over = True
        waiting = self._waiting
        if waiting is not None:
            waiting.interrupt()

    def _connection(self, patience_s: float) -> RemoteConnection:
        if self._over:
            raise StoreError("nothing is asked any more")
        return RemoteConnection(self._host, self._port, RemoteLimits(patience_s), self._clock, self._tls)

    def _asked(self, connection: RemoteConnection, target: str) -> HTTPResponse:
        """Raises NotFollowed where it refuses, StoreError where it fails."""
        connection.request("GET", self._path + target, headers=self._headers)
        answer = connection.getresponse()
        if answer.status == 200:
            return answer
        body = answer.read(PIECE)
        sentence = _words_of(body)
        if answer.status in (401, 403):
            raise NotFollowed(
                why="it wants the key of an administrator: give --user NAME, or set SIGLA_USER and SIGLA_SECRET"
            )
        if answer.status == 404:
            raise NotFollowed(why="another server answers there, or an older release of Sigla")
        if answer.status < 500:
            raise NotFollowed(
                why=sentence.removeprefix(NotFollowed.text.partition("{")[0]) or f"it says {answer.status}"
            )
        raise StoreError(f"{self.shown} answers with {answer.status}: {sentence}")


def _words_of(body: bytes) -> str:
    with suppress(ValueError, AttributeError):
        return str(json.loads(body).get("message", ""))
    return ""
