"""Whether values read from somebody's JSON are what their types say: `Schema(text=5)` is quickly made."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints


def fits(value: object, type: Any) -> bool:
    """type: of `sigla.model`: a dataclass, a plain type, None, a union, a tuple of any length, a mapping of texts."""
    if isinstance(type, NewType):
        type = type.__supertype__
    origin = get_origin(type)
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in get_args(type))
    if origin is tuple:
        element, _ = get_args(type)
        return isinstance(value, tuple) and all(fits(each, element) for each in value)
    if origin is Mapping:
        key, element = get_args(type)
        return isinstance(value, Mapping) and all(fits(k, key) and fits(v, element) for k, v in value.items())
    if is_dataclass(type):
        return value.__class__ is type and all(fits(getattr(value, name), hint) for name, hint in _hints(type))
    return value.__class__ is type


@cache
def _hints(type: Any) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(type)
    return tuple((field.name, hints[field.name]) for field in fields(type))
