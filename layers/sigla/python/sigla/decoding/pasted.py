"""Bytes as people paste them: hex, with or without spaces, or base64."""

import re
from base64 import b64decode
from binascii import Error as NoBase64
from typing import Final

HEX: Final = "hex"
BASE64: Final = "base64"
_HEX: Final = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2})+)")


def bytes_of(text: str, form: str | None = None) -> bytes | None:
    """None where it is not of this form; without one it is hex if it can be."""
    said = "".join(text.split())
    digits = _HEX.fullmatch(said)
    if form != BASE64 and digits:
        return bytes.fromhex(digits[1])
    if form == HEX or not said:
        return None
    try:
        return b64decode(said, validate=True)
    except (NoBase64, ValueError):
        return None
