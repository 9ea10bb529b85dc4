"""The pictures of the documentation, taken of the console as it is: `python -m tests.browser.pictures`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.conftest import CALM, browser_program, settled
from tests.browser.filled import field, fill, record
from tests.protocol.clients.server import Server, serving

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
SIZE: Final = (1200, 750)


def nothing(page: Page) -> None:
    """The page is shown as it opens."""


def write_a_problem(page: Page) -> None:
    schema = record(
        "Order", field("id", "string"), field("total", "long"), field("at", "long"), field("note", "string")
    )
    page.get_by_label("Text of the schema").fill(schema)
    page.get_by_role("button", name="Lay out").click()
    expect(page.get_by_text("What would help:")).to_be_visible()


def ask_to_delete(page: Page) -> None:
    page.get_by_role("button", name="Delete subject").click()
    expect(page.get_by_text("1 subject refers to it")).to_be_visible()


def decode_half(page: Page) -> None:
    page.get_by_label("Bytes, as hex or base64").fill("00 00 00 00 01 0e 42 61 6b 65 72 20 53 10 32 32")
    page.get_by_role("button", name="Decode").click()
    expect(page.locator("mark")).to_be_visible()


class Picture(NamedTuple):
    """name: of the file in docs. path: of the page. then: what is done there before the picture is taken."""

    name: str
    path: str
    then: Callable[[Page], None] = nothing


PICTURES: Final = (
    Picture("console-edit", "subjects/orders-value/edit", write_a_problem),
    Picture("console-diff", "subjects/customers-value/diff/1/2"),
    Picture("console-delete", "subjects/address-value", ask_to_delete),
    Picture("console-decode", "decode", decode_half),
)


@contextmanager
def shown_registry() -> Iterator[Server]:
    with serving() as server:
        fill(server)
        server.ask("PUT", "/config/orders-value", {"compatibility": "FULL"})
        yield server


def take(browser: Browser, server: Server, picture: Picture, folder: Path) -> Path:
    """The file that was written."""
    width, height = SIZE
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme="light")
    page = context.new_page()
    page.goto(f"{server.url}/console/{picture.path}")
    settled(page)
    picture.then(page)
    settled(page)
    path = folder / f"{picture.name}.png"
    page.screenshot(path=path)
    context.close()
    return path


def main() -> None:
    with shown_registry() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program(), args=CALM)
        for picture in PICTURES:
            print(take(browser, server, picture, DOCS))
        browser.close()


if __name__ == "__main__":
    main()
