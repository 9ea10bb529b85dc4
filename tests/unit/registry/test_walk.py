"""The walk of a registration, and the page that tells it."""

import inspect
import re
from pathlib import Path

from sigla.registry import register

PAGE = Path(__file__).resolve().parents[3] / "docs" / "architecture.md"
RULES = {f"REG-{number}" for number in (1, 2, 5, "6a", 6, 7, 8, 9, 10, 11, 12, 13, 14)}


def walk() -> str:
    return inspect.getsource(register._Registration.judge) + inspect.getsource(register._Registration.attempt)


def test_the_page_of_a_registration_is_the_walk_of_the_code() -> None:
    """It is read instead of the code: a step that it forgets, or tells too early, misleads its reader."""
    code = walk()
    steps = re.findall(r"(drafts\.\w+|self\._\w+)\(", code)
    page = PAGE.read_text(encoding="utf-8")
    section = page[page.index("## One registration") : page.index("## One read")]
    assert re.findall(r"`(drafts\.\w+|_\w+)`", section) == [step.removeprefix("self.") for step in steps]


def test_each_step_of_a_registration_cites_its_rules() -> None:
    """A reader that looks for where a rule is kept finds the step by its id."""
    assert set(re.findall(r"REG-\d+a?", walk())) >= RULES
