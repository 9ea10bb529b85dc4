"""The key of the hashes of columns: settings only say where it is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

REFERENCE: Final = "^$|^(env|file):.+$"
"""How settings say it: `env:NAME`, a variable of the environment, or `file:/path`."""

SHORTEST: Final = 16
"""Bytes. A shorter key is found by trying, and then every short text whose hash is known."""


class NoHashKey(Exception):
    """There is no key where the settings say, or none that is one; the sentence never shows it."""


def hash_key(reference: str, environ: Mapping[str, str]) -> bytes:
    """The key, without the blanks and line ends around it; b"" without a reference. Raises NoHashKey."""
    if not reference:
        return b""
    kind, _, where = reference.partition(":")
    key = (_of_file(where) if kind == "file" else environ.get(where, "").encode()).strip()
    if not key:
        raise NoHashKey(f"`hash_key` is {reference}, and there is no key: it is missing, or empty.")
    if len(key) < SHORTEST:
        raise NoHashKey(f"`hash_key` is {reference}, and the key there has fewer than {SHORTEST} bytes.")
    return key


def _of_file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as problem:
        raise NoHashKey(f"`hash_key` is file:{path}, which cannot be read ({problem.strerror}).") from problem
