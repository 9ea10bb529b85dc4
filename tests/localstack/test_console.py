"""The console behind the doors of AWS: an API Gateway, with a stage in its path, and a function URL."""

import gzip
import http.client
import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import pytest
from playwright.sync_api import Page, expect

from sigla.web.console.pages import files
from tests.browser import test_changes, test_tasks
from tests.browser.conftest import NARROW_AND_DARK, WIDE_AND_LIGHT, Come, Look, Opens, settled
from tests.browser.filled import Registry, field, fill_a_little, record, register
from tests.browser.test_trouble import sign_in
from tests.browser.ways import ByKeyboard, ByMouse, Way
from tests.localstack.conftest import Deployed, Door
from tests.protocol.clients.server import Answer

pytestmark = pytest.mark.localstack

DOORS = ("rest", "function")
ODD_NAME = ":.ctx:a/b ?ü&#%😀"
"""What stands in an address only if each door leaves it as it was sent."""


@dataclass(frozen=True)
class Behind:
    """The registry behind one door."""

    name: str
    door: Door

    @property
    def url(self) -> str:
        return self.door.url

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        status, told = self.door.ask(method, path, body)
        return Answer(status, {}, json.dumps(told).encode())

    def get(self, path: str, **headers: str) -> Answer:
        """As it came, without a key: as a browser gets pages and files."""
        parts = urlsplit(urljoin(f"{self.url}/", path))
        connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request("GET", f"{parts.path}{f'?{parts.query}' if parts.query else ''}", headers=sent)
            answer = connection.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, told, answer.read())
        finally:
            connection.close()


def behind(deployed: Deployed, door: str) -> Behind:
    return Behind(door, deployed.door(door))


@pytest.fixture(scope="module")
def filled(deployed: Deployed) -> None:
    registry = behind(deployed, "function")
    fill_a_little(registry)
    register(registry, ODD_NAME, record("Odd", field("id", "string")))


def coming(opened: Opens, deployed: Deployed, way: Callable[[Page], Way], look: Look) -> Come:
    """Opens a page, and signs in with the administrator's key."""

    def come(server: Registry, path: str) -> Way:
        page = opened(server, path, look)
        sign_in(page, deployed.facts["key"], deployed.facts["secret"])
        settled(page)
        return way(page)

    return come


@pytest.fixture(params=[("rest", ByMouse, WIDE_AND_LIGHT), ("function", ByKeyboard, NARROW_AND_DARK)], ids=DOORS)
def arrival(request: pytest.FixtureRequest, opened: Opens, deployed: Deployed) -> tuple[Behind, Come]:
    """By mouse through the API Gateway, by keys alone through the function URL."""
    door, way, look = request.param
    return behind(deployed, door), coming(opened, deployed, way, look)


FIVE = (
    test_tasks.test_a_subject_is_found_by_its_name_from_any_page,
    test_tasks.test_which_version_added_the_field_email,
    test_tasks.test_who_registered_version_2_and_when,
    test_tasks.test_why_version_2_breaks_who_reads_version_1,
    test_changes.test_a_new_version_is_refused_mended_and_registered,
)


def carry_out(task: Callable[..., None], registry: Behind, come: Come) -> None:
    name = f"{task.__name__.removeprefix('test_')}-{registry.name}".replace("_", "-")
    given: dict[str, Any] = {"come": come, "registry": registry, "bench": registry, "name": name}
    task(*(given[each] for each in inspect.signature(task).parameters))


@pytest.mark.parametrize("task", FIVE, ids=lambda task: task.__name__.removeprefix("test_"))
@pytest.mark.usefixtures("filled")
def test_a_task_is_done_behind_the_doors_of_aws(task: Callable[..., None], arrival: tuple[Behind, Come]) -> None:
    carry_out(task, *arrival)


@pytest.mark.parametrize("door", DOORS)
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
