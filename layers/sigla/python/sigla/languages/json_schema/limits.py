"""How large a schema may be, in one place. Beyond a limit a text is Malformed: never a crash.

The figures are far above what people write and far below what hurts. Python allows a thousand frames, of which a level
of schemas costs three or four: where a text gets near that with a deep caller's help, RecursionError is caught at the
door of each function that descends, and becomes the same refusal.
"""

from typing import Final

from sigla.errors import Malformed

MAX_DEPTH: Final = 250
"""JSON values within values."""

MAX_VALUES: Final = 500_000
"""JSON values of one text."""

MAX_NODES: Final = 100_000
"""Schemas within one schema, those of its references included."""

MAX_EXPONENT: Final = 2**31 - 1
"""The largest power of ten in a number."""

MAX_PATTERN: Final = 10_000
"""Characters of a regular expression."""

MAX_REPETITIONS: Final = 100_000
"""How often a part of a regular expression may be written out when counted repetitions stand in each other."""

MAX_INSTRUCTIONS: Final = 100_000
"""Instructions that a regular expression may run to look for itself in one name."""


def too_deep() -> Malformed:
    return Malformed(f"The schema is nested more than {MAX_DEPTH} levels deep")


def too_large() -> Malformed:
    return Malformed(f"The schema has more than {MAX_NODES} schemas inside, or {MAX_VALUES} values")
