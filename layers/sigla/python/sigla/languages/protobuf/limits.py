"""How large a schema may be, in one place. Beyond a limit a text is Malformed, or a check abandoned: never a crash.

The figures are far above what people write and far below what hurts. Python allows a thousand frames, of which a level
costs three: where a text gets near that with a deep caller's help, RecursionError is caught at the door of each
function that descends, and becomes the same refusal.
"""

from sigla.errors import Malformed

MAX_DEPTH = 64
"""Messages within messages, values within values, parts of a package; twice of what protoc reads."""

MAX_TOKENS = 500_000
"""Words, strings, signs and comments of one text: some 70,000 fields. Every declaration and every value
costs at least one."""

MAX_NAME = 512
"""Characters of a package, and of a message's name with those of the messages around it. A name is looked up in every
scope around, and in normal form written in full, so that long ones multiply."""

MAX_WORD = 2 * MAX_NAME + 2
"""Characters of any other name; the longest that means something has a dot, a package, a dot, and names of messages."""


def too_deep() -> Malformed:
    return Malformed(f"The schema is nested more than {MAX_DEPTH} levels deep")


def too_large() -> Malformed:
    return Malformed(f"The schema has more than {MAX_TOKENS} words, signs and comments")


def too_long() -> Malformed:
    return Malformed(f"A name has more than {MAX_NAME} characters, or the names of nested messages have together")
