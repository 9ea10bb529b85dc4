"""The two ways in which each task is done: by mouse on a wide light page, by keyboard on a narrow dark one."""

from dataclasses import dataclass
from typing import Protocol

from playwright.sync_api import Locator, Page, expect

MOST_STEPS = 150
HAS_FOCUS = "element === document.activeElement"


class Way(Protocol):
    """How a person reaches things on a page. is_paid: whether the registry pays for each read, as in AWS."""

    page: Page
    is_paid: bool

    def choose(self, target: Locator) -> None:
        """A link is followed, a button pressed, a box ticked."""

    def write(self, target: Locator, text: str) -> None:
        """A field says this and nothing else."""

    def pick(self, target: Locator, option: str) -> None:
        """A list of choices stands at this one."""


@dataclass
class ByMouse:
    page: Page
    is_paid: bool = False

    def choose(self, target: Locator) -> None:
        target.click()

    def write(self, target: Locator, text: str) -> None:
        target.click()
        target.fill(text)

    def pick(self, target: Locator, option: str) -> None:
        target.select_option(option)


@dataclass
class ByKeyboard:
    """By Tab and keys alone."""

    page: Page
    is_paid: bool = False

    def choose(self, target: Locator) -> None:
        self._reach(target)
        is_box = target.evaluate("element => element.type === 'checkbox'")
        self.page.keyboard.press("Space" if is_box else "Enter")

    def write(self, target: Locator, text: str) -> None:
        self._reach(target)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def pick(self, target: Locator, option: str) -> None:
        self._reach(target)
        self.page.keyboard.type(option)
        expect(target).to_have_value(option)

    def _reach(self, target: Locator) -> None:
        expect(target).to_be_visible()
        # To find it anew at each step would take most of the time; what was drawn anew meanwhile is.
        held = target.element_handle()
        for _ in range(MOST_STEPS):
            if held.evaluate(f"element => !element.isConnected || {HAS_FOCUS}"):
                if target.evaluate(f"element => {HAS_FOCUS}"):
                    return
                held = target.element_handle()
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no way leads to {target}")
