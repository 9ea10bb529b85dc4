"""The region that is followed, asked over HTTP: a `ports.primary.Primary`, and where requests are sent on to."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from threading import Lock
from typing import Any, Final
from urllib.parse import urlencode

from sigla.errors import StoreError
from sigla.ports.clock import Clock, Moment
from sigla.ports.primary import FOLLOWER, PAIR, Forwarded, NextAsked, NextTold, NotSent
from sigla.regions import wire
from sigla.regions.refusals import NotFollowed
from sigla.remote.addresses import RegionAddress, basic_authorization
from sigla.remote.connections import RemoteConnection, RemoteLimits, answer_pieces, whole_answer

JOURNAL: Final = "/regions/journal"
COPY: Final = "/regions/copy"

_ANOTHER: Final = "another server answers there, or an older release of Sigla"
_PACKED: Final = b"\x1f\x8b"
"""A backup begins so, as any file of gzip does."""
PIECE: Final = 2**20
CONNECT_S: Final = 1.0
"""For so long a request that is sent on may take to be connected."""
ANSWERS_S: Final = 3.0
"""A primary that is asked whether it answers does so in this time."""
PROVEN_MS: Final = 60_000
"""For so long after an answer of its pair the address is taken to be that of the primary when something is written."""
_ASKING: Final = ("GET", "HEAD", "OPTIONS")


class RemotePrimary:
    """Any thread may ask. credentials: NAME:SECRET of an administrator there; empty where it is open.

    pair: as of `Role`: what is sent on is for that registry; empty where it has none. A product that does not know of
    pairs would carry out what is written there, and be noticed by its answer: so it is asked before, unless it has
    answered lately. Raises RemoteMisused for a URL of another form.
    """

    def __init__(self, url: str, credentials: str, clock: Clock, *, pair: str = "") -> None:
        self._address = RegionAddress(url, clock)
        self.shown = self._address.shown
        said = basic_authorization(credentials)
        self._headers = {"Authorization": said} if credentials else {}
        self._pair = pair
        self._own = ({FOLLOWER: said} if credentials else {}) | ({PAIR: pair} if pair else {})
        self._clock = clock
        self._lock = Lock()
        self._waiting: set[RemoteConnection] = set()
        self._proven: Moment | None = None
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
            "served": asked.served,
            "token": asked.token,
            "kept": asked.kept,
            "apart": asked.apart,
            "run": asked.run,
        }
        limits = RemoteLimits(asked.wait_ms / 1000 + 10)
        with self._under_way(limits) as connection:
            try:
                answer = self._asked(connection, f"{JOURNAL}?{urlencode(query)}")
                return wire.told_of(whole_answer(answer, limits.longest))
            except (OSError, HTTPException, ValueError) as silence:
                raise StoreError(f"{self.shown} does not answer ({silence})") from silence

    def copy(self, write: Callable[[bytes], object]) -> None:
        with self._under_way(RemoteLimits(60.0)) as connection:
            try:
                told = answer_pieces(self._asked(connection, COPY), PIECE)
                first = next(told, b"")
                if not first.startswith(_PACKED):
                    raise NotFollowed(why=_ANOTHER, registry=self.shown)
                write(first)
                for piece in told:
                    write(piece)
            except (OSError, HTTPException) as silence:
                raise StoreError(f"{self.shown} does not answer ({silence})") from silence

    def check_copy(self) -> None:
        """Whether it would give a copy now. Raises as `copy`."""
        with self._under_way(RemoteLimits(ANSWERS_S)) as connection:
            try:
                self._asked(connection, f"{COPY}?look=true").read()
            except (OSError, HTTPException) as silence:
                raise StoreError(f"{self.shown} does not answer ({silence})") from silence

    def forward(self, method: str, target: str, headers: Mapping[str, str], body: bytes, whole_s: float) -> Forwarded:
        since = self._clock.elapsed()
        if method not in _ASKING:
            self._prove()
        left_s = whole_s - (self._clock.elapsed() - since) / 1000
        return self._answered(method, target, {**headers, **self._own}, body, left_s)

    def _prove(self) -> None:
        """Raises NotSent where what answers is not known to be of the pair."""
        if not self._pair or (self._proven and self._proven.is_younger(PROVEN_MS, self._clock)):
            return
        try:
            self._look()
        except StoreError as unproven:
            raise NotSent(str(unproven)) from unproven

    def answers(self) -> bool:
        try:
            return self._look().status < 500
        except StoreError:
            return False

    def _look(self) -> Forwarded:
        """What every registry answers to everybody: whose it is. It gets no credentials. Raises as `_answered`."""
        return self._answered("HEAD", "/", {PAIR: self._pair} if self._pair else {}, b"", ANSWERS_S)

    def _answered(self, method: str, target: str, headers: Mapping[str, str], body: bytes, whole_s: float) -> Forwarded:
        """What the pair answers. Raises NotSent, StoreError."""
        since = Moment.of(self._clock)
        try:
            found = self._asked_once(method, target, headers, body, whole_s)
            self._check_pair(found)
        except StoreError:
            self._proven = None
            raise
        self._proven = since
        return found

    def _asked_once(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, whole_s: float
    ) -> Forwarded:
        limits = RemoteLimits(whole_s, whole_s - CONNECT_S, CONNECT_S)
        with self._under_way(limits) as connection:
            try:
                connection.connect()
            except OSError as silence:
                raise NotSent(f"{self.shown} cannot be connected to ({silence})") from silence
            try:
                connection.request(method, self._address.path + target, body or None, dict(headers))
                answer = connection.getresponse()
                said = {name.lower(): value for name, value in answer.getheaders()}
                return Forwarded(answer.status, said, whole_answer(answer, limits.longest))
            except (OSError, HTTPException) as silence:
                raise StoreError(f"{self.shown} does not answer ({silence})") from silence

    def _check_pair(self, found: Forwarded) -> None:
        """Raises NotSent for another registry, which has done nothing; StoreError for one that does not say."""
        if not self._pair or (said := found.headers.get(PAIR)) == self._pair:
            return
        if said is None:
            raise StoreError(f"{self.shown} does not answer (what answers there says {found.status})")
        raise NotSent(f"another registry answers at {self.shown}")

    def interrupt(self) -> None:
        """By another thread: ends what others wait for."""
        with self._lock:
            self._over = True
            for each in self._waiting:
                each.interrupt()

    @contextmanager
    def _under_way(self, limits: RemoteLimits) -> Iterator[RemoteConnection]:
        """Raises NotSent once all is over."""
        with closing(self._address.connection(limits)) as connection:
            with self._lock:
                if self._over:
                    raise NotSent("nothing is asked any more")
                self._waiting.add(connection)
            try:
                yield connection
            finally:
                with self._lock:
                    self._waiting.discard(connection)

    def _asked(self, connection: RemoteConnection, target: str) -> HTTPResponse:
        """Raises NotFollowed where it refuses, StoreError where it fails."""
        connection.request("GET", self._address.path + target, headers=self._headers)
        answer = connection.getresponse()
        if answer.status == 200:
            return answer
        with closing(answer):
            said = _said(answer.read(PIECE))
        if answer.status in (401, 403):
            raise NotFollowed(
                why="it wants the key of an administrator: give --user NAME, or set SIGLA_USER and SIGLA_SECRET",
                registry=self.shown,
            )
        if answer.status == 404:
            raise NotFollowed(why=_ANOTHER, registry=self.shown)
        if answer.status < 500:
            raise wire.refused_of(said, self.shown, f"it says {answer.status}")
        raise StoreError(f"{self.shown} answers with {answer.status}: {said.get('message', '')}")


def _said(body: bytes) -> dict[str, Any]:
    """The members of an answer; none of what another product answers."""
    with suppress(ValueError, RecursionError):
        found: object = json.loads(body)
        if isinstance(found, dict):
            return found
    return {}
