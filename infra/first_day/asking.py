"""A door of a registry, asked as a client asks it: paths go as they are written, and answers are shown as they came."""

import json
import ssl
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final, Self
from urllib.parse import urlsplit

PATIENCE_S: Final = 60.0
"""For a connection, and for each piece of an answer: longer than a door waits for its function."""
JSON: Final = "application/vnd.schemaregistry.v1+json"
SHOWN: Final = 120
"""Bytes of an answer that a failure shows."""


class Failed(Exception):
    """What was otherwise than it should be; the message is a sentence, or the part of one."""


class NotAsked(Exception):
    """Why it could not be asked."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a kind of door promises (docs/api.md, docs/deploy.md).

    compresses: answers, for clients that take gzip. unpacks: bodies that clients have compressed. renames: the header
    of a 401. says_itself: what it refuses without the registry has the envelope, too.
    """

    name: str
    compresses: bool
    unpacks: bool = False
    renames: bool = False
    says_itself: bool = True


REST_API: Final = Kind("a REST API", compresses=True, unpacks=True, renames=True)
FUNCTION_URL: Final = Kind("a function URL", compresses=False, says_itself=False)
SERVER: Final = Kind("a server", compresses=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """headers: by their names in small letters. ms: from the request's first byte to the answer's last."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    ms: float

    def json(self) -> Any:
        """Raises Failed."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise Failed(f"{self.status} with a body that is not JSON: {self._shown}") from None

    def expect(self, status: int) -> Self:
        """Raises Failed if the answer has another status."""
        if self.status != status:
            raise Failed(f"{self.status} instead of {status}: {self._shown}")
        return self

    def refuses(self, status: int) -> str:
        """The sentence of a refusal in the envelope. Raises Failed if it is another answer."""
        told = self.expect(status).json()
        if not isinstance(told, dict) or told.get("error_code") != status or not told.get("message"):
            raise Failed(f"{status} without error_code and message: {self._shown}")
        return str(told["message"])

    @property
    def _shown(self) -> str:
        text = self.body[:SHOWN].decode(errors="replace")
        return text if len(self.body) <= SHOWN else f"{text}…"


@dataclass(frozen=True, slots=True)
class Door:
    """One way into a registry. url: without a slash at its end. key: `name:secret`, empty where none is asked for."""

    name: str
    url: str
    kind: Kind
    key: str

    def without_key(self) -> Self:
        return replace(self, key="")

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Asks by a connection of its own. Raises Failed where nothing answers."""
        with self.line() as line:
            return line.ask(method, path, body, **headers)

    @contextmanager
    def line(self) -> Iterator["Line"]:
        """A connection for several requests."""
        parts = urlsplit(self.url)
        if parts.scheme == "https":
            opened: HTTPConnection = HTTPSConnection(
                parts.netloc, timeout=PATIENCE_S, context=ssl.create_default_context()
            )
        else:
            opened = HTTPConnection(parts.netloc, timeout=PATIENCE_S)
        try:
            yield Line(opened, parts.path, self._credentials)
        finally:
            opened.close()

    @property
    def _credentials(self) -> dict[str, str]:
        return {"Authorization": f"Basic {b64encode(self.key.encode()).decode()}"} if self.key else {}


class Line:
    """An open connection to a door."""

    def __init__(self, connection: HTTPConnection, base: str, credentials: dict[str, str]) -> None:
        self._connection, self._base, self._credentials = connection, base, credentials

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """body: bytes go as they are, anything else as JSON. headers: `_` stands for `-`. Raises Failed."""
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Content-Type": JSON} if content is not None else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()} | self._credentials
        began = time.perf_counter()
        try:
            # A server may refuse a large body before it has read it; its answer is there all the same.
            with suppress(BrokenPipeError, ConnectionResetError):
                self._connection.request(method, self._base + path, body=content, headers=sent)
            answer = self._connection.getresponse()
            told = answer.read()
        except (OSError, HTTPException) as failure:
            self._connection.close()
            raise Failed(f"no answer to {method} {path}: {str(failure) or type(failure).__name__}") from None
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, told, 1000 * (time.perf_counter() - began))
