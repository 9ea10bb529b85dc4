"""Verbs about keys, for stories and for meetings."""

from collections.abc import Mapping
from typing import Any

from sigla.keks.nouns import DEFAULT_ALGORITHM, DekDraft, KekDraft
from sigla.keks.verbs import deks, keks
from sigla.model import Version
from sigla.ports.catalog import Catalog
from sigla.rules import names
from tests.attack.world import Verb


def kek(name: str, **fields: Any) -> Verb:
    draft = KekDraft(name, **{"kms_type": "local-kms", "kms_key_id": "id", **fields})
    return lambda registry: keks.create_kek(registry, draft)


def kek_patched(name: str, **patch: Any) -> Verb:
    return lambda registry: keks.update_kek(registry, name, patch)


def kek_deleted(name: str) -> Verb:
    return lambda registry: keks.delete_kek(registry, name)


def kek_purged(name: str) -> Verb:
    return lambda registry: keks.delete_kek(registry, name, permanent=True)


def kek_undeleted(name: str) -> Verb:
    return lambda registry: keks.undelete_kek(registry, name)


def dek(kek: str, subject: str, version: int = 1, **fields: Any) -> Verb:
    draft = DekDraft(version=version, **{"material": f"m{version}", **fields})
    return lambda registry: deks.create_dek(registry, kek, names.subject(subject), draft)


def deks_deleted(kek: str, subject: str, version: int | None = None) -> Verb:
    return lambda registry: deks.delete_deks(registry, kek, names.subject(subject), _number(version), DEFAULT_ALGORITHM)


def deks_purged(kek: str, subject: str, version: int | None = None) -> Verb:
    return lambda registry: deks.delete_deks(
        registry, kek, names.subject(subject), _number(version), DEFAULT_ALGORITHM, permanent=True
    )


def deks_undeleted(kek: str, subject: str, version: int | None = None) -> Verb:
    return lambda registry: deks.undelete_deks(
        registry, kek, names.subject(subject), _number(version), DEFAULT_ALGORITHM
    )


def _number(version: int | None) -> Version | None:
    return None if version is None else Version(version)


KEYS = (kek("k"), dek("k", "s"), dek("k", "s", 2))
"""A KEK with two versions of a DEK."""

REMADE: tuple[Verb, ...] = (
    dek("k", "s", material="old"),
    dek("k", "s", 2),
    deks_deleted("k", "s", 1),
    deks_purged("k", "s", 1),
    dek("k", "s", material="new"),
)
"""A DEK that is deleted for good and made anew with the same number; then the KEK as well."""
LIFE: tuple[Verb, ...] = (
    kek("k"),
    *REMADE,
    dek("k", "s", 2, material="wrapped anew", rewrap=True),
    deks_deleted("k", "s"),
    deks_undeleted("k", "s"),
    deks_deleted("k", "s"),
    deks_purged("k", "s"),
    kek_patched("k", doc="to go"),
    kek_deleted("k"),
    kek_purged("k"),
    kek("k", kms_key_id="another"),
    dek("k", "s", material="newest"),
)

Keys = Mapping[Any, Any]


def keys_of(catalog: Catalog) -> Keys:
    """What is stored: all that clients see but times."""
    found: dict[Any, Any] = {}
    for each in catalog.keks():
        found[each.name] = (each.kms_key_id, each.doc, each.deleted)
        for one in catalog.deks(each.name):
            found[each.name, one.subject, one.algorithm, one.version] = (one.material, one.deleted)
    return found
