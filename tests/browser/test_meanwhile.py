"""What changes while a page is open: by another tab, or by an answer that comes when its question is closed."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Opens, settled
from tests.browser.filled import field, record, register
from tests.protocol.clients.server import Server, serving

pytestmark = pytest.mark.process

KEY = field("id", "string")
MINE, THEIRS = field("mine", "string", default=""), field("theirs", "string", default="")


@pytest.fixture(scope="module")
def bench() -> Iterator[Server]:
    with serving() as server:
        yield server


def registering(page: Page) -> None:
    page.get_by_role("button", name="Register", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Register").click()


def test_what_another_tab_has_registered_meanwhile_is_not_undone_unseen(bench: Server, opened: Opens) -> None:
    """The registry takes a schema that lacks a field with a default: that it was not meant, a person alone can tell."""
    register(bench, "shared", record("Shared", KEY))
    page = opened(bench, "subjects/shared/edit")
    text = page.get_by_label("Text of the schema")
    text.fill(record("Shared", KEY, MINE))
    expect(page.get_by_text("It would be accepted, as version 2")).to_be_visible()
    register(bench, "shared", record("Shared", KEY, THEIRS))
    registering(page)
    question = page.get_by_role("dialog")
    expect(question.get_by_role("alert")).to_contain_text("The versions of this subject are other ones by now")
    expect(question).to_contain_text("Version 2 was registered since it was begun. What that has changed is not in it.")
    expect(question.get_by_role("heading")).to_have_text("Register version 3 of shared?")
    question.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="Changes since version 2")).to_be_visible()
    expect(page.locator("tr.removed")).to_contain_text("theirs")
    said = page.get_by_text("Version 2 was registered since this was begun from version 1.")
    page.reload()
    expect(said).to_be_visible()
    page.get_by_role("link", name="Version 1 to 2").click()
    expect(page.get_by_role("row", name=re.compile("added field .*theirs"))).to_be_visible()
    page.go_back()
    said.locator("xpath=..").get_by_role("button", name="Close").click()
    expect(said).to_have_count(0)
    text.fill(record("Shared", KEY, THEIRS, MINE))
    expect(page.get_by_text("It would be accepted, as version 3")).to_be_visible()
    registering(page)
    expect(page.get_by_text("Version 3 is registered, with the id")).to_be_visible()


def test_a_newest_version_that_is_not_told_is_asked_for_once(bench: Server, opened: Opens) -> None:
    """Not again whenever a verdict names a newer one than none: what is written stays where it is."""
    register(bench, "untold", record("Untold", KEY))
    asked: list[Route] = []
    page = opened(bench, None)

    def fail(route: Route) -> None:
        asked.append(route)
        route.fulfill(status=500, json={"error_code": 50001, "message": "Not this time"})

    page.route("**/versions/latest", fail)
    page.goto(f"{bench.url}/console/subjects/untold/edit")
    for more in ((MINE,), (MINE, THEIRS)):
        with page.expect_response("**/verdict"):
            page.get_by_label("Text of the schema").fill(record("Untold", KEY, *more))
        expect(page.get_by_text("It would be accepted, as version 2")).to_be_visible()
    assert len(asked) == 1


def test_a_change_goes_on_when_its_question_is_closed_and_the_page_tells_what_came_of_it(
    bench: Server, opened: Opens
) -> None:
    """Who closes it may think that nothing was done."""
    register(bench, "slow", record("Slow", KEY))
    held: list[Route] = []
    page = opened(bench, None)
    page.route(
        "**/subjects/slow", lambda route: held.append(route) if route.request.method == "DELETE" else route.fallback()
    )
    page.goto(f"{bench.url}/console/subjects/slow")
    settled(page)
    for fails in (True, False):
        page.get_by_role("button", name="Delete subject").click()
        question = page.get_by_role("dialog")
        question.get_by_role("button", name="Delete").click()
        if fails:
            expect(question).to_contain_text(
                "The registry is slow to answer; still waiting. Closing this stops nothing"
            )
        expect(question.get_by_role("button", name="Cancel")).to_have_count(0)
        page.keyboard.press("Escape")
        expect(question).to_have_count(0)
        if fails:
            held.pop().abort()
            expect(page.locator(".notice.bad")).to_contain_text("Delete slow? The registry does not answer.")
            expect(page.locator(".notice.bad")).to_contain_text("It may have made the change")
        else:
            held.pop().continue_()
            expect(page.get_by_text("slow is soft-deleted, with 1 version.")).to_be_visible()
            expect(page.locator(".notice.bad")).to_have_count(0)
