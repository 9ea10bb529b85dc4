"""The key of the hashes of columns: settings only say where it is."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from sigla.aws.refusals import failed

REFERENCE: Final = "^$|^(env|file|secret):.+$"
"""How settings say it: `env:NAME`, a variable of the environment, `file:/path`, or `secret:` with the ARN, or the name,
of a secret in AWS Secrets Manager."""

SHORTEST: Final = 16
"""Bytes. A shorter key is found by trying, and then every short text whose hash is known."""


_CONFIG: Final = Config(connect_timeout=5, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 4})


class NoHashKey(Exception):
    """The settings lead to a missing key, or to an invalid one; the sentence never shows it."""


def hash_key(reference: str, environ: Mapping[str, str]) -> bytes:
    """The key, without the blanks and line ends around it; b"" without a reference. Raises NoHashKey, StoreError."""
    if not reference:
        return b""
    kind, _, where = reference.partition(":")
    match kind:
        case "file":
            key = _of_file(where).strip()
        case "secret":
            key = _of_secret(where).strip()
        case _:
            key = environ.get(where, "").encode().strip()
    if not key:
        raise NoHashKey(f"`hash_key` is {reference}, but the key there is missing or empty.")
    if len(key) < SHORTEST:
        raise NoHashKey(f"`hash_key` is {reference}, but the key there is shorter than {SHORTEST} bytes.")
    return key


def _of_file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as problem:
        raise NoHashKey(f"`hash_key` is file:{path}, which cannot be read ({problem.strerror}).") from problem


def _of_secret(name: str) -> bytes:
    try:
        client = boto3.session.Session().client("secretsmanager", config=_CONFIG)
        with closing(client):
            found = client.get_secret_value(SecretId=name)
    except (BotoCoreError, ClientError) as failure:
        raise failed(f"reading the secret {name} failed in Secrets Manager", failure) from failure
    return bytes(found["SecretBinary"]) if "SecretBinary" in found else str(found["SecretString"]).encode()
