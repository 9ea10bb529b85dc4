"""The nouns of a schema registry, frozen; mappings inside them never change. They know no rule, store or wire form."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, NewType, Self

from sigla.contract import HIGHEST

SchemaId = NewType("SchemaId", int)
"""Numbers a content within one context, from 1; 0 only by import."""

Version = NewType("Version", int)
"""Numbers a registration within one subject, from 1."""

Guid = NewType("Guid", str)
"""The content hash of a schema as UUID text: equal content, equal guid, in every registry."""

LATEST = Version(-1)
DEFAULT_CONTEXT = "."
REGISTRY_WIDE_CONTEXT = ".__GLOBAL"
"""The pseudo-context whose config and mode apply to every context that has none of its own."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A name in a context. With an empty name it stands for the context itself (settings, prefixes).

    context: `.` (the default), `.name`, or `*` where a prefix search means every context.
    """

    context: str
    name: str
    sent: str | None = field(default=None, compare=False)
    """The spelling a client used, for the sentences that quote it."""
    under: str = field(default=DEFAULT_CONTEXT, compare=False)
    """The context whose path it was asked below: there the alias of the subject leads, if it names no context."""

    @property
    def qualified(self) -> str:
        """The one spelling that is stored and shown: `name`, or `:.context:name` outside the default context."""
        return self.name if self.context == DEFAULT_CONTEXT else f":{self.context}:{self.name}"

    @property
    def in_default_context(self) -> bool:
        return self.context == DEFAULT_CONTEXT

    def __str__(self) -> str:
        return self.qualified


GLOBAL = Subject(DEFAULT_CONTEXT, "")
"""Where the settings of the default context live, which the API calls global."""

REGISTRY_WIDE = Subject(REGISTRY_WIDE_CONTEXT, "")


class BodyKey(NamedTuple):
    """What an id is unique within: a context. A tuple, because it is looked up in every read by id."""

    context: str
    id: SchemaId


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of another schema. `subject` is as stored: without a context it means the referrer's own."""

    name: str
    subject: str
    version: Version


@dataclass(frozen=True, slots=True)
class OfferedReference:
    """A reference as a client sends it: anything may be missing; version -1 means the latest active one."""

    name: str | None
    subject: str | None
    version: int | None


@dataclass(frozen=True, slots=True)
class Metadata:
    """What people say about a schema: tags by path, each a sorted set; properties; names of sensitive ones, sorted."""

    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a rule set; the fields and their defaults are those of the wire contract, docs/api.md."""

    name: str | None = None
    doc: str | None = None
    kind: str = "TRANSFORM"
    mode: str = "WRITEREAD"
    type: str | None = None
    tags: tuple[str, ...] | None = None
    params: Mapping[str, str] | None = None
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class RuleSet:
    migration: tuple[Rule, ...] = ()
    domain: tuple[Rule, ...] = ()
    encoding: tuple[Rule, ...] = ()
    enable_at: str | None = None

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.migration + self.domain + self.encoding


@dataclass(frozen=True, slots=True)
class Schema:
    """What an id means: nothing in here ever changes once an id was acknowledged. `text` is canonical."""

    type: str
    text: str
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """A place in a schema that can be tagged: `path` like `Order.amount`, `kind` `sr_record` or `sr_field`."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Tagged:
    """An entity and its inline tags, in the order in which the schema lists them."""

    entity: Entity
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A schema as a client offers it: nothing in it has been checked yet.

    version: None or 0 for the next number, negative for the next number stamped into the metadata, else a demand.
    id: None or negative to have one allocated, else an import.
    """

    text: str | None
    type: str = "AVRO"
    references: tuple[OfferedReference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    version: int | None = None
    id: int | None = None
    tags_to_add: tuple[Tagged, ...] = ()
    tags_to_remove: tuple[Tagged, ...] = ()
    propagate_tags: bool = False


@dataclass(frozen=True, slots=True)
class TagRequest:
    """A new version wanted of an existing one: other tags, metadata or rules (TAG-1 to TAG-5)."""

    new_version: int | None = None
    add: tuple[Tagged, ...] = ()
    remove: tuple[Tagged, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    rules_to_merge: RuleSet | None = None
    rules_to_remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolved:
    """A referenced schema's text under the name by which the referrer calls it.

    Lists of these are in resolution order: depth first, what a schema uses before the schema itself, a name only once.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A schema that its language has understood.

    `canonical` is the text to store and hash; `tree` is the language's own.
    """

    language: str
    canonical: str
    tree: object


@dataclass(frozen=True, slots=True)
class Finding:
    """One incompatibility: the rule it breaks, where in the reader (JSON Pointer, the root is `/`), and the detail."""

    rule: str
    path: str
    detail: str


@dataclass(frozen=True, slots=True)
class Config:
    """One entry of settings. None means not set here. Field names of the wire: `web.api.wire` and `records`."""

    alias: str | None = None
    alias_for_deks: str | None = None
    normalize: bool | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    level: str | None = None
    policy: str | None = None
    group: str | None = None
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rule_set: RuleSet | None = None
    override_rule_set: RuleSet | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Config and mode entries of one scope.

    None where there is no entry. revision: the nonce of their last change, kept by deletes.
    """

    config: Config | None = None
    mode: str | None = None
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Chain:
    """The settings a subject can inherit from, nearest first (INH-1 to INH-6).

    context: of its context; for the default context that is the global entry, and `context` equals `default`.
    default: the global entry, whatever the subject's context.
    """

    own: Settings = field(default_factory=Settings)
    context: Settings = field(default_factory=Settings)
    default: Settings = field(default_factory=Settings)
    registry_wide: Settings = field(default_factory=Settings)


@dataclass(frozen=True, slots=True)
class Target:
    """What a reference resolved to when its schema was registered: enough to read it from bodies alone."""

    context: str
    subject: str
    version: Version
    id: SchemaId


@dataclass(frozen=True, slots=True)
class Body:
    """The stored meaning of one id, written once, and its birth: who registered it first, and when (ms).

    nonce: drawn by the writer, so that a repeated write after an unknown outcome is recognised as one's own.
    gone: a tombstone: no version holds the id any more; the content stays for records already in Kafka.
    compiled: of a Protobuf schema its FileDescriptorSet, so that readers without a parser can decode; else None.
    epoch: of the region that gave the id; None as long as there is one region. brought: by an import, refused or not.
    """

    schema: Schema
    guid: Guid
    targets: tuple[Target, ...]
    subject: Subject
    version: Version
    ts: int
    nonce: str
    gone: bool = False
    compiled: bytes | None = None
    epoch: int | None = None
    brought: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One stored version of a subject, as the catalog keeps it.

    ts: milliseconds since the epoch of the registration, or of the version's own soft delete.
    """

    version: Version
    id: SchemaId
    guid: Guid
    type: str
    references: tuple[Reference, ...]
    deleted: bool
    ts: int
    revision: int
    """The subject's revision when this row was last written: the greater, the later."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A version that carries an id; `revision` as in `Row`, 0 where a body told it and not the catalog."""

    subject: Subject
    version: Version
    deleted: bool
    ts: int
    revision: int
    displaced: bool = False
    """Whether it was the last to carry the id until an import wrote another version in its place."""

    @property
    def written(self) -> tuple[int, int]:
        """Among a subject's versions the one written last has the greatest; those of one import go by their numbers."""
        return self.revision, self.version

    @property
    def catalogued(self) -> bool:
        """Whether the catalog told it: a body does not know whether the version is deleted, or still there."""
        return self.revision > 0


@dataclass(frozen=True, slots=True)
class Referrer:
    """A stored version that references another."""

    subject: Subject
    version: Version
    id: SchemaId
    deleted: bool


@dataclass(frozen=True, slots=True)
class Search:
    """A prefix search over subjects, decoded.

    context: the one context to look in; None: all whose name starts with `context_prefix`. exact: only the subject of
    `context` called `name_prefix`. after: only what comes after it. glance: a person is shown so many, of a moment ago.
    part: names that do not have it, in any case, are left out by the caller, so that a store may leave them out before.
    """

    name_prefix: str = ""
    context: str | None = DEFAULT_CONTEXT
    context_prefix: str = ""
    exact: bool = False
    after: Subject | None = None
    glance: int = 0
    part: str = ""

    @classmethod
    def under(cls, scope: Subject) -> Self:
        """What a scope's settings are about: one subject, one context, or for the two global scopes everything."""
        is_all = scope in (GLOBAL, REGISTRY_WIDE)
        return cls(context=None) if is_all else cls(scope.name, scope.context, exact=bool(scope.name))

    def matches(self, subject: Subject) -> bool:
        in_name = subject.name == self.name_prefix if self.exact else subject.name.startswith(self.name_prefix)
        context, own = subject.context, self.context
        return in_name and (context == own if own else context.startswith(self.context_prefix))


class Show(Enum):
    """Which of the stored things a list is about."""

    ACTIVE = "active"
    DELETED = "deleted"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Page:
    """A window on a list, already sane: offset ≥ 0, limit ≥ 1."""

    offset: int = 0
    limit: int = HIGHEST


@dataclass(frozen=True, slots=True)
class Record:
    """A schema with what the registry knows about it; None where the question did not ask or the answer has none."""

    schema: Schema
    guid: Guid | None = None
    subject: Subject | None = None
    version: Version | None = None
    id: SchemaId | None = None
    ts: int | None = None
    deleted: bool | None = None
    tags: tuple[Tagged, ...] | None = None
    max_id: SchemaId | None = None
    aliases: tuple[Subject, ...] | None = None
