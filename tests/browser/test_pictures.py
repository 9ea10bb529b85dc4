"""Pictures in the documentation: of the console as it is, and each where it is told of."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.pictures import DOCS, PICTURES, shown_registry, take

pytestmark = pytest.mark.process
HELP = "python -m tests.browser.pictures takes them anew"


def size_of(png: Path) -> tuple[int, int]:
    head = png.read_bytes()[16:24]
    return int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")


def test_every_picture_can_be_taken_as_it_was(browser: Browser, tmp_path: Path) -> None:
    """What is done for it still works, and the file is one of that page: fonts differ, so pixels are not compared."""
    with shown_registry() as server:
        for picture in PICTURES:
            taken = take(browser, server, picture, tmp_path)
            assert size_of(taken) == size_of(DOCS / taken.name), HELP


def test_every_picture_is_shown_on_a_page() -> None:
    pages = (DOCS / "console.md").read_text() + (DOCS.parent / "README.md").read_text()
    for picture in PICTURES:
        assert f"{picture.name}.png)" in pages, picture.name
