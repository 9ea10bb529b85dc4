"""The console of a deployed registry, through either of its doors."""

import http.client
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import Page

from tests.browser.conftest import NARROW_AND_DARK, WIDE_AND_LIGHT, Come, Look, Opens, settled
from tests.browser.filled import Registry
from tests.browser.test_trouble import sign_in
from tests.browser.ways import ByKeyboard, ByMouse, Way
from tests.localstack.conftest import Deployed, Door
from tests.protocol.clients.server import Answer

ARRIVALS: dict[str, tuple[Callable[[Page, bool], Way], Look]] = {
    "rest": (ByMouse, WIDE_AND_LIGHT),
    "function": (ByKeyboard, NARROW_AND_DARK),
}
"""By mouse through the API Gateway, by keys alone through the function URL."""


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


def coming(opened: Opens, deployed: Deployed, way: Callable[[Page, bool], Way], look: Look) -> Come:
    """Opens a page, and signs in with the administrator's key."""

    def come(server: Registry, path: str) -> Way:
        page = opened(server, path, look)
        sign_in(page, deployed.facts["key"], deployed.facts["secret"])
        settled(page)
        return way(page, True)

    return come


def arrived(opened: Opens, deployed: Deployed, door: str) -> tuple[Behind, Come]:
    way, look = ARRIVALS[door]
    return behind(deployed, door), coming(opened, deployed, way, look)


def carry_out(task: Callable[..., None], registry: Behind, come: Come) -> None:
    name = f"{task.__name__.removeprefix('test_')}-{registry.name}".replace("_", "-")
    given: dict[str, Any] = {"come": come, "registry": registry, "bench": registry, "name": name}
    task(*(given[each] for each in inspect.signature(task).parameters))
