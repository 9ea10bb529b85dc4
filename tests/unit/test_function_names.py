"""Names of functions carry a noun; one word is enough where the module makes it one thing."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("room, most", [("pipelines", 0.65), ("layers/sigla/python/sigla", 0.65)])
def test_most_of_a_room_s_functions_are_not_a_word_alone(room: str, most: float) -> None:
    """A reader meets them away from their module. Methods do not count: their object carries the noun."""
    names = [
        node.name
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    words = sum("_" not in name.strip("_") for name in names)
    assert 0 < words <= most * len(names), f"{words} of {len(names)} names in {room} are one word"
