"""What takes long begins again where it disturbs no other request, and means the same there."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sigla import effort
from sigla.effort import Limits, OutOfTime, Unwanted
from sigla.errors import Refusal
from sigla.model import LATEST
from sigla.registry import Registry
from sigla.rules import names
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app, gateway
from sigla.web.http.answer import Answer
from sigla.web.threads.thinkers import MOST_WAITING_OF_ONE, THREADS_OF_ONE, Thinkers
from sigla.web.threads.worker import Task, Worker
from sigla.web.threads.workers import Workers, effort_of
from tests.build import FixedClock, a_draft
from tests.unit.web.conftest import Client, Response

OK = Answer(200, b"")


def task(job: Callable[[], Answer] = lambda: OK, client: str = "", limits: Limits | None = None, size: int = 0) -> Task:
    return Task(job, effort_of(limits or Limits()), client, size)


@pytest.fixture
def every_pulse_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small schema can be left where only a large one would be."""
    monkeypatch.setattr(effort, "STEPS_PER_LOOK", 1)


# --- the same verdicts ------------------------------------------------------------------------------------------------


def record(name: str, *fields: dict[str, Any]) -> dict[str, str]:
    return {"schema": json.dumps({"type": "record", "name": name, "fields": list(fields)})}


A, B = {"name": "a", "type": "int"}, {"name": "b", "type": "string"}
PROTO = {"schemaType": "PROTOBUF", "schema": 'syntax = "proto3"; message A { int32 a = 1; }'}
STORY: list[tuple[str, str, Any]] = [
    ("POST", "/subjects/s/versions", record("R", A)),
    ("POST", "/subjects/s/versions", record("R", A)),
    ("POST", "/compatibility/subjects/s/versions/latest?verbose=true", record("R", A, B)),
    ("POST", "/subjects/s/versions", record("R", A, B)),
    ("POST", "/subjects/s/versions", record("R", A, {**B, "default": ""})),
    ("POST", "/subjects/s/versions", {"schema": "no schema"}),
    ("POST", "/subjects/s", record("R", A)),
    ("POST", "/subjects/p/versions", PROTO),
    ("GET", "/schemas/ids/3?format=serialized", None),
    ("POST", "/subjects/j/versions", {"schemaType": "JSON", "schema": '{"properties": {"a": {"type": "string"}}}'}),
    ("POST", "/compatibility/subjects/j/versions", {"schemaType": "JSON", "schema": '{"type": "integer"}'}),
    ("GET", "/schemas", None),
    ("DELETE", "/subjects/s", None),
]


@asynccontextmanager
async def served(turn_s: float) -> AsyncIterator[Callable[..., Any]]:
    """An application over a store of its own, whose threads run."""
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        writer, reader = Worker(store.group, store.step, turn_s=turn_s), Worker(turn_s=turn_s, name="reader")
        for worker in (writer, reader):
            worker.start()
        thinkers = Thinkers()
        client = Client(app.build(registry, workers=Workers(writer, reader, thinkers)))

        async def ask(method: str, target: str, body: Any = None) -> Response:
            return await client.send(method, target, [b"" if body is None else json.dumps(body).encode()])

        yield ask
        thinkers.close()
        for worker in (writer, reader):
            await asyncio.to_thread(worker.stop)


async def told(turn_s: float) -> list[tuple[int, bytes]]:
    async with served(turn_s) as ask:
        answers = [await ask(*each) for each in STORY]
    return [(answer.status, answer.body) for answer in answers]


@pytest.mark.usefixtures("every_pulse_looks")
def test_what_is_begun_again_elsewhere_is_answered_alike() -> None:
    """Time decides where something is computed, never what comes of it."""
    assert asyncio.run(told(turn_s=0)) == asyncio.run(told(turn_s=1_000))


@pytest.mark.usefixtures("every_pulse_looks")
def test_many_at_once_that_begin_again_are_told_one_id() -> None:
    """All of them compute at the same time, outside the group of writes; one of them commits first.

    Each may have drawn a number before it lost the race, so the id need not be the first.
    """

    async def story() -> set[tuple[int, int]]:
        async with served(0) as ask:
            asked = (ask("POST", "/subjects/s/versions", record("R", A)) for _ in range(12))
            return {(answer.json["id"], answer.json["version"]) for answer in await asyncio.gather(*asked)}

    ((_, version),) = asyncio.run(story())
    assert version == 1


class Meanwhile:
    """Something happens to the registry, once, while a verb computes."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self.happens: list[Callable[[], object]] = [happens]

    def take(self) -> None: ...
    def leave(self) -> None: ...

    def pass_on(self) -> None:
        if self.happens:
            thread = threading.Thread(target=self.happens.pop())
            thread.start()
            thread.join()


@pytest.fixture
def registry() -> Iterator[Registry]:
    with EmbeddedStore() as store:
        yield Registry(store.catalog, store.bodies, FixedClock())


@pytest.mark.usefixtures("every_pulse_looks")
def test_a_verdict_about_a_world_that_moved_is_found_anew(registry: Registry) -> None:
    """What was computed before another writer came says nothing about what stands there now."""
    subject = names.subject("s")
    registry.register(subject, a_draft(record("R", A)["schema"]))
    moved = Meanwhile(lambda: registry.register(subject, a_draft(record("R", A, {**B, "default": ""})["schema"])))
    other_type = a_draft(record("R", A, {"name": "b", "type": "int", "default": 0})["schema"])
    with effort_of(Limits()).turn(share=moved), pytest.raises(Refusal) as refused:
        registry.register(subject, other_type)
    assert refused.value.code == 40901
    assert registry.version(subject, LATEST).version == 2


# --- time -------------------------------------------------------------------------------------------------------------


def large(name: str = "R") -> dict[str, str]:
    """More steps than a clock is looked at after."""
    return record(name, *({"name": f"f{number}", "type": {"type": "array", "items": "int"}} for number in range(500)))


@pytest.mark.parametrize(
    "method, path, sentence",
    [
        ("POST", "/subjects/s/versions", "Register operation timed out"),
        ("POST", "/subjects/s", "Lookup schema operation timed out"),
        ("POST", "/compatibility/subjects/s/versions", "Compatibility check timed out"),
    ],
)
def test_a_function_gives_up_in_the_words_of_the_contract(
    registry: Registry, method: str, path: str, sentence: str
) -> None:
    """Where there are no threads, the same budget holds; nothing was written."""
    registry.register(names.subject("s"), a_draft())
    options = app.HttpOptions(limits=Limits(computing_s=0))
    answer = Client(app.build(registry, options=options))(method, path, large())
    assert answer.refusal == (500, 50002, sentence)
    assert registry.version(names.subject("s"), LATEST).version == 1
    assert gateway.OPTIONS.limits == Limits(computing_s=10, waiting_s=20)


def test_what_waits_too_long_never_begins() -> None:
    """An answer that comes after its client has given up is useless."""

    async def story() -> None:
        worker = Worker()
        worker.start()
        with pytest.raises(OutOfTime):
            await worker(task(limits=Limits(waiting_s=0)))
        with pytest.raises(OutOfTime):
            await Thinkers()(task(limits=Limits(waiting_s=0)))
        worker.stop()

    asyncio.run(story())


def test_work_of_a_client_that_left_never_begins() -> None:
    """A thousand clients that ask and leave cost as good as nothing."""

    async def story() -> None:
        worker, left = Worker(), task()
        left.effort.give_up()
        worker.start()
        with pytest.raises(Unwanted):
            await worker(left)
        worker.stop()

    asyncio.run(story())


class Computing:
    """Jobs that compute until they are told to end, or are given up."""

    def __init__(self) -> None:
        self.begun = 0
        self.ends = threading.Event()

    def __call__(self) -> Answer:
        self.begun += 1
        while not self.ends.is_set():
            effort.pulse()
        return OK


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not true():  # noqa: ASYNC110 - threads announce nothing
            await asyncio.sleep(0.001)


def test_one_client_leaves_threads_to_others() -> None:
    """Its eight checks take turns among themselves."""

    async def story() -> None:
        thinkers, computing = Thinkers(), Computing()
        greedy = [asyncio.ensure_future(thinkers(task(computing, "greedy"))) for _ in range(8)]
        await until(lambda: computing.begun == THREADS_OF_ONE)
        assert await thinkers(task(client="modest")) is OK
        assert computing.begun == THREADS_OF_ONE
        computing.ends.set()
        assert await asyncio.gather(*greedy) == [OK] * 8
        thinkers.close()

    asyncio.run(story())


def test_what_waits_is_bounded_for_each_client() -> None:
    """Bodies that wait are memory."""

    async def story() -> None:
        thinkers, computing = Thinkers(), Computing()

        def asked(times: int) -> list["asyncio.Future[Answer]"]:
            return [asyncio.ensure_future(thinkers(task(computing, "greedy"))) for _ in range(times)]

        greedy = asked(THREADS_OF_ONE)
        await until(lambda: computing.begun == THREADS_OF_ONE)
        greedy += asked(MOST_WAITING_OF_ONE)
        await asyncio.sleep(0)
        with pytest.raises(OutOfTime):
            await thinkers(task(computing, "greedy"))
        computing.ends.set()
        assert await asyncio.gather(*greedy) == [OK] * len(greedy)
        thinkers.close()

    asyncio.run(story())


def test_a_check_ends_when_its_client_leaves() -> None:
    """Another one's can begin."""

    async def story() -> None:
        thinkers, computing = Thinkers(), Computing()
        asked = task(computing)
        waiting = asyncio.ensure_future(thinkers(asked))
        await until(lambda: computing.begun)
        thinkers.drop(asked.effort)
        with pytest.raises(Unwanted):
            await waiting
        thinkers.close()

    asyncio.run(story())


def test_a_server_that_stops_gives_up_what_still_computes() -> None:
    """Whoever restarts it waits for that, and whoever asked may ask again: nothing was written."""

    async def story() -> None:
        thinkers, computing = Thinkers(grace_s=0.0), Computing()
        asked = [asyncio.ensure_future(thinkers(task(computing))) for _ in range(THREADS_OF_ONE + 1)]
        await until(lambda: computing.begun == THREADS_OF_ONE)
        thinkers.close()
        told = await asyncio.gather(*asked, thinkers(task()), return_exceptions=True)
        assert [type(each) for each in told] == [OutOfTime] * len(told)

    asyncio.run(story())


def test_a_client_that_leaves_is_noticed_while_its_check_waits(registry: Registry) -> None:
    """The server stops computing for it, and sends nothing."""
    computing = Computing()

    async def story() -> list[Any]:
        thinkers = Thinkers()

        async def compute(asked: Task) -> Answer:
            return await thinkers(Task(computing, asked.effort))

        application = app.build(registry, workers=Workers(compute, compute, thinkers))
        messages = [{"type": "http.request", "body": json.dumps(record("R")).encode(), "more_body": False}]
        sent: list[Any] = []

        async def receive() -> Any:
            if messages:
                return messages.pop()
            await until(lambda: computing.begun)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        path = "/compatibility/subjects/s/versions"
        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
        await asyncio.wait_for(application({**scope, "headers": []}, receive, send), 30)
        thinkers.close()
        return sent

    assert asyncio.run(story()) == []
