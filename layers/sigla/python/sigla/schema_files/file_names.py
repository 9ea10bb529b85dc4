"""Under which path a subject's schema is written: one that every file system takes, and that is not another one's."""

import re
from collections.abc import Collection
from hashlib import sha256
from typing import Final
from urllib.parse import quote

from sigla.model import DEFAULT_CONTEXT, Subject
from sigla.schema_files.files import TYPES

ENDINGS: Final = {schema_type: ending for ending, schema_type in TYPES.items()}
CONTEXTS: Final = "contexts"
"""The folder that has one for each named context. No schema's file is called so: each has an ending."""
LONGEST: Final = 180
"""Characters of a name without its ending: file systems take 255 bytes, and `~` with the digest needs 9."""
DIGEST: Final = 8

_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
"""Devices of Windows, with any ending."""


def path_for(subject: Subject, schema_type: str, taken: Collection[str]) -> str:
    """The path of its file, with slashes.

    taken: paths of others, in lower case: there are file systems to which case makes no difference.
    """
    folder = "" if subject.context == DEFAULT_CONTEXT else f"{CONTEXTS}/{safe_name(subject.context[1:])}/"
    name, ending = safe_name(subject.name), ENDINGS[schema_type]
    plain = f"{folder}{name}{ending}"
    return plain if plain.lower() not in taken else f"{folder}{name[:LONGEST]}~{_digest(subject.qualified)}{ending}"


def safe_name(name: str) -> str:
    """A name as one step of a path. What is not a letter, a digit or one of `_.-` is percent-encoded, as in a URL."""
    safe = quote(name, safe="", errors="surrogatepass").replace("~", "%7E")
    if safe.startswith(".") or _RESERVED.fullmatch(safe):
        safe = f"%{ord(safe[0]):02X}{safe[1:]}"
    return (
        safe
        if len(safe) <= LONGEST
        else f"{safe[:LONGEST]}~{sha256(name.encode(errors='surrogatepass')).hexdigest()[:DIGEST]}"
    )


def _digest(name: str) -> str:
    return sha256(name.encode(errors="surrogatepass")).hexdigest()[:DIGEST]
