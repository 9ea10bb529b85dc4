"""Lists of keys."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from sigla.keks.nouns import Algorithm, ListedDek
from sigla.keks.rules import check_kek_name
from sigla.keks.verbs.asking import found_kek, placed, standing
from sigla.keys import utf16
from sigla.model import Page, Subject
from sigla.registry import Resources
from sigla.registry.paging import paged

MOST_QUESTIONS: Final = 8
"""A line of a request has room for five hundred prefixes; beyond these the list of all DEKs is read once."""


def kek_names(resources: Resources, prefixes: Sequence[str], *, deleted: bool, page: Page) -> list[str]:
    """Ascending by UTF-16 code units.

    prefixes: only KEKs with a DEK whose subject is spelled with one of these beginnings; then `deleted` speaks of the
    DEKs alone.
    """
    if not prefixes:
        return paged((kek.name for kek in resources.catalog.keks() if deleted or not kek.deleted), page)
    found = {dek.kek for dek in _listed_deks(resources, prefixes) if deleted or not dek.deleted}
    return paged(sorted(found, key=utf16), page)


def _listed_deks(resources: Resources, prefixes: Sequence[str]) -> Iterator[ListedDek]:
    """The DEKs of any of the prefixes: a question for each, or one for all of them where they are many."""
    distinct = tuple(dict.fromkeys(prefixes))
    if len(distinct) <= MOST_QUESTIONS:
        return chain.from_iterable(map(resources.catalog.deks_listed, distinct))
    return (dek for dek in resources.catalog.deks_listed() if dek.subject.startswith(distinct))


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
