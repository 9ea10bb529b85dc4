"""Every call of every page, held and then failed: it is told in its place, the rest is there, and a retry mends it."""

import dataclasses
import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.addresses import patterns
from tests.browser.conftest import Opens, settled
from tests.browser.pausing import Held, Pausing
from tests.browser.test_trouble import sign_in
from tests.protocol.clients.server import Server, run, serving

pytestmark = pytest.mark.process


@dataclass(frozen=True)
class Visit:
    """A page, and what is done there before its calls are looked at."""

    path: str
    presses: str = ""
    writes: tuple[str, str] | None = None

    def __str__(self) -> str:
        return " ".join(filter(None, (self.path, self.presses, *(self.writes or ()))))

    @property
    def does_something(self) -> bool:
        return bool(self.presses or self.writes)

    def begin(self, page: Page) -> None:
        if self.writes:
            page.get_by_label(self.writes[0]).fill(self.writes[1])
        if self.presses:
            page.get_by_role("button", name=self.presses, exact=True).first.click()


VISITS: Final = (
    Visit(""),
    Visit("subjects"),
    Visit("subjects/customers-value"),
    Visit("subjects/customers-value/versions/1"),
    Visit("edit"),
    Visit("subjects/orders-value/edit"),
    Visit("subjects/customers-value/edit", writes=("Find a schema to refer to", "addr")),
    Visit("subjects/orders-value/diff/1/2"),
    Visit("ids/default/2"),
    Visit("guids/{guid}"),
    Visit("contexts"),
    Visit("settings"),
    Visit("decode", "Decode", ("Bytes, as hex or base64", "00 00000001 06616263 04 3132")),
    Visit("log"),
    Visit("zones"),
    Visit("counters"),
    Visit("associations"),
    Visit("encryption"),
    Visit("subjects/orders-value", "Delete subject"),
    Visit("subjects/customers-value", "Delete version 2"),
    Visit("subjects/gone-value", "Restore subject"),
    Visit("subjects/gone-value", "Restore version 1"),
    Visit("subjects/gone-value", "Delete subject for good"),
    Visit("subjects/gone-value", "Delete version 1 for good"),
    Visit("subjects/orders-value", "Change config"),
    Visit("subjects/orders-value", "Change mode"),
    Visit("settings", "Change config"),
)
"""Each page and each question of a registry that is open. {guid}: of a schema that is there."""
OF_KEYS: Final = (
    Visit("keys"),
    Visit("keys", "New key"),
    Visit("keys", "Rotate bob"),
    Visit("keys", "Revoke bob"),
    Visit("log"),
)
OF_REGIONS: Final = (Visit("regions"),)

PLACE = """element => {
  const place = element.closest("dialog, td, fieldset, section:not(.problem), nav, main");
  const by = document.getElementById(place.getAttribute("aria-labelledby"))?.innerText;
  const named = place.getAttribute("aria-label") ?? by ?? place.closest("tr")?.querySelector("th").innerText;
  return [place.tagName, named, place.cellIndex].join(" ");
}"""
"""What people take for the place of something: the nearest part of the page that has a name."""

IS_THERE: Final = f"place => [...document.querySelectorAll('.problem')].some(each => ({PLACE})(each) === place)"
"""Whether a problem is told at a place; one that asks again by itself tells it again."""

FIRST: Final = re.compile(
    r"console/api/caller$|/versions\?limit=20(&version=\d+)?$|/versions/(latest|\d+\?deleted=true)$|/contexts\?limit=50$|/keks\?limit=20$"
    r"|/(config|mode)(/[^?]+)?$|/subjects\?subjectPrefix"
)
"""Calls whose answers say what else is asked."""
IN_FORCE: Final = "/console/api/in-force/"
"""One answer stands in two places: compatibility and mode."""


@dataclass
class Failed:
    """How a call fails. status: 0 for no answer at all. is_told: else a page may make something of it, too."""

    status: int
    body: str
    says: str | re.Pattern[str]
    is_told: bool = True

    @classmethod
    def refused(cls, status: int, code: int) -> "Failed":
        return cls(status, json.dumps({"error_code": code, "message": "Not this time"}), "Not this time")

    def fail(self, held: Held) -> None:
        if self.status:
            held.fulfill(status=self.status, body=self.body)
        else:
            held.abort()


def hollow(answer: Any) -> Any:
    """The same without any member of what is inside."""
    if isinstance(answer, dict):
        return {name: hollow_inside(value) for name, value in answer.items()}
    return hollow_inside(answer)


def hollow_inside(value: Any) -> Any:
    return (
        [hollow_inside(each) for each in value] if isinstance(value, list) else {} if isinstance(value, dict) else value
    )


def with_leaves(answer: Any, leaf: Callable[[Any], Any]) -> Any:
    if isinstance(answer, dict):
        return {name: with_leaves(value, leaf) for name, value in answer.items()}
    return [with_leaves(each, leaf) for each in answer] if isinstance(answer, list) else leaf(answer)


@dataclass
class Bent(Failed):
    """A call is answered, and the answer is then made another one; null in place of a text that is not JSON."""

    bend: Callable[[Any], Any] = lambda answer: answer

    def fail(self, held: Held) -> None:
        bent = None
        with suppress(ValueError):
            bent = self.bend(json.loads(held.fetch().text()))
        held.fulfill(status=self.status, body=json.dumps(bent))


NOT_SHOWN: Final = re.compile("answer cannot be shown|answer is not of a reg")
FAILED: Final = {
    "50001": Failed.refused(500, 50001),
    "forbidden": Failed.refused(403, 40301),
    "unauthorised": Failed.refused(401, 40101),
    "silence": Failed(0, "", "The registry does not answer"),
    "another shape": Failed(200, '{"shape": "wrong"}', NOT_SHOWN),
    "null": Failed(200, "null", NOT_SHOWN),
    "a list for an object": Bent(200, "", NOT_SHOWN, bend=lambda answer: {} if isinstance(answer, list) else [answer]),
    "members are missing": Bent(200, "", NOT_SHOWN, is_told=False, bend=hollow),
    "all is null inside": Bent(
        200, "", NOT_SHOWN, is_told=False, bend=lambda answer: with_leaves(answer, lambda _: None)
    ),
    "numbers are texts": Bent(
        200,
        "",
        NOT_SHOWN,
        is_told=False,
        bend=lambda answer: with_leaves(answer, lambda leaf: str(leaf) if type(leaf) is int else leaf),
    ),
    "a page of a proxy": Failed(200, "<html>Sign in to our network</html>", "The answer is not of a registry"),
}


def is_call(request: Request) -> bool:
    return request.resource_type in ("fetch", "xhr")


@dataclass
class Walker:
    """Looks at a visit once as it should be, then with each of its calls failing.

    page: of the console, signed in where that is asked for.
    """

    page: Page
    url: str

    def __post_init__(self) -> None:
        self.asked: list[str] = []
        self.pausing = Pausing(self.page)
        self.page.on("request", lambda each: self.asked.append(each.url) if is_call(each) else None)

    def open(self, visit: Visit) -> None:
        # A page that is left asks no more.
        self.page.goto("about:blank")
        self.asked.clear()
        self.page.goto(f"{self.url}/console/{visit.path}")
        expect(self.page.locator("h1")).to_be_visible()

    def calls(self, visit: Visit) -> tuple[list[str], list[str]]:
        """What is asked by the page, and then by what is done there; the page is left as it should be."""
        self.pausing.let_through()
        self.open(visit)
        settled(self.page)
        at_first = list(dict.fromkeys(self.asked))
        self.asked.clear()
        visit.begin(self.page)
        settled(self.page)
        return at_first, list(dict.fromkeys(self.asked))

    def headings(self) -> list[str]:
        return self.page.get_by_role("heading").all_inner_texts()

    def walk(self, visit: Visit, failed: Failed) -> None:
        at_first, then = self.calls(visit)
        whole, good = self.headings(), {*at_first, *then}
        for call in then if visit.does_something else at_first:
            self.fail(visit, call, failed, whole, good)

    def fail(self, visit: Visit, call: str, failed: Failed, whole: list[str], good: set[str]) -> None:
        about = f"{visit}: {call.removeprefix(self.url)}"
        gate = Gate(failed, is_open=visit.does_something)
        self.pausing.let_through()
        self.pausing.hold(call, gate.meet)
        self.open(visit)
        if visit.does_something:
            settled(self.page)
            gate.is_open = False
            visit.begin(self.page)
        eventually(self.page, gate.held)
        waiting = self.page.locator(".waiting")
        is_of_the_frame = call.endswith("/caller")
        if not is_of_the_frame:
            expect(waiting, about).to_have_count(len(gate.held) * (2 if IN_FORCE in call else 1))
        # Found and looked at in one step: what asks again by itself is drawn anew meanwhile.
        place = None if is_of_the_frame else waiting.evaluate_all(f"found => ({PLACE})(found.at(-1))")
        gate.fail()
        if failed.status == 401 and (is_of_the_frame or visit.does_something):
            # Whoever signs in begins the page anew, without its questions.
            expect(self.page.get_by_text("This registry asks for a key"), about).to_be_visible()
            return
        if not failed.is_told:
            settled(self.page)
            expect(self.page.locator("h1"), about).to_have_count(1)
            expect(self.page.get_by_text("This page could not be shown"), about).to_have_count(0)
            assert FIRST.search(call) or good <= {*self.asked}, f"{about} takes along {good - {*self.asked}}"
            return
        problem = self.page.locator(".problem").filter(has_text=failed.says)
        expect(problem.first, about).to_be_visible()
        expect(waiting, about).to_have_count(0)
        expect(self.page.get_by_text("This registry asks for a key"), about).to_have_count(int(failed.status == 401))
        assert self.page.locator("h1").count() == 1, about
        if place and not place.startswith("MAIN"):
            self.page.wait_for_function(IS_THERE, arg=place)
        if not FIRST.search(call):
            assert good <= {*self.asked}, f"{about} takes along {good - {*self.asked}}"
        gate.is_open = True
        if failed.status not in (401, 403):
            while count := problem.count():
                problem.first.get_by_role("button", name="Try again").click()
                expect(problem, about).not_to_have_count(count)
            settled(self.page)
            assert self.headings() == whole, about


@dataclass
class Gate:
    """Where a call is held, then failed, then let through."""

    failed: Failed
    held: list[Held] = dataclasses.field(default_factory=list)
    is_closed: bool = True
    is_open: bool = False

    def meet(self, each: Held) -> None:
        if self.is_open:
            each.continue_()
        elif self.is_closed:
            self.held.append(each)
        else:
            self.failed.fail(each)

    def fail(self) -> None:
        self.is_closed = False
        for each in self.held:
            self.failed.fail(each)


def eventually(page: Page, held: list[Held]) -> None:
    for _ in range(100):
        if held:
            return
        page.wait_for_timeout(50)
    raise AssertionError("the call was not made again")


HOW: Final = [
    pytest.param(failed, marks=() if name == "50001" else pytest.mark.soak, id=name) for name, failed in FAILED.items()
]
"""That each kind is told is tested with every run for the page of a subject; here with each call of each page."""
OFTEN: Final = (
    Visit(""),
    Visit("subjects/customers-value"),
    Visit("subjects/orders-value/edit"),
    Visit("contexts"),
    Visit("subjects/customers-value", "Delete version 2"),
    Visit("settings", "Change config"),
)
"""Those that ask most, and in every way: they are walked with every run, the others in the soak."""


@pytest.mark.parametrize("failed", HOW)
def test_each_call_of_a_registry_with_keys_fails_alone(opened: Opens, failed: Failed, tmp_path: Path) -> None:
    """The page of keys and its questions; whoever is refused stays signed in."""
    ada, _ = (
        run("keys", "create", name, "--role", role, "--data", str(tmp_path)).stdout.split()[-1]
        for name, role in (("ada", "admin"), ("bob", "reader"))
    )
    with serving(tmp_path, "--auth") as server:
        walker = Walker(opened(server, "keys"), server.url)
        sign_in(walker.page, "ada", ada)
        settled(walker.page)
        for visit in OF_KEYS:
            walker.walk(visit, failed)


@pytest.mark.soak  # the page asks again by itself, and may be between two questions
@pytest.mark.parametrize("failed", HOW)
def test_each_call_of_the_page_of_regions_fails_alone(opened: Opens, failed: Failed, tmp_path: Path) -> None:
    with serving(tmp_path / "a") as primary, serving(tmp_path / "b", "--follow", primary.url):
        walker = Walker(opened(primary, None), primary.url)
        for visit in OF_REGIONS:
            walker.walk(visit, failed)


@pytest.mark.parametrize("failed", HOW)
@pytest.mark.parametrize(
    "visit", [pytest.param(visit, marks=() if visit in OFTEN else pytest.mark.soak, id=str(visit)) for visit in VISITS]
)
def test_each_call_of_each_page_fails_alone(registry: Server, opened: Opens, visit: Visit, failed: Failed) -> None:
    guid = json.loads(registry.ask("GET", "/subjects/orders-value/versions/2").body)["guid"]
    walker = Walker(opened(registry, None), registry.url)
    walker.walk(dataclasses.replace(visit, path=visit.path.format(guid=guid)), failed)


def test_no_page_is_left_out() -> None:
    """A new page is walked through here, or this fails."""
    walked = [visit.path for visit in (*VISITS, *OF_KEYS, *OF_REGIONS)]
    is_walked = {each: re.compile(re.sub(r"\{\w+\}", "[^/]+", each)).fullmatch for each in patterns()}
    assert {each for each, fits in is_walked.items() if not any(map(fits, walked))} == set()
