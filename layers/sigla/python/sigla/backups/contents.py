"""What a backup says of itself: `backup.json`, the first member of its file."""

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from sigla import __version__
from sigla.errors import FormTooNew
from sigla.forms import BACKUP, FORM, newer
from sigla.settings import is_identity
from sigla.shapes import fits

NOT_ONE = "what it says of itself is not what a backup says"


class NotABackup(Exception):
    """What is wrong with a file or with the place of one, in a sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Contents:
    """registry: its name. at: the moment that is kept, in milliseconds since 1970. position: of the journal, then.

    bodies, keys: how many there are, of schemas and of API keys. size: of all files in
    bytes, at most. identity: of the
    deployment in AWS whose registry it is; empty for a directory. release: of Sigla, which made it.
    """

    registry: str
    at: int
    position: int
    bodies: int
    keys: int
    size: int
    identity: str = ""
    release: str = __version__

    def written(self) -> bytes:
        return json.dumps({FORM: BACKUP, **asdict(self)}, indent=1).encode() + b"\n"

    @classmethod
    def read(cls, stored: bytes) -> "Contents":
        """Raises FormTooNew before anything else is asked of it, and ValueError for what no release has written."""
        said = json.loads(stored)
        if not isinstance(said, dict):
            raise ValueError(NOT_ONE)  # noqa: TRY004 - what else is wrong raises this, too
        if form := newer(said, BACKUP):
            raise FormTooNew("the backup", form, BACKUP)
        found: dict[str, Any] = {field.name: said.get(field.name) for field in fields(cls)}
        contents = cls(**found)
        if not fits(contents, cls) or not contents.registry or min(contents.numbers) < 0:
            raise ValueError(NOT_ONE)
        if contents.identity and not is_identity(contents.identity):
            raise ValueError(NOT_ONE)
        return contents

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.at, self.position, self.bodies, self.keys, self.size
