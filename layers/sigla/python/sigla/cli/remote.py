"""Another registry, read through its API: the state that it answers from.

What an API does not tell is not in it: ids that nobody holds any more, settings of subjects without a version, and
whether a global setting is set or is only the default.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Lock, local
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit

from sigla import records
from sigla.cli.misuse import Misuse, Refused
from sigla.cli.progress import Told
from sigla.journal import replay
from sigla.journal.replay import State, TopicRecord
from sigla.model import GLOBAL, REGISTRY_WIDE, BodyKey, Config, SchemaId, Subject
from sigla.ports import Clock
from sigla.registry.stores import Options
from sigla.rules import names
from sigla.rules.settings import READWRITE

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


def _state(remote: "Remote", told: Told) -> State:
    schemas = sorted(_schemas(remote, told), key=lambda each: (each.get("ts") or 0, each["version"]))
    remote.get(f"/subjects/{quote(NOBODYS, safe='')}/versions")
    contexts = [name for name in remote.get("/contexts") or () if name != GLOBAL.context]
    subjects = list(dict.fromkeys(each["subject"] for each in schemas))
    if set(subjects) != set(remote.get("/subjects", subjectPrefix=EVERYWHERE, deleted="true") or ()):
        raise Refused(f"{remote.shown} was written to while it was read: make it READONLY and begin again.")
    scopes = [GLOBAL, REGISTRY_WIDE, *(Subject(name, "") for name in contexts), *map(names.subject, subjects)]
    found = [replay.from_answer(each) for each in schemas]
    found += [TopicRecord(*records.context_record(name, listed=True), 0, 0) for name in contexts]
    for some in remote.many(_settings, scopes, "settings", told):
        found += some
    state = replay.replayed(record._replace(offset=offset) for offset, record in enumerate(found))
    one_of = {put.subject.context: replay.key_of(put) for puts in state.subjects.values() for put in puts}
    return replace(state, highest=dict(remote.many(_highest, list(one_of.values()), "counters", told)))


def _schemas(remote: "Remote", told: Told) -> list[Json]:
    """Every version, soft-deleted ones too: page by page, until one has nothing new."""
    found: dict[tuple[str, int], Json] = {}
    known = -1
    while known < len(found):
        known = len(found)
        page = remote.get("/schemas", subjectPrefix=EVERYWHERE, deleted="true", offset=known, limit=PAGE)
        found |= {(each["subject"], each["version"]): each for each in page or ()}
        told("schemas", len(found))
    return list(found.values())


def _settings(remote: "Remote", scope: Subject) -> list[TopicRecord]:
    """What is set for the scope itself."""
    place = f"/{quote(scope.qualified, safe='')}" if scope != GLOBAL else ""
    config, mode = remote.get(f"/config{place}"), remote.get(f"/mode{place}")
    default_config, default_mode = ALWAYS_ANSWERED.get(scope, (None, None))
    found = []
    if config is not None and records.config(config) != default_config:
        found.append(records.config_record(scope, config))
    if mode is not None and mode["mode"] != default_mode:
        found.append(records.mode_record(scope, mode["mode"]))
    return [TopicRecord(*pair, 0, 0) for pair in found]


def _highest(remote: "Remote", key: BodyKey) -> tuple[str, SchemaId]:
    """The highest id that a context ever had. key: of any of its schemas."""
    answer = remote.get(f"/schemas/ids/{key.id}", subject=Subject(key.context, "").qualified, **replay.ASK_HIGHEST)
    return key.context, replay.highest_of(answer or {}, key.id)


class Remote:
    """A connection for each thread. Whoever fails, or does not answer, is asked again. Raises Misuse, Refused."""

    def __init__(self, url: str, user: str, clock: Clock) -> None:
        if not is_url(url):
            raise Misuse(f"{url.rpartition('@')[2]} is no URL of a registry: {FORM}.")
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
                    raise Refused(f"{self.shown} does not let these credentials read everything (status {status}).")
                if status < 500 and status != 429:
                    raise Misuse(problem)
            except (OSError, HTTPException) as silence:
                problem = f"{self.shown} does not answer ({getattr(silence, 'strerror', None) or silence})."
            if pause_s is not None:
                self._clock.sleep(pause_s)
        raise Refused(problem)

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
    """404 with a number of the API's own: there is no such thing. Else there is no such page. Raises Misuse."""
    form: Mapping[str, object] = json.loads(body) if body.startswith(b"{") else {}
    if str(form.get("error_code", ""))[:3] != "404" or form.get("error_code") == 404:
        raise Misuse(problem)
