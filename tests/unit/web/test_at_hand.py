"""What was understood before is answered at a glance, and nothing that is remembered outlives a change."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.types import ASGIApp

from sigla.effort import Limits
from sigla.registry import Registry
from sigla.registry.steps.parsed import Understood
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from sigla.web.http.answer import Answer
from sigla.web.threads.thinkers import Thinkers
from sigla.web.threads.worker import Task, Worker
from sigla.web.threads.workers import Workers, effort_of
from tests.build import FixedClock, tiers_before
from tests.unit.web.conftest import Client, Response

Request = tuple[str, str, Any]


def record(*fields: str, name: str = "R") -> str:
    shown = [{"name": field, "type": ["null", "string"], "default": None} for field in fields]
    return json.dumps({"type": "record", "name": name, "fields": shown}, separators=(",", ":"))


# --- who answers ------------------------------------------------------------------------------------------------------


class Busy:
    """Threads that have something else to do."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, task: Task) -> Answer:
        self.asked += 1
        with task.effort.turn():
            return task.job()


@pytest.fixture
def threads() -> Busy:
    return Busy()


@pytest.fixture
def served(registry: Registry, threads: Busy) -> Client:
    return Client(app.build(registry, workers=Workers(threads, threads, Thinkers())))


KNOWN = {"schema": record("a")}


@pytest.mark.parametrize(
    "path",
    [
        "/subjects/s/versions",
        "/subjects/s",
        "/compatibility/subjects/s/versions/latest",
        "/compatibility/subjects/s/versions?verbose=true",
    ],
)
def test_what_was_understood_before_needs_no_thread(served: Client, threads: Busy, path: str) -> None:
    """A thousand producers that start at once wait for no writer, and no writer for them."""
    served("POST", "/subjects/s/versions", KNOWN)
    first = served("POST", path, KNOWN)
    asked = threads.asked
    again = served("POST", path, KNOWN)
    assert (again.status, again.body) == (200, first.body)
    assert threads.asked == asked


def test_a_text_that_is_new_is_understood_by_a_thread(served: Client, threads: Busy) -> None:
    """The loop, which answers everybody, never reads a schema."""
    served("POST", "/subjects/s/versions", KNOWN)
    asked = threads.asked
    served("POST", "/compatibility/subjects/s/versions/latest", {"schema": record("a", "b")})
    assert threads.asked == asked + 1


def test_a_version_that_is_new_is_written_by_a_thread(served: Client, threads: Busy) -> None:
    """Also where its text was understood before: for another subject, or in a check."""
    served("POST", "/subjects/s/versions", KNOWN)
    asked = threads.asked
    assert served("POST", "/subjects/t/versions", KNOWN).json["id"] == 1
    assert threads.asked == asked + 1
    assert served("GET", "/subjects/t/versions").json == [1]


def test_nothing_is_written_at_a_glance(registry: Registry) -> None:
    """A writer waits for the disk, and all that wait for the writer."""
    assert effort_of(Limits()).glance(lambda: registry.catalog.next_id(".")) is None
    assert registry.catalog.max_id(".") == 0


def test_a_long_text_is_not_even_looked_at(served: Client, threads: Busy) -> None:
    """Reading its JSON alone would keep everybody waiting."""
    long = {"schema": record("a") + " " * 2**16}
    served("POST", "/subjects/s/versions", long)
    asked = threads.asked
    assert served("POST", "/subjects/s/versions", long).status == 200
    assert threads.asked == asked + 1


# --- nothing outlives a change ----------------------------------------------------------------------------------------

SUBJECTS = ("s", "t", ":.c:s")
TEXTS = (record("a"), record("a", "b"), json.dumps(json.loads(record("b", "a")), indent=1), '"int"', '{"type": "int"}')
CONFIGS: tuple[dict[str, Any], ...] = (
    {"compatibility": "NONE"},
    {"compatibility": "FULL_TRANSITIVE"},
    {"compatibility": "BACKWARD", "normalize": True},
    {"compatibility": "NONE", "alias": "t"},
    {"compatibility": "NONE", "alias": ""},
    {"compatibility": "NONE", "validateFields": True},
    {"compatibility": "NONE", "defaultMetadata": {"properties": {"owner": "x"}}},
)
USING = {
    "schema": '{"type":"record","name":"U","fields":[{"name":"r","type":"R"}]}',
    "references": [{"name": "R", "subject": "s", "version": 1}],
}

subjects = st.sampled_from(SUBJECTS)
scopes = st.sampled_from(("", "/s", "/t", "/:.c:s", "/:.c:"))
ids = st.integers(1, 4)
drafts = st.one_of(st.sampled_from(TEXTS).map(lambda text: {"schema": text}), st.just(USING))
flags = st.sampled_from(("", "?normalize=true"))


def asking(method: str, path: str, *parts: st.SearchStrategy[Any], body: Any = None) -> st.SearchStrategy[Request]:
    told = st.none() if body is None else body
    return st.tuples(st.tuples(*parts), told).map(lambda drawn: (method, path.format(*drawn[0]), drawn[1]))


requests = st.one_of(
    asking("POST", "/subjects/{}/versions{}", subjects, flags, body=drafts),
    asking("POST", "/subjects/{}/versions{}", subjects, flags, body=drafts),
    asking("POST", "/subjects/{}{}", subjects, flags, body=drafts),
    asking("POST", "/compatibility/subjects/{}/versions?verbose=true", subjects, body=drafts),
    asking("GET", "/schemas/ids/{}?fetchMaxId=false&subject={}", ids, subjects),
    asking("GET", "/schemas/ids/{}", ids),
    asking("GET", "/subjects/{}/versions/latest", subjects),
    asking("DELETE", "/subjects/{}/versions/latest", subjects),
    asking("DELETE", "/subjects/{}{}", subjects, st.sampled_from(("", "?permanent=true"))),
    asking("PUT", "/config{}", scopes, body=st.sampled_from(CONFIGS)),
    asking("DELETE", "/config{}", scopes),
    asking("PUT", "/mode{}?force=true", scopes, body=st.sampled_from([{"mode": "READWRITE"}, {"mode": "READONLY"}])),
    asking("PUT", "/mode{}?force=true", scopes, body=st.just({"mode": "IMPORT"})),
    asking("DELETE", "/mode{}", scopes),
    st.tuples(subjects, drafts, ids).map(
        lambda drawn: ("POST", f"/subjects/{drawn[0]}/versions", {**drawn[1], "id": drawn[2], "version": drawn[2]})
    ),
)


def is_registration(request: Request) -> bool:
    method, target, _ = request
    return method == "POST" and target.startswith("/subjects/") and "/versions" in target


QUESTIONS: tuple[Request, ...] = tuple(
    request
    for subject in SUBJECTS
    for request in (
        *(("GET", f"/schemas/ids/{number}?subject={subject}", None) for number in (1, 2)),
        *(("POST", f"/subjects/{subject}", {"schema": text}) for text in TEXTS[1:3]),
        ("POST", f"/subjects/{subject}", USING),
        ("POST", f"/compatibility/subjects/{subject}/versions?verbose=true", {"schema": TEXTS[1]}),
        ("GET", f"/subjects/{subject}/versions/latest", None),
    )
)
"""Asked after every request, so that there is something to remember, and whatever is not forgotten is seen."""


Ask = Callable[[Request], Response]


def asked(runner: asyncio.Runner, application: ASGIApp, request: Request) -> Response:
    method, target, body = request
    content = b"" if body is None else json.dumps(body).encode()
    return runner.run(Client(application).send(method, target, [content]))


@contextmanager
def remembering(runner: asyncio.Runner) -> Iterator[Ask]:
    """A server as it is installed: everything is remembered, and its threads run."""
    with EmbeddedStore() as store:
        writer, reader, thinkers = Worker(store.group, store.step), Worker(name="reader"), Thinkers()
        bodies = tiers_before(store.bodies, unsettled=store.bodies.unsettled)
        store.on_replaced(bodies.forget)
        registry = Registry(store.catalog, bodies, FixedClock())
        table = app.RouteTable(registry, Workers(writer, reader, thinkers), app.HttpOptions())
        for worker in (writer, reader):
            worker.start()
        yield partial(asked, runner, table)
        thinkers.close()
        for worker in (writer, reader):
            worker.stop()


@contextmanager
def forgetful(runner: asyncio.Runner) -> Iterator[Ask]:
    """A registry that is made anew for each request, and asks inside a group, where the catalog remembers nothing."""
    with EmbeddedStore() as store:

        def ask(request: Request) -> Response:
            registry = Registry(store.catalog, store.bodies, FixedClock(), parsed=Understood(0), offered=Understood(0))
            with store.group():
                return asked(runner, app.RouteTable(registry, None, app.HttpOptions()), request)

        yield ask


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(requests, min_size=4, max_size=10), st.booleans())
def test_nothing_that_is_remembered_outlives_a_change(sequence: list[Request], starting: bool) -> None:
    """Whatever is registered, checked, deleted, set, renamed and imported: as if nothing were ever remembered.

    starting: whether producers start after each request, who register once more, and twice, what was registered once.
    """
    with asyncio.Runner() as runner, remembering(runner) as ours, forgetful(runner) as plain:
        for number, request in enumerate(sequence, 1):
            known = [each for each in sequence[:number] if is_registration(each)] * 2 if starting else []
            for each in (request, *QUESTIONS, *known):
                told, expected = ours(each), plain(each)
                assert (each, told.status, told.body) == (each, expected.status, expected.body)


@pytest.mark.parametrize(
    "change",
    [
        ("DELETE", "/subjects/s/versions/1", None),
        ("PUT", "/config/s", {"compatibility": "NONE", "alias": "t"}),
        ("PUT", "/config", {"compatibility": "NONE", "defaultMetadata": {"properties": {"owner": "x"}}}),
        ("PUT", "/config/s", {"compatibility": "NONE", "overrideMetadata": {"properties": {"owner": "x"}}}),
        ("PUT", "/mode?force=true", {"mode": "READONLY"}),
        ("PUT", "/mode/s?force=true", {"mode": "IMPORT"}),
        ("POST", "/subjects/s/versions", {"schema": TEXTS[1]}),
        ("POST", "/subjects/t/versions", {"schema": TEXTS[0]}),
    ],
    ids=lambda change: f"{change[0]} {change[1]}",
)
def test_a_producer_that_starts_again_meets_what_was_changed(change: Request) -> None:
    """A change of its schema, of its rules, or of anything else: each start is answered as the first one."""
    start = ("POST", "/subjects/s/versions", {"schema": TEXTS[0]})
    with asyncio.Runner() as runner, remembering(runner) as ours, forgetful(runner) as plain:
        for request in (start, start, start, change, start, start, ("GET", "/subjects/s/versions", None)):
            told, expected = ours(request), plain(request)
            assert (request, told.status, told.body) == (request, expected.status, expected.body)
