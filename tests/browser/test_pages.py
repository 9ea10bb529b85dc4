"""Every page, wide and light, narrow and dark: it can be read by all, and stays within its window."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.addresses import patterns
from tests.browser.conftest import HERE, NARROW_AND_DARK, RULES, Look, Opens, settled
from tests.protocol.clients.server import Server, serving

pytestmark = pytest.mark.process

PAGES = {
    "": "Overview",
    "subjects": "Subjects",
    "subjects?q=nothing&deleted=true": "Subjects",
    "subjects/customers-value": "customers-value",
    "subjects/payments-value": "payments-value",
    "subjects/%3A.eu%3Acustomers-value": "customers-value",
    "subjects/gone-value": "gone-value",
    "subjects/nothing": "nothing",
    "subjects/orders-value/edit": "New version of orders-value",
    "subjects/new-value/edit?type=PROTOBUF": "New subject new-value",
    "edit": "New subject",
    "subjects/orders-value/versions/1": "orders-value",
    "subjects/orders-value/diff/1/2": "Version 1 to 2",
    "ids/default/2": "Id 2",
    "guids/none": "GUID",
    "contexts": "Contexts",
    "settings": "Settings",
    "decode": "Decode a record",
    "log": "Log",
    "log?subject=nothing": "Log",
    "keys": "Keys",
    "zones": "Zones",
    "counters": "Counters",
    "associations": "Associations",
    "encryption": "Encryption",
    "nowhere": "No such page",
}


def one_of_each() -> list[str]:
    """The first of PAGES at each address: others show the same page of something else."""
    forms = [re.compile(re.sub("{.*?}", "[^/]+", pattern)) for pattern in patterns()]
    firsts = {form: path for form in forms for path in reversed(PAGES) if form.fullmatch(path.partition("?")[0])}
    return [path for path in PAGES if path in firsts.values()]


def violations(page: Page, packages: Path) -> Any:
    """Has axe in this document, and in those that the page goes to: half a megabyte is brought there once."""
    if not page.evaluate("'axe' in window"):
        axe = (packages / "axe-core" / "axe.min.js").read_text()
        page.add_init_script(axe)
        page.evaluate(axe)
    found = page.evaluate("rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})", list(RULES))
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]]


def test_every_page_can_be_read_by_all_and_stays_within_its_window(
    registry: Server, opened: Opens, packages: Path, look: Look
) -> None:
    """WCAG 2.2 AA, as axe knows it; on a telephone only a table or a text may be wider than the page."""
    page = opened(registry, None, look=look)
    for path in PAGES if look == NARROW_AND_DARK else one_of_each():
        page.goto(f"{registry.url}/console/{path}")
        expect(page.locator("h1")).to_have_text(PAGES[path])
        settled(page)
        assert violations(page, packages) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") == look.width, path


def test_every_question_can_be_read_by_all_and_stays_within_its_window(
    registry: Server, opened: Opens, packages: Path, look: Look
) -> None:
    page = opened(registry, None, look=look)
    for path, button in (
        ("subjects/address-value", "Delete subject"),
        ("subjects/customers-value", "Delete version 2"),
        ("subjects/gone-value", "Delete subject for good"),
        ("subjects/gone-value", "Restore version 1"),
        ("subjects/customers-value", "Change config"),
        ("settings", "Change mode"),
    ):
        page.goto(f"{registry.url}/console/{path}")
        page.get_by_role("button", name=button, exact=True).click()
        settled(page)
        assert violations(page, packages) == [], (path, button)
        assert page.evaluate("document.documentElement.scrollWidth") == look.width, (path, button)


def test_the_page_that_asks_for_a_key_can_be_read_by_all(
    opened: Opens, packages: Path, look: Look, tmp_path: Path
) -> None:
    with serving(tmp_path, "--auth") as server:
        page = opened(server, look=look)
        expect(page.get_by_text("This registry asks for a key")).to_be_visible()
        settled(page)
        assert violations(page, packages) == []
        assert page.evaluate("document.documentElement.scrollWidth") == look.width


def test_first_rows_take_ten_requests_at_most(registry: Server, opened: Opens) -> None:
    page = opened(registry, "contexts")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.context.new_page().close()
    page.goto("about:blank")
    asked.clear()
    page.goto(f"{registry.url}/console/subjects")
    expect(page.get_by_role("link", name="orders-value", exact=True)).to_be_visible()
    settled(page)
    assert len(asked) <= 10, asked


def test_the_modules_have_the_types_that_they_say(packages: Path) -> None:
    """There is no build step: nothing else would find a name that is misspelled before a browser does."""
    done = subprocess.run([packages / ".bin" / "tsc", "-p", HERE], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)


def test_subjects_of_a_kek_that_are_not_all_told_are_said_to_be_more(registry: Server, opened: Opens) -> None:
    page = opened(registry, None)
    names = [f"orders-{at}-value" for at in range(51)]
    page.route("**/keks/customers/deks*", lambda route: route.fulfill(json=names))
    page.goto(f"{registry.url}/console/encryption")
    expect(page.get_by_role("link", name="orders-49-value")).to_be_visible()
    expect(page.get_by_text("and more than these 50")).to_be_visible()
