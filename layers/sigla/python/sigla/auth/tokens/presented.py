"""A token as it was presented: taken apart, and not yet believed.

Nothing lenient happens here. What two readers could read in two ways is refused: base64 with padding or loose bits,
JSON that names a member twice, words instead of numbers.
"""

import binascii
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

LONGEST: Final = 16 * 2**10
"""Bytes. API Gateway ends all headers of a request together at 10,240."""

_COMPACT: Final = re.compile(rb"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+")


class TokenRefused(ValueError):
    """Why a token is not accepted: a sentence, for operators (`sigla auth explain`). Clients are not told."""


@dataclass(frozen=True, slots=True)
class Presented:
    token: bytes
    header: Mapping[str, Any]
    claims: Mapping[str, Any]


def take_apart(token: bytes) -> Presented:
    """Raises TokenRefused."""
    if len(token) > LONGEST:
        raise TokenRefused(f"It has {len(token)} bytes; a token may have {LONGEST}.")
    parts = _COMPACT.fullmatch(token)
    if parts is None:
        raise TokenRefused("It is not three parts in base64url with dots between them, as a signed JWT is.")
    return Presented(token, _json(parts[1], "header"), _json(parts[2], "claims"))


def _json(encoded: bytes, what: str) -> Mapping[str, Any]:
    try:
        content = urlsafe_b64decode(encoded + b"=" * (-len(encoded) % 4))
    except binascii.Error:
        raise TokenRefused(f"Its {what} cannot be read: no base64url.") from None
    if urlsafe_b64encode(content).rstrip(b"=") != encoded:
        raise TokenRefused(f"Its {what} cannot be read: bits of its base64url are left over.")
    try:
        told = json.loads(content.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as wrong:
        if isinstance(wrong, TokenRefused):
            raise
        raise TokenRefused(f"Its {what} cannot be read: no JSON.") from None
    if not isinstance(told, dict):
        raise TokenRefused(f"Its {what} cannot be read: no JSON object.")
    return told


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        raise TokenRefused("One of its JSON objects has a member twice, which two readers could read in two ways.")
    return found


def _no_number(name: str) -> NoReturn:
    raise TokenRefused(f"{name} is not JSON.")
