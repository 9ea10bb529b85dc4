"""Where in a file something stands: from the path of a finding, or a sentence of a parser, to a line and a column.

A finding's path leads through the schema as it is understood, where a name stands for what it names. In the file it
leads as far as what is written there: the last of its steps that can be found is the place.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple


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
        return _position(_line_starts(text), min(int(found[1]), len(text)))
    return BEGINNING


class Positions:
    """Where the paths of findings lead in a text, which is read once, and not before the first of them."""

    def __init__(self, text: str, schema_type: str) -> None:
        self._text = text
        self._type = schema_type

    def of(self, path: str) -> Position:
        """As far as the path can be followed."""
        steps = [step for step in path.removeprefix("#").split("/") if step]
        while steps:
            found = self._places.get("/".join(steps))
            if found is not None:
                return _position(self._starts, found)
            steps.pop()
        return _position(self._starts, self._places.get("", 0))

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return _PLACES[self._type](self._text) if self._type in _PLACES else {}

    @cached_property
    def _starts(self) -> Sequence[int]:
        return _line_starts(self._text)


class Counterparts:
    """Where paths that lead through one text of JSON lead in another, as far as both have what they pass.

    Members of lists are found by their names: a field is the same one in another place.
    """

    def __init__(self, text: str, other: str) -> None:
        self._texts = text, other

    def of(self, path: str) -> str:
        """The path in the second text; the same where either is not JSON."""
        if self._trees is None:
            return path
        (tree, other), found = self._trees, ""
        for step in path.split("/")[1:]:
            if isinstance(tree, dict) and isinstance(other, dict) and step in tree and step in other:
                tree, other, at = tree[step], other[step], step
            elif isinstance(tree, list) and isinstance(other, list) and step.isdecimal() and int(step) < len(tree):
                tree = tree[int(step)]
                same = next((at for at, each in enumerate(other) if _called(each) == _called(tree)), None)
                if same is None:
                    break
                other, at = other[same], str(same)
            else:
                break
            found += f"/{at}"
        return found

    @cached_property
    def _trees(self) -> tuple[Any, Any] | None:
        try:
            return json.loads(self._texts[0]), json.loads(self._texts[1])
        except (ValueError, RecursionError):
            return None


def _called(member: Any) -> Any:
    """A field and a named type by their names, what has none by its type."""
    return member.get("name", member.get("type")) if isinstance(member, dict) else member


def _line_starts(text: str) -> Sequence[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _position(starts: Sequence[int], offset: int) -> Position:
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
    from sigla.languages.protobuf.tokens import TOKEN  # noqa: PLC0415 - who places nothing needs no language

    return ((match[1], match.start(1)) for match in TOKEN.finditer(text) if match[1])


_PLACES: Final[Mapping[str, Callable[[str], Mapping[str, int]]]] = {
    "AVRO": _json_places,
    "JSON": _json_places,
    "PROTOBUF": _protobuf_places,
}
