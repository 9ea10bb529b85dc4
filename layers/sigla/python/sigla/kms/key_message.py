"""What a data key is made of: a small message of Protobuf, as clients of Confluent's expect it.

AesGcmKey{key_value = 3} or AesSivKey{key_value = 2}; the first field, a version of 0, is left out. Raw keys are made
here and handed on; nothing keeps them.
"""

import secrets
from collections.abc import Mapping
from typing import NamedTuple


class _Form(NamedTuple):
    """tag: number and type of the message's field. length: bytes of the key, as Protobuf writes it: in one byte."""

    tag: int
    length: int


_GCM, _SIV = 3 << 3 | 2, 2 << 3 | 2

_FORMS: Mapping[str, _Form] = {
    "AES128_GCM": _Form(_GCM, 16),
    "AES256_GCM": _Form(_GCM, 32),
    "AES256_SIV": _Form(_SIV, 64),
}
"""By the name of the algorithm."""

ALGORITHMS = tuple(_FORMS)


def fresh_key(algorithm: str) -> bytes:
    """A new random key, as its message."""
    form = _FORMS[algorithm]
    return bytes(form) + secrets.token_bytes(form.length)


def is_key(message: bytes) -> bool:
    """Whether the bytes are the message of a key, of any algorithm."""
    return any(message[:2] == bytes(form) and len(message) == 2 + form.length for form in _FORMS.values())
