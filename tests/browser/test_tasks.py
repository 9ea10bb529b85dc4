"""What people come for: each task by mouse on a wide light page, and by keyboard on a narrow dark one."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NARROW_AND_DARK, WIDE_AND_LIGHT, Opens
from tests.protocol.clients.server import Server

pytestmark = pytest.mark.process

Choose = Callable[[Page, Locator], None]


def click(_: Page, target: Locator) -> None:
    target.click()


def reach(page: Page, target: Locator) -> None:
    """By Tab and Enter alone."""
    expect(target).to_be_visible()
    for _ in range(120):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"no way leads to {target}")


@pytest.fixture(params=[(click, WIDE_AND_LIGHT), (reach, NARROW_AND_DARK)], ids=["mouse", "keyboard"])
def way(request: pytest.FixtureRequest, registry: Server, opened: Opens) -> Callable[[str], tuple[Page, Choose]]:
    choose, look = request.param
    return lambda path: (opened(registry, path, look), choose)


Way = Callable[[str], tuple[Page, Choose]]


def heading(page: Page) -> Locator:
    return page.locator("h1")


def test_a_subject_is_found_by_its_name_from_any_page(way: Way) -> None:
    page, choose = way("contexts")
    choose(page, page.get_by_role("searchbox", name="Find subjects"))
    page.keyboard.type("ERS-V")
    page.keyboard.press("Enter")
    choose(page, page.get_by_role("row", name="customers-value default").get_by_role("link", name="customers"))
    expect(heading(page)).to_have_text("customers-value")
    expect(page).to_have_title("customers-value · Sigla")


def test_which_version_added_the_field_email(way: Way) -> None:
    page, choose = way("subjects/customers-value")
    choose(page, page.get_by_role("link", name="What has changed since version 1"))
    row = page.get_by_role("row", name=re.compile("added field .*email"))
    expect(row).to_be_visible()
    expect(heading(page)).to_have_text("Version 1 to 2")


def test_who_registered_version_2_and_when(way: Way) -> None:
    page, _ = way("subjects/orders-value")
    row = page.get_by_role("row", name=re.compile(r"^20\d\d-\d\d-\d\d \d\d:\d\d UTC anyone registered version 2$"))
    expect(row).to_be_visible()


def test_what_an_id_means(way: Way) -> None:
    page, choose = way("")
    choose(page, page.get_by_role("textbox", name="An id of the default context"))
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text("Id 1")
    choose(page, page.get_by_role("link", name="address-value version 1"))
    expect(heading(page)).to_have_text("address-value")


def test_why_version_2_breaks_who_reads_version_1(way: Way) -> None:
    page, choose = way("subjects/orders-value")
    choose(page, page.get_by_role("button", name="Compare"))
    expect(page.get_by_text("Version 2 cannot read what version 1 wrote.")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("READER_FIELD_MISSING_DEFAULT_VALUE"))).to_be_visible()


def test_which_level_is_in_force_and_from_where(way: Way) -> None:
    page, _ = way("subjects/%3A.eu%3Acustomers-value")
    card = page.get_by_role("region", name="Compatibility")
    expect(card).to_contain_text("FULL")
    expect(card).to_contain_text("from the context .eu")


def test_whom_a_schema_refers_to_and_who_refers_to_it(way: Way) -> None:
    page, choose = way("subjects/customers-value/versions/1")
    choose(page, page.get_by_role("link", name="address-value version 1"))
    expect(heading(page)).to_have_text("address-value")
    choose(page, page.get_by_role("link", name="Id 2"))
    expect(page.get_by_role("link", name="customers-value version 1")).to_be_visible()


def test_what_is_soft_deleted_is_seen_where_it_is_asked_for(way: Way) -> None:
    page, choose = way("subjects?deleted=true&q=gone")
    choose(page, page.get_by_role("link", name="gone-value"))
    expect(page.locator("dd", has_text="soft-deleted")).to_be_visible()


def test_subjects_of_one_type(way: Way) -> None:
    page, choose = way("subjects?type=PROTOBUF")
    expect(page.get_by_role("row")).to_have_count(2)
    choose(page, page.get_by_role("link", name="payments-value"))
    expect(page.locator("dd", has_text="PROTOBUF")).to_be_visible()


def test_the_next_fifty_and_back(way: Way) -> None:
    page, choose = way("subjects")
    choose(page, page.get_by_role("link", name="Next"))
    expect(page.get_by_text("51 to")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("1 to 50")).to_be_visible()
