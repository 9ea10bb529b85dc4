"""The console behind the doors of AWS: an API Gateway, with a stage in its path, and a function URL."""

import gzip
import re
from collections.abc import Callable
from urllib.parse import quote, urljoin

import pytest
from playwright.sync_api import expect

from sigla.web.console.pages import files
from tests.browser import test_changes, test_tasks
from tests.browser.conftest import Come, Opens
from tests.browser.filled import field, fill_a_little, record, register
from tests.localstack.conftest import Deployed
from tests.localstack.console import ARRIVALS, Behind, arrived, behind, carry_out

pytestmark = pytest.mark.localstack

ODD_NAME = ":.ctx:a/b ?ü&#%😀"
"""What stands in an address only if each door leaves it as it was sent."""


@pytest.fixture(scope="module")
def filled(deployed: Deployed) -> None:
    registry = behind(deployed, "function")
    fill_a_little(registry)
    register(registry, ODD_NAME, record("Odd", field("id", "string")))


@pytest.fixture(params=ARRIVALS)
def arrival(request: pytest.FixtureRequest, opened: Opens, deployed: Deployed) -> tuple[Behind, Come]:
    return arrived(opened, deployed, request.param)


FIVE = (
    test_tasks.test_a_subject_is_found_by_its_name_from_any_page,
    test_tasks.test_which_version_added_the_field_email,
    test_tasks.test_who_registered_version_2_and_when,
    test_tasks.test_why_version_2_breaks_who_reads_version_1,
    test_changes.test_a_new_version_is_refused_mended_and_registered,
)


@pytest.mark.parametrize("task", FIVE, ids=lambda task: task.__name__.removeprefix("test_"))
@pytest.mark.usefixtures("filled")
def test_a_task_is_done_behind_the_doors_of_aws(task: Callable[..., None], arrival: tuple[Behind, Come]) -> None:
    carry_out(task, *arrival)


@pytest.mark.parametrize("door", ARRIVALS)
def test_pages_and_files_come_whole_and_are_not_sent_again(deployed: Deployed, door: str) -> None:
    """A page links to its files by relative addresses: however deep it is, and whatever path is before it."""
    registry = behind(deployed, door)
    moved = registry.get("console")
    assert moved.status == 308
    assert urljoin(f"{registry.url}/console", moved.headers["location"]) == f"{registry.url}/console/"
    odd = quote(ODD_NAME, safe="")
    for path in ("console/", "console/subjects/", f"console/subjects/{odd}", f"console/subjects/{odd}/diff/1/2?a=%2F"):
        page = registry.get(path)
        assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8"), path
        assert page.headers["content-security-policy"].startswith("default-src 'self'")
        for link in re.findall(r'(?:src|href)="([^"]+)"', page.body.decode()):
            file = urljoin(f"{registry.url}/{path}", link)
            assert file.startswith(f"{registry.url}/console/s/{files().digest}/"), (path, link)
    name = "vendor/preact.js"
    whole = files().served[name].plain
    for sent in ("gzip, deflate, br", "identity"):
        file = registry.get(f"console/s/{files().digest}/{name}", accept_encoding=sent)
        is_packed = file.headers.get("content-encoding") == "gzip"
        assert (gzip.decompress(file.body) if is_packed else file.body) == whole
        assert file.headers["content-type"] == "text/javascript; charset=utf-8"
        assert "immutable" in file.headers["cache-control"]
        again = registry.get(f"console/s/{files().digest}/{name}", if_none_match=file.headers["etag"])
        assert (again.status, again.body) == (304, b"")


@pytest.mark.usefixtures("filled")
def test_an_address_with_an_odd_name_in_it_opens_its_page(arrival: tuple[Behind, Come]) -> None:
    registry, come = arrival
    page = come(registry, f"subjects/{quote(ODD_NAME, safe='')}").page
    expect(page.locator("h1")).to_have_text("a/b ?ü&#%😀")
    expect(page.get_by_role("heading", name="Version 1", exact=True)).to_be_visible()
    expect(page.locator(".problem")).to_have_count(0)
    page.reload()
    expect(page.get_by_text("registered version 1")).to_be_visible()
