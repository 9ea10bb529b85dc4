"""What every change knows, whatever it is about: versions, settings, a context, keys, associations or an exporter."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sigla.exporters.nouns import Exporter
from sigla.keks.nouns import DekName, Kek, KeysSeen
from sigla.model import BodyKey, Chain, Row, SchemaId, Settings, Subject

DAY_MS = 86_400_000
NAMES_DAYS = 400
"""What `Settings.names_days` is unless an operator says otherwise."""


@dataclass(frozen=True, slots=True)
class Head:
    """One subject as last committed. A subject never heard of has a head of zeros.

    revision: goes up by one with each commit to the subject. referred: goes up with each commit by which a schema of
    any subject begins to reference this one. generation: goes up with each permanent delete of the whole subject.
    highest: the highest stored version, soft-deleted ones included; 0 if none. newest: the highest active version.
    nonce: of the last commit, by which a writer recognises its own after an unknown outcome. associations: how many the
    subject has. strong: whether its only one is: then it belongs to a topic.
    """

    subject: Subject
    revision: int = 0
    referred: int = 0
    generation: int = 0
    highest: int = 0
    newest: Row | None = None
    nonce: str = ""
    associations: int = 0
    strong: bool = False


class Shown(Protocol):
    """The part of `ports.Snapshot` that bears the marks of commits."""

    @property
    def head(self) -> Head: ...
    @property
    def chain(self) -> Chain: ...


class Marked(Protocol):
    """An entry of the log."""

    @property
    def nonce(self) -> str: ...


class Evidence(Protocol):
    """The part of `ports.Catalog` that shows whether a change was written."""

    def snapshot(self, subject: Subject, /) -> Shown: ...
    def contexts(self) -> tuple[str, ...]: ...
    def max_id(self, context: str, /) -> SchemaId: ...
    def kek(self, name: str, /) -> Kek | None: ...
    def deks_of(self, name: DekName, version: int, /) -> KeysSeen: ...
    def exporter(self, name: str, /) -> Exporter | None: ...
    def commits_about(self, subject: Subject, /) -> Iterable[Marked]: ...


@dataclass(frozen=True, slots=True)
class Author:
    """Who asked for a change, and by which way.

    name: of the principal; empty where no credentials are asked for. way: `api`, or that of a command (`cli`,
    `import`, `restore`, `backup`). request: its id. address: where it came from. kept_ms: for how long the name is kept
    after the last change of its principal. asker: the token of whoever asked for what the registry finishes by itself.
    """

    name: str
    way: str
    request: str = ""
    address: str = ""
    kept_ms: int = NAMES_DAYS * DAY_MS
    asker: str = ""


@dataclass(frozen=True, slots=True)
class AnyChange:
    """What holds where a change says nothing else.

    ts: when it was decided. nonce: the mark of its writer. Each change has these as fields, after what it is about.
    author: set in front of the catalog, not by verbs; None for what the registry does by itself. epoch: of the region's
    role, as it was when the decision began; likewise. 0: it had none, or that is not known.
    """

    author: Author | None = field(default=None, kw_only=True)
    epoch: int = field(default=0, kw_only=True)

    if TYPE_CHECKING:

        @property
        def ts(self) -> int: ...
        @property
        def nonce(self) -> str: ...

    @property
    def revision(self) -> int | None:
        """The subject's once this is written; None for what is about no subject's versions."""
        return None

    @property
    def leads_to(self) -> tuple[Subject, ...]:
        """Subjects that the scope's name leads to from now on, and did not before (ALIAS-4)."""
        return ()

    @property
    def ids(self) -> frozenset[BodyKey]:
        """Ids that the subject holds from now on."""
        return frozenset()

    def concerns(self, subject: Subject) -> bool:  # noqa: ARG002 - those that concern some say which
        """Whether the subject may speak for other ids from now on, or for fewer."""
        return False


@dataclass(frozen=True, slots=True)
class SubjectChange(AnyChange):
    """What changes the versions of a subject. Conflict if its head has another revision by now."""

    head: Head

    @property
    def scope(self) -> Subject:
        return self.head.subject

    @property
    def revision(self) -> int:
        return self.head.revision + 1

    def concerns(self, subject: Subject) -> bool:
        return subject == self.head.subject

    def was_written(self, catalog: Evidence) -> bool:
        """A head bears the mark of the last commit to its subject."""
        return catalog.snapshot(self.scope).head.nonce == self.nonce


@dataclass(frozen=True, slots=True)
class SettingsChange(AnyChange):
    """What changes the settings of a scope. Conflict if they have another revision than seen."""

    scope: Subject
    seen: Settings

    def was_written(self, catalog: Evidence) -> bool:
        """Settings bear the mark of the last commit to them."""
        return catalog.snapshot(self.scope).chain.own.revision == self.nonce


@dataclass(frozen=True, slots=True)
class ContextChange(AnyChange):
    """What changes a context as a whole. A context bears no mark: whether it was written shows in how things stand."""

    context: str

    @property
    def scope(self) -> Subject:
        return Subject(self.context, "")
