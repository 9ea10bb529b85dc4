"""What each member of an API key's record must be: a hand or a disk may have changed it, and nothing is guessed."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from sigla.forms import FORM
from sigla.shapes import fits

VERIFIER = re.compile(r"[0-9a-f]{64}")

MOST_SECRETS = 4
"""So many open a key at a time: the newest, and those before the last rotations."""

LAST_MOMENT = 253_402_300_799_999
"""The end of the year 9999, in milliseconds since 1970: calendars go no further."""


def _is_verifier(value: object) -> bool:
    return isinstance(value, str) and VERIFIER.fullmatch(value) is not None


def _is_texts(value: object) -> bool:
    """A text alone would pass for the list of its letters."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_moment(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LAST_MOMENT


def _is_moment_or_absent(value: object) -> bool:
    return value is None or _is_moment(value)


def _is_former(value: object) -> bool:
    """An absent one is None; more of them than a key can have were not written by a release."""
    if value is None:
        return True
    return (
        isinstance(value, list)
        and len(value) < MOST_SECRETS
        and all(
            isinstance(each, Mapping) and _is_verifier(each.get("verifier")) and _is_moment(each.get("until"))
            for each in value
        )
    )


def _is_text_or_absent(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_revocation(value: object) -> bool:
    """An absent one is None."""
    if value is None:
        return True
    return (
        isinstance(value, Mapping)
        and value.keys() == {"at", "by"}
        and _is_moment(value["at"])
        and isinstance(value["by"], str)
    )


def _is_form(value: object) -> bool:
    """Keys from before the numbers have none."""
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


MEMBERS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    FORM: (_is_form, "a number"),
    "name": (partial(fits, type=str), "a text"),
    "role": (partial(fits, type=str), "a text"),
    "subjects": (_is_texts, "a list of texts"),
    "verifier": (_is_verifier, "a SHA-256 in hex"),
    "created": (_is_moment, "a time in milliseconds since 1970"),
    "expires": (_is_moment_or_absent, "a time in milliseconds since 1970"),
    "by": (_is_text_or_absent, "a text"),
    "revoked": (_is_revocation, "a time and a text"),
    "former": (_is_former, f"a list of up to {MOST_SECRETS - 1} secrets before, each with its verifier and its end"),
}
"""What each field of a record must be, and how people call that."""
