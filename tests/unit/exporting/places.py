"""Registries in one process, and an exporter from one of them to another: real stores, the real API, no network."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import orjson

from sigla.exporters.nouns import Exporter, ExporterProgress
from sigla.exporters.running import Turn, turn
from sigla.model import BodyKey, SchemaId, Search
from sigla.ports.itself import Itself
from sigla.registry import Registry
from sigla.remote.destination import HttpDestination, destination
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from tests.attack.ports import Between, Call
from tests.build import FixedClock
from tests.unit.web.conftest import Client

AVRO = '{"type":"record","name":"R","fields":[{"name":"f%s","type":"string","default":""}]}'
"""A schema for each number."""
ALL = ":*:*"
TURN_MS = 60_000


class Connection:
    """What `http.client` would be, to an application in this process."""

    sock = None

    def __init__(self, client: Client, between: Between) -> None:
        self._client = client
        self._between = between
        self._answer: Any = None

    def request(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> None:
        call = Call(f"{method} {target}", (body,))
        self._answer = self._between(call, lambda: self._client(method, target, body, dict(headers)))

    def getresponse(self) -> "Connection":
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    @property
    def status(self) -> int:
        return int(self._answer.status)

    @property
    def headers(self) -> Mapping[str, str]:
        return dict(self._answer.headers)

    length = 0

    def read(self, _: int) -> bytes:
        return bytes(self._answer.body)

    def close(self) -> None: ...


def let_pass(_: Call, carry_out: Callable[[], Any]) -> Any:
    return carry_out()


@dataclass
class Place:
    """A registry."""

    store: EmbeddedStore
    clock: FixedClock = field(default_factory=FixedClock)

    def __post_init__(self) -> None:
        itself = Itself("here", self.store.mark)
        self.registry = Registry(self.store.catalog, self.store.bodies, self.clock, itself=itself)
        self.client = Client(app.build(self.registry))

    def __call__(self, method: str, target: str, body: Any = None) -> Any:
        """The answer of a request that is well."""
        answer = self.client(method, target, body)
        assert answer.status < 300, (method, target, answer.body)
        return answer.json if answer.body else None

    def register(self, subject: str, text: str, **more: Any) -> int:
        """The id."""
        answer = self("POST", f"/subjects/{quote(subject, safe='')}/versions", {"schema": text, **more})
        return int(answer["id"])

    def get(self, target: str) -> tuple[int, Any]:
        answer = self.client("GET", target)
        return answer.status, _timeless(orjson.loads(answer.body))

    def picture(self) -> dict[str, Any]:
        """The same as `answers`, read in the store: quick."""
        catalog, bodies = self.store.catalog, self.store.bodies
        found = list(catalog.versions(Search(context=None), deleted=True, latest_only=False))
        keys = {BodyKey(subject.context, row.id): row for subject, row in found}
        ids = [BodyKey(each, SchemaId(id)) for each in {key.context for key in keys} for id in range(1, 40)]
        return {
            "versions": [(subject.qualified, row.version, row.id, row.guid, row.deleted) for subject, row in found],
            "schemas": {key: bodies.get(key).schema for key in keys},
            "speakers": {key: (said.subject, said.version) for key in ids if (said := catalog.speaker(key))},
            "displaced": [key for key in ids if catalog.displaced(key)],
            "config": {each: said.config for each, said in catalog.settings(Search(context=None)) if said.config},
            "contexts": catalog.contexts(),
            "keks": [replace(each, ts=0, revision="") for each in catalog.keks()],
            "deks": [replace(dek, ts=0, revision="") for each in catalog.keks() for dek in catalog.deks(each.name)],
        }

    def answers(self) -> dict[str, Any]:
        """All that can be read, but for times and modes, and for what an import cannot tell."""
        subjects = self("GET", "/subjects?subjectPrefix=:*:&deleted=true")
        paths = ["/subjects?subjectPrefix=:*:", "/subjects?subjectPrefix=:*:&deletedOnly=true", "/contexts", "/config"]
        paths += ["/schemas?subjectPrefix=:*:&deleted=true", "/schemas?subjectPrefix=:*:&latestOnly=true"]
        scopes = [f":{context}:" for context in self("GET", "/contexts") if context != "."]
        for subject in map(_quoted, subjects):
            paths += [f"/config/{subject}", f"/subjects/{subject}/versions?deletedAsNegative=true&deleted=true"]
            paths += [f"/subjects/{subject}/versions/latest", f"/subjects/{subject}/versions"]
        paths += [f"/config/{_quoted(scope)}" for scope in scopes]
        for each in self("GET", "/schemas?subjectPrefix=:*:&deleted=true"):
            subject, number, id = _quoted(each["subject"]), each["version"], each["id"]
            paths += [f"/subjects/{subject}/versions/{number}?deleted=true", f"/schemas/ids/{id}?subject={subject}"]
            paths += [f"/subjects/{subject}/versions/{number}/referencedby?deleted=true"]
            paths += [f"/schemas/ids/{id}/versions?deleted=true&subject={subject}", f"/schemas/guids/{each['guid']}"]
        paths += self._key_paths()
        return {path: self.get(path) for path in paths}

    def _key_paths(self) -> Iterator[str]:
        keks = "/dek-registry/v1/keks"
        yield f"{keks}?deleted=true"
        for name in self("GET", f"{keks}?deleted=true"):
            yield f"{keks}/{name}?deleted=true"
            yield f"{keks}/{name}/deks?deleted=true"
            for subject in map(_quoted, self("GET", f"{keks}/{name}/deks?deleted=true")):
                path = f"{keks}/{name}/deks/{subject}/versions"
                yield f"{path}?deleted=true"
                for version in self("GET", f"{path}?deleted=true"):
                    yield f"{path}/{version}?deleted=true"


def _quoted(subject: str) -> str:
    return quote(subject, safe="")


def _timeless(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {name: _timeless(said) for name, said in answer.items() if name != "ts"}
    return [_timeless(each) for each in answer] if isinstance(answer, list) else answer


@contextmanager
def places(count: int = 2) -> Iterator[list[Place]]:
    """Empty ones."""
    with ExitStack() as opened:
        yield [Place(opened.enter_context(EmbeddedStore())) for _ in range(count)]


@contextmanager
def opened_places(*data: Path) -> Iterator[list[Place]]:
    """Those of directories."""
    with ExitStack() as opened:
        yield [Place(opened.enter_context(EmbeddedStore(path))) for path in data]


@dataclass
class Line:
    """An exporter from one place to another. between: stands before each call of the destination."""

    source: Place
    target: Place
    name: str = "line"
    between: Between = let_pass

    def begin(self, **members: Any) -> "Line":
        """Creates it. members: of the exporter."""
        form = {
            "name": self.name,
            "subjects": members.pop("subjects", [ALL]),
            "contextType": members.pop("context_type", "NONE"),
            "config": {"schema.registry.url": "http://destination.example"},
            **members,
        }
        self.source("POST", "/exporters", form)
        return self

    @property
    def progress(self) -> ExporterProgress:
        found = self.source.store.catalog.progress(self.name)
        assert found is not None
        return found

    def turn(self, store: Any = None, *, ms: int = TURN_MS, again: bool = True) -> Turn:
        """One turn, of a process that has just begun."""
        store = store or self.source.store
        exporter = store.catalog.exporter(self.name)
        there = self.opened(exporter)
        deadline = self.source.store.clock.elapsed() + ms
        with closing(there):
            return turn(store, exporter, there, source="here", deadline=deadline, again=again)

    def opened(self, exporter: Exporter) -> HttpDestination:
        store, clock = self.source.store, self.source.clock
        return destination(exporter, store.secrets, clock, mark=store.mark, connect=self.connect)

    def run(self) -> None:
        """Until nothing is left to do."""
        done = self.turn()
        assert done.progress is not None
        assert (done.progress.trace, done.more) == ("", False)

    def connect(self, *_: Any, **__: Any) -> Any:
        return Connection(self.target.client, self.between)
