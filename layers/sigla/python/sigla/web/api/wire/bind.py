"""JSON values into typed ones, as lenient as the contract: numbers where text is wanted, numbers in strings, `"TRUE"`.

Each function yields the bound value, None for null, or raises BadRequest with a sentence about the value's shape.
"""

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

from sigla.contract import INTEGERS
from sigla.keys import utf16
from sigla.web.api.wire.text import Inexact, Numeral, check_paired
from sigla.web.http.refusals import BadRequest

Bound = TypeVar("Bound")

LONGEST_ECHO = 200
_INT_RANGE = (INTEGERS[0], INTEGERS[-1])
_INTEGER = re.compile(r"[+-]?[0-9]+")
_TRUE, _FALSE = frozenset({"true", "True", "TRUE"}), frozenset({"false", "False", "FALSE"})


def members(value: object, name: str) -> dict[str, Any]:
    """The members of an object that `name` calls, for the sentences."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        raise _wrong_shape(value, name)
    word = "String" if _is_text(value) else "boolean/Boolean" if isinstance(value, bool) else "int/Int"
    kind = "boolean" if isinstance(value, bool) else "String" if word == "String" else "Number"
    shown = f"'{_echo(str(value))}'" if word == "String" else f"({_echo(str(value)).lower()})"
    raise BadRequest(
        reason=f"Cannot construct instance of `{name}` (although at least one Creator exists): "
        f"no {word}-argument constructor/factory method to deserialize from {kind} value "
        + (f"({shown})" if word == "String" else shown)
    )


def text(value: object) -> str | None:
    """A string. Numbers and booleans stand for their spelling."""
    if type(value) is str:
        return value if value.isascii() else check_paired(value)
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Numeral):
        return str(value)
    if isinstance(value, (int, float)):
        raise Inexact
    raise _wrong_shape(value, "String")


def integer(value: object) -> int | None:
    """A 32-bit number: fractions are cut, numbers in strings read, an empty string is null."""
    if isinstance(value, (bool, dict, list)):
        raise _wrong_shape(value, "Integer")
    if value is None:
        return None
    if _is_text(value):
        return _integer_in_string(str(value).strip())
    return _in_range(_cut(value), value)


def _integer_in_string(said: str) -> int | None:
    if said in ("", "null"):
        return None
    if not _INTEGER.fullmatch(said):
        raise _not(said, "Integer", "not a valid `java.lang.Integer` value")
    if len(said) > 20 or not _INT_RANGE[0] <= int(said) <= _INT_RANGE[1]:
        raise _not(said, "Integer", "not a valid `java.lang.Integer` value")
    return int(said)


def _cut(number: object) -> float:
    """The whole part. NaN and infinities are out of every range."""
    try:
        return int(number) if isinstance(number, (int, float)) else int(float(str(number)))
    except (OverflowError, ValueError):
        return float("inf")


def _in_range(whole: float, said: object) -> int:
    if not _INT_RANGE[0] <= whole <= _INT_RANGE[1]:
        raise BadRequest(
            reason=f"Numeric value ({_echo(str(said))}) out of range of `int` ({_INT_RANGE[0]} - {_INT_RANGE[1]})"
        )
    return int(whole)


def flag(value: object) -> bool | None:
    """A boolean, also in strings, and whole numbers (0 is false); an empty string is null."""
    if value is None or isinstance(value, bool):
        return value
    if _is_text(value):
        return _flag_in_string(str(value).strip())
    if isinstance(value, int) or (isinstance(value, Numeral) and _INTEGER.fullmatch(value)):
        return int(value) != 0
    raise _wrong_shape(value, "Boolean")


def _flag_in_string(said: str) -> bool | None:
    if said in ("", "null"):
        return None
    if said in _TRUE or said in _FALSE:
        return said in _TRUE
    raise _not(said, "Boolean", 'only "true" or "false" recognized')


def choice(value: object, name: str, allowed: Collection[str]) -> str | None:
    """One of the words of an enumeration, spelled exactly."""
    if value is None:
        return None
    if not _is_text(value):
        raise _wrong_shape(value, name)
    if value not in allowed:
        raise _not(str(value), name, f"not one of the values accepted for Enum class: [{', '.join(sorted(allowed))}]")
    return str(value)


def items(value: object, bind: Callable[[Any], Bound | None], name: str) -> tuple[Bound, ...] | None:
    """The items of an array, each bound. A null among them is refused: no list of the API has a use for it."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise _wrong_shape(value, name)
    bound = tuple(bind(item) for item in value)
    if None in bound:
        raise BadRequest(reason=f"A list of `{name.rstrip('>')}` has a null in it")
    return bound  # type: ignore[return-value] # the line above says so


def words(value: object) -> tuple[str, ...] | None:
    """A set of strings, sorted by UTF-16 code units; what is there twice is there once."""
    found = items(value, text, "String>")
    return None if found is None else tuple(in_order(set(found)))


def mapping(value: object, bind: Callable[[Any], Bound | None]) -> dict[str, Bound] | None:
    """The members of an object, sorted by UTF-16 code units of their names. A null among the values is refused."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise _wrong_shape(value, "Map>")
    bound: dict[str, Bound] = {}
    for name in in_order(value):
        one = bind(value[name])
        if one is None:
            raise BadRequest(reason=f"The value of '{_echo(name)}' is null")
        bound[check_paired(name)] = one
    return bound


def nullable_mapping(value: object, bind: Callable[[Any], Bound | None]) -> dict[str, Bound | None] | None:
    """As `mapping`, but a null among the values is kept."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise _wrong_shape(value, "Map>")
    return {check_paired(name): bind(value[name]) for name in in_order(value)}


def in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=utf16)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not isinstance(value, Numeral)


def _not(said: str, name: str, why: str) -> BadRequest:
    return BadRequest(reason=f'Cannot deserialize value of type `{name}` from String "{_echo(said)}": {why}')


def _wrong_shape(value: object, name: str) -> BadRequest:
    shape, token = _shape(value)
    return BadRequest(
        reason=f"Cannot deserialize value of type `{name}` from {shape} value (token `JsonToken.{token}`)"
    )


def _shape(value: object) -> tuple[str, str]:
    if isinstance(value, bool):
        return "Boolean", f"VALUE_{str(value).upper()}"
    if isinstance(value, dict):
        return "Object", "START_OBJECT"
    if isinstance(value, list):
        return "Array", "START_ARRAY"
    if _is_text(value):
        return "String", "VALUE_STRING"
    whole = isinstance(value, int) or (isinstance(value, Numeral) and _INTEGER.fullmatch(value))
    return ("Integer", "VALUE_NUMBER_INT") if whole else ("Floating-point", "VALUE_NUMBER_FLOAT")


def _echo(said: str) -> str:
    """What a sentence may repeat of a request: enough to recognise it, never a whole schema."""
    return said if len(said) <= LONGEST_ECHO else f"{said[:LONGEST_ECHO]}…"
