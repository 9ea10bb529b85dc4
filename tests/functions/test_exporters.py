"""The function that runs exporters: a store of AWS on one side, another registry's API on the other."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from sigla import wiring
from sigla.aws.clients import Clients
from sigla.errors import StoreError
from sigla.exporters.nouns import ContextType, Exporter, ExporterDraft, ExporterState
from sigla.exporters.running import turns
from sigla.exporters.running.subjects import Subjects
from sigla.exporters.verbs.changing import create_exporter, pause_exporter
from sigla.functions.exporters import BEHIND_MS, LEFT_MS, ExporterTurns, Unfinished
from sigla.functions.waking import NEWS, Waking
from sigla.model import Subject
from sigla.observe import Facts
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.registry import Registry
from sigla.remote.destination import HttpDestination, destination
from sigla.settings import EXPORTERS_ELSEWHERE, EXPORTERS_HERE
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.dynamodb.store import AwsStore
from tests.attack.stories import BASE, ONE, TWO, register
from tests.contract.aws import make_table, of_two_parts
from tests.contract.engines import BUCKET, OneAtATime, in_process
from tests.functions.deployed import Client, deployed
from tests.functions.lambda_api import lambda_api
from tests.unit.exporting.places import Connection, Place, places

URL, SOURCE, INFO = "schema.registry.url", "basic.auth.credentials.source", "basic.auth.user.info"
CREDENTIALS = {SOURCE: "USER_INFO", INFO: "sigla:top-secret"}


class Silence(OSError):
    """What a destination says that is not there."""


@dataclass
class AwaitedClock(SystemClock):
    """The system's, with some time added. slept: how long it was asked to sleep, which takes no time."""

    ahead_ms: int = 0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def now(self) -> int:
        return super().now() + self.ahead_ms


@dataclass
class Source:
    """A registry in AWS with a destination. away: whether that one is silent. shown: the credentials that came.

    busy: what that one says of when to come again, to each write before it takes one.
    """

    store: AwsStore
    clock: AwaitedClock
    target: Place
    told: list[Facts] = field(default_factory=list)
    away: bool = False
    busy: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        store = self.store
        self.registry = Registry(store.catalog, store.bodies, self.clock, secrets=store.secrets)

    def export(self, name: str, context: str = "") -> None:
        kind = ContextType.CUSTOM if context else ContextType.NONE
        config = {URL: "http://there.example", **CREDENTIALS}
        create_exporter(self.registry, ExporterDraft(name, context_type=kind, context=context, config=config))

    def turns(self) -> ExporterTurns:
        return ExporterTurns(self.store, self._enter, source="here", tell=self.told.append)

    def state(self, name: str) -> tuple[ExporterState, str]:
        progress = self.store.catalog.progress(name)
        assert progress is not None
        return progress.state, progress.trace

    def _enter(self, exporter: Exporter) -> HttpDestination:
        return destination(exporter, self.store.secrets, self.clock, connect=self._connect)

    def _connect(self, *_: Any, **__: Any) -> Any:
        def between(call: Any, carry_out: Callable[[], Any]) -> Any:
            if self.away:
                raise Silence("silent")
            if self.busy and call.name.startswith("POST"):
                return SimpleNamespace(status=429, headers={"Retry-After": self.busy.pop(0)}, body=b"")
            return carry_out()

        return Connection(self.target.client, between)


@pytest.fixture(scope="module")
def account() -> Iterator[Clients]:
    with in_process() as clients:
        yield clients


@pytest.fixture
def source(account: Clients, monkeypatch: pytest.MonkeyPatch) -> Iterator[Source]:
    of_two_parts(monkeypatch)
    services = {name: OneAtATime(getattr(account, name)) for name in ("dynamodb", "s3", "ssm")}
    locked = SimpleNamespace(**services)
    clock = AwaitedClock()
    store = AwsStore(locked, make_table(account.dynamodb), BUCKET, clock)  # type: ignore[arg-type]  # clients of it
    with closing(store), places(1) as (target,):
        yield Source(store, clock, target)


def subjects(place: Place, context: str = "") -> Any:
    return place("GET", f"/subjects?subjectPrefix={context}")


def test_every_exporter_goes_on_with_each_invocation(source: Source) -> None:
    """What was there, and what came since: to two contexts of one destination, with the ids of the source."""
    for verb in (register("base", BASE), register("s", TWO)):
        verb(source.registry)
    source.export("plain")
    source.export("other", ".other")
    turns = source.turns()
    assert turns({}) == source.told[-1]
    assert {source.state(name) for name in ("plain", "other")} == {(ExporterState.RUNNING, "")}
    register("later", ONE)(source.registry)
    done = turns({})
    assert (done["exporters"], done["failing"], done["behind"], done["left"]) == (2, 0, 0, 0)
    assert done["written"] >= 2
    assert subjects(source.target) == ["base", "later", "s"]
    assert subjects(source.target, ":.other:") == [":.other:base", ":.other:later", ":.other:s"]


def test_an_invocation_without_anything_to_do_says_so_in_one_line(source: Source) -> None:
    """The clock comes every two minutes; a registry with a paused exporter has none that runs."""
    source.export("e")
    pause_exporter(source.registry, "e")
    source.turns()({})
    (line,) = source.told
    assert {name: line[name] for name in ("event", "exporters", "written", "failing", "behind", "left", "lag_ms")} == {
        "event": "exporters",
        **dict.fromkeys(("exporters", "written", "failing", "behind", "left", "lag_ms"), 0),
    }


def test_a_destination_that_is_away_is_told_and_written_to_when_it_is_back(source: Source) -> None:
    """The alarm is about what goes on: first that it fails, after an hour that it is behind."""
    source.export("e")
    turns = source.turns()
    turns({})
    register("s", ONE)(source.registry)
    source.away = True
    assert {name: turns({})[name] for name in ("failing", "behind")} == {"failing": 1, "behind": 0}
    source.clock.ahead_ms = BEHIND_MS
    told = turns({})
    assert (told["failing"], told["behind"]) == (1, 1)
    assert told["lag_ms"] >= BEHIND_MS
    assert "does not answer" in source.state("e")[1]
    source.away = False
    assert {name: turns({})[name] for name in ("failing", "behind", "lag_ms")} == dict.fromkeys(
        ("failing", "behind", "lag_ms"), 0
    )
    assert source.state("e") == (ExporterState.RUNNING, "")
    assert subjects(source.target) == ["s"]


def test_a_destination_that_is_asked_too_much_is_written_to_after_a_short_pause(source: Source) -> None:
    """Registries in a cloud take so many requests a second; the clock alone would make minutes of each of these."""
    source.export("e")
    register("s", ONE)(source.registry)
    source.busy = ["", "7", "nonsense"]
    done = source.turns()({})
    assert (done["failing"], done["exporters"]) == (0, 1)
    assert source.clock.slept == [1, 7, 4]
    assert subjects(source.target) == ["s"]


@pytest.mark.parametrize(
    "said, slept",
    [(["31"], []), (["999999999"], []), ([""] * 9, [1, 2, 4, 8, 16])],
    ids=["half a minute", "30 years", "again and again"],
)
def test_a_long_pause_is_left_to_the_clock(source: Source, said: list[str], slept: list[float]) -> None:
    """There is one invocation at a time: as long as it sleeps, no other exporter is woken, and the time is paid."""
    source.export("e")
    register("s", ONE)(source.registry)
    source.busy = said
    turns = source.turns()
    assert turns({})["failing"] == 1
    assert source.clock.slept == slept
    assert "answers 429" in source.state("e")[1]
    source.busy = []
    assert turns({})["failing"] == 0


def test_no_pause_outlasts_an_invocation(source: Source) -> None:
    """Lambda would end it in the middle of its sleep, and ring."""
    source.export("e")
    register("s", ONE)(source.registry)
    source.busy = ["5"]
    short = SimpleNamespace(get_remaining_time_in_millis=lambda: LEFT_MS + 4_000, aws_request_id="1")
    assert source.turns()({}, short)["failing"] == 1
    assert not source.clock.slept


def test_an_invocation_ends_before_lambda_ends_it_and_the_next_one_goes_on(source: Source) -> None:
    """Whatever is cut off in the middle of a request is written again; nothing is lost that was said to be done."""
    for number in range(3):
        register(f"s{number}", ONE)(source.registry)
    source.export("e")
    turns = source.turns()
    short = SimpleNamespace(get_remaining_time_in_millis=lambda: LEFT_MS, aws_request_id="1")
    left = [turns({}, short)["left"] for _ in range(2)]
    assert left[0] == 1
    assert source.state("e")[0] is ExporterState.STARTING
    ample = SimpleNamespace(get_remaining_time_in_millis=lambda: LEFT_MS + 60_000, aws_request_id="2")
    assert turns({}, ample)["left"] == 0
    assert subjects(source.target) == ["s0", "s1", "s2"]


def test_one_exporter_that_fails_by_our_fault_holds_up_no_other(source: Source) -> None:
    """Its credentials cannot be read. The others are at work, and then the invocation fails, which rings."""
    register("s", ONE)(source.registry)
    source.export("a", ".a")
    source.export("b", ".b")
    enter = source._enter

    def without_credentials(exporter: Exporter) -> HttpDestination:
        if exporter.name == "a":
            raise StoreError("reading the credentials of the exporter a")
        return enter(exporter)

    turns = ExporterTurns(source.store, without_credentials, source="here", tell=source.told.append)
    with pytest.raises(Unfinished, match="1 of 2 exporters failed"):
        turns({})
    line, failure = source.told
    assert (line["exporters"], line["failing"]) == (2, 1)
    assert (failure["event"], failure["exporter"]) == ("failure", "a")
    assert "top-secret" not in json.dumps(source.told)
    assert subjects(source.target, ":.b:") == [":.b:s"]


def test_the_function_as_it_is_deployed_has_one_line_for_a_registry_without_exporters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It needs no setting but the place of the data."""
    with deployed(monkeypatch), closing(wiring.exporters_handler()) as handler:
        done = handler({"source": "aws.events"}, None)
    assert json.loads(capsys.readouterr().out) == done
    assert done["exporters"] == 0


@pytest.mark.parametrize(
    "where, words",
    [("", "Set exporters = true in the stage file"), (EXPORTERS_ELSEWHERE, "Send the request to the registry outside")],
)
def test_where_nothing_would_run_it_an_exporter_is_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, where: str, words: str
) -> None:
    """An exporter that never starts would be found out weeks later. It says which setting, or which door."""
    with deployed(monkeypatch, SIGLA_EXPORTERS=where) as deployment:
        client = Client(deployment.instance())
        told = client("POST", "/exporters", {"name": "e", "config": {URL: "http://there.example"}})
        assert (told.status, told.code) == (422, 42205)
        assert told.body["message"].startswith("Exporters cannot be changed here: ")
        assert words in told.body["message"]
        assert client.get("/exporters").body == []
        for method, verb in (("PUT", "/pause"), ("PUT", "/resume"), ("PUT", "/reset"), ("DELETE", "")):
            assert client(method, f"/exporters/e{verb}").code == 42205


def test_what_one_function_is_told_another_one_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The API's function keeps the exporter and its credentials, and answers neither with them nor with its work."""
    with deployed(monkeypatch, SIGLA_EXPORTERS=EXPORTERS_HERE) as deployment:
        client = Client(deployment.instance())
        config = {URL: "http://127.0.0.1:9", **CREDENTIALS}
        assert client("POST", "/exporters", {"name": "e", "config": config}).body == {"name": "e"}
        assert client.get("/exporters/e/config").body[INFO] == "[hidden]"
        with closing(wiring.exporters_handler()) as handler:
            assert handler({}, None)["failing"] == 1
        status = client.get("/exporters/e/status").body
        assert "http://127.0.0.1:9 does not answer" in status["trace"]
        assert "top-secret" not in json.dumps(status)


# --- what wakes it ---------------------------------------------------------------------------------------------------

NAME = "sigla-Exporters"


def woken(monkeypatch: pytest.MonkeyPatch, segments: int, *, there: bool = True) -> tuple[list[Any], list[Facts]]:
    """The events that the function got after a batch of the journal, and what was told of failures."""
    events: list[Any] = []
    told: list[Facts] = []
    with lambda_api({NAME: events.append} if there else {}) as endpoint:
        for name, value in {
            "AWS_ENDPOINT_URL_LAMBDA": endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }.items():
            monkeypatch.setenv(name, value)
        with closing(Clients(region="us-east-1")) as clients:
            waking = Waking(lambda *_: {"segments": segments}, clients.functions, NAME, tell=told.append)
            assert waking({}, None) == {"segments": segments}
    return events, told


def test_the_journal_wakes_exporters_when_it_has_told_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not when it has nothing to tell: its own clock would wake them for nothing."""
    assert woken(monkeypatch, 1) == ([json.loads(NEWS)], [])
    assert woken(monkeypatch, 0) == ([], [])


def test_a_journal_that_cannot_wake_them_has_done_its_work_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that failed would come again, and be told twice as late; exporters have a clock of their own."""
    events, (failure,) = woken(monkeypatch, 1, there=False)
    assert not events
    assert failure["event"] == "failure"


def test_a_region_that_is_closed_while_it_exports_writes_no_further_subject(
    source: Source, account: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one was promoted: from then on that one exports."""
    monkeypatch.setattr(fence, "COPIES", 2)
    monkeypatch.setattr(turns, "SAVED_MS", 0)
    for name in ("a", "b", "c"):
        register(name, ONE)(source.registry)
    source.export("plain")
    region, role = source.store.region, Role(1, RegionKind.PRIMARY, KnownBy("there"), open=True)
    assert region.set_role(None, role)
    table = source.store.tools.table.name
    elsewhere, make_equal = AwsRegion.of(account.dynamodb, table, source.clock), Subjects.make_equal

    def closed_behind_the_first(of: Subjects, subject: Subject, part: Any) -> None:
        make_equal(of, subject, part)
        if (seen := elsewhere.role()) is not None and seen.writes and subject.name:
            elsewhere.set_role(seen, replace(seen, open=False))

    monkeypatch.setattr(Subjects, "make_equal", closed_behind_the_first)
    source.turns()({})
    assert subjects(source.target) == ["a"]
    assert source.state("plain")[0] is ExporterState.STARTING
