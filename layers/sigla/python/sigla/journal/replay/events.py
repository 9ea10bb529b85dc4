"""What a record of `_schemas` or of `_dek_registry_keys` says, in our words.

`offset`: its place in the topic, which is the order of events.
"""

from dataclasses import dataclass

from sigla.associations.nouns import Association, AssociationKey
from sigla.keks.nouns import Dek, DekName, Kek
from sigla.model import Config, Guid, Schema, SchemaId, Search, Subject, Version


@dataclass(frozen=True, slots=True)
class Put:
    """A version is stored as it is told here, whatever stood under its number. ts: in milliseconds since the epoch."""

    offset: int
    subject: Subject
    version: Version
    id: SchemaId
    schema: Schema
    guid: Guid
    deleted: bool
    ts: int


@dataclass(frozen=True, slots=True)
class Purged:
    """A version is gone for good."""

    offset: int
    subject: Subject
    version: Version


@dataclass(frozen=True, slots=True)
class Hidden:
    """Every version up to `through` that is stored at this moment is soft-deleted."""

    offset: int
    subject: Subject
    through: Version


@dataclass(frozen=True, slots=True)
class Cleared:
    """Whatever is soft-deleted in the scope is gone for good."""

    offset: int
    search: Search


@dataclass(frozen=True, slots=True)
class ConfigSet:
    offset: int
    scope: Subject
    config: Config | None


@dataclass(frozen=True, slots=True)
class ModeSet:
    offset: int
    scope: Subject
    mode: str | None


@dataclass(frozen=True, slots=True)
class ContextSet:
    offset: int
    context: str
    listed: bool


@dataclass(frozen=True, slots=True)
class Continued:
    """New ids of a context go on after a number, whatever was given out before."""

    offset: int
    context: str
    after: SchemaId


@dataclass(frozen=True, slots=True)
class KekSet:
    """A KEK is as it is told here, or gone for good (None)."""

    offset: int
    name: str
    kek: Kek | None


@dataclass(frozen=True, slots=True)
class DekSet:
    """A version of a DEK is as it is told here, or gone for good (None)."""

    offset: int
    name: DekName
    version: int
    dek: Dek | None


@dataclass(frozen=True, slots=True)
class Associated:
    """A topic uses a subject from now on, or no more (None). key: what tells the association apart in its topic."""

    offset: int
    key: AssociationKey
    association: Association | None


@dataclass(frozen=True, slots=True)
class Nothing:
    """A record that is meant to say nothing."""

    offset: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that no registry can follow. about: its key, or the beginning of it; why: half a sentence."""

    offset: int
    about: str
    why: str


Event = (
    Put
    | Purged
    | Hidden
    | Cleared
    | ConfigSet
    | ModeSet
    | ContextSet
    | Continued
    | KekSet
    | DekSet
    | Associated
    | Nothing
    | Skipped
)
