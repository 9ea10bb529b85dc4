"""The API of another registry, asked over HTTP."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import BadStatusLine, HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ssl import SSLCertVerificationError, SSLError
from threading import Lock, local
from typing import Any, TypeVar
from urllib.parse import unquote, urlencode, urljoin, urlsplit

from sigla.backoff import Backoff
from sigla.ports.clock import Clock
from sigla.ports.progress import Progress
from sigla.remote.failures import NoCredentials, NoSuchPage, RemoteMisused, RemoteRefused, Withheld
from sigla.remote.urls import is_url, shown_url

TRIES = 4
FIRST_PAUSE_S = 2.0
"""At most, and each after it twice as long: 7 s as a rule."""
AT_ONCE = 8
"""Requests side by side."""
PATIENCE_S = 30.0
"""For a connection, and for each piece of an answer."""
LONGEST = 2**28
"""Bytes of an answer."""
FORM = "such a URL is https://HOST or http://HOST:PORT, and a path where it has one"
NOT_TRUSTED = (
    "has a certificate that this machine does not trust ({why}). Where an authority of your own signed it,"
    " name the file of that authority in the environment: SSL_CERT_FILE=FILE."
)
NO_TLS = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST"}
"""What OpenSSL calls an answer in clear text, by its release."""
NOT_UNWRAPPED = (40370, 42271, 50070)
"""What a registry answers about a DEK that its key service does not unwrap, however often it is asked."""
TLS_PATIENCE_S = 5.0
"""For a port that may speak TLS where the URL says that it does not."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Remote:
    """A connection for each thread. A registry that fails, or does not answer, is asked again.

    Raises RemoteMisused, RemoteRefused.
    """

    def __init__(self, url: str, user: str, clock: Clock) -> None:
        if not is_url(url):
            raise RemoteMisused(f"Invalid URL of a registry {url.rpartition('@')[2]}: {FORM}.")
        parts = urlsplit(url)
        self._connect: Callable[..., HTTPConnection] = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host, self._port = parts.hostname or "", parts.port
        self._path = parts.path.rstrip("/")
        self._clock = clock
        self._own = local()
        self._lock = Lock()
        self._open: list[HTTPConnection] = []
        self.shown = shown_url(url)
        if parts.query or parts.fragment:
            raise RemoteMisused(f"The URL of a registry has no query and no fragment: give {self.shown}.")
        user = user or unquote(parts.netloc.rpartition("@")[0])
        self._headers = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}
        if user:
            self._headers["Authorization"] = f"Basic {base64.b64encode(user.encode()).decode()}"

    def get(self, path: str, **query: object) -> Any:
        """The answer; None where there is no such thing."""
        target = f"{self._path}{path}?{urlencode(query)}" if query else f"{self._path}{path}"
        for _ in Backoff(self._clock, FIRST_PAUSE_S, tries=TRIES):
            try:
                status, location, body = self._ask(target)
                problem = f"{self.shown} answers {path} with status {status}."
                if status // 100 == 3 and location:  # credentials do not follow by themselves
                    elsewhere = shown_url(urljoin(f"{self.shown}{path}", location)).removesuffix(path)
                    raise RemoteMisused(f"{self.shown} answers with a redirect to {elsewhere}: use that URL.")
                if status == 404:
                    return _none(body, problem)
                if status < 400:
                    return json.loads(body)
                if _number(body) in NOT_UNWRAPPED:
                    raise Withheld(problem)
                if status in (401, 403):
                    raise self._denied(status)
                if status == 400:
                    self._check_no_tls()
                if status < 500 and status != 429:
                    raise RemoteMisused(f"{problem} If it is not a schema registry, give the URL of one: {FORM}.")
            except SSLCertVerificationError as refused:
                raise RemoteMisused(f"{self.shown} {NOT_TRUSTED.format(why=refused.verify_message)}") from None
            except (OSError, HTTPException) as silence:
                problem = f"{self.shown} does not answer ({getattr(silence, 'strerror', None) or silence})."
                if isinstance(silence, SSLError) and silence.reason in NO_TLS:
                    raise RemoteMisused(f"{self.shown} answers without TLS: give its URL with http://.") from None
                if isinstance(silence, BadStatusLine | ConnectionResetError):
                    self._check_no_tls()
        raise RemoteRefused(problem)

    def _check_no_tls(self) -> None:
        """Looks at a port that gave no answer to plain HTTP. Raises RemoteMisused if it speaks TLS."""
        if self._connect is HTTPSConnection:
            return
        secure = HTTPSConnection(self._host, self._port or 80, timeout=TLS_PATIENCE_S)
        try:
            secure.connect()
        except SSLCertVerificationError:
            """It has a certificate; whether that is to be trusted is asked when the URL is right."""
        except OSError:
            return
        finally:
            secure.close()
        raise RemoteMisused(f"{self.shown} is a port that speaks TLS: give its URL with https://.")

    def _denied(self, status: int) -> RemoteRefused:
        if status == 403:
            return RemoteRefused(f"{self.shown} does not let these credentials read everything (status 403).")
        if "Authorization" in self._headers:
            return RemoteRefused(f"{self.shown} does not accept these credentials (status 401).")
        return NoCredentials(f"{self.shown} asks for credentials (status 401)")

    def find(self, path: str, **query: object) -> Any:
        """The answer; None where there is no such thing, and also where this API has no such page."""
        try:
            return self.get(path, **query)
        except NoSuchPage:
            return None

    def many(
        self, ask: Callable[["Remote", Item], Result], items: Iterable[Item], what: str, progress: Progress
    ) -> Iterator[Result]:
        """Side by side, in the order of the items."""
        known = list(items)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for done, result in enumerate(threads.map(lambda item: ask(self, item), known), 1):
                progress(what, done, len(known))
                yield result

    def close(self) -> None:
        for connection in self._open:
            connection.close()

    def _ask(self, target: str) -> tuple[int, str, bytes]:
        """Status, where to go instead, body."""
        connection: HTTPConnection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = self._connect(self._host, self._port, timeout=PATIENCE_S)
            with self._lock:
                self._open.append(connection)
        try:
            connection.request("GET", target, headers=self._headers)
            answer = connection.getresponse()
            return answer.status, answer.headers.get("Location", ""), _whole(answer)
        except (OSError, HTTPException):
            connection.close()  # the next request opens it again
            raise


def _whole(answer: HTTPResponse) -> bytes:
    """Raises HTTPException: of an end that came too early, `read` says nothing to who gives it a length."""
    body = answer.read(LONGEST)
    if answer.length and len(body) < LONGEST:
        raise HTTPException("its answer breaks off")
    return body


def _none(body: bytes, problem: str) -> None:
    """404 with a number of the API's own: there is no such thing. Raises NoSuchPage."""
    number = _number(body)
    if str(number)[:3] != "404" or number == 404:
        raise NoSuchPage(problem)


def _number(body: bytes) -> object:
    """That of a refusal, where it has one."""
    try:
        form: Mapping[str, object] = json.loads(body) if body.startswith(b"{") else {}
    except ValueError:  # of something else that begins so
        return None
    return form.get("error_code")
