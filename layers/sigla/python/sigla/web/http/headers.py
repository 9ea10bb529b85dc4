"""Request headers: picked once, judged where needed."""

import re
from collections.abc import Callable, Mapping, Sequence
from os import urandom

Header = tuple[bytes, bytes]

AT_ONCE = 64

_PRINTABLE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff][\t\x20-\x7e\x80-\xff]*")
_LISTS = frozenset({b"accept", b"accept-encoding", b"content-type", b"if-match", b"if-none-match", b"x-forwarded-for"})
"""A proxy may say for whom it asks in a line of its own, behind one that the client has sent."""
_JUDGED = frozenset({b"host", b"origin"})
"""By these a stranger is told: whoever sends several is not one who sends none."""

_KEPT = _LISTS | _JUDGED


def picked(headers: Sequence[Sequence[bytes]]) -> Mapping[bytes, bytes]:
    """Headers by lower-case name. Lists sent in several lines are one, and so is what a stranger is told by.

    Other repeated headers do not count.
    """
    by_name: dict[bytes, bytes] = dict(headers)  # type: ignore[arg-type] # pairs, as ASGI says
    return by_name if len(by_name) == len(headers) else _joined(headers)


def _joined(headers: Sequence[Sequence[bytes]]) -> Mapping[bytes, bytes]:
    joined: dict[bytes, bytes] = {}
    repeated = set()
    for name, value in headers:
        if name in joined:
            repeated.add(name)
            value = joined[name] + b"," + value  # noqa: PLW2901 - the value is the list so far
        joined[name] = value
    return {name: value for name, value in joined.items() if name not in repeated or name in _KEPT}


def request_id(headers: Mapping[bytes, bytes], fresh: Callable[[], bytes]) -> bytes:
    """The client's, if exactly one was sent and it is not blank; else a fresh one (HTTP-9)."""
    sent = headers.get(b"x-request-id")
    return sent if sent is not None and _PRINTABLE.fullmatch(sent) else fresh()


def uuid() -> bytes:
    """A random UUID (version 4)."""
    return _uuid(urandom(16).hex())


class Uuids:
    """Random UUIDs, many made at a time for half of what each costs alone.

    For one thread. Not for a process that is copied while it runs, as by Lambda's SnapStart: its copies would give the
    same ones.
    """

    def __init__(self) -> None:
        self._made: list[bytes] = []

    def __call__(self) -> bytes:
        if not self._made:
            digits = urandom(16 * AT_ONCE).hex()
            self._made = [_uuid(digits[at : at + 32]) for at in range(0, len(digits), 32)]
        return self._made.pop()


def _uuid(digits: str) -> bytes:
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}".encode()


def tags(if_match: bytes) -> frozenset[str]:
    """The tags that an If-Match header names; empty for `*`, which any state is."""
    parts = (part.strip() for part in if_match.decode("latin-1").split(","))
    found = frozenset(part.strip('"') for part in parts)
    return frozenset() if "*" in found else found


def names(if_none_match: bytes, tag: bytes) -> bool:
    """Whether an If-None-Match header names the tag."""
    if tag not in if_none_match:  # nearly always, and then a long list costs nothing
        return if_none_match.strip() == b"*"
    return tag in (part.strip().removeprefix(b"W/") for part in if_none_match.split(b","))
