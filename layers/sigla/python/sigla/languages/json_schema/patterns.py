"""Patterns: Java regular expressions (contract JX-6, G.3).

The reading of Java's grammar and what runs a pattern are imported where they are needed: they take longer to import
than all the rest of the language, and most schemas have no patterns.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from sigla.languages.json_schema.limits import MAX_INSTRUCTIONS
from sigla.languages.language import abandoned

if TYPE_CHECKING:
    from sigla.languages.json_schema.program import Program


STEPS_OF_A_SEARCH: Final = 10
"""For setting out, on top of what it takes."""


def check(pattern: str) -> None:
    """Raises Malformed if Java would not compile the pattern."""
    words(pattern)


def words(pattern: str) -> list[str]:
    """The pattern in the words of `regex`. Raises Malformed."""
    from sigla.languages.json_schema.java import Translation  # noqa: PLC0415 - see above

    return Translation(pattern).run()


class Patterns:
    """The patterns of one comparison. What it costs to look for one does not depend on what was looked for before.

    programs: of each pattern met; None for one with a class of characters that is unknown.
    """

    __slots__ = ("programs", "spend")

    def __init__(self, spend: Callable[[int], None]) -> None:
        self.spend = spend
        self.programs: dict[str, Program | None] = {}

    def found(self, pattern: str, name: str) -> bool:
        """Whether the pattern, which has been checked, is found anywhere in the name.

        One with a class of characters that is unknown is found nowhere. Raises CheckAbandoned if it takes too many
        steps to find out.
        """
        from sigla.languages.json_schema.search import Search, TooLong  # noqa: PLC0415 - see above

        if pattern not in self.programs:
            self.programs[pattern] = self.made(pattern)
        program = self.programs[pattern]
        if program is None:
            self.spend(1)
            return False
        search = Search(program, name, MAX_INSTRUCTIONS)
        try:
            return search.found(program)
        except TooLong:
            raise abandoned(f"the pattern {pattern[:100]} takes too long to be found in a name") from None
        finally:
            self.spend(STEPS_OF_A_SEARCH + MAX_INSTRUCTIONS - search.left)

    def made(self, pattern: str) -> "Program | None":
        from sigla.languages.json_schema import program  # noqa: PLC0415 - see above

        try:
            return program.program(pattern, self.spend)
        except program.UnknownClass:
            return None
