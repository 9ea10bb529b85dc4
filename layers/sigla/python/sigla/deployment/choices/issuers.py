"""Whose bearer tokens are accepted: a list, which the registry reads and which is refused here in its words."""

import json

from sigla.auth.tokens import issuers
from sigla.deployment.choices.rules import is_known

LONGEST = 3_000
"""Bytes. Lambda takes 4 KB of all variables of a function together."""


def problem(text: str) -> str:
    """What is wrong with the setting; empty where nothing is."""
    if not text or not is_known(text):
        return ""
    try:
        known = issuers.read(text)
    except issuers.InvalidIssuers as wrong:
        return f"issuers: {wrong}"
    if any(each.jwks and not issuers.is_https(each.jwks) for each in known):
        return "issuers: jwks must be a URL with https:// where the registry is in AWS."
    if len(text.encode()) > LONGEST:
        return (
            f"issuers has {len(text.encode())} bytes; {LONGEST} fit into the variables of a function. Let rows of map "
            "name groups instead of persons."
        )
    return ""


def as_text(listed: object) -> str:
    """A list of issuers, as tables of a stage file or as mappings, in the text that the setting is."""
    return json.dumps(listed, separators=(",", ":"), default=str)
