"""Who reads is noted after the answer, in Lambda's own runtime: nothing is asked for it before a caller is answered.

The runtime is the one that Lambda runs; what it speaks to is a stand-in, which tells an environment of the next request
when each extension has asked for it. `test_lambda_emulator.py` has AWS's own.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from localstack.plugin.runtime_api import Answer, Extensions, Invocation, RuntimeApi
from sigla import wiring
from sigla.functions.extension import Extension
from tests.functions.other_process import FUNCTION, Process, account, aws, lambda_environment, runtime
from tests.unit.web.test_gateway import function_url, rest
from tests.waiting import eventually

pytestmark = pytest.mark.process

VERSIONS = "/subjects/orders-value/versions"
READ = "/schemas/ids/1"
POSTED = "posted"

PATIENT = f"""
import runpy
from sigla.functions import extension

extension.POSTED_S = 600  # no patience may hide that the runtime does not let go of an invocation
handler = runpy.run_path({str(FUNCTION / "handler.py")!r})["handler"]
"""


class Api(RuntimeApi):
    """Writes down in `happened` that an answer was posted."""

    def __init__(self, happened: list[str], extensions: Extensions) -> None:
        super().__init__(extensions=extensions)
        self.happened = happened

    def settle(self, answer: Answer, request_id: str | None = None) -> bool:
        self.happened.append(POSTED)
        return super().settle(answer, request_id)


@dataclass
class Environment:
    """A process of the function. happened: what it asked of AWS, and its answers, in order."""

    api: Api
    process: Process
    happened: list[str]
    requests: int = 0

    def read(self, path: str, *, rested: bool = True, door: str = "rest") -> Any:
        """The content of an answer. rested: once all that is done after it is done."""
        self.requests += 1
        event = rest("GET", path, None, None) if door == "rest" else function_url("GET", path, "", None)
        invocation = Invocation(f"request-{self.requests}", json.dumps(event).encode(), "arn", 20)
        self.api.submit(invocation)
        told = json.loads(invocation.answer.result(30).body)
        if rested:
            self.rest()
        return json.loads(told["body"])

    def rest(self) -> None:
        """Waits until the environment would be frozen."""
        eventually(lambda: self.api.extensions.are_asking)

    def trips(self, path: str) -> list[str]:
        """What one read asks before its answer is there, and after it."""
        del self.happened[:]
        self.read(path)
        return list(self.happened)


@dataclass
class Account:
    told: dict[str, str]
    happened: list[str]
    folder: Path
    waits: threading.Event = field(default_factory=threading.Event)
    asked_to_note: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def environment(self, extensions: Extensions | None = None, **settings: str) -> Iterator[Environment]:
        api = Api(self.happened, extensions or Extensions())
        (self.folder / "handler.py").write_text(PATIENT)
        told = lambda_environment({**self.told, **settings, "AWS_LAMBDA_RUNTIME_API": api.address}, self.folder)
        with runtime(told, self.folder / f"output-{id(api)}") as process:
            try:
                yield Environment(api, process, self.happened)
            finally:
                api.close()


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Account]:
    """One schema in a registry that is open to everybody."""
    happened: list[str] = []
    held = threading.Event()
    held.set()
    noting = threading.Event()

    def seen(operation: str) -> None:
        happened.append(operation)
        if POSTED in happened:
            noting.set()
            held.wait(20)

    with aws(seen) as endpoint:
        settings = {"SIGLA_AUTH": "none", "SIGLA_LOG_REQUESTS": "false"}
        one = Account({**account(endpoint), **settings}, happened, tmp_path, held, noting)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in one.told.items():
                patch.setenv(name, value)
            with closing(wiring.lambda_handler()) as handler:
                assert handler(rest("POST", VERSIONS, None, '{"schema": "\\"string\\""}'), None)["statusCode"] == 200
        del happened[:]
        noting.clear()
        yield one


def readers(environment: Environment) -> list[str]:
    told = environment.read("/subjects/orders-value/usage")
    return [read["by"] for version in told["versions"] for read in version["reads"]]


def test_an_answer_leaves_before_anything_is_asked_for_its_note(made: Account) -> None:
    """A caller has an answer while the table does not answer the question of who reads."""
    with made.environment() as environment:
        made.waits.clear()
        assert environment.read(READ, rested=False)["schema"] == '"string"'
        assert made.asked_to_note.wait(10)
        assert made.happened.index(POSTED) == len(made.happened) - 2, "the note is the only question after the answer"
        assert not environment.api.extensions.are_asking, "the environment is not frozen meanwhile"
        made.waits.set()
        environment.rest()
        assert readers(environment) == ["anyone"]


def test_a_read_makes_the_trips_that_it_makes_without_a_count(made: Account) -> None:
    """Whether it is the first of its day or not, through each door."""
    with made.environment(SIGLA_USAGE="false") as other:
        eventually(other.api.ready.done)
        without = []
        for path in (READ, READ, f"{READ}/schema"):
            del made.happened[:]
            other.read(path, rested=False)
            without.append(made.happened[: made.happened.index(POSTED)])
    with made.environment() as environment:
        trips = [environment.trips(path) for path in (READ, READ, f"{READ}/schema")]
    before = [each[: each.index(POSTED)] for each in trips]
    assert [sorted(each) for each in before] == [sorted(each) for each in without]
    assert trips[0][len(before[0]) + 1 :] == ["BatchGetItem", "UpdateItem", "UpdateItem"]
    assert trips[1:] == [[POSTED], [POSTED]]


def test_what_a_killed_environment_has_not_noted_is_all_that_is_lost(made: Account) -> None:
    with made.environment() as environment:
        made.waits.clear()
        environment.read(READ, rested=False)
        assert made.asked_to_note.wait(10)
        environment.process.running.kill()
        made.waits.set()
    with made.environment() as environment:
        assert readers(environment) in ([], ["anyone"]), "the question was on its way, and was answered by nobody"
        environment.read(READ, door="url")
        assert readers(environment) == ["anyone"]


class Refusing(Extensions):
    """Registers none."""

    def register(self) -> str | None:
        return None


class Dumb(Extensions):
    """Tells none of an invocation, and waits for none."""

    def next(self, identifier: str) -> dict[str, Any] | None:
        raise KeyError(identifier)

    def tell(self, event: dict[str, Any]) -> None:
        pass


@pytest.mark.parametrize("extensions", [Refusing, Dumb])
def test_where_lambda_tells_of_no_invocation_notes_are_made_before_the_answer(
    made: Account, extensions: type[Extensions]
) -> None:
    """As long as it does not, and the log says so once."""
    with made.environment(extensions()) as environment:
        environment.read("/subjects", rested=False)  # whose end tells it
        eventually(lambda: environment.process.lines("extension"))
        environment.read(READ, rested=False)
        assert made.happened[-1] == POSTED
        assert "UpdateItem" in made.happened
        (line,) = environment.process.lines("extension")
        assert line.endswith("because Lambda tells its extension of no invocation: status 403.")


class Context:
    """What the runtime makes for an invocation."""

    aws_request_id = "request-1"


@dataclass
class Left:
    """What a handler leaves: work that sets `done`. It answers, or raises."""

    done: threading.Event = field(default_factory=threading.Event)
    told: list[Any] = field(default_factory=list)

    def handler(self, api: RuntimeApi, *, raising: bool = False) -> Any:
        def handle(event: Any, _: Any) -> dict[str, Any]:
            if raising:
                raise RuntimeError(event)
            return {}

        return Extension(api.address).around(handle, lambda: self.done.set, self.told.append)


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[RuntimeApi]:
    monkeypatch.setattr("sigla.functions.extension.POSTED_S", 600)
    api = RuntimeApi()
    yield api
    api.close()


def test_work_waits_until_the_runtime_has_let_go_of_the_invocation(api: RuntimeApi) -> None:
    """It does when it has posted the answer."""
    left, context = Left(), Context()
    left.handler(api)("event", context)
    assert not left.done.wait(0.2)
    del context
    assert left.done.wait(10)


def test_work_is_done_after_a_failure_too_and_of_a_runtime_that_cannot_be_watched(api: RuntimeApi) -> None:
    left = Left()
    with pytest.raises(RuntimeError):
        left.handler(api, raising=True)("event", object())
    assert left.done.wait(10)


def test_an_extension_that_is_cut_off_asks_again_at_the_end_of_each_invocation_and_not_all_the_time(
    api: RuntimeApi,
) -> None:
    """It says so once."""
    left = Left()
    handler = left.handler(api)
    api.close()
    handler("event", Context())
    eventually(lambda: left.told)
    spent = time.process_time()
    for _ in range(3):
        left.done.clear()
        handler("event", Context())
        assert left.done.is_set(), "before the answer"
    assert len(left.told) == 1
    assert time.process_time() - spent < 1


def test_without_lambda_work_is_done_before_the_answer() -> None:
    left = Left()
    Extension("").around(lambda *_: {}, lambda: left.done.set, left.told.append)("event", None)
    assert left.done.is_set()
    assert left.told == []
