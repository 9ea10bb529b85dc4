"""Writes that are wanted only if a scope is still as the caller saw it (HTTP-19).

What a scope is becomes a tag. It is made of what every reader of the API knows, so that a client can tell it by itself:
the highest number and the newest version of a subject, and what is set for the scope itself. A verb asks for its scope
in each of its attempts, so what it decides upon is what the caller saw; that no other commit comes between is the
business of its own commit.
"""

from dataclasses import dataclass
from hashlib import sha256

import orjson

from sigla import records
from sigla.changes import Head
from sigla.errors import PreconditionFailed
from sigla.model import Settings, Subject

LENGTH = 32
"""Hexadecimal digits."""


def state_tag(head: Head, own: Settings) -> str:
    """The tag of a subject or a context. own: its own settings, and none that it inherits."""
    form = {
        "config": None if own.config is None else records.config_json(own.config),
        "highest": head.highest,
        "mode": own.mode,
        "newest": None if head.newest is None else [head.newest.version, head.newest.guid],
    }
    return sha256(orjson.dumps(form)).hexdigest()[:LENGTH]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a scope has to be: one of these tags."""

    scope: Subject
    tags: frozenset[str]

    def check(self, head: Head, own: Settings) -> None:
        """Raises PreconditionFailed."""
        if state_tag(head, own) not in self.tags:
            raise PreconditionFailed(scope=self.scope)
