"""DynamoDB's expressions as our adapters write them: conditions, changes, and the rule that nothing in them is unused.

Each text becomes a function once, of an item and of the request that brings names and values.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

Value = Mapping[str, Any]
"""As in {"S": "text"}."""
Item = dict[str, Value]
Asked = Mapping[str, Any]
Find = Callable[[Item, Asked], Value | None]
Holds = Callable[[Item, Asked], bool]
Change = Callable[[Item, Asked], Item]

_WORD = re.compile(r"\s*([#:]?\w+|<=|>=|<>|[=<>(),\[\]+-])")
_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def used(asked: Asked, *expressions: str) -> None:
    """Raises ValueError where a request brings a name or a value that none of its expressions has, or has not one."""
    words = {word for each in expressions for word in _WORD.findall(asked.get(each, "")) if word[0] in "#:"}
    brought = {*asked.get("ExpressionAttributeNames", ()), *asked.get("ExpressionAttributeValues", ())}
    if words != brought:
        raise ValueError(f"unused, or not there, in {expressions}: {words ^ brought}")


class _Words:
    """The words of an expression, read from left to right."""

    def __init__(self, text: str) -> None:
        self._left: list[str] = _WORD.findall(text)[::-1]
        if "".join(self._left[::-1]) != re.sub(r"\s+", "", text):
            raise ValueError(f"not imitated: {text}")

    @property
    def next(self) -> str:
        return self._left[-1] if self._left else ""

    def take(self, *expected: str) -> str:
        if not self._left or (expected and self.next not in expected):
            raise ValueError(f"not imitated: {self.next!r} instead of {expected}")
        return self._left.pop()

    def end(self) -> None:
        if self._left:
            raise ValueError(f"not imitated: {self._left[::-1]}")

    def took(self, word: str) -> bool:
        return bool(self.next == word and self._left.pop())


# --- conditions ------------------------------------------------------------------------------------------------------


@cache
def condition(text: str) -> Holds:
    words = _Words(text)
    holds = _either(words)
    words.end()
    return holds


def _either(words: _Words) -> Holds:
    clauses = [_all(words)]
    while words.took("OR"):
        clauses.append(_all(words))
    return lambda item, asked: any(clause(item, asked) for clause in clauses)


def _all(words: _Words) -> Holds:
    clauses = [_clause(words)]
    while words.took("AND"):
        clauses.append(_clause(words))
    return lambda item, asked: all(clause(item, asked) for clause in clauses)


def _clause(words: _Words) -> Holds:
    if words.took("NOT"):
        clause = _clause(words)
        return lambda item, asked: not clause(item, asked)
    if words.took("("):
        holds = _either(words)
        words.take(")")
        return holds
    if words.next in _FUNCTIONS:
        function = _FUNCTIONS[words.take()]
        return function(*_arguments(words))
    left, how = _operand(words), words.take("BETWEEN", *_COMPARED)
    if how == "BETWEEN":
        low = _operand(words)
        words.take("AND")
        above, below = _compared(ge, left, low), _compared(le, left, _operand(words))
        return lambda item, asked: above(item, asked) and below(item, asked)
    return _compared(_COMPARED[how], left, _operand(words))


def _arguments(words: _Words) -> list[Find]:
    words.take("(")
    found = [_operand(words)]
    while words.took(","):
        found.append(_operand(words))
    words.take(")")
    return found


def _operand(words: _Words) -> Find:
    """A value, or a path: a name, and a place in its list."""
    word = words.take()
    if word.startswith(":"):
        return lambda _, asked: asked["ExpressionAttributeValues"][word]
    if words.took("["):
        at = int(words.take())
        words.take("]")
        return lambda item, asked: _element(item.get(_name(word, asked)), at)
    return lambda item, asked: item.get(_name(word, asked))


def _name(word: str, asked: Asked) -> str:
    return str(asked["ExpressionAttributeNames"][word]) if word.startswith("#") else word


def _element(value: Value | None, at: int) -> Value | None:
    found = (value or {}).get("L", [])
    return found[at] if at < len(found) else None


def _compared(how: Callable[[Any, Any], bool], left: Find, right: Find) -> Holds:
    """Values of two kinds are unlike each other, and neither is the greater one; nothing compares with what is not."""

    def holds(item: Item, asked: Asked) -> bool:
        one, other = left(item, asked), right(item, asked)
        if one is None or other is None:
            return how is ne
        (kind, first), (other_kind, second) = *one.items(), *other.items()
        if kind != other_kind:
            return how is ne
        return how(Decimal(first), Decimal(second)) if kind == "N" else how(first, second)

    return holds


def _begins(path: Find, start: Find) -> Holds:
    def holds(item: Item, asked: Asked) -> bool:
        found, begins = path(item, asked), start(item, asked)
        return bool(found and begins and str(found.get("S", "")).startswith(begins["S"]) and "S" in found)

    return holds


def _is_of(path: Find, kind: Find) -> Holds:
    def holds(item: Item, asked: Asked) -> bool:
        found, wanted = path(item, asked), kind(item, asked)
        return bool(found and wanted and wanted["S"] in found)

    return holds


_FUNCTIONS: Final[Mapping[str, Callable[..., Holds]]] = {
    "attribute_exists": lambda path: lambda item, asked: path(item, asked) is not None,
    "attribute_not_exists": lambda path: lambda item, asked: path(item, asked) is None,
    "attribute_type": _is_of,
    "begins_with": _begins,
}


# --- changes ---------------------------------------------------------------------------------------------------------


@cache
def change(text: str) -> Change:
    """An item as it becomes, of the item as it is; each clause sees the latter."""
    words, clauses = _Words(text), list[Callable[[Item, Asked, Item], None]]()
    while words.next:
        clause = _CLAUSES[words.take()]
        clauses.append(clause(words))
        while words.took(","):
            clauses.append(clause(words))

    def changed(item: Item, asked: Asked) -> Item:
        made = dict(item)
        for clause in clauses:
            clause(item, asked, made)
        return made

    return changed


def changed_names(asked: Asked) -> set[str]:
    """The attributes that a change speaks of."""
    return {_name(word, asked) for word in _WORD.findall(asked["UpdateExpression"]) if word.startswith("#")}


def _set(words: _Words) -> Callable[[Item, Asked, Item], None]:
    word = words.take()
    words.take("=")
    found = _set_to(words)

    def clause(item: Item, asked: Asked, made: Item) -> None:
        value = found(item, asked)
        assert value is not None, "a path in SET that is not there"
        made[_name(word, asked)] = value

    return clause


def _set_to(words: _Words) -> Find:
    if not words.took("if_not_exists"):
        return _operand(words)
    path, otherwise = _arguments(words)
    return lambda item, asked: otherwise(item, asked) if (found := path(item, asked)) is None else found


def _remove(words: _Words) -> Callable[[Item, Asked, Item], None]:
    word = words.take()

    def clause(_: Item, asked: Asked, made: Item) -> None:
        made.pop(_name(word, asked), None)

    return clause


def _add(words: _Words) -> Callable[[Item, Asked, Item], None]:
    """To a number; one that is missing is nought."""
    word, more = words.take(), _operand(words)

    def clause(item: Item, asked: Asked, made: Item) -> None:
        name, by = _name(word, asked), more(item, asked) or {}
        made[name] = {"N": str(Decimal(item.get(name, {"N": "0"})["N"]) + Decimal(by["N"]))}

    return clause


_CLAUSES: Final[Mapping[str, Callable[[_Words], Callable[[Item, Asked, Item], None]]]] = {
    "SET": _set,
    "REMOVE": _remove,
    "ADD": _add,
}
