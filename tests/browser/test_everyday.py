"""What people do with a browser that a page does not expect: reload, go back, two tabs, print, zoom, no JavaScript."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import WIDE_AND_LIGHT, Look, Opens, settled
from tests.browser.filled import field, record, register
from tests.browser.test_first_sight import locked, register_one
from tests.browser.test_pages import one_of_each, violations
from tests.browser.test_trouble import sign_in
from tests.protocol.clients.server import Server, run, serving

pytestmark = pytest.mark.process

COUNTED = "counters"
"""What this page shows is another thing at each look."""


def shown(page: Page) -> str:
    settled(page)
    return page.locator("main").inner_text()


def test_each_page_is_the_same_when_it_is_loaded_again(registry: Server, opened: Opens) -> None:
    page = opened(registry, None)
    for path in {*one_of_each()} - {COUNTED, ""}:
        page.goto(f"{registry.url}/console/{path}")
        before = shown(page)
        page.reload()
        assert shown(page) == before, path


def at(page: Page) -> int:
    return page.evaluate("scrollY")  # type: ignore[no-any-return] # Playwright says nothing of it


def test_one_comes_back_to_where_one_was(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects/customers-value")
    settled(page)
    page.mouse.wheel(0, 700)
    expect_at(page, 700)
    page.get_by_role("link", name="address-value version 1").first.click()
    expect(page.locator("h1")).to_have_text("address-value")
    expect_at(page, 0)
    page.go_back()
    expect(page.locator("h1")).to_have_text("customers-value")
    expect_at(page, 700)
    page.reload()
    expect_at(page, 700)
    page.go_forward()
    expect(page.locator("h1")).to_have_text("address-value")
    expect_at(page, 0)


def expect_at(page: Page, y: int) -> None:
    """Waits until the page stands there, and has taken note of it."""
    for _ in range(100):
        if at(page) == y and (page.evaluate("history.state?.y") or 0) == y:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"at {at(page)}, expected {y}")


def test_an_address_leads_to_a_part_of_a_page(registry: Server, opened: Opens) -> None:
    """As it is sent to a colleague; the part comes later than the page."""
    page = opened(registry, "subjects/customers-value#history")
    settled(page)
    expect(page.locator("#history")).to_be_in_viewport()


def test_who_signs_out_of_one_tab_is_still_signed_in_to_the_other(opened: Opens, tmp_path: Path) -> None:
    with locked(tmp_path) as (server, keys):
        page = opened(server)
        sign_in(page, "admin", keys["admin"])
        expect(page.locator("h1")).to_have_text("Overview")
        other = page.context.new_page()
        other.goto(f"{server.url}/console/subjects")
        sign_in(other, "reader", keys["reader"])
        expect(other.get_by_text("Nothing is registered yet.")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.locator("h1")).to_have_text("Sign in")
        other.reload()
        expect(other.get_by_text("Nothing is registered yet.")).to_be_visible()
        expect(other.locator("header")).to_contain_text("reader")


def test_what_was_written_outlives_a_key_that_ends_meanwhile_and_a_reload(opened: Opens, tmp_path: Path) -> None:
    """The server is started again: it knows at once that the key has ended, and not within a minute."""
    with locked(tmp_path) as (server, keys):
        register_one(opened(server), server, keys["admin"])
        secret = run("keys", "create", "ann", "--role", "writer", "--data", str(tmp_path)).stdout.split()[-1]
        writer = opened(server, "subjects/a/edit")
        sign_in(writer, "ann", secret)
        text = writer.get_by_label("Text of the schema")
        written = record("Written", field("while", "string", default=""))
        text.fill(written)
        expect(writer.locator(".verdict .fact")).to_be_visible()
    assert run("keys", "revoke", "ann", "--data", str(tmp_path)).returncode == 0
    with serving(tmp_path, "--auth", "--port", str(server.port)):
        text.fill(written + "\n")
        expect(writer.get_by_text("This registry asks for a key")).to_be_visible()
        expect(writer.get_by_text("What you have written is kept")).to_be_visible()
        sign_in(writer, "admin", keys["admin"])
        expect(text).to_have_value(written + "\n")
        writer.reload()
        expect(text).to_have_value(written + "\n")
        writer.get_by_role("button", name="Sign out").click()
        expect(writer.locator("h1")).to_have_text("Sign in")
        sign_in(writer, "admin", keys["admin"])
        expect(text).to_be_visible()
        assert written not in text.input_value(), "the next person at this tab does not see it"


FIELDS = 9000


def test_a_schema_of_a_megabyte_is_shown_and_can_be_edited(opened: Opens) -> None:
    """It is not laid out to be edited: that would make it longer than a registry takes."""
    fields = [field(f"field_number_{at:05}", ["null", "string"], default=None, doc="x" * 20) for at in range(FIELDS)]
    big = record("Big", *fields)
    assert 900_000 < len(big) < 1_000_000
    with serving() as server:
        register(server, "big-value", big)
        page = opened(server, "subjects/big-value")
        page.set_default_timeout(60_000)
        expect(page.locator("pre .line")).to_have_count(5000, timeout=60_000)
        expect(page.get_by_role("button", name=re.compile(r"^Show all \d{5}$"))).to_be_visible()
        page.goto(f"{server.url}/console/subjects/big-value/edit")
        expect(page.get_by_text("It is version 1 already")).to_be_visible(timeout=60_000)
        text = page.get_by_label("Text of the schema")
        text.evaluate("field => field.setSelectionRange(field.value.length - 2, field.value.length - 2)")
        text.press_sequentially(",")
        expect(page.locator(".verdict.bad")).to_be_visible(timeout=60_000)


RIGHT_TO_LEFT = ("הזמנות-value", "طلبات-value", "abc\u202edef-value")


def test_a_name_that_is_read_from_the_right_leaves_its_surroundings_as_they_are(opened: Opens, look: Look) -> None:
    with serving() as server:
        for number, name in enumerate(RIGHT_TO_LEFT):
            register(server, name, record(f"R{number}"))
        page = opened(server, "log", look)
        for name in RIGHT_TO_LEFT:
            link = page.get_by_role("link", name=name).first
            expect(link).to_have_css("unicode-bidi", "isolate")
            link.click()
            expect(page.locator("h1")).to_have_text(name)
            settled(page)
            assert page.evaluate("document.documentElement.scrollWidth") == look.width
            page.go_back()


def test_a_page_is_printed_without_what_can_be_clicked(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects/customers-value")
    settled(page)
    page.emulate_media(media="print")
    expect(page.locator("h1")).to_be_visible()
    expect(page.get_by_role("region", name="Text of version 2")).to_be_visible()
    for gone in (page.get_by_role("navigation", name="Pages"), page.get_by_role("button", name="Delete subject")):
        expect(gone).to_be_hidden()
    beyond = "[...document.querySelectorAll('.scroll, pre')].filter(each => each.scrollHeight > each.clientHeight + 1)"
    assert page.evaluate(f"{beyond}.length") == 0


@pytest.mark.parametrize("width", [pytest.param(640, marks=pytest.mark.soak), 320], ids=["200 %", "400 %"])
def test_a_page_that_is_magnified_stays_within_its_window(
    registry: Server, opened: Opens, packages: Path, width: int
) -> None:
    """WCAG 2.2, 1.4.4 and 1.4.10: so much is left of a window of 1,280 pixels."""
    page = opened(registry, None, look=Look(width, 400, "light"))
    for path in ("", "subjects", "subjects/customers-value", "subjects/orders-value/edit", "settings", "decode"):
        page.goto(f"{registry.url}/console/{path}")
        settled(page)
        assert violations(page, packages) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") == width, path


MOVING = """() => [...document.querySelectorAll("*")].filter(each => {
  const {transitionDuration, animationDuration} = getComputedStyle(each);
  return transitionDuration !== "0s" || animationDuration !== "0s";
}).length"""


def test_nothing_moves_for_those_who_want_it_still(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects/customers-value")
    settled(page)
    assert page.evaluate(MOVING) > 0
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(MOVING) == 0


def test_without_javascript_a_sentence_says_what_is_needed(registry: Server, browser: Browser) -> None:
    size: Any = {"width": WIDE_AND_LIGHT.width, "height": WIDE_AND_LIGHT.height}
    with browser.new_context(viewport=size, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{registry.url}/console/subjects")
        expect(page.locator("noscript p")).to_contain_text("The console needs JavaScript.")
        expect(page.locator("noscript p")).to_be_visible()
        expect(page.get_by_text("The console is not here yet.")).to_be_hidden()
