"""What an exporter has to look at: a subject, the settings of a scope, a context, a KEK, a DEK."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import dropwhile
from typing import Any, Final, NamedTuple, Self

import orjson

from sigla.keks.nouns import Algorithm, Dek, DekName, named
from sigla.keys import utf16
from sigla.model import GLOBAL, REGISTRY_WIDE, Search, Subject
from sigla.ports.catalog import Catalog
from sigla.rules import names


class MatterKind(Enum):
    """What a matter is about."""

    SUBJECT = "subject"
    """A subject, or a context as a whole: its settings."""
    CONTEXT = "context"
    """A context that was dropped."""
    KEK = "KEK"
    DEK = "DEK"


class Matter(NamedTuple):
    """name: of a subject, qualified; of a context or a KEK; of a DEK as JSON."""

    kind: MatterKind
    name: str

    def __str__(self) -> str:
        """For people, and for a position: `matter` reads it back."""
        return f"{self.kind.value} {self.name}"

    @property
    def subject(self) -> Subject:
        found = names.subject(self.name)
        return Subject(found.context, found.name)

    @property
    def dek(self) -> tuple[DekName, int]:
        """A version of a DEK, by its name."""
        kek, subject, algorithm, version = orjson.loads(self.name)
        return DekName(kek, named(subject), Algorithm(algorithm)), version


def matter(text: str) -> Matter:
    """What its text says."""
    kind, _, name = text.partition(" ")
    return Matter(MatterKind(kind), name)


@dataclass(frozen=True, slots=True)
class MatterPart:
    """What of a subject is to be looked at. versions: some of them, None for all. settings: its config, too."""

    versions: frozenset[int] | None = None
    settings: bool = True

    def __or__(self, other: Self) -> "MatterPart":
        both = None if self.versions is None or other.versions is None else self.versions | other.versions
        return MatterPart(both, self.settings or other.settings)


WHOLE: Final = MatterPart()
SETTINGS: Final = MatterPart(frozenset())

Matters = Mapping[Matter, MatterPart]


# --- in a row of the journal -----------------------------------------------------------------------------------------


def matters_of(row: Mapping[str, Any]) -> Iterator[tuple[Matter, MatterPart]]:
    """What a row is about."""
    for entry in row["entries"]:
        match entry["type"]:
            case "SCHEMA":
                yield of_subject(_named_subject(entry)), MatterPart(frozenset([entry["version"]]), settings=False)
            case "DELETE_SUBJECT" | "CLEAR_SUBJECT" if entry["name"]:
                yield of_subject(_named_subject(entry)), MatterPart(settings=False)
            case "CONFIG":
                yield of_subject(_named_subject(entry)), SETTINGS
            case "CONTEXT" if not entry["listed"]:
                yield Matter(MatterKind.CONTEXT, entry["context"]), WHOLE
            case "KEK":
                yield Matter(MatterKind.KEK, entry["key"]["name"]), WHOLE
            case "DEK":
                yield of_dek(entry["key"]), WHOLE


def of_subject(subject: Subject) -> Matter:
    return Matter(MatterKind.SUBJECT, subject.qualified)


def of_dek(key: Mapping[str, Any]) -> Matter:
    """key: as a record has it."""
    members = key["kekName"], key["subject"], key["algorithm"], key["version"]
    return Matter(MatterKind.DEK, orjson.dumps(members).decode())


def _named_subject(entry: Mapping[str, Any]) -> Subject:
    return Subject(entry["context"], entry["name"])


# --- in the whole source ---------------------------------------------------------------------------------------------


def walk(catalog: Catalog, after: str) -> Iterator[tuple[str, Matter, MatterPart]]:
    """Everything there is, each with the place to which one has come then. after: such a place; empty for the start.

    Settings of contexts go first, then subjects with their settings, then settings of subjects without versions, then
    KEKs with what stands under them. What is added meanwhile in a part that is over is told by the journal.
    """
    parts = (_contexts, _subjects, _settings_alone, _keks)
    said, _, last = after.partition(" ")
    first = int(said) if said else 0
    for number, part in enumerate(parts[first:], first):
        behind = last if after and number == first else None
        for each, matter, what in part(catalog, behind):
            yield f"{number} {each}", matter, what


Walked = Iterator[tuple[str, Matter, MatterPart]]


def _contexts(catalog: Catalog, behind: str | None) -> Walked:
    listed = [Subject(context, "") for context in catalog.contexts()]
    set_alone = [scope for scope, _ in catalog.settings(Search(context=None)) if not scope.name]
    for scope in _ordered({GLOBAL, REGISTRY_WIDE, *listed, *set_alone}, behind):
        yield scope.qualified, of_subject(scope), SETTINGS


def _subjects(catalog: Catalog, behind: str | None) -> Walked:
    found = catalog.subjects(Search(context=None))
    rest = found if behind is None else dropwhile(lambda each: utf16(each.qualified) <= utf16(behind), found)
    return ((each.qualified, of_subject(each), WHOLE) for each in rest)


def _settings_alone(catalog: Catalog, behind: str | None) -> Walked:
    scopes = (scope for scope, found in catalog.settings(Search(context=None)) if scope.name and found.config)
    for scope in _ordered(scopes, behind):
        if not catalog.snapshot(scope).head.highest:
            yield scope.qualified, of_subject(scope), SETTINGS


def _keks(catalog: Catalog, behind: str | None) -> Walked:
    """A KEK's place is its name, that of a DEK has its own behind it: there may be a DEK for each subject."""
    last, _, dek = (behind or "").partition(" ")
    for kek in catalog.keks():
        if utf16(kek.name) < utf16(last):
            continue
        if kek.name != last:
            yield kek.name, Matter(MatterKind.KEK, kek.name), WHOLE
        for each in sorted(map(_of_dek, catalog.deks(kek.name)), key=lambda each: each.name):
            if kek.name != last or each.name > dek:
                yield f"{kek.name} {each.name}", each, WHOLE


def _of_dek(dek: Dek) -> Matter:
    key = {"kekName": dek.kek, "subject": dek.subject, "algorithm": dek.algorithm.value, "version": dek.version}
    return of_dek(key)


def _ordered(scopes: Iterable[Subject], behind: str | None) -> list[Subject]:
    named = sorted((utf16(each.qualified), each) for each in scopes)
    return [each for name, each in named if behind is None or name > utf16(behind)]
