"""A browser, and registries for it."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests import npm
from tests.browser.filled import Registry, fill
from tests.browser.ways import ByKeyboard, ByMouse, Way
from tests.protocol.clients.server import Server, serving

HERE = Path(__file__).parent
CALM = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync")  # fmt: skip
"""A browser of tests asks the registry alone."""

PROGRAMS = ("chromium-headless-shell", "chromium")
"""Debian's Chromium without windows, which takes less than half of the processor, or else the one with them."""

PATIENCE_MS = 60_000
"""How long to wait for what has to happen: the first page of a cold function, on a busy machine."""

expect.set_options(timeout=PATIENCE_MS)

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")


@dataclass(frozen=True)
class Look:
    """The window in which a person works."""

    width: int
    height: int
    scheme: Any


WIDE_AND_LIGHT, NARROW_AND_DARK = Look(1280, 800, "light"), Look(360, 740, "dark")


def browser_program() -> str | None:
    """The path of the first that is installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@pytest.fixture(scope="session")
def program() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """One browser for all modules, and the loop by which it is spoken to, which goes on in this thread."""
    path = browser_program()
    if not path:
        pytest.skip("Chromium is not installed here: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        browser, loop = playwright.chromium.launch(executable_path=path, args=CALM), asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture(scope="module")
def browser(program: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    """In tests of other modules the loop is not seen to run, or they could have none of their own."""
    browser, loop = program
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def packages() -> Path:
    npm.node_program()
    return npm.installed(HERE) / "node_modules"


@pytest.fixture(scope="session")
def registry() -> Iterator[Server]:
    with serving() as server:
        fill(server)
        yield server


@pytest.fixture(params=[WIDE_AND_LIGHT, NARROW_AND_DARK], ids=["wide", "narrow"])
def look(request: pytest.FixtureRequest) -> Look:
    return request.param  # type: ignore[no-any-return] # pytest says nothing of it


def settled(page: Page) -> None:
    """Waits until every answer has come, or failed, also that of the frame: what the caller may do."""
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    expect(page.locator(".waiting")).to_have_count(0)


def shown(way: Way, part: str) -> None:
    """Has a part of a page shown that a registry which pays for each read shows where it is asked to."""
    if way.is_paid:
        way.choose(way.page.get_by_role("button", name=f"Show {part}", exact=True))


Opens = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opens]:
    """Opens a page of the console, or one that is blank yet.

    What goes wrong in its scripts, and what its policy refuses, fails the test.
    """
    contexts, wrong = [], []

    def open_page(server: Registry, path: str | None = "", look: Look = WIDE_AND_LIGHT) -> Page:
        size: Any = {"width": look.width, "height": look.height}
        context = browser.new_context(viewport=size, color_scheme=look.scheme, ignore_https_errors=True)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda told: wrong.append(told.text) if "Content Security" in told.text else None)
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        if path is not None:
            page.goto(f"{server.url}/console/{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


Come = Callable[[Registry, str], Way]


@pytest.fixture(params=[(ByMouse, WIDE_AND_LIGHT), (ByKeyboard, NARROW_AND_DARK)], ids=["mouse", "keyboard"])
def come(request: pytest.FixtureRequest, opened: Opens) -> Come:
    """Opens a page of the console in one of the two ways."""
    made, look = request.param
    return lambda server, path: made(opened(server, path, look))
