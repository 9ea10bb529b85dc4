"""`local-kms`: a key that is derived from a secret, for tests and laptops. Confluent's clients have the same driver.

The key is HKDF-SHA256 of the secret, without salt and info, of 16 bytes; what is wrapped is a nonce of 12 bytes, then
what AES-128-GCM makes of the bytes, with its tag.
"""

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sigla.ports.kms import KmsFailed

_KEY_BYTES, _NONCE_BYTES, _TAG_BYTES = 16, 12, 16


class LocalKey:
    """The key of one secret, as a `KeyService`."""

    def __init__(self, secret: str) -> None:
        """Raises KmsFailed where the secret is empty: everybody can derive that key."""
        if not secret:
            raise KmsFailed("local-kms needs the property secret in kmsProps, or SIGLA_LOCAL_SECRET on the server")
        derived = HKDF(SHA256(), _KEY_BYTES, salt=None, info=b"").derive(secret.encode("utf-8", "surrogatepass"))
        self._aead = AESGCM(derived)

    def wrap(self, raw: bytes) -> bytes:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._aead.encrypt(nonce, raw, b"")

    def unwrap(self, wrapped: bytes) -> bytes:
        """Raises KmsFailed."""
        if len(wrapped) < _NONCE_BYTES + _TAG_BYTES:
            raise KmsFailed(f"the material has {len(wrapped)} bytes, fewer than local-kms adds to a key")
        try:
            return self._aead.decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], b"")
        except InvalidTag:
            raise KmsFailed("the material was not wrapped with this secret, or was changed since") from None
