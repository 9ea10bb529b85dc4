"""The parameters of a query: what a row of `routes` says of one is how it is read, and what is published of it.

A client may write anything there, and each kind below has the contract's own way with it (docs/api.md, §1.2). Whatever
comes of it is a value: an endpoint takes it as a keyword argument, `deletedOnly` as `deleted_only`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sigla.auth.permissions import Access
from sigla.contract import INTEGERS
from sigla.web.api import openapi_shapes as shapes
from sigla.web.api.openapi_shapes import Shape
from sigla.web.http.refusals import NoSuchArgument

Given = Mapping[str, Sequence[str]]
"""All parameters of a request with their values, of which each has one at least."""

_LEAST, _MOST = INTEGERS[0], INTEGERS[-1]
# Digits of any script are digits, to the reference as to us.
_NUMBER = re.compile(r"[+-]?\d{1,12}")


class Kind(Protocol):
    """What a parameter's values stand for.

    default: the value of a parameter that is not given. shape: as the document publishes it.
    """

    @property
    def default(self) -> Any: ...
    @property
    def shape(self) -> Shape: ...

    def read(self, given: Sequence[str]) -> Any:
        """The value. Raises NoSuchArgument for what the contract does not take: it is answered as an unknown path is.

        Where a kind takes one value only, the first one counts.
        """


@dataclass(frozen=True, slots=True)
class Flag:
    """Only `true` is true, in any case; everything else is false."""

    default: bool = False

    @property
    def shape(self) -> Shape:
        return {"anyOf": [shapes.FLAG, shapes.TEXT]}

    def read(self, given: Sequence[str]) -> bool:
        return given[0].lower() == "true"


@dataclass(frozen=True, slots=True)
class Text:
    """Any text; an empty one is given, too."""

    default: str = ""

    @property
    def shape(self) -> Shape:
        return shapes.TEXT

    def read(self, given: Sequence[str]) -> str:
        return given[0]


@dataclass(frozen=True, slots=True)
class TextIfGiven:
    """Any text, an empty one, too; None where none is given."""

    default: str | None = None

    @property
    def shape(self) -> Shape:
        return shapes.TEXT

    def read(self, given: Sequence[str]) -> str | None:
        return given[0]


@dataclass(frozen=True, slots=True)
class Texts:
    """Each value that is given, in order."""

    default: Sequence[str] = ()

    @property
    def shape(self) -> Shape:
        return {"type": "array", "items": shapes.TEXT}

    def read(self, given: Sequence[str]) -> Sequence[str]:
        return given


@dataclass(frozen=True, slots=True)
class Offset:
    """A number that is not negative. An empty one counts as not given."""

    default: int = 0

    @property
    def shape(self) -> Shape:
        return shapes.NUMBER | {"minimum": _LEAST, "maximum": _MOST}

    def read(self, given: Sequence[str]) -> int:
        offset = number(given[0]) if given[0] else self.default
        if offset < 0:
            raise NoSuchArgument
        return offset


@dataclass(frozen=True, slots=True)
class Limit:
    """A number; one that is not between 1 and the default counts as not given, and so does an empty one (§2.2)."""

    default: int

    @property
    def shape(self) -> Shape:
        return shapes.NUMBER | {"minimum": _LEAST, "maximum": _MOST}

    def read(self, given: Sequence[str]) -> int:
        limit = number(given[0]) if given[0] else self.default
        return limit if 0 < limit <= self.default else self.default


@dataclass(frozen=True, slots=True)
class Word:
    """One of these words, or an empty text."""

    words: frozenset[str]
    default: str = ""

    @property
    def shape(self) -> Shape:
        return {"enum": sorted(self.words)}

    def read(self, given: Sequence[str]) -> str:
        word = given[0]
        if word and word not in self.words:
            raise NoSuchArgument
        return word


@dataclass(frozen=True, slots=True)
class Words:
    """Each value that is given; every one of them is one of these words."""

    words: frozenset[str]
    default: Sequence[str] = ()

    @property
    def shape(self) -> Shape:
        return {"type": "array", "items": {"enum": sorted(self.words)}}

    def read(self, given: Sequence[str]) -> Sequence[str]:
        if not self.words.issuperset(given):
            raise NoSuchArgument
        return given


FLAG, TEXT, TEXTS = Flag(), Text(), Texts()


@dataclass(frozen=True, slots=True)
class Query:
    """A parameter of a route.

    access: what a request asks for in which this flag is true, where that is more than the route asks for. parses:
    whether a language reads the schema to answer it, which may take long.
    """

    name: str
    kind: Kind = TEXT
    about: str = ""
    access: Access | None = None
    parses: bool = False

    @property
    def argument(self) -> str:
        """The name of the endpoint's argument."""
        return re.sub(r"(?=[A-Z])", "_", self.name).lower()

    def read(self, given: Given) -> Any:
        """Its value among all that is given. Raises NoSuchArgument."""
        said = given.get(self.name)
        return self.kind.read(said) if said else self.kind.default


def number(said: str) -> int:
    """A 32-bit number. Raises NoSuchArgument for any other text."""
    if said.isdecimal() and len(said) < 10:  # what nearly every client sends
        return int(said)
    found = int(said) if _NUMBER.fullmatch(said) else _MOST + 1
    if not _LEAST <= found <= _MOST:
        raise NoSuchArgument
    return found
