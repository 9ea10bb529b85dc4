"""The nouns of keys, frozen: they are known wherever changes and records are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from sigla.model import Subject
from sigla.rules import names


class Algorithm(Enum):
    """What a data key is for. Each is a space of its own: a version of one says nothing about another (KEY-8)."""

    AES128_GCM = "AES128_GCM"
    AES256_GCM = "AES256_GCM"
    AES256_SIV = "AES256_SIV"


DEFAULT_ALGORITHM: Final = Algorithm.AES256_GCM
FIRST_VERSION: Final = 1
HIGHEST_VERSION: Final = 2**31 - 2
"""The reference cannot list the one after it (KEY-8), so that none is stored there."""


@dataclass(frozen=True, slots=True)
class Kek:
    """A key of a key service, by its name in this registry.

    kms_props: settings of the driver, credentials among them, so that its text does not tell them. shared: the registry
    calls the KMS itself. ts: when it was last written, in milliseconds since the epoch. revision: the nonce of that
    write.
    """

    name: str
    kms_type: str
    kms_key_id: str
    kms_props: Mapping[str, str | None] = field(default_factory=dict, repr=False)
    doc: str | None = None
    shared: bool = False
    deleted: bool = False
    ts: int = 0
    revision: str = ""

    @property
    def uri(self) -> str:
        """The URI by which a driver knows it."""
        return f"{self.kms_type}://{self.kms_key_id}"


class DekName(NamedTuple):
    """What versions of a data key have in common: they are rotated under one name."""

    kek: str
    subject: Subject
    algorithm: Algorithm


@dataclass(frozen=True, slots=True)
class Dek:
    """A version of a data key. subject: as it was first spelled and is shown. material: wrapped, as text."""

    kek: str
    subject: str
    algorithm: Algorithm
    version: int
    material: str
    deleted: bool = False
    ts: int = 0
    revision: str = ""

    @property
    def name(self) -> DekName:
        """`dd` and `:.:dd` are one subject, so they have one name (KEY-10)."""
        return DekName(self.kek, named(self.subject), self.algorithm)


class ListedDek(NamedTuple):
    """As much of a DEK as lists are made of."""

    kek: str
    subject: str
    deleted: bool


class CountedDeks(NamedTuple):
    """How many DEKs stand under a KEK, and how many of them are not deleted."""

    stored: int
    active: int


class KeysSeen(NamedTuple):
    """The answer to one question: a KEK, and versions of one name under it, ascending; deleted ones included."""

    kek: Kek | None
    deks: tuple[Dek, ...]


def named(subject: str) -> Subject:
    """Which subject a spelling means."""
    said = names.subject(subject)
    return Subject(said.context, said.name)


# --- what clients send -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KekDraft:
    """A KEK as a client offers it: nothing in it has been checked yet."""

    name: str | None
    kms_type: str | None = None
    kms_key_id: str | None = None
    kms_props: Mapping[str, str | None] = field(default_factory=dict, repr=False)
    doc: str | None = None
    shared: bool = False
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class DekDraft:
    """A DEK as a client offers it. subject: read by the deprecated path alone. rewrap: it may replace what stands."""

    subject: str | None = None
    version: int = FIRST_VERSION
    algorithm: Algorithm = DEFAULT_ALGORITHM
    material: str | None = None
    deleted: bool = False
    rewrap: bool = False
