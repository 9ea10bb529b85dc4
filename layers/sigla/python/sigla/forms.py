"""The number of a stored form: each release reads the forms that it knows, and refuses what a newer one wrote.

Everything that is stored says its form in a member of this name; what says none is older than the numbers. The number
is that of the oldest release that can read it without mistaking what it says: it goes up where that changes, and stays
where a member is added that others may pass by. docs/architecture.md has the forms, kind by kind.
"""

from collections.abc import Mapping
from typing import Any, Final

FORM: Final = "form"

BODY: Final = 1
"""The form of what an id means: a file, an object of the bucket, an entry of a ring."""

ITEM: Final = 1
"""The form of an item of the table in DynamoDB, but of a few. The tables in SQLite have one for all, `state.layout`."""

ITEM_OF_REGIONS: Final = 2
"""A role, and a counter with a ceiling: whoever writes has to obey them."""

JOURNAL_ROW: Final = 1
"""The form of what a commit says of itself, in either store."""

SEGMENT_LINE: Final = 1
"""The form of a line of the journal in S3."""

SHIPPED_LINE: Final = 1
"""The form of a commit on its way to another region."""

API_KEY_OF_0_2: Final = 1
"""A key whose role and prefixes say all that it may."""

API_KEY: Final = 2
"""A key that may less than its role and prefixes say: a writer that may not delete, a key that expires."""

KEY_USE: Final = 1
"""The form of a note about when an API key was last used."""

ISSUER_KEYS: Final = 1
"""The form of an issuer's keys, as a function puts them into the bucket for the others."""

AUDIT: Final = 1
"""The form of what an audit has found in data, as it lies beside a registry."""

BACKUP: Final = 1
"""The form of a backup: which members its file has, and in which order."""


def newer(stored: Mapping[str, Any], known: int) -> int:
    """The form's number if it is greater than the known one, else 0.

    Anything but a number is the form of no release: the reader that comes next finds what is wrong with it.
    """
    form = stored.get(FORM)
    return form if form.__class__ is int and form > known else 0


def too_new(form: int, known: int) -> str:
    """What is the matter with it and what to do, behind its name: one sentence without its end."""
    return (
        f"has form {form}, written by a newer release of Sigla, and this one knows forms up to {known}: "
        "install that release or a later one"
    )
