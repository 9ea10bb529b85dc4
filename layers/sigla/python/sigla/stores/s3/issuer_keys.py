"""The keys of issuers of tokens in a bucket, an object each: `<registry>/issuers/<digest of its name>.json`.

{"form": 1, "issuer": "https://…", "read": 1700000000000, "jwks": {"keys": […]}}

One function puts them there, which has a way to the issuers; the others have none and read them.
"""

import json
from typing import Any, Final

from sigla import keys
from sigla.auth.tokens.issuers import Issuer
from sigla.auth.tokens.key_sets import KeySet, parse
from sigla.errors import IssuerSilent, StoreError
from sigla.forms import FORM, ISSUER_KEYS, newer, too_new
from sigla.stores.s3.objects import Objects, Stored

RENEWED_MS: Final = 6 * 3_600_000
"""What has not changed is put again after so long: who reads it believes it for a day."""

DAMAGED: Final = "what the bucket has of them is damaged"


class AwsIssuerKeys:
    """A `KeySource`."""

    def __init__(self, objects: Objects, *, registry: str = "default") -> None:
        self._objects = objects
        self._registry = registry

    def read(self, issuer: Issuer) -> KeySet:
        try:
            stored = self._objects.read(self._name(issuer))
        except StoreError as silence:
            raise IssuerSilent(f"the bucket that has them: {silence}") from silence
        if stored is None:
            raise IssuerSilent("the function that reads them has not put them into the bucket yet")
        told = _content(stored, issuer)
        return KeySet(parse(json.dumps(told["jwks"]).encode()), told["read"])

    def put(self, issuer: Issuer, document: bytes, now: int) -> bool:
        """Whether they had to be written. document: as the issuer publishes them. Raises IssuerSilent, StoreError.

        What cannot be used takes the place of nothing: the keys that stand there go on.
        """
        parse(document)
        content = {FORM: ISSUER_KEYS, "issuer": issuer.issuer, "read": now, "jwks": json.loads(document)}

        def attempt() -> bool | None:
            stored = self._objects.read(self._name(issuer))
            if stored is None:
                return self._objects.create(self._name(issuer), json.dumps(content).encode()) or None
            if _is_fresh(stored, content):
                return False
            return self._objects.replace(self._name(issuer), json.dumps(content).encode(), stored) or None

        return self._objects.insist(f"writing the keys of {issuer.issuer}", attempt)

    def _name(self, issuer: Issuer) -> str:
        return keys.issuer_keys_object(self._registry, issuer.issuer)


def _is_fresh(stored: Stored, content: dict[str, Any]) -> bool:
    """Whether these keys stand there, and have been put there lately."""
    try:
        told = json.loads(stored.content)
        standing = {**content, "read": told["read"]}
        return bool(told == standing and 0 <= content["read"] - told["read"] < RENEWED_MS)
    except (ValueError, LookupError, TypeError):
        return False


def _content(stored: Stored, issuer: Issuer) -> dict[str, Any]:
    """Raises IssuerSilent."""
    try:
        told = json.loads(stored.content)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise IssuerSilent(DAMAGED)
    if form := newer(told, ISSUER_KEYS):
        raise IssuerSilent(f"what the bucket has of them {too_new(form, ISSUER_KEYS)}")
    if told.get("issuer") != issuer.issuer or told.get("read").__class__ is not int or "jwks" not in told:
        raise IssuerSilent(DAMAGED)
    return told
