"""Whose bearer tokens are accepted: a list, which the registry reads and which is refused here in its words."""

import json
from collections.abc import Collection

from sigla.auth.tokens import issuers
from sigla.deployment.choices.rules import is_known

LONGEST = 3_000
"""Bytes. Lambda takes 4 KB of all variables of a function together."""


def problem(text: str, registries: Collection[str]) -> str:
    """What is wrong with the setting; empty where nothing is. registries: the stage's, where there are several."""
    if not text or not is_known(text):
        return ""
    try:
        known = issuers.read(text)
    except issuers.InvalidIssuers as wrong:
        return f"issuers: {wrong}"
    if any(each.jwks and not issuers.is_https(each.jwks) for each in known):
        return "issuers: jwks must be a URL with https:// where the registry is in AWS."
    for each in known if registries else ():
        for row in each.map:
            if not row.registries:
                # What was written for one registry must not open the next one as well.
                return f'issuers: a row of map names no "registry": say for which of {", ".join(registries)} it is.'
            if unknown := [name for name in row.registries if name not in registries]:
                return f"issuers: a row of map names the registry {unknown[0]}; there are {', '.join(registries)}."
    if len(text.encode()) > LONGEST:
        return (
            f"issuers has {len(text.encode())} bytes; {LONGEST} fit into the variables of a function. Let rows of map "
            "name groups instead of persons."
        )
    return ""


def as_text(listed: object) -> str:
    """A list of issuers, as tables of a stage file or as mappings, in the text that the setting is."""
    return json.dumps(listed, separators=(",", ":"), default=str)
