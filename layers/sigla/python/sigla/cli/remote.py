"""Another registry, read through its API: the state that it answers from.

Karapace and old releases of Confluent's lack some of the API; what they lack has the value that it has by default. What
an API does not tell is not in it: ids without a holder, settings of subjects without a version, and whether a global
setting is set or is only the default.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from http.client import BadStatusLine, HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ssl import SSLCertVerificationError, SSLError
from threading import Lock, local
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit

from sigla import records
from sigla.cli.misuse import Misuse, Refused
from sigla.cli.progress import Told
from sigla.contract import READWRITE
from sigla.journal import replay
from sigla.journal.replay import State, TopicRecord
from sigla.model import GLOBAL, REGISTRY_WIDE, BodyKey, Config, SchemaId, Subject
from sigla.ports.clock import Clock
from sigla.registry.stores import Options
from sigla.rules import names

AT_ONCE = 8
"""Requests side by side."""
PATIENCE_S = 30.0
"""For a connection, and for each piece of an answer."""
PAUSES_S = (0.5, 2.0, 5.0)
"""Between tries."""
PAGE = 1000
"""Schemas of an answer: the reference's default, and its most."""
LONGEST = 2**28
"""Bytes of an answer."""
FORM = "such a URL is https://HOST or http://HOST:PORT, and a path where it has one"
NOT_TRUSTED = (
    "has a certificate that this machine does not trust ({why}). Where an authority of your own signed it,"
    " name the file of that authority in the environment: SSL_CERT_FILE=FILE."
)
NO_TLS = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST"}
"""What OpenSSL calls an answer in clear text, by its release."""
TLS_PATIENCE_S = 5.0
"""For a port that may speak TLS where the URL says that it does not."""
EVERYWHERE = ":*:"
NOBODYS = ":.~:~"
"""A subject in no part of a registry: who may ask for it may ask for all. To others lists would leave out the rest."""
INSIDE = "/contexts/"
"""What a path to one context has, whose settings would be answered where those of all are asked for."""

ALWAYS_ANSWERED = {GLOBAL: (Config(level=Options().default_level), READWRITE)}
"""Scopes that answer with a default where nothing is set: what is not told from the default is not set here."""
ALWAYS_ANSWERED[REGISTRY_WIDE] = ALWAYS_ANSWERED[GLOBAL]

Item = TypeVar("Item")
Result = TypeVar("Result")
Json = dict[str, Any]


def read(url: str, user: str, clock: Clock, told: Told) -> State:
    """What the registry at a URL holds. user: `name:secret`, where the URL has none. Raises Misuse, Refused."""
    remote = Remote(url, user, clock)
    whole, inside, _ = remote.shown.partition(INSIDE)
    if inside:
        raise Misuse(f"A registry is imported whole, with all of its contexts: give {whole}.")
    try:
        return _state(remote, told)
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
        raise Misuse(f"{remote.shown} answers, but not as a schema registry does.") from None
    finally:
        remote.close()


class NoSuchPage(Misuse):
    """The server answers, and has nothing under that path."""


@dataclass(frozen=True, slots=True)
class Api:
    """What a registry can be asked for.

    Karapace has no contexts; Confluent's had none before 7.0, and no lists of schemas before 5.5.

    contexts: None if the registry has none. mode: what a subject may answer that has no mode of its own; None: nothing.
    """

    contexts: Sequence[str] | None
    lists_schemas: bool
    mode: str | None

    @property
    def everywhere(self) -> Mapping[str, str]:
        """What to ask a list for, so that it tells of all contexts."""
        return {} if self.contexts is None else {"subjectPrefix": EVERYWHERE}


def _api(remote: "Remote") -> Api:
    contexts = remote.find("/contexts")
    # Karapace answers for every subject that it may be written to, whether that was set or not.
    mode = READWRITE if contexts is None and _mode(remote, "/mode") in (None, READWRITE) else None
    return Api(contexts, remote.find("/schemas", limit=1) is not None, mode)


def _state(remote: "Remote", told: Told) -> State:
    api = _api(remote)
    found = _schemas(remote, api, told) if api.lists_schemas else _schemas_one_by_one(remote, told)
    schemas = sorted(found, key=lambda each: (each.get("ts") or 0, each["version"]))
    remote.get(f"/subjects/{quote(NOBODYS, safe='')}/versions")
    contexts = [name for name in api.contexts or () if name != GLOBAL.context]
    subjects = list(dict.fromkeys(each["subject"] for each in schemas))
    if set(subjects) != set(remote.get("/subjects", **api.everywhere, deleted="true") or ()):
        raise Refused(f"{remote.shown} was written to while it was read: make it READONLY and begin again.")
    registry_wide = [] if api.contexts is None else [REGISTRY_WIDE]
    scopes = [GLOBAL, *registry_wide, *(Subject(name, "") for name in contexts), *map(names.subject, subjects)]
    records_found = [replay.from_answer(each) for each in schemas]
    records_found += [TopicRecord(*records.context_record(name, listed=True), 0, 0) for name in contexts]
    for some in remote.many(partial(_settings_of, api=api), scopes, "settings", told):
        records_found += some
    state = replay.replayed(record._replace(offset=offset) for offset, record in enumerate(records_found))
    keys = [BodyKey(context, id) for context, id in state.highest.items()]
    return replace(state, highest=dict(remote.many(partial(_highest, api=api), keys, "counters", told)))


def _schemas(remote: "Remote", api: Api, told: Told) -> list[Json]:
    """Every version; of those that are soft-deleted, `deleted` says so."""
    found = _listed(remote, api, told, deleted="true")
    if any("deleted" in each for each in found.values()):
        return list(found.values())
    # A registry of old lists soft-deleted versions like all others.
    live = _listed(remote, api, told)
    return [{**each, "deleted": place not in live} for place, each in found.items()]


def _listed(remote: "Remote", api: Api, told: Told, **query: str) -> dict[tuple[str, int], Json]:
    """Versions by subject and number: page by page, until one has nothing new."""
    found: dict[tuple[str, int], Json] = {}
    known = -1
    while known < len(found):
        known = len(found)
        page = remote.get("/schemas", **api.everywhere, **query, offset=known, limit=PAGE)
        found |= {(each["subject"], each["version"]): each for each in page or ()}
        told("schemas", len(found))
    return found


def _schemas_one_by_one(remote: "Remote", told: Told) -> list[Json]:
    """As `_schemas`, where there is no list of them."""
    subjects = remote.get("/subjects", deleted="true") or ()
    places = [place for some in remote.many(_versions_of, subjects, "subjects", told) for place in some]
    return list(remote.many(_version, places, "schemas", told))


def _versions_of(remote: "Remote", subject: str) -> list[tuple[str, int, bool]]:
    """Each version of a subject, and whether it is soft-deleted."""
    path = f"/subjects/{quote(subject, safe='')}/versions"
    live = remote.get(path) or ()
    return [(subject, version, version not in live) for version in remote.get(path, deleted="true") or live]


def _version(remote: "Remote", place: tuple[str, int, bool]) -> Json:
    subject, version, deleted = place
    answer: Json | None = remote.get(f"/subjects/{quote(subject, safe='')}/versions/{version}", deleted="true")
    if answer is None:
        raise Refused(f"{remote.shown} was written to while it was read: make it READONLY and begin again.")
    return {**answer, "deleted": deleted}


def _settings_of(remote: "Remote", scope: Subject, *, api: Api) -> list[TopicRecord]:
    """What is set for the scope itself."""
    place = f"/{quote(scope.qualified, safe='')}" if scope != GLOBAL else ""
    config, mode = remote.get(f"/config{place}"), _mode(remote, f"/mode{place}")
    default_config, default_mode = ALWAYS_ANSWERED.get(scope, (None, api.mode))
    found = []
    if config is not None and records.config(config) != default_config:
        found.append(records.config_record(scope, config))
    if mode is not None and mode != default_mode:
        found.append(records.mode_record(scope, mode))
    return [TopicRecord(*pair, 0, 0) for pair in found]


def _mode(remote: "Remote", path: str) -> str | None:
    """None where nothing is set, and where the registry knows no modes."""
    answer = remote.find(path)
    return None if answer is None else answer["mode"]


def _highest(remote: "Remote", key: BodyKey, *, api: Api) -> tuple[str, SchemaId]:
    """The highest id that a context ever had. key: the highest of its schemas."""
    scope = {} if api.contexts is None else {"subject": Subject(key.context, "").qualified}
    answer = remote.get(f"/schemas/ids/{key.id}", **scope, **replay.ASK_HIGHEST)
    return key.context, replay.highest_of(answer or {}, key.id)


class Remote:
    """A connection for each thread. Whoever fails, or does not answer, is asked again. Raises Misuse, Refused."""

    def __init__(self, url: str, user: str, clock: Clock) -> None:
        if not is_url(url):
            raise Misuse(f"Invalid URL of a registry {url.rpartition('@')[2]}: {FORM}.")
        parts = urlsplit(url)
        self._connect: Callable[..., HTTPConnection] = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host, self._port = parts.hostname or "", parts.port
        self._path = parts.path.rstrip("/")
        self._clock = clock
        self._own = local()
        self._lock = Lock()
        self._open: list[HTTPConnection] = []
        self.shown = _bare(url)
        if parts.query or parts.fragment:
            raise Misuse(f"The URL of a registry has no query and no fragment: give {self.shown}.")
        user = user or unquote(parts.netloc.rpartition("@")[0])
        self._headers = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}
        if user:
            self._headers["Authorization"] = f"Basic {base64.b64encode(user.encode()).decode()}"

    def get(self, path: str, **query: object) -> Any:
        """The answer; None where there is no such thing."""
        target = f"{self._path}{path}?{urlencode(query)}" if query else f"{self._path}{path}"
        for pause_s in (*PAUSES_S, None):
            try:
                status, location, body = self._ask(target)
                problem = f"{self.shown} answers {path} with status {status}."
                if status // 100 == 3 and location:  # credentials do not follow by themselves
                    elsewhere = _bare(urljoin(f"{self.shown}{path}", location)).removesuffix(path)
                    raise Misuse(f"{self.shown} answers with a redirect to {elsewhere}: use that URL.")
                if status == 404:
                    return _none(body, problem)
                if status < 400:
                    return json.loads(body)
                if status in (401, 403):
                    raise Refused(self._denied(status))
                if status == 400:
                    self._check_no_tls()
                if status < 500 and status != 429:
                    raise Misuse(f"{problem} If it is not a schema registry, give the URL of one: {FORM}.")
            except SSLCertVerificationError as refused:
                raise Misuse(f"{self.shown} {NOT_TRUSTED.format(why=refused.verify_message)}") from None
            except (OSError, HTTPException) as silence:
                problem = f"{self.shown} does not answer ({getattr(silence, 'strerror', None) or silence})."
                if isinstance(silence, SSLError) and silence.reason in NO_TLS:
                    raise Misuse(f"{self.shown} answers without TLS: give its URL with http://.") from None
                if isinstance(silence, BadStatusLine | ConnectionResetError):
                    self._check_no_tls()
            if pause_s is not None:
                self._clock.sleep(pause_s)
        raise Refused(problem)

    def _check_no_tls(self) -> None:
        """Looks at a port that gave no answer to plain HTTP. Raises Misuse if it speaks TLS."""
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
        raise Misuse(f"{self.shown} is a port that speaks TLS: give its URL with https://.")

    def _denied(self, status: int) -> str:
        if status == 403:
            return f"{self.shown} does not let these credentials read everything (status 403)."
        if "Authorization" in self._headers:
            return f"{self.shown} does not accept these credentials (status 401)."
        return f"{self.shown} asks for credentials (status 401): give them with --user NAME:SECRET."

    def find(self, path: str, **query: object) -> Any:
        """The answer; None where there is no such thing, and also where this API has no such page."""
        try:
            return self.get(path, **query)
        except NoSuchPage:
            return None

    def many(
        self, ask: Callable[["Remote", Item], Result], items: Iterable[Item], what: str, told: Told
    ) -> Iterator[Result]:
        """Side by side, in the order of the items."""
        known = list(items)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for done, result in enumerate(threads.map(lambda item: ask(self, item), known), 1):
                told(what, done, len(known))
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


def is_url(text: str) -> bool:
    """Whether a registry can be asked there."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _bare(url: str) -> str:
    """Without what it may have of secrets, without query and fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _whole(answer: HTTPResponse) -> bytes:
    """Raises HTTPException: of an end that came too early, `read` says nothing to who gives it a length."""
    body = answer.read(LONGEST)
    if answer.length and len(body) < LONGEST:
        raise HTTPException("its answer breaks off")
    return body


def _none(body: bytes, problem: str) -> None:
    """404 with a number of the API's own: there is no such thing. Raises NoSuchPage."""
    form: Mapping[str, object] = json.loads(body) if body.startswith(b"{") else {}
    if str(form.get("error_code", ""))[:3] != "404" or form.get("error_code") == 404:
        raise NoSuchPage(problem)
