"""Whether values read from somebody's JSON are what their types say: `Schema(text=5)` is quickly made."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

Check = Callable[[Any], bool]


def fits(value: object, type: Any) -> bool:
    """type: of `sigla.model`: a dataclass, a plain type, None, a union, a tuple of any length, a mapping of texts."""
    return _check(type)(value)


@cache
def _check(type: Any) -> Check:
    """Types are taken apart once: that takes longer than to look at a value."""
    if isinstance(type, NewType):
        return _check(type.__supertype__)
    origin = get_origin(type)
    if origin in (Union, UnionType):
        checks = tuple(map(_check, get_args(type)))
        return lambda value: any(check(value) for check in checks)
    if origin is tuple:
        element = _check(get_args(type)[0])
        return lambda value: isinstance(value, tuple) and all(map(element, value))
    if origin is Mapping:
        key, member = map(_check, get_args(type))
        return lambda value: isinstance(value, Mapping) and all(map(key, value)) and all(map(member, value.values()))
    if is_dataclass(type):
        hints = get_type_hints(type)
        parts = tuple((field.name, _check(hints[field.name])) for field in fields(type))
        return lambda value: value.__class__ is type and all(check(getattr(value, name)) for name, check in parts)
    return lambda value: value.__class__ is type
