"""The API of another registry, asked over HTTP."""

import base64
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from email.utils import parsedate_to_datetime
from http.client import (
    BadStatusLine,
    HTTPConnection,
    HTTPException,
    IncompleteRead,
    InvalidURL,
    RemoteDisconnected,
)
from ssl import SSLCertVerificationError, SSLContext, SSLError, create_default_context
from threading import Lock, local
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlencode, urljoin, urlsplit

from sigla.backoff import Backoff
from sigla.ports.clock import Clock
from sigla.ports.progress import Progress
from sigla.remote.connections import (
    HTTP_PORT,
    AnswerBrokenOff,
    AnswerTooLong,
    RemoteConnection,
    RemoteLimits,
    whole_answer,
)
from sigla.remote.failures import (
    NoCredentials,
    NoRegistry,
    NoSuchPage,
    RemoteAway,
    RemoteMisused,
    RemoteRefused,
    RemoteTooLong,
    Withheld,
)
from sigla.remote.urls import MISREAD, is_misread, is_url, shown_url

TRIES = 4
FIRST_PAUSE_S = 2.0
"""At most, and each after it twice as long: 7 s as a rule."""
AT_ONCE = 8
"""Requests side by side."""
LIMITS = RemoteLimits(patience_s=30.0)
LONGEST_SENTENCE = 500
"""Characters of a refusal."""
SHORTEST_SECRET = 4
"""Characters: a shorter one is in many words, and would be told by what is left of them."""
LONGEST_DATE = 64
BEHIND = "X-Sigla-Behind"
"""By which a follower of Sigla's says how many milliseconds old its answer is at most."""
_SECONDS = re.compile("[0-9]{1,9}")
_DIGITS = re.compile("[0-9]{1,15}")
_FOREIGN_TO_PATHS = re.compile("[^!-~]")
FORM = "such a URL is https://HOST or http://HOST:PORT, and a path where it has one"
NO_REGISTRY = f"If it is not a schema registry, give the URL of one: {FORM}."
NOT_TRUSTED = (
    "has a certificate that this machine does not trust ({why}). Where an authority of your own signed it,"
    " name the file of that authority in the environment: SSL_CERT_FILE=FILE."
)
JSON = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
NO_TLS = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST"}
"""What OpenSSL calls an answer in clear text, by its release."""
TLS_PATIENCE_S = 5.0
"""For a port that may speak TLS where the URL says that it does not."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Remote:
    """A connection for each thread. A registry that fails, or does not answer, is asked again.

    token: of a bearer, in the place of a user. connect: makes a connection in another way. behind_ms: how old answers
    of a follower were at most. Raises RemoteMisused, RemoteRefused.
    """

    def __init__(
        self,
        url: str,
        user: str,
        clock: Clock,
        *,
        token: str = "",
        limits: RemoteLimits = LIMITS,
        connect: Callable[[], HTTPConnection] | None = None,
    ) -> None:
        if not is_url(url):
            raise RemoteMisused(f"Invalid URL of a registry {url.rpartition('@')[2]}: {FORM}.")
        if is_misread(url):
            raise RemoteMisused(f"Invalid URL of a registry {shown_url(url)}: {MISREAD}.")
        parts = urlsplit(url)
        if _FOREIGN_TO_PATHS.search(parts.path):
            raise RemoteMisused(f"Invalid URL of a registry {shown_url(url)}: write spaces as %20, and é as %C3%A9.")
        self._tls = trusting() if parts.scheme == "https" else None
        self._limits = limits
        self._connect: Callable[[], HTTPConnection] = connect or self._connection
        self._host, self._port = parts.hostname or "", parts.port
        self._path = parts.path.rstrip("/")
        self._clock = clock
        self._own = local()
        self._lock = Lock()
        self._open: list[HTTPConnection] = []
        self._interrupted = False
        self.behind_ms = 0
        self.shown = shown_url(url)
        if parts.query or parts.fragment:
            raise RemoteMisused(f"The URL of a registry has no query and no fragment: give {self.shown}.")
        user = user or unquote(parts.netloc.rpartition("@")[0])
        self._headers = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}
        proof = token or base64.b64encode(user.encode()).decode()
        if proof:
            self._headers["Authorization"] = f"{'Bearer' if token else 'Basic'} {proof}"
        self._secrets = [each for each in (proof, user, user.partition(":")[2]) if len(each) >= SHORTEST_SECRET]

    def get(self, path: str, **query: object) -> Any:
        """The answer; None where there is no such thing."""
        return self.get_unless((), path, **query)

    def get_unless(self, withheld: Collection[int], path: str, /, **query: object) -> Any:
        """The answer, as `get` gives it. withheld: codes by which the registry says that it cannot. Raises Withheld."""
        target = f"{self._path}{path}?{urlencode(query)}" if query else f"{self._path}{path}"
        for _ in Backoff(self._clock, FIRST_PAUSE_S, tries=TRIES):
            try:
                status, location, _, body = self._ask("GET", target)
                problem = f"{self.shown} answers {path} with status {status}."
                if status // 100 == 3 and location:  # credentials do not follow by themselves
                    elsewhere = shown_url(urljoin(f"{self.shown}{path}", location)).removesuffix(path)
                    raise RemoteMisused(f"{self.shown} answers with a redirect to {elsewhere}: use that URL.")
                if status == 404:
                    return _none(body, f"{problem} {NO_REGISTRY}")
                if status < 400:
                    return json.loads(body)
                if _number(body) in withheld:
                    raise Withheld(problem)
                if status in (401, 403):
                    raise self._denied(status, path)
                if status == 400:
                    self._check_no_tls()
                if status < 500 and status != 429:
                    raise NoRegistry(f"{problem} {NO_REGISTRY}")
            except (OSError, HTTPException) as silence:
                problem = self._said_of(silence)
                if self._interrupted:
                    break
        raise RemoteAway(problem)

    def send(
        self,
        method: str,
        path: str,
        form: Mapping[str, object] | None = None,
        *,
        if_match: str = "",
        **query: object,
    ) -> "RemoteAnswer":
        """What the registry answers, whatever that is. A request must be one that may be repeated.

        if_match: the tag of a state in which alone it is to be carried out; empty for any.

        It is tried once, and once more where a connection was open before: the server may have closed it meanwhile.
        """
        target = f"{self._path}{path}?{urlencode(query)}" if query else f"{self._path}{path}"
        content = None if form is None else json.dumps(form).encode()
        again = getattr(self._own, "used", False)
        try:
            try:
                heard = self._ask(method, target, content, if_match)
            except (ConnectionError, BadStatusLine):
                if not again:
                    raise
                heard = self._ask(method, target, content, if_match)
        except (OSError, HTTPException) as silence:
            raise RemoteRefused(self._said_of(silence)) from None
        wait_s = retry_after_s(heard.retry_after, self._clock)
        return RemoteAnswer(heard.status, heard.body, self._secrets, wait_s=wait_s)

    def _said_of(self, silence: OSError | HTTPException) -> str:
        """A sentence. Raises RemoteMisused where the URL is what is wrong, RemoteTooLong."""
        if isinstance(silence, SSLCertVerificationError):
            raise RemoteMisused(f"{self.shown} {NOT_TRUSTED.format(why=silence.verify_message)}") from None
        if isinstance(silence, SSLError) and silence.reason in NO_TLS:
            raise RemoteMisused(f"{self.shown} answers without TLS: give its URL with http://.") from None
        if isinstance(silence, InvalidURL):  # in an answer stands what no path can have: nothing was sent
            raise RemoteMisused(f"{self.shown} answers, but not as a schema registry does.") from None
        if isinstance(silence, BadStatusLine | ConnectionResetError) and not self._interrupted:
            self._check_no_tls()
        if isinstance(silence, AnswerTooLong):
            raise RemoteTooLong(f"{self.shown} answers with more than {self._limits.longest // 2**20} MiB.") from None
        if isinstance(silence, HTTPException) and not isinstance(
            silence, RemoteDisconnected | IncompleteRead | AnswerBrokenOff
        ):
            return f"{self.shown} answers, but not as HTTP has it."  # what it says instead is not ours to show
        return f"{self.shown} does not answer ({getattr(silence, 'strerror', None) or silence})."

    def _check_no_tls(self) -> None:
        """Looks at a port that gave no answer to plain HTTP. Raises RemoteMisused if it speaks TLS."""
        if self._tls:
            return
        limits = replace(self._limits, patience_s=TLS_PATIENCE_S, whole_s=TLS_PATIENCE_S)
        secure = RemoteConnection(self._host, self._port or HTTP_PORT, limits, self._clock, trusting())
        try:
            self._hold(secure)
            secure.connect()
        except SSLCertVerificationError:
            """It has a certificate; whether that is to be trusted is asked when the URL is right."""
        except OSError:
            return
        finally:
            secure.close()
        raise RemoteMisused(f"{self.shown} is a port that speaks TLS: give its URL with https://.")

    def _denied(self, status: int, path: str) -> RemoteRefused:
        if status == 403:
            return RemoteRefused(
                f"{self.shown} does not let these credentials read everything: it refuses {path} (status 403)."
            )
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
        """Side by side, in the order of the items. After a failure, or Ctrl-C, nothing can be asked any more."""
        known = list(items)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            try:
                for done, result in enumerate(threads.map(lambda item: ask(self, item), known), 1):
                    progress(what, done, len(known))
                    yield result
            except (Exception, KeyboardInterrupt):
                self.interrupt()  # the pool waits for the others, and a server may hold their answers back for long
                raise

    def close(self) -> None:
        for connection in self._open:
            connection.close()

    def interrupt(self) -> None:
        """Ends what other threads wait for; they find that the registry does not answer, and nothing is asked again."""
        with self._lock:
            self._interrupted = True
        for connection in self._open:
            if isinstance(connection, RemoteConnection):
                connection.interrupt()

    def _connection(self) -> HTTPConnection:
        return RemoteConnection(self._host, self._port, self._limits, self._clock, self._tls)

    def _hold(self, connection: HTTPConnection) -> None:
        """So that it can be closed, and interrupted."""
        with self._lock:
            if self._interrupted:
                raise ConnectionAbortedError("interrupted")
            self._open.append(connection)

    def _ask(self, method: str, target: str, content: bytes | None = None, if_match: str = "") -> "_Heard":
        connection: HTTPConnection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._connect()
            self._hold(connection)
            self._own.connection = connection
        headers = self._headers if content is None else self._headers | JSON
        if if_match:
            headers = headers | {"If-Match": f'"{if_match}"'}
        try:
            connection.request(method, target, body=content, headers=headers)
            answer = connection.getresponse()
            location, retry_after, behind = (
                answer.headers.get(name, "") for name in ("Location", "Retry-After", BEHIND)
            )
            if _DIGITS.fullmatch(behind):
                with self._lock:
                    self.behind_ms = max(self.behind_ms, int(behind))
            heard = _Heard(answer.status, location, retry_after, whole_answer(answer, self._limits.longest))
        except (OSError, HTTPException):
            connection.close()  # the next request opens it again
            self._own.used = False
            raise
        self._own.used = True
        return heard


class _Heard(NamedTuple):
    """location: where to go instead. retry_after: when to come again."""

    status: int
    location: str
    retry_after: str
    body: bytes


class RemoteAnswer(NamedTuple):
    """What a registry answered. secrets: with which it was asked; it may repeat them.

    wait_s: so long it wants to be left alone; 0 where it does not say.
    """

    status: int
    body: bytes
    secrets: Sequence[str] = ()
    wait_s: float = 0.0

    @property
    def code(self) -> int:
        """The number of a refusal; that of HTTP where it has none of its own."""
        return self.status if self._number is None else self._number

    @property
    def sentence(self) -> str:
        """The sentence of a registry's refusal; of whatever else answers, nothing but the status is told."""
        if self._number is None:
            return f"status {self.status}"
        said = str(json.loads(self.body).get("message", ""))
        for secret in self.secrets:
            said = said.replace(secret, "[hidden]")
        return said[:LONGEST_SENTENCE]

    @property
    def _number(self) -> int | None:
        try:
            number = _number(self.body)
        except RecursionError:  # nested without an end
            return None
        return number if isinstance(number, int) else None


def retry_after_s(said: str, clock: Clock) -> float:
    """What a header `Retry-After` says: seconds, or a date (RFC 9110, 10.2.3). 0 for whatever cannot be read so."""
    if _SECONDS.fullmatch(said):
        return float(said)
    try:
        moment = parsedate_to_datetime(said[:LONGEST_DATE]).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, moment - clock.now() / 1000)


def trusting() -> SSLContext:
    """Trusts the authorities of this machine."""
    context = create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


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
