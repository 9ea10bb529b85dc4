"""Whether values read from a stranger's JSON are what their types say: `Schema(text=5)` is quickly made."""

import builtins
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

Check = Callable[[Any], bool]


def fits(value: object, type: Any) -> bool:
    """type: of `sigla.model`: a dataclass, a plain type, None, a union, a tuple of any length, a mapping of texts."""
    return _check_of(type)(value)


@cache
def _check_of(type: Any) -> Check:
    """Types are taken apart once: that takes longer than to look at a value.

    Every body that is read is looked at, so that what is asked most, plain types, is one lookup without a call.
    """
    if isinstance(type, NewType):
        return _check_of(type.__supertype__)
    origin = get_origin(type)
    if origin in (Union, UnionType):
        return _union(tuple(map(_without_name, get_args(type))))
    if origin is tuple:
        element = _check_of(get_args(type)[0])
        return lambda value: isinstance(value, tuple) and all(map(element, value))
    if origin is Mapping:
        key, member = map(_check_of, get_args(type))
        return lambda value: isinstance(value, Mapping) and all(map(key, value)) and all(map(member, value.values()))
    if is_dataclass(type):
        return _dataclass(type)
    return lambda value: value.__class__ is type


def _union(kinds: tuple[Any, ...]) -> Check:
    plain = frozenset(filter(_is_plain, kinds))
    checks = tuple(_check_of(kind) for kind in kinds if kind not in plain)
    return lambda value: value.__class__ in plain or any(check(value) for check in checks)


def _dataclass(type: Any) -> Check:
    hints = {name: _without_name(hint) for name, hint in get_type_hints(type).items()}
    names = [field.name for field in fields(type)]
    plain = [name for name in names if _is_plain(hints[name])]
    classes = [hints[name] for name in plain]
    parts = tuple((name, _check_of(hints[name])) for name in names if name not in plain)

    def check(value: Any) -> bool:
        if value.__class__ is not type or [getattr(value, name).__class__ for name in plain] != classes:
            return False
        for name, fits_part in parts:  # noqa: SIM110 - with all() a body takes half as long again
            if not fits_part(getattr(value, name)):
                return False
        return True

    return check


def _without_name(type: Any) -> Any:
    return _without_name(type.__supertype__) if isinstance(type, NewType) else type


def _is_plain(type: Any) -> bool:
    """Whether a value fits if this is its class, whatever is in it."""
    return isinstance(type, builtins.type) and get_origin(type) is None and not is_dataclass(type)
