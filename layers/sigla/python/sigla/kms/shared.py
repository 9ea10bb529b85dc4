"""The material of DEKs under shared KEKs: made, wrapped and unwrapped here, through the key services of this process.

Nothing is remembered: each answer with a raw key is a question to its key service.
"""

from base64 import b64decode, b64encode
from binascii import Error

from sigla.keks.material import TRIAL, Material
from sigla.keks.nouns import DEFAULT_ALGORITHM, Dek, DekDraft, Kek
from sigla.keks.refusals import DeniedToUnwrap, DeniedToWrap, InvalidKeyField, KeyExists, NotUnwrapped, NotWrapped
from sigla.kms.key_message import fresh_key, is_key
from sigla.ports.kms import KeyServices, KmsDenied, KmsFailed, KmsKey


class SharedMaterials:
    """`Materials` of the KEKs that are shared."""

    def __init__(self, services: KeyServices) -> None:
        self._services = services

    def made(self, kek: Kek, draft: DekDraft, subject: str, standing: Dek | None, *, importing: bool) -> Material:
        """What is stored of a DEK that is created. Raises KmsFailed (50070, 40370), KeyExists, InvalidKeyField."""
        if draft.material is None:  # KEY-14: what stands is wrapped anew
            raw = self._unwrapped(kek, standing.material, subject) if standing else fresh_key(draft.algorithm.value)
            return Material(self._wrapped(kek, raw, subject), None if importing else _base64(raw))  # KEY-14
        if standing is not None:  # KEY-14: the raw key of a version never changes
            raise KeyExists(key=subject)
        if importing:  # KEY-14
            return Material(draft.material)
        return Material(draft.material, _base64(self._unwrapped(kek, draft.material, subject)))

    def shown(self, kek: Kek, dek: Dek) -> str:
        """The raw key of a stored DEK (KEY-14). Raises KmsFailed, InvalidKeyField."""
        return _base64(self._unwrapped(kek, dek.material, dek.subject))

    def check(self, kek: Kek) -> None:
        """Wraps a key and unwraps it again, as a trial (KEY-7). Raises KmsFailed."""
        raw = fresh_key(DEFAULT_ALGORITHM.value)
        if self._unwrapped(kek, self._wrapped(kek, raw, TRIAL), TRIAL) != raw:
            raise NotUnwrapped(subject=TRIAL, cause="the key service returned another key than it was given")

    def _wrapped(self, kek: Kek, raw: bytes, subject: str) -> str:
        try:
            return _base64(self._services.service(_key(kek)).wrap(raw))
        except KmsDenied as denied:
            raise DeniedToWrap(subject=subject, cause=denied.cause) from denied
        except KmsFailed as failed:
            raise NotWrapped(subject=subject, cause=failed.cause) from failed

    def _unwrapped(self, kek: Kek, material: str, subject: str) -> bytes:
        """A key, and nothing else: what the KMS key has encrypted besides is not decrypted for clients."""
        wrapped = _decoded(material)
        try:
            raw = self._services.service(_key(kek)).unwrap(wrapped)
        except KmsDenied as denied:
            raise DeniedToUnwrap(subject=subject, cause=denied.cause) from denied
        except KmsFailed as failed:
            raise NotUnwrapped(subject=subject, cause=failed.cause) from failed
        if not is_key(raw):
            raise NotUnwrapped(subject=subject, cause="what the material holds is not a data key")
        return raw


def _key(kek: Kek) -> KmsKey:
    return KmsKey(kek.kms_type, kek.kms_key_id, kek.kms_props)


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def _decoded(material: str) -> bytes:
    """As the reference reads base64: padding may be missing. Raises InvalidKeyField (KEY-14)."""
    padding = "" if material.endswith("=") else "=" * (-len(material) % 4)
    try:
        return b64decode(material + padding, validate=True)
    except (Error, ValueError):
        raise InvalidKeyField(field="encryptedKeyMaterial") from None
