"""Lists of keys."""

from collections.abc import Sequence

from sigla.keks.nouns import Algorithm
from sigla.keks.rules import check_kek_name
from sigla.keks.verbs.asking import found_kek, placed, standing
from sigla.keys import utf16
from sigla.model import Page, Subject
from sigla.registry import Resources
from sigla.registry.paging import paged


def kek_names(resources: Resources, prefixes: Sequence[str], *, deleted: bool, page: Page) -> list[str]:
    """Ascending by UTF-16 code units.

    prefixes: only KEKs with a DEK whose subject is spelled with one of these beginnings; then `deleted` speaks of the
    DEKs alone.
    """
    if not prefixes:
        return paged((kek.name for kek in resources.catalog.keks() if deleted or not kek.deleted), page)
    found = {
        dek.kek
        for prefix in dict.fromkeys(prefixes)
        for dek in resources.catalog.deks_listed(prefix)
        if deleted or not dek.deleted
    }
    return paged(sorted(found, key=utf16), page)


def dek_subjects(resources: Resources, kek: str, *, deleted: bool, page: Page) -> list[str]:
    """The subjects of a KEK's DEKs, as they are spelled, each once. Raises InvalidKeyField, KeyNotFound."""
    check_kek_name(kek)
    found_kek(resources.catalog.kek(kek), kek, deleted=deleted)
    found = {dek.subject for dek in resources.catalog.deks(kek) if deleted or not dek.deleted}
    return paged(sorted(found, key=utf16), page)


def dek_versions(
    resources: Resources, kek: str, subject: Subject, algorithm: Algorithm, *, deleted: bool, page: Page
) -> list[int]:
    """Ascending; of an unknown subject none (KEY-11). Raises InvalidKeyField, KeyNotFound for the KEK."""
    found = standing(resources, placed(resources, kek, subject, algorithm), None, deleted=deleted)
    return paged((dek.version for dek in found.deks), page)
