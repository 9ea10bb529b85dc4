"""What people who had never seen the console stumbled over, in a wide window and on a telephone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from sigla.auth import api_keys
from sigla.auth.rotation import rotate
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.browser.conftest import NARROW_AND_DARK, Look, Opens, settled
from tests.browser.filled import field, record, register
from tests.browser.test_trouble import sign_in
from tests.protocol.clients.server import Server, run, serving

pytestmark = pytest.mark.process

WITH_TABLES = (
    "subjects",
    "subjects/customers-value",
    "subjects/orders-value/diff/1/2",
    "contexts",
    "settings",
    "log",
    "counters",
    "associations",
    "encryption",
)

CELLS = """() => [...document.querySelectorAll("table.rows td")]
  .filter(cell => cell.colSpan === 1 && cell.innerText.trim())
  .map(cell => {
    const told = getComputedStyle(cell, "::before").content.replace(/^"(.*?)"( \\/ "")?$/, "$1");
    const head = cell.closest("table").tHead.rows[0].cells[cell.cellIndex].innerText;
    return [told, cell.querySelector("button") ? "" : head];
  })"""
"""What stands before each cell that says something, and the head of its column."""

WIDER = """() => [...document.querySelectorAll(".scroll:has(table.rows)")].filter(
  each => each.scrollWidth > each.clientWidth).map(each => each.getAttribute("aria-label"))"""


def expect_cards(page: Page, path: str) -> None:
    cells = page.evaluate(CELLS)
    assert cells, path
    assert [told for told, head in cells if head and told != head] == [], path
    assert page.evaluate(WIDER) == [], path


def test_on_a_telephone_each_cell_says_what_it_is_and_nothing_is_beside_the_window(
    registry: Server, opened: Opens
) -> None:
    page = opened(registry, None, look=NARROW_AND_DARK)
    for path in WITH_TABLES:
        page.goto(f"{registry.url}/console/{path}")
        settled(page)
        expect_cards(page, path)


def test_on_a_telephone_the_page_begins_below_a_few_lines(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects", NARROW_AND_DARK)
    settled(page)
    assert box(page, "header")["height"] <= 120


def box(page: Page, selector: str) -> Any:
    return page.locator(selector).bounding_box()


def test_on_a_telephone_the_verdict_is_seen_together_with_the_text(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects/orders-value/edit", NARROW_AND_DARK)
    expect(page.get_by_text("It is version 2 already")).to_be_visible()
    page.get_by_label("Text of the schema").fill("\n".join("{}" for _ in range(200)))
    expect(page.locator(".verdict.bad")).to_be_visible()
    verdict = box(page, ".verdict .fact")
    assert verdict["y"] + verdict["height"] - box(page, ".editor")["y"] < NARROW_AND_DARK.height


@contextmanager
def locked(folder: Path) -> Iterator[tuple[Server, dict[str, str]]]:
    """A registry that asks for keys, with a subject, and the secrets of an administrator and a reader."""
    keys = {
        role: run("keys", "create", role, "--role", role, "--data", str(folder)).stdout.split()[-1]
        for role in ("admin", "reader")
    }
    with serving(folder, "--auth") as server:
        yield server, keys


def register_one(page: Page, server: Server, secret: str) -> None:
    """By the console, as the administrator."""
    sign_in(page, "admin", secret)
    page.goto(f"{server.url}/console/subjects/a/edit")
    page.get_by_role("button", name="Register").click()
    page.get_by_role("dialog").get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", name="Version 1", exact=True)).to_be_visible()


def test_who_is_not_signed_in_sees_the_form_alone(opened: Opens, look: Look, tmp_path: Path) -> None:
    """Also after a secret that was wrong."""
    with locked(tmp_path) as (server, keys):
        page = opened(server, "", look)
        for _ in range(2):
            expect(page.get_by_text("This registry asks for a key")).to_be_visible()
            settled(page)
            expect(page.locator("h1")).to_have_text("Sign in")
            expect(page.locator(".problem")).to_have_count(0)
            expect(page.locator("header")).to_have_text("Sigla")
            sign_in(page, "admin", "wrong")
            expect(page.get_by_text("does not know the key admin")).to_be_visible()
        sign_in(page, "admin", keys["admin"])
        expect(page.locator("h1")).to_have_text("Overview")
        expect(page.locator("header")).to_contain_text("admin")


def test_a_reader_is_told_why_tokens_stand_where_names_are_expected(opened: Opens, tmp_path: Path) -> None:
    with locked(tmp_path) as (server, keys):
        admin = opened(server)
        register_one(admin, server, keys["admin"])
        why = "Names are told to administrators"
        expect(admin.locator("dd", has_text="UTC")).to_contain_text("by admin")
        expect(admin.get_by_text(why)).to_have_count(0)
        page = opened(server, "subjects/a")
        sign_in(page, "reader", keys["reader"])
        expect(page.get_by_role("region", name="History").first).to_contain_text(re.compile("p[0-9a-f]{16}"))
        expect(page.get_by_text(why)).to_be_visible()
        expect(page.locator("dd", has_text="UTC")).to_contain_text(re.compile("by p[0-9a-f]{16}"))
        page.goto(f"{server.url}/console/")
        settled(page)
        expect(page.locator(".problem")).to_have_count(0)
        expect(page.get_by_text("Recent changes")).to_have_count(0)


def test_keys_on_a_telephone_have_their_names_beside_their_buttons(opened: Opens, tmp_path: Path) -> None:
    with locked(tmp_path) as (server, keys):
        page = opened(server, "keys", NARROW_AND_DARK)
        sign_in(page, "admin", keys["admin"])
        row = page.get_by_role("row", name=re.compile("^reader"))
        row.get_by_role("button", name="Revoke").scroll_into_view_if_needed()
        expect_cards(page, "keys")
        expect(row.get_by_role("rowheader")).to_be_in_viewport(ratio=1)


def test_a_row_of_a_few_wide_cells_says_what_they_are_too(opened: Opens, tmp_path: Path) -> None:
    """A damaged key has one cell for all that is not known of it, and its button stands under no other head."""
    with locked(tmp_path) as (server, keys):
        folder = EmbeddedKeys(tmp_path)._folder
        (folder / "broken.json").write_bytes(b"{")
        page = opened(server, "keys", NARROW_AND_DARK)
        sign_in(page, "admin", keys["admin"])
        cell = page.get_by_role("cell").filter(has=page.get_by_role("button", name="Revoke broken"))
        expect(cell).to_have_attribute("data-column", "")


def test_the_buttons_of_keys_are_in_a_wide_window_whoever_made_them(opened: Opens, tmp_path: Path) -> None:
    """People have long names where an issuer knows them; and prefixes stand in one line each."""
    with locked(tmp_path) as (server, keys):
        who, now, kept = "a.person.with.a.long.name@login.example.com", SystemClock().now(), EmbeddedKeys(tmp_path)
        api_keys.create(
            kept, "billing-service-consumer-of-production", "writer", ["invoices-"], now=now, deletes=True, by=who
        )
        rotate(kept, "billing-service-consumer-of-production", now=now, lasts_ms=86_400_000)
        page = opened(server, "keys")
        sign_in(page, "admin", keys["admin"])
        expect(page.get_by_role("row", name="billing")).to_contain_text(who)
        assert page.evaluate(WIDER) == []
        prefix = page.get_by_text("invoices-", exact=True)
        assert prefix.evaluate("each => each.offsetHeight < 2 * parseFloat(getComputedStyle(each).fontSize)")


def test_what_is_below_on_the_page_of_a_subject_is_led_to_from_its_top(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects/customers-value")
    settled(page)
    for name in ("Fields", "Compatibility and mode", "Usage", "History"):
        page.get_by_role("navigation", name="On this page").get_by_role("link", name=name).click()
        target = page.evaluate("document.getElementById(location.hash.slice(1)).getBoundingClientRect().top")
        assert 0 <= target < 800, name
    page.reload()
    expect(page.locator("h1")).to_have_text("customers-value")


def test_the_search_of_the_header_is_on_every_page(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects?q=orders")
    page.get_by_role("searchbox", name="Find subjects").fill("clicks")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="clicks-value")).to_be_visible()
    expect(page.get_by_role("link", name="orders-value")).to_have_count(0)
    page.get_by_role("searchbox", name="Find subjects").fill("no such thing")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No subject matches.")).to_be_visible()


@pytest.mark.parametrize("path", ["ids/default/2", "guids/none", "edit"])
def test_a_page_that_is_under_a_place_marks_it(registry: Server, opened: Opens, path: str) -> None:
    page = opened(registry, path)
    settled(page)
    current = page.get_by_role("navigation", name="Pages").locator("[aria-current]")
    expect(current).to_have_text(["Subjects"])


def test_settings_say_what_the_default_context_has(registry: Server, opened: Opens) -> None:
    page = opened(registry, "settings")
    default = page.get_by_role("region", name="Default context")
    expect(default).to_contain_text("BACKWARD")
    expect(default).to_contain_text("READWRITE")


def test_buttons_that_delete_look_like_it(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects/address-value")
    settled(page)
    red = "element => getComputedStyle(element).color"
    safe = page.get_by_role("button", name="Change config").evaluate(red)
    for name in ("Delete subject", "Delete version 1"):
        button = page.get_by_role("button", name=name, exact=True)
        assert button.evaluate(red) != safe
        button.click()
        does = page.get_by_role("dialog").get_by_role("button", name="Delete")
        expect(does).to_have_class("grave")
        page.keyboard.press("Escape")


def test_what_is_not_there_is_not_counted_as_refused(registry: Server, opened: Opens) -> None:
    """Clients ask whether a subject has a level of its own."""
    page = opened(registry, None)
    assert page.request.get(f"{registry.url}/config/customers-value").status == 404
    page.goto(f"{registry.url}/console/counters")
    head = page.get_by_role("rowheader", name="GET /config/{subject}", exact=True)
    row = page.get_by_role("row").filter(has=head)
    expect(row.get_by_role("cell").nth(1)).to_have_text(re.compile("^[1-9]"))
    expect(row.get_by_role("cell").nth(2)).to_have_text("0")


def test_the_overview_tells_how_much_there_is_and_what_was_changed_last(registry: Server, opened: Opens) -> None:
    page = opened(registry)
    expect(page.get_by_role("region", name="Schemas", exact=True).locator(".fact")).to_have_text(re.compile(r"^\d\d+$"))
    rows = page.get_by_role("region", name="Recent changes").first.get_by_role("row")
    expect(rows).to_have_count(6)
    expect(rows.nth(1)).to_contain_text(re.compile(r"topic-\d\d-value"))


def test_code_in_the_small_print_of_usage_is_code(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects/customers-value")
    usage = page.get_by_role("region", name="Usage")
    usage.locator("summary").click()
    expect(usage.locator("li code").first).to_be_visible()
    assert "`" not in usage.inner_text()


def test_where_no_key_is_asked_for_anyone_is_not_called_a_token(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects/orders-value")
    settled(page)
    expect(page.get_by_role("region", name="History", exact=True).first).to_contain_text("anyone")
    expect(page.get_by_text("A token as")).to_have_count(0)


def test_an_alias_says_whose_versions_are_shown_and_deleted(opened: Opens) -> None:
    with serving() as server:
        register(server, "v", '"int"')
        server.ask("PUT", "/config/w", {"alias": "v"})
        page = opened(server, None)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url.removeprefix(server.url)))
        page.goto(f"{server.url}/console/subjects/w")
        settled(page)
        # To follow an alias costs a trip each time, and it is done once.
        assert {"/console/api/subjects/w/versions?limit=20", "/subjects/v/versions/1?deleted=true"} <= {*asked}
        assert "/subjects/v/history?limit=21" in asked
        expect(page.get_by_text("This name is an alias. It leads to v,")).to_be_visible()
        page.get_by_role("button", name="Delete subject").click()
        expect(page.get_by_role("heading", name="Delete v?")).to_be_visible()
        page.goto(f"{server.url}/console/subjects/v")
        settled(page)
        expect(page.get_by_text("This name is an alias")).to_have_count(0)


@pytest.mark.parametrize(
    "path, asked, says",
    [
        ("regions", "**/console/api/regions*", "This registry is in one region alone."),
        ("log", "**/console/api/log*", "In AWS no function may read the whole log"),
        ("counters", "**/metrics", "A function counts for CloudWatch"),
    ],
)
def test_what_a_registry_does_not_have_is_said_where_its_page_is_opened(
    registry: Server, opened: Opens, path: str, asked: str, says: str
) -> None:
    """An address may have been sent by a colleague who has it."""
    page = opened(registry, None)
    absent = {"error_code": 404, "message": "HTTP 404 Not Found"}
    page.route(asked, lambda route: route.fulfill(status=404, json=absent))
    page.goto(f"{registry.url}/console/{path}")
    expect(page.get_by_text(says)).to_be_visible()
    settled(page)
    expect(page.locator(".problem")).to_have_count(0)


def test_what_a_picture_is_about_is_in_sight(opened: Opens, look: Look) -> None:
    """Also where others refer to it by way of others, and stand left of it."""
    with serving() as server:
        register(server, "s0", record("R0", field("x", "int")))
        for at in range(1, 8):
            referred = [{"name": f"com.acme.R{at - 1}", "subject": f"s{at - 1}", "version": 1}]
            register(server, f"s{at}", record(f"R{at}", field("x", f"com.acme.R{at - 1}")), references=referred)
        page = opened(server, "subjects/s0", look)
        settled(page)
        picture = page.get_by_role("region", name="References from left to right")
        frame, own = picture.bounding_box(), picture.get_by_role("link", name="s0 version 1").bounding_box()
        assert frame is not None
        assert own is not None
        assert frame["x"] <= own["x"]
        assert own["x"] + own["width"] <= frame["x"] + frame["width"]


def test_whoever_mistyped_a_secret_does_not_type_the_name_again(opened: Opens, tmp_path: Path) -> None:
    run("keys", "create", "ada", "--role", "admin", "--data", str(tmp_path))
    with serving(tmp_path, "--auth") as server:
        page = opened(server)
        sign_in(page, "ada", "wrong")
        expect(page.get_by_text("does not know the key ada")).to_be_visible()
        expect(page.get_by_label("Name of the key")).to_have_value("ada")
        expect(page.get_by_label("Secret")).to_have_value("")


def test_what_is_typed_into_the_login_stays_when_an_answer_comes(opened: Opens, tmp_path: Path) -> None:
    """The form is drawn anew by each answer that the page still waits for."""
    run("keys", "create", "ada", "--role", "admin", "--data", str(tmp_path))
    with serving(tmp_path, "--auth") as server:
        page = opened(server, None)
        held: list[Route] = []
        page.route("**/console/api/caller", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks what it is given
        page.goto(f"{server.url}/console/subjects")
        name = page.get_by_label("Name of the key")
        name.fill("ada")
        expect(page.locator("header[aria-busy=true]")).to_have_count(1)
        for each in held:
            each.continue_()
        expect(page.locator("header[aria-busy=true]")).to_have_count(0)
        expect(name).to_have_value("ada")


def test_a_new_subject_has_no_page_to_lead_to(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects/%3A.eu%3Anew-value/edit")
    settled(page)
    expect(page.get_by_text("in the context .eu")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("link", name="new-value")).to_have_count(0)
    page.goto(f"{registry.url}/console/subjects/orders-value/edit")
    expect(page.get_by_role("main").get_by_role("link", name="orders-value")).to_be_visible()


def test_the_byte_to_blame_is_in_sight(registry: Server, opened: Opens, look: Look) -> None:
    page = opened(registry, "decode", look)
    page.get_by_label("Bytes, as hex or base64").fill("00 00000001 06616263 04 3132 06616263")
    page.get_by_role("button", name="Decode").click()
    blamed, frame = page.locator("mark"), page.get_by_role("region", name="Bytes in hex")
    expect(blamed).to_be_visible()
    inner, outer = blamed.bounding_box(), frame.bounding_box()
    assert inner is not None
    assert outer is not None
    assert outer["x"] <= inner["x"]
    assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]


def test_buttons_of_a_row_stand_side_by_side(opened: Opens, tmp_path: Path) -> None:
    """Also where a key is long in words."""
    secret = run("keys", "create", "ada", "--role", "admin", "--data", str(tmp_path)).stdout.split()[-1]
    run("keys", "create", "bob", "--role", "reader", "--data", str(tmp_path))
    run("keys", "rotate", "bob", "--data", str(tmp_path))
    with serving(tmp_path, "--auth") as server:
        page = opened(server, "keys")
        sign_in(page, "ada", secret)
        boxes = [page.get_by_role("button", name=f"{does} bob").bounding_box() for does in ("Rotate", "Revoke")]
        assert len({box["y"] for box in boxes if box}) == 1


@pytest.mark.parametrize(
    "path, label", [("subjects", "Part of the name"), ("log", "Of one subject"), ("associations", "Name of a topic")]
)
def test_what_is_typed_into_a_search_stays_when_an_answer_comes(
    registry: Server, opened: Opens, path: str, label: str
) -> None:
    page = opened(registry, None)
    held: list[Route] = []
    page.route("**/console/api/caller", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks what it is given
    page.goto(f"{registry.url}/console/{path}")
    field = page.get_by_label(label)
    field.fill("abc")
    expect(page.locator("header[aria-busy=true]")).to_have_count(1)
    for each in held:
        each.continue_()
    settled(page)
    expect(field).to_have_value("abc")
