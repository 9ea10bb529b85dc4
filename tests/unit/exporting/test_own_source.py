"""An exporter that would write to its own source for ever: refused where that is known, and writes nothing there."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import pytest

from sigla.effort import AsksElsewhere, Effort, Limits
from sigla.errors import StoreError
from sigla.exporters.nouns import ExporterDraft, ExporterState
from sigla.exporters.refusals import InvalidExporterConfig
from sigla.exporters.verbs.changing import create_exporter
from sigla.ports.itself import Itself
from sigla.remote.destination import answers_at
from sigla.remote.recognising import OTHER_MS
from sigla.web import app
from sigla.web.threads.worker import TURN_S
from tests.unit.exporting.places import AVRO, Connection, Line, Place, let_pass, places
from tests.unit.exporting.stories import kek, wrap
from tests.unit.web.conftest import Client, Response

URL = "http://destination.example"
CONFIG = {"schema.registry.url": URL}
LONG = "l" * 200
"""Copies of copies in such a context come to an end: a name has 700 bytes at most."""
COPIES = {"subjects": [":*:*"], "contextType": "CUSTOM", "context": LONG}
"""It takes what it writes."""
ANOTHER_CONTEXT = {"subjects": ["*"], "contextType": "CUSTOM", "context": "copy"}
"""As in the docs."""
KEKS = {**ANOTHER_CONTEXT, "kekRenameFormat": "copy-${kek}"}
SAME_NAMES = {"subjects": [":*:*"], "contextType": "NONE"}
OWN = f"{URL} is this registry itself"

Said = Callable[[str], Response | None]
"""What a destination answers to a target; None: what the registry there answers."""


@dataclass
class Network:
    """Where the name of the destination leads to."""

    found: Place
    said: Said = lambda _: None
    asked: list[tuple[str, str]] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    """Credentials."""

    def connect(self, *_: Any, **__: Any) -> Any:
        return Connection(self, let_pass)  # type: ignore[arg-type]  # called as a client is

    def __call__(self, method: str, target: str, body: Any, headers: Mapping[str, str]) -> Response:
        self.asked.append((method, target))
        self.shown.append(headers.get("Authorization", ""))
        if answer := self.said(target):
            return answer
        with ThreadPoolExecutor(1) as another:  # a registry that asks itself has another thread that answers
            return another.submit(self.found.client, method, target, body, headers).result()

    @property
    def questions(self) -> list[str]:
        return [target for _, target in self.asked if target.startswith("/?exporter=")]

    @property
    def written(self) -> list[tuple[str, str]]:
        return [each for each in self.asked if each[0] != "GET"]


@dataclass
class Course(Line):
    """An exporter to wherever its network leads."""

    network: Network = field(kw_only=True)

    def connect(self, *_: Any, **__: Any) -> Any:
        return self.network.connect()

    def let_through(self, **members: Any) -> None:
        """Creates it while the destination is silent."""
        self.network.said = silent
        self.offer(**members)
        self.network.said = lambda _: None
        self.network.asked.clear()

    def offer(self, **members: Any) -> None:
        self.source("POST", "/exporters", {"name": "line", "config": CONFIG, **members})

    def refusal(self, **members: Any) -> tuple[int, int, str]:
        return self.source.client("POST", "/exporters", {"name": "line", "config": CONFIG, **members}).refusal

    def is_stopped(self) -> bool:
        """Whether its trace says that it has met itself, and nothing was written."""
        before = names(self.source)
        done = self.turn()
        assert done.progress is not None
        said = done.progress.trace
        return said.startswith(OWN) and done.away and not self.network.written and names(self.source) == before


def silent(_: str) -> Response | None:
    raise OSError("silent")


def answered(status: int, body: bytes = b"{}", **headers: str) -> Said:
    return lambda target: Response(status, headers, body) if target.startswith("/?") else None


def names(place: Place) -> list[str]:
    found: list[str] = place("GET", "/subjects?subjectPrefix=:*:")
    return found


@pytest.fixture
def both() -> Iterator[list[Place]]:
    """A source and another registry."""
    with places() as (source, other):
        source.register("orders", AVRO % 1)
        kek("k")(source)
        wrap("k", "orders")(source)
        yield [source, other]


@pytest.fixture
def other(both: list[Place]) -> Place:
    return both[1]


@pytest.fixture
def course(both: list[Place]) -> Course:
    """From a registry to itself. It asks over the network when an exporter is offered."""
    source = both[0]
    network, store = Network(source), source.store

    def is_at(settings: Mapping[str, str]) -> bool:
        return answers_at(settings, source.clock, mark=store.mark, connect=network.connect)

    itself = Itself("here", store.mark, is_at)
    source.registry = replace(source.registry, itself=itself, secrets=store.secrets)
    source.client = Client(app.build(source.registry))
    return Course(source, source, network=network)


# --- when it is offered ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("members, word", [(COPIES, "each copy"), (KEKS, "each KEK")], ids=["subjects", "KEKs"])
def test_one_that_would_not_end_is_refused_and_nothing_is_stored(
    members: dict[str, Any], word: str, course: Course
) -> None:
    """EXP-11: the refusal has the URL and what to do; its credentials are not kept either."""
    config = {**CONFIG, "basic.auth.user.info": "name:secret"}
    status, code, sentence = course.refusal(**members, config=config)
    assert (status, code) == (409, 40951)
    assert sentence.startswith(f"Missing or invalid exporter config: {OWN}")
    assert word in sentence
    assert course.source("GET", "/exporters") == []
    assert list(course.source.store.secrets.kept()) == []
    assert len(course.network.questions) == 1 == len(course.network.asked)


@pytest.mark.parametrize("members", [ANOTHER_CONTEXT, SAME_NAMES], ids=["another context", "same names"])
def test_one_that_ends_may_write_to_its_own_registry(members: dict[str, Any], course: Course) -> None:
    """The first is that of the docs. No question is asked, and it comes to rest."""
    course.offer(**members)
    course.run()
    assert not course.network.questions
    assert names(course.source) == ([":.copy:orders", "orders"] if members is ANOTHER_CONTEXT else ["orders"])
    course.network.asked.clear()
    course.run()
    assert not course.network.written


def test_one_that_would_not_end_here_may_write_to_another_registry(course: Course, other: Place) -> None:
    """Everything of many registries in one, side by side."""
    course.network.found = other
    course.offer(**COPIES)
    course.run()
    assert names(other) == [f":.{LONG}:orders"]
    assert names(course.source) == ["orders"]


def test_an_update_is_judged_as_a_creation_is(course: Course, other: Place) -> None:
    """By its subjects, its format or its config: what was there before stays."""
    source, network = course.source, course.network
    course.offer(**ANOTHER_CONTEXT)
    source("PUT", "/exporters/line/pause")
    before = source("GET", "/exporters/line")
    for change in ({"subjects": [":*:*"]}, {"kekRenameFormat": "copy-${kek}"}):
        assert source.client("PUT", "/exporters/line", change).refusal[1] == 40951
    assert source("GET", "/exporters/line") == before
    network.found = other
    source("PUT", "/exporters/line", {"subjects": [":*:*"]})
    network.found = source
    for path, body in (("/exporters/line/config", CONFIG), ("/exporters/line", {"config": CONFIG})):
        assert source.client("PUT", path, body).refusal[1] == 40951


def test_the_question_takes_the_credentials_along(course: Course, other: Place) -> None:
    """By them a registry is chosen where several answer at one address; those that are stored, where none are sent."""
    source, network = course.source, course.network
    network.found = other
    config = {**CONFIG, "basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": "a:b"}
    course.offer(**COPIES, config=config)
    source("PUT", "/exporters/line/pause")
    source("PUT", "/exporters/line", {"subjects": [":*:"]})
    source("PUT", "/exporters/line/config", {**config, "basic.auth.user.info": "[hidden]"})
    assert network.shown == ["Basic YTpi"] * 3


@pytest.mark.parametrize(
    "said",
    [
        silent,
        answered(200),
        answered(200, b"<html>"),
        answered(200, b"[" * 100_000),
        answered(200, b'{"exporter": 7}'),
        answered(200, '{"exporter": "é"}'.encode()),
        answered(200, b'{"exporter": "%s"}' % (b"0" * 64)),
        answered(301, Location="http://elsewhere.example"),
        answered(401),
        answered(404),
        answered(429),
        answered(503),
    ],
)
def test_what_does_not_prove_itself_is_let_through(said: Said, course: Course) -> None:
    """Silence, an older release, another product."""
    course.network.said = said
    course.offer(**COPIES)
    assert course.source("GET", "/exporters") == ["line"]


def test_an_answer_to_an_earlier_question_proves_nothing(course: Course) -> None:
    """A destination that has heard one cannot have exporters refused that write to it."""
    told = course.source.client("GET", _asked(course)).body
    assert b"exporter" in told
    course.network.said = answered(200, told)
    course.offer(**COPIES)


def _asked(course: Course) -> str:
    course.refusal(**COPIES)
    return course.network.questions[-1]


def test_a_stranger_learns_nothing_by_asking(course: Course, other: Place) -> None:
    """Neither by a question that came to it, asked of others, nor by one of its own."""
    asked = _asked(course)
    assert set(course.source("GET", asked)) == {"exporter"}
    assert other("GET", asked) == {}
    for said in ("", "x", f"{'0' * 32}.{'0' * 64}", f"{'0' * 97}", "%C3%A9"):
        assert course.source("GET", f"/?exporter={said}") == {}
    assert course.source("GET", f"{asked}0") == course.source("GET", "/") == {}
    assert not other.client("HEAD", asked).body


def test_the_thread_that_writes_asks_no_destination(course: Course) -> None:
    """One that is silent holds up who offers the exporter, and no other client: a thread for questions begins anew."""
    effort = Effort(Limits(), monotonic, monotonic)
    draft = ExporterDraft("line", subjects=(":*:*",), config=CONFIG)
    with effort.turn(TURN_S), pytest.raises(AsksElsewhere):
        create_exporter(course.source.registry, draft)
    assert not course.network.asked
    with effort.turn(), pytest.raises(InvalidExporterConfig):
        create_exporter(course.source.registry, draft)
    assert len(course.network.questions) == 1


# --- when it runs ----------------------------------------------------------------------------------------------------


def test_without_the_question_it_would_fill_its_own_registry(course: Course) -> None:
    """As it was: each round in a context of its own, until no name is left."""
    course.let_through(**COPIES)
    course.network.said = answered(200)
    course.turn()
    assert len(names(course.source)) == 3


@pytest.mark.parametrize("members", [COPIES, KEKS], ids=["subjects", "KEKs"])
def test_one_that_was_let_through_stops_before_it_writes(members: dict[str, Any], course: Course) -> None:
    """Its state stays STARTING, its trace says why, also after a reset and a resume; as soon as it fits, it goes on."""
    course.let_through(**members)
    assert course.is_stopped()
    assert course.progress.state is ExporterState.STARTING
    source = course.source
    for _ in range(2):
        source("PUT", "/exporters/line/pause")
        source("PUT", "/exporters/line/reset")
        source("PUT", "/exporters/line/resume")
        assert course.is_stopped()
    source("PUT", "/exporters/line/pause")
    source("PUT", "/exporters/line", {**ANOTHER_CONTEXT, "kekRenameFormat": ""})
    source("PUT", "/exporters/line/resume")
    course.run()
    assert names(source) == [":.copy:orders", "orders"]


def test_a_destination_that_is_silent_is_not_written_to_before_it_has_answered(course: Course) -> None:
    """It came to answer later, and is the source."""
    course.let_through(**COPIES)
    course.network.said = silent
    done = course.turn()
    assert done.away
    assert "does not answer" in course.progress.trace
    course.network.said = lambda _: None
    course.network.asked.clear()
    assert course.is_stopped()


def test_a_destination_is_not_asked_before_there_is_something_to_write(course: Course, other: Place) -> None:
    """Nothing rings because one is away for which nothing is there."""
    course.network.found = other
    course.let_through(**COPIES)
    course.run()
    course.network.said = silent
    course.network.asked.clear()
    course.run()
    assert not course.network.asked
    course.source.register("orders", AVRO % 2)
    assert course.turn().away
    assert len(course.network.questions) == 1 == len(course.network.asked)


@pytest.mark.parametrize("status", [301, 401, 404, 429, 503])
def test_a_product_that_refuses_the_question_is_written_to(status: int, course: Course, other: Place) -> None:
    """Some have no page there, or one for people; one that fails is asked again with the next turn."""
    course.network.found = other
    course.let_through(**COPIES)
    course.network.said = answered(status)
    course.run()
    assert names(other) == [f":.{LONG}:orders"]
    assert len(course.network.questions) == 1


def test_an_address_is_asked_again_after_a_while(course: Course, other: Place) -> None:
    """By then its name may lead to the source: one connection asks once a minute, and at once where none was given."""
    course.network.found = other
    course.let_through(**COPIES)
    course.run()
    exporter = course.source.store.catalog.exporter("line")
    assert exporter is not None
    there, network, clock = course.opened(exporter), course.network, course.source.clock
    network.asked.clear()
    for _ in range(3):
        assert not there.is_source()
    assert len(network.questions) == 1
    network.found = course.source
    assert not there.is_source()
    clock.time += OTHER_MS
    assert there.is_source()
    network.said = answered(503)
    assert not there.is_source()
    network.said = lambda _: None
    assert there.is_source()
    there.close()


# --- what fails ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["mark", "secrets"])
def test_a_store_that_fails_changes_nothing(part: str, course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the role of a region two know each other, and credentials are kept apart: either may be silent."""
    source = course.source
    course.offer(**ANOTHER_CONTEXT, config={**CONFIG, "basic.auth.user.info": "a:b"})
    source("PUT", "/exporters/line/pause")
    before, kept = source("GET", "/exporters/line"), list(source.store.secrets.kept())

    def fail(*_: object) -> Any:
        raise StoreError("silent")

    with monkeypatch.context() as patched:
        if part == "mark":
            patched.setattr(source.store.region, "role", fail)
        else:
            patched.setattr(source.store.secrets, "get", fail)
        assert source.client("PUT", "/exporters/line", {"subjects": [":*:*"]}).refusal[:2] == (500, 50001)
    assert source("GET", "/exporters/line") == before
    assert list(source.store.secrets.kept()) == kept
    assert source.client("PUT", "/exporters/line", {"subjects": [":*:*"]}).refusal[1] == 40951
