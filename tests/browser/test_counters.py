"""The page of counters: what a server has counted, and how fast it goes on, without a question too many."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import Come, Opens, settled
from tests.browser.filled import SCRIPTS
from tests.protocol.clients.server import Server
from tests.waiting import eventually

pytestmark = pytest.mark.process

HIDE = """is => {
  Object.defineProperty(document, "visibilityState", {configurable: true, get: () => is ? "hidden" : "visible"});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def row(page: Page, name: str, *, exact: bool = False) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name, exact=exact))


def step_until(page: Page, true: Callable[[], object]) -> None:
    """The page's own clock, which stands still, goes on in small steps until something is true."""

    def look() -> object:
        page.clock.run_for(100)
        return true()

    eventually(look)


def looks(page: Page) -> list[str]:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/metrics") else None)
    return asked


def test_how_many_requests_come_and_how_long_they_take(come: Come, registry: Server) -> None:
    way = come(registry, "")
    page = way.page
    page.clock.install()
    for _ in range(3):
        registry.ask("GET", "/schemas/ids/1")
    way.choose(page.get_by_role("link", name="Counters"))
    reads = row(page, "GET /schemas/ids/{id}", exact=True)
    step_until(page, lambda: reads.count() and re.search(r"\d+\.\d ms", reads.inner_text()))
    before = int(reads.get_by_role("cell").nth(0).inner_text())
    for _ in range(10):
        registry.ask("GET", "/schemas/ids/1")
    step_until(page, lambda: reads.get_by_role("cell").nth(0).inner_text() == str(before + 10))
    assert float(reads.get_by_role("cell").nth(3).inner_text()) > 0, "a rate"
    expect(row(page, "Schemas registered.")).to_be_visible()
    expect(row(page, "When the process was started")).to_contain_text("UTC")


def test_it_looks_every_five_seconds_while_it_is_seen(registry: Server, opened: Opens) -> None:
    page = opened(registry)
    settled(page)
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(days=1))
    asked = looks(page)
    with page.expect_response("**/metrics"):
        page.get_by_role("link", name="Counters").click()
        step_until(page, lambda: asked)
    step_until(page, lambda: row(page, "Schemas registered.").count())
    page.clock.run_for(3_000)
    assert len(asked) == 1
    with page.expect_response("**/metrics"):
        page.clock.run_for(2_000)
    page.evaluate(HIDE, True)
    page.clock.run_for(60_000)
    assert len(asked) == 2, "a hidden page does not look"
    with page.expect_response("**/metrics"):
        page.evaluate(HIDE, False)
        page.clock.run_for(10)
    page.evaluate(HIDE, True)
    page.evaluate(HIDE, False)
    page.clock.run_for(4_000)
    assert len(asked) == 3, "also not sooner because it was hidden"
    page.get_by_role("link", name="Contexts").click()
    step_until(page, lambda: page.get_by_role("heading", name="Contexts").count())
    page.clock.run_for(60_000)
    assert len(asked) == 3


@pytest.mark.parametrize("status, told", [(500, "Not this time"), (403, "Not this time"), (0, "does not answer")])
def test_what_fails_is_told_and_what_was_shown_stays(registry: Server, opened: Opens, status: int, told: str) -> None:
    page = opened(registry, None)
    page.clock.install()
    page.goto(f"{registry.url}/console/counters")
    expect(row(page, "Schemas registered.")).to_be_visible()
    body = '{"error_code": 50001, "message": "Not this time"}'

    def fail(route: Route) -> None:
        if status:
            route.fulfill(status=status, body=body)
        else:
            route.abort()

    page.route("**/metrics", fail)
    step_until(page, lambda: page.locator(".problem").count())
    expect(page.locator(".problem")).to_contain_text(told)
    expect(row(page, "Schemas registered.")).to_be_visible()


def test_a_server_that_was_started_again_counts_anew_and_nothing_is_run(registry: Server, opened: Opens) -> None:
    page = opened(registry, None)
    page.clock.install()
    started = 1000
    told = (
        "# HELP process_start_time_seconds When.\n# TYPE process_start_time_seconds gauge\n"
        "process_start_time_seconds {}\n"
        '# HELP x_total {}\n# TYPE x_total counter\nx_total{{a="{}"}} {}\n'
    )
    script = SCRIPTS[1].replace('"', '\\"')
    count = 500

    def answer(route: Route) -> None:
        route.fulfill(body=told.format(started, SCRIPTS[0], script, count))

    page.route("**/metrics", answer)
    page.goto(f"{registry.url}/console/counters")
    counted = row(page, SCRIPTS[0])
    expect(counted).to_contain_text(SCRIPTS[1])
    expect(counted.get_by_role("cell").nth(0)).to_have_text("500")
    count = 550
    step_until(page, lambda: counted.get_by_role("cell").nth(0).inner_text() == "550")
    assert float(counted.get_by_role("cell").nth(1).inner_text()) > 0
    started, count = 2000, 3
    step_until(page, lambda: counted.get_by_role("cell").nth(0).inner_text() == "3")
    expect(counted.get_by_role("cell").nth(1)).to_have_text("")
    assert page.evaluate("document.documentElement.dataset.hit") is None
