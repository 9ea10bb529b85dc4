"""Where in a file something stands: from the path of a finding, or a sentence of a parser, to a line and a column.

A finding's path leads through the schema as it is understood, where a name stands for what it names. In the file it
leads as far as what is written there: the last of its steps that can be found is the place.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from sigla.languages.protobuf.tokens import TOKEN


class Position(NamedTuple):
    """Both from 1."""

    line: int
    column: int


BEGINNING: Final = Position(1, 1)

_TOLD: Final = re.compile(r"\bline (\d+),? column (\d+)")
_TOLD_CHARACTER: Final = re.compile(r"\bat character (\d+)")


def told_position(text: str, sentence: str) -> Position:
    """Where a refusal says that it is; the beginning, where it does not say."""
    if found := _TOLD.search(sentence):
        return Position(int(found[1]), int(found[2]))
    if found := _TOLD_CHARACTER.search(sentence):
        return _position(text, min(int(found[1]), len(text)))
    return BEGINNING


def of_path(text: str, schema_type: str, path: str) -> Position:
    """Where the path of a finding leads, as far as it can be followed in this text."""
    places = _PLACES[schema_type](text) if schema_type in _PLACES else {}
    steps = [step for step in path.removeprefix("#").split("/") if step]
    while steps:
        found = places.get("/".join(steps))
        if found is not None:
            return _position(text, found)
        steps.pop()
    return _position(text, places.get("", 0))


def _position(text: str, offset: int) -> Position:
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    line = bisect_right(starts, offset)
    return Position(line, offset - starts[line - 1] + 1)


# --- JSON: Avro and JSON Schema --------------------------------------------------------------------------------------

_JSON: Final = re.compile(
    r"""//[^\n]*+ | /\*.*?\*/ | ( "[^"\\]*+(?:\\.[^"\\]*+)*+" | [{}\[\]:,] | [^\s{}\[\]:,"/]+ )""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(slots=True)
class _Container:
    """An object or a list that is being read. step: the member or the element that comes next."""

    path: tuple[str, ...]
    is_list: bool
    step: str | None = None
    count: int = 0

    def next_path(self) -> tuple[str, ...]:
        return (*self.path, str(self.count) if self.is_list else self.step or "")


def _json_places(text: str) -> Mapping[str, int]:
    """Where each value begins, by its path; a member begins with its name, which is what a person looks for."""
    found: dict[str, int] = {}
    inside: list[_Container] = []
    for sign, offset in _json_tokens(text):
        holder = inside[-1] if inside else None
        if sign in "}]":
            if inside:
                inside.pop()
        elif sign == ",":
            if holder:
                holder.count, holder.step = holder.count + 1, None
        elif sign == ":":
            continue
        elif holder and not holder.is_list and holder.step is None:
            holder.step = _unquoted(sign)
            found.setdefault("/".join(holder.next_path()), offset)
        else:
            path = holder.next_path() if holder else ()
            found.setdefault("/".join(path), offset)
            if sign in "{[":
                inside.append(_Container(path, sign == "["))
    return found


def _json_tokens(text: str) -> Iterator[tuple[str, int]]:
    return ((match[1], match.start(1)) for match in _JSON.finditer(text) if match[1] is not None)


def _unquoted(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token


# --- Protobuf --------------------------------------------------------------------------------------------------------

_BLOCKS: Final = frozenset({"message", "enum", "oneof", "group", "service", "extend"})
_NUMBER: Final = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|[0-9]+)")


def _protobuf_places(text: str) -> Mapping[str, int]:
    """Where messages, enums, oneofs and fields are named, by the path that findings have; fields by their numbers.

    `package` stands for the whole file, as it does in findings.
    """
    found: dict[str, int] = {}
    inside: list[tuple[str, ...]] = []
    words: list[tuple[str, int]] = []
    for sign, offset in _protobuf_tokens(text):
        path = inside[-1] if inside else ()
        if sign == "{":
            inside.append(_enter_block(found, path, words))
            words = []
        elif sign in ("}", ";"):
            if sign == ";":
                _note_statement(found, path, words)
            elif inside:
                inside.pop()
            words = []
        else:
            words.append((sign, offset))
    return found


def _enter_block(found: dict[str, int], path: tuple[str, ...], words: list[tuple[str, int]]) -> tuple[str, ...]:
    """The path inside of a block. A name is noted where it stands."""
    for (keyword, _), (name, offset) in pairwise(words):
        if keyword in _BLOCKS:
            found.setdefault("/".join((*path, name)), offset)
            return (*path, name)
    return path


def _note_statement(found: dict[str, int], path: tuple[str, ...], words: list[tuple[str, int]]) -> None:
    """A field or a constant: what stands before its number; or the package."""
    if words and words[0][0] == "package" and not path:
        found.setdefault("", words[0][1])
    for at, (word, _) in enumerate(words[1:-1], 1):
        number = words[at + 1][0]
        if word == "=" and _NUMBER.fullmatch(number):
            found.setdefault("/".join((*path, str(_field_number(number)))), words[at - 1][1])
            return


def _field_number(number: str) -> int:
    """Decimal even with leading zeros, as the language has it."""
    return int(number, 16) if "x" in number.lower() else int(number)


def _protobuf_tokens(text: str) -> Iterator[tuple[str, int]]:
    return ((match[1], match.start(1)) for match in TOKEN.finditer(text) if match[1])


_PLACES: Final[Mapping[str, Callable[[str], Mapping[str, int]]]] = {
    "AVRO": _json_places,
    "JSON": _json_places,
    "PROTOBUF": _protobuf_places,
}
