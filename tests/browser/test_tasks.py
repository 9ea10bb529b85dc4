"""What people come for: each task by mouse on a wide light page, and by keyboard on a narrow dark one."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Come, shown
from tests.browser.filled import Registry
from tests.waiting import eventually

pytestmark = pytest.mark.process


def asked(registry: Registry, path: str) -> Any:
    """What the registry answers to a client."""
    return json.loads(registry.ask("GET", f"/{path}").body)


def heading(page: Page) -> Locator:
    return page.locator("h1")


def test_a_subject_is_found_by_its_name_from_any_page(come: Come, registry: Registry) -> None:
    way = come(registry, "contexts")
    page = way.page
    way.write(page.get_by_role("searchbox", name="Find subjects"), "ERS-V")
    page.keyboard.press("Enter")
    way.choose(page.get_by_role("row", name="customers-value default").get_by_role("link", name="customers"))
    expect(heading(page)).to_have_text("customers-value")
    expect(page).to_have_title("customers-value · Sigla")


def test_does_anybody_still_read_it(come: Come, registry: Registry) -> None:
    """Told of each version, and told once more to whoever is about to delete it."""
    way = come(registry, "subjects/clicks-value")
    page = way.page
    shown(way, "usage")
    usage = page.get_by_role("region", name="Usage")
    expect(usage).to_contain_text(re.compile("Nobody has read it by its ids|No reads were counted yet"))
    way.choose(usage.locator("summary"))
    expect(usage.get_by_role("listitem").first).to_be_visible()
    way.choose(page.get_by_role("button", name="Delete subject"))
    expect(page.get_by_role("dialog")).to_contain_text(re.compile("Nobody has read it|no reads were counted"))


def test_a_version_that_nobody_reads_is_told_beside_one_that_is_read(come: Come, registry: Registry) -> None:
    """Also after it was looked at here."""
    first = asked(registry, "subjects/customers-value/versions/1")
    asked(registry, f"schemas/ids/{first['id']}")
    eventually(lambda: asked(registry, "subjects/customers-value/usage")["versions"][0]["reads"])
    way = come(registry, "subjects/customers-value")
    page = way.page
    shown(way, "usage")
    usage = page.get_by_role("region", name="Usage")
    expect(usage.get_by_role("row", name=re.compile("^Version 1 20"))).to_be_visible()
    expect(usage.get_by_role("row", name=re.compile("^Version 2 nobody since 20"))).to_be_visible()


def test_which_version_added_the_field_email(come: Come, registry: Registry) -> None:
    way = come(registry, "subjects/customers-value")
    page = way.page
    way.choose(page.get_by_role("link", name="What has changed since version 1"))
    row = page.get_by_role("row", name=re.compile("added field .*email"))
    expect(row).to_be_visible()
    expect(heading(page)).to_have_text("Version 1 to 2")


def test_who_registered_version_2_and_when(come: Come, registry: Registry) -> None:
    page = come(registry, "subjects/orders-value").page
    row = page.get_by_role(
        "row", name=re.compile(r"^20\d\d-\d\d-\d\d \d\d:\d\d UTC (anyone|admin) registered version 2$")
    )
    expect(row).to_be_visible()


def test_what_an_id_means(come: Come, registry: Registry) -> None:
    way = come(registry, "")
    page = way.page
    way.write(page.get_by_role("textbox", name="An id of the default context"), "1")
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text("Id 1")
    way.choose(page.get_by_role("link", name="address-value version 1"))
    expect(heading(page)).to_have_text("address-value")


def test_why_version_2_breaks_who_reads_version_1(come: Come, registry: Registry) -> None:
    way = come(registry, "subjects/orders-value")
    page = way.page
    way.choose(page.get_by_role("button", name="Compare"))
    expect(page.get_by_text("Version 2 cannot read what version 1 wrote.")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("READER_FIELD_MISSING_DEFAULT_VALUE"))).to_be_visible()


def test_where_in_either_text_stands_what_readers_fail_on(come: Come, registry: Registry) -> None:
    """New readers fail on a field of theirs, old ones on one of theirs; both texts are shown laid out."""
    way = come(registry, "subjects/orders-value/diff/1/2")
    page = way.page
    text = page.get_by_role("region", name="Text, line by line")
    for card, said in (("Backward", '"name": "at",'), ("Forward", '"type": "int",')):
        place = page.get_by_role("region", name=card).get_by_role("listitem").filter(has_text=said)
        version = {"Backward": 2, "Forward": 1}[card]
        button = place.get_by_role("button", name=re.compile(rf"^Line \d+, column 7 of version {version}$"))
        way.choose(button)
        line = button.inner_text().split()[1].rstrip(",")
        row = text.locator("tr:focus")
        expect(row).to_be_in_viewport()
        expect(row.locator("code")).to_have_text(said)
        expect(row.get_by_role("cell").nth(2 - version)).to_have_text("")
        expect(row.get_by_role("cell").nth(version - 1)).to_have_text(line)


def test_which_level_is_in_force_and_from_where(come: Come, registry: Registry) -> None:
    way = come(registry, "subjects/%3A.eu%3Acustomers-value")
    shown(way, "compatibility and mode")
    card = way.page.get_by_role("region", name="Compatibility")
    expect(card).to_contain_text("FULL")
    expect(card).to_contain_text("from the context .eu")


def test_whom_a_schema_refers_to_and_who_refers_to_it(come: Come, registry: Registry) -> None:
    way = come(registry, "subjects/customers-value/versions/1")
    page = way.page
    way.choose(page.get_by_role("list").get_by_role("link", name="address-value version 1"))
    expect(heading(page)).to_have_text("address-value")
    shown(way, "references")
    expect(page.get_by_role("list").get_by_role("link", name="customers-value version 1")).to_be_visible()
    shown(way, "all references")
    picture = page.get_by_role("region", name="References from left to right")
    way.choose(picture.get_by_role("link", name="customers-value version 2"))
    expect(heading(page)).to_have_text("customers-value")
    expect(page.get_by_role("heading", name="Version 2", exact=True)).to_be_visible()


def test_since_which_version_a_field_is_there(come: Come, registry: Registry) -> None:
    way = come(registry, "subjects/customers-value")
    shown(way, "fields")
    fields = way.page.get_by_role("region", name="Fields")
    expect(fields.get_by_role("row", name="email null | string = null version 2")).to_be_visible()
    way.write(way.page.get_by_role("searchbox", name="Find a field"), "ZIP")
    expect(fields.get_by_role("row")).to_have_count(3)
    expect(fields.get_by_role("row", name="zip string version 1")).to_be_visible()
    way.choose(fields.get_by_role("row", name="zip").get_by_role("link", name="version 1"))
    expect(way.page.get_by_role("heading", name="Version 1", exact=True)).to_be_visible()


def test_who_changed_what_in_the_whole_registry(come: Come, registry: Registry) -> None:
    way = come(registry, "")
    way.choose(way.page.get_by_role("link", name="Log"))
    way.write(way.page.get_by_role("searchbox", name="Of one subject"), "gone-value")
    way.choose(way.page.get_by_role("button", name="Show"))
    rows = way.page.get_by_role("region", name="Log").get_by_role("row")
    expect(rows).to_have_count(3)
    for at, did in enumerate(("deleted the subject", "registered version 1"), 1):
        expect(rows.nth(at).get_by_role("cell")).to_have_text([re.compile(r"^20\d\d-"), "anyone", did, "gone-value"])


def test_what_a_record_says_and_which_byte_breaks_it(come: Come, registry: Registry) -> None:
    way = come(registry, "")
    page = way.page
    way.choose(page.get_by_role("link", name="Decode"))
    record = page.get_by_label("Bytes, as hex or base64")
    way.write(record, "00 00000001 06616263 04 3132")
    way.choose(page.get_by_role("button", name="Decode"))
    expect(page.get_by_role("region", name="The value")).to_contain_text('"street": "abc"')
    expect(page.get_by_role("link", name="address-value version 1")).to_be_visible()
    way.write(record, "AAAAAAEIYWJj")
    way.choose(page.get_by_role("button", name="Decode"))
    expect(page.get_by_role("alert")).to_contain_text("It cannot be read from byte 6 on")
    expect(page.locator("mark")).to_have_text("61")


def test_which_topic_has_a_subject_and_which_subject_has_a_key(come: Come, registry: Registry) -> None:
    way = come(registry, "")
    page = way.page
    way.choose(page.get_by_role("region", name="Associations").get_by_role("link", name="All of them"))
    expect(page.get_by_role("row", name="clicks lkc-1 value clicks-value WEAK")).to_be_visible()
    page.go_back()
    way.choose(page.get_by_role("region", name="Encryption").get_by_role("link", name="All of them"))
    shown(way, "the subjects of customers")
    way.choose(page.get_by_role("row", name="customers").get_by_role("link", name="customers-value"))
    expect(heading(page)).to_have_text("customers-value")


def test_what_is_soft_deleted_is_seen_where_it_is_asked_for(come: Come, registry: Registry) -> None:
    way = come(registry, "subjects?deleted=true&q=gone")
    page = way.page
    way.choose(page.get_by_role("link", name="gone-value"))
    expect(page.locator("dd", has_text="soft-deleted")).to_be_visible()


def test_subjects_of_one_type(come: Come, registry: Registry) -> None:
    way = come(registry, "subjects?type=PROTOBUF")
    page = way.page
    expect(page.get_by_role("row")).to_have_count(2)
    way.choose(page.get_by_role("link", name="payments-value"))
    expect(page.locator("dd", has_text="PROTOBUF")).to_be_visible()


def test_the_next_twenty_and_back(come: Come, registry: Registry) -> None:
    way = come(registry, "subjects")
    page = way.page
    way.choose(page.get_by_role("link", name="Next"))
    expect(page.get_by_text("21 to 40")).to_be_visible()
    expect(page.get_by_role("row").nth(1)).to_contain_text("topic-14-value")
    way.choose(page.get_by_role("link", name="Next"))
    expect(page.get_by_text("41 to")).to_be_visible()
    page.go_back()
    page.go_back()
    expect(page.get_by_text("1 to 20")).to_be_visible()
