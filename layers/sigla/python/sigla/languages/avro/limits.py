"""How large a schema may be, in one place. Beyond a limit a text is Malformed, or a check abandoned: never a crash.

The figures are far above what people write (the deepest schema we know nests 15 levels) and far below what hurts.
Python allows a thousand frames, of which a level of types costs three: where a text gets near that with a deep
caller's help, RecursionError is caught at the door of each function that descends, and becomes the same refusal.
"""

from sigla.errors import Malformed

MAX_DEPTH = 250
"""Types within types, and values within values."""

MAX_NODES = 100_000
"""Types and fields of one text."""

MAX_VALUES = 500_000
"""JSON values in the defaults and properties of one text."""


def too_deep() -> Malformed:
    return Malformed(f"The schema is nested more than {MAX_DEPTH} levels deep")


def too_large() -> Malformed:
    return Malformed(f"The schema has more than {MAX_NODES} types and fields, or {MAX_VALUES} values")
