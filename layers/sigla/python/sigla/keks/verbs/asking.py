"""The first steps of many verbs: names are judged, an alias is followed, and what stands is asked for, in one question.

The order of checks: the KEK's name, the subject, the version, the KEK, the DEK.
"""

from typing import NamedTuple

from sigla.keks.nouns import Algorithm, Dek, DekName, Kek, named
from sigla.keks.refusals import KeyNotFound
from sigla.keks.rules import check_kek_name, check_subject
from sigla.model import DEFAULT_CONTEXT, LATEST, Subject
from sigla.registry import Resources
from sigla.rules import names
from sigla.rules.settings import IMPORTING_MODES, effective_mode


class Place(NamedTuple):
    """Where DEKs are looked for. subject: as it is spelled where it is new. importing: its mode says so (KEY-14)."""

    subject: str
    name: DekName
    importing: bool = False


class Standing(NamedTuple):
    """What was found: a KEK, and the versions that a verb is about."""

    kek: Kek
    deks: tuple[Dek, ...]


def text_of(subject: Subject) -> str:
    """The subject as the client spelled it."""
    return subject.qualified if subject.sent is None else subject.sent


def placed(resources: Resources, kek: str, subject: Subject, algorithm: Algorithm) -> Place:
    """The place that a path means; an alias leads elsewhere (KEY-10). Raises InvalidKeyField."""
    check_kek_name(kek)
    text = check_subject(text_of(subject))
    view = resources.look(subject)
    own = view.chain.own.config
    alias = own and (own.alias_for_deks or own.alias)
    if not alias:
        return Place(text, DekName(kek, named(text), algorithm), view.importing)
    target = names.alias_target(alias, subject.under)
    text = alias if subject.under == DEFAULT_CONTEXT or names.names_context(alias) else target.qualified
    importing = effective_mode(resources.look(target).chain) in IMPORTING_MODES
    return Place(check_subject(text), DekName(kek, named(text), algorithm), importing)


def found_kek(kek: Kek | None, name: str, *, deleted: bool) -> Kek:
    """The KEK, where it may be seen. Raises KeyNotFound."""
    if kek is None or (kek.deleted and not deleted):
        raise KeyNotFound(key=name)
    return kek


def standing(resources: Resources, place: Place, version: int | None, *, deleted: bool = True) -> Standing:
    """The KEK and the DEKs of a place, one version or all of them, that may be seen. Raises KeyNotFound for the KEK.

    version: LATEST for the highest one.
    """
    seen = resources.catalog.deks_of(place.name, None if version == LATEST else version)
    kek = found_kek(seen.kek, place.name.kek, deleted=deleted)
    visible = tuple(dek for dek in seen.deks if deleted or not dek.deleted)
    return Standing(kek, visible[-1:] if version == LATEST else visible)


def existing(resources: Resources, place: Place, version: int | None, *, deleted: bool = True) -> Standing:
    """As `standing`; raises KeyNotFound for the subject, too, where nothing is found (never for the version)."""
    found = standing(resources, place, version, deleted=deleted)
    if not found.deks:
        raise KeyNotFound(key=place.subject)
    return found
