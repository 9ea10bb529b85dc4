"""Patterns: Java regular expressions, run by the `regex` package (contract JX-6, G.3).

Both the reading of Java's grammar and `regex` are imported where they are needed: they take longer to import than all
the rest of the language, and most schemas have no patterns.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from sigla.errors import Malformed
from sigla.languages.json_schema.limits import MATCH_SECONDS
from sigla.languages.language import abandoned

if TYPE_CHECKING:
    from regex import Pattern

REMEMBERED: Final = 256
"""Compiled patterns."""

TRIES: Final = ((0.001, 20), (MATCH_SECONDS, 100_000))
"""How long a search may take, in seconds, and what it costs in steps: few patterns need the second try."""


def check(pattern: str) -> None:
    """Raises Malformed if Java would not compile the pattern."""
    translated(pattern)


def found(pattern: str, name: str, spend: Callable[[int], None]) -> bool:
    """Whether the pattern, which has been checked, is found anywhere in the name.

    One that `regex` does not understand is found nowhere. spend: takes the steps that looking costs. Raises
    CheckAbandoned if it takes too long to find out.
    """
    compiled = _compiled(pattern)
    if compiled is None:
        return False
    for seconds, steps in TRIES:
        spend(steps)
        try:
            return compiled.search(name, timeout=seconds) is not None
        except TimeoutError:
            continue
    raise abandoned(f"the pattern {pattern[:100]} takes too long to be found in a name")


def translated(pattern: str) -> str:
    """The pattern in the words of `regex`. Raises Malformed."""
    from sigla.languages.json_schema.java import Translation  # noqa: PLC0415 - see above

    return Translation(pattern).run()


@lru_cache(maxsize=REMEMBERED)
def _compiled(pattern: str) -> "Pattern[str] | None":
    import regex  # noqa: PLC0415 - see above

    try:
        return regex.compile(translated(pattern), regex.VERSION1)
    except (regex.error, Malformed, RecursionError, OverflowError):
        return None
