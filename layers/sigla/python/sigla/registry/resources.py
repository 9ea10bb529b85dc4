"""What every verb works with, and the question most of them begin with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sigla.associations.refusals import StrongReferenced
from sigla.changes import Head
from sigla.changes.kinds import NAMES_DAYS
from sigla.contract import DEFAULT_LEVEL, SCHEMA_BYTES
from sigla.errors import BodyDamaged, BodyLost, SchemaNamedNotFound
from sigla.keks.material import Materials, NoKms
from sigla.model import (
    Body,
    BodyKey,
    Chain,
    Config,
    Draft,
    Guid,
    OfferedReference,
    Parsed,
    Row,
    SchemaId,
    Subject,
    Version,
)
from sigla.ports.audits import Audits, NoAudits
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla.ports.itself import Itself
from sigla.ports.log import RecentLog
from sigla.ports.principals import NoPrincipals, Principals
from sigla.ports.reads import NoReads, Reads
from sigla.ports.region_views import NoRegionViews, RegionViews
from sigla.ports.regions import RegionControl
from sigla.ports.secrets import NoSecrets, Secrets
from sigla.ports.subjects import Snapshot, VersionKey
from sigla.ports.zones import Zones
from sigla.registry.conditions import Expected
from sigla.registry.steps.known import Known
from sigla.registry.steps.parsed import Offer, Offered, Understood
from sigla.registry.steps.quota import Quotas
from sigla.rules import names
from sigla.rules.settings import IMPORTING_MODES, effective_config, effective_mode
from sigla.settings import RETRYING_SECONDS

OFFERED_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class Options:
    """What an operator may decide; the defaults are the reference's, but for the size of a schema."""

    default_level: str = DEFAULT_LEVEL
    mode_mutability: bool = True
    strict_reference_versions: bool = False
    schema_bytes: int = SCHEMA_BYTES
    """A longer text is refused (42209)."""
    retrying_seconds: float = RETRYING_SECONDS
    """How long a write may go on losing races before it is given up (50002)."""
    names_days: int = NAMES_DAYS
    """For how long the name of who changed something is kept behind its token."""
    counts_reads: bool = False
    """Whether it is noted who reads an id."""
    no_exporters: str = ""
    """Why exporters cannot be changed here, and what to do about it; empty where they can."""


@dataclass(frozen=True, slots=True)
class View:
    """The answer to `Resources.ask`: one subject, as it is, with what applies to it. `subject` is what an alias led to.

    ids, candidates: what was asked about this state later, so that nothing is asked twice.
    """

    subject: Subject
    snapshot: Snapshot
    config: Config
    mode: str
    ids: dict[Guid, SchemaId | None]
    candidates: dict[str, tuple[Row, ...]] = field(default_factory=dict)

    @property
    def head(self) -> Head:
        return self.snapshot.head

    @property
    def chain(self) -> Chain:
        return self.snapshot.chain

    @property
    def alias_target(self) -> Subject | None:
        """Where the config of the subject leads; None without an alias."""
        own = self.snapshot.chain.own.config
        return names.alias_target(own.alias, self.subject.under) if own is not None and own.alias else None

    @property
    def importing(self) -> bool:
        return self.mode in IMPORTING_MODES

    def normalizes(self, *, wanted: bool) -> bool:
        """Whether a text is normalised, in a registration and in a lookup; what is imported stays as it comes."""
        return not self.importing and (wanted or bool(self.config.normalize))

    def row(self, version: Version, subject: Subject | None = None) -> Row | None:
        """A version that the question named, soft-deleted ones included."""
        return self.snapshot.rows.get(VersionKey(subject or self.subject, version))


@dataclass(frozen=True, slots=True)
class Resources:
    """directory: of zones; None without zones. control: of two regions; None where they are not of this process.

    furthest: how far above the highest id of its context one may be that is brought along; None: as far as it likes.
    """

    catalog: Catalog
    bodies: Bodies
    clock: Clock
    options: Options = field(default_factory=Options)
    parsed: Understood[BodyKey, Parsed] = field(default_factory=Understood)
    """Stored schemas, by what they are stored under."""
    offered: Understood[Offer, Offered] = field(default_factory=lambda: Understood(OFFERED_BYTES))
    """Texts that were offered, by all that was offered with them."""
    known: Known = field(default_factory=Known)
    """Registrations of what is registered already, until something is committed."""
    directory: Zones | None = None
    control: RegionControl | None = None
    region_views: Callable[[], RegionViews] = NoRegionViews
    """Makes what tells a person of two regions, where that is asked."""
    furthest: int | None = None
    materials: Materials = field(default_factory=NoKms)
    """What makes and unwraps the keys under shared KEKs."""
    secrets: Secrets = field(default_factory=NoSecrets)
    """Where the credentials of exporters are kept."""
    itself: Itself = field(default_factory=Itself)
    """How an exporter finds that it would write to where it reads."""
    quotas: Quotas = field(default_factory=Quotas)
    principals: Principals = field(default_factory=NoPrincipals)
    """Who stands behind the tokens of a history, and of reads."""
    audits: Audits = field(default_factory=NoAudits)
    """What was found in data."""
    reads: Reads = field(default_factory=NoReads)
    """Who read an id last."""
    pays_for_reads: bool = False
    """Whether each read costs money: then nothing is read for a person before that is asked for."""
    recent_log: RecentLog | None = None
    """What was changed in the whole registry; None where that is asked elsewhere."""
    expected: Expected | None = None
    """What the caller of one verb wants its scope to be."""

    def ask(
        self,
        subject: Subject,
        *,
        versions: Sequence[Version] = (),
        references: Sequence[OfferedReference] = (),
        guess: Guid | None = None,
    ) -> View:
        """One round trip for a subject and all that bears on it.

        One more if its config names an alias (one hop, ALIAS-3).
        """
        view = self.look(subject, versions=versions, references=references, guess=guess)
        target = view.alias_target
        return view if target is None else self.look(target, versions=versions, references=references, guess=guess)

    def look(
        self,
        subject: Subject,
        *,
        versions: Sequence[Version] = (),
        references: Sequence[OfferedReference] = (),
        guess: Guid | None = None,
    ) -> View:
        """Asks as `ask` does, without following an alias. Raises PreconditionFailed."""
        wanted = [VersionKey(subject, version) for version in versions]
        wanted += [target_of(offered, subject.context) for offered in references if is_complete(offered)]
        snapshot = self.catalog.snapshot(subject, wanted=wanted, guess=guess)
        chain = snapshot.chain
        if self.expected is not None and self.expected.scope == subject:
            self.expected.check(snapshot.head, chain.own)
        config = effective_config(chain, self.options.default_level)
        ids = {} if guess is None else {guess: snapshot.known}
        return View(subject, snapshot, config, effective_mode(chain), ids)

    def id_of(self, view: View, guid: Guid) -> SchemaId | None:
        """The id of this content in the view's context; free where the question had guessed it."""
        if guid not in view.ids:
            view.ids[guid] = self.catalog.id_of(view.subject.context, guid)
        return view.ids[guid]

    def candidates(self, view: View, digest: str) -> tuple[Row, ...]:
        """The subject's versions that may be equivalent to a schema with this digest, newest first."""
        if digest not in view.candidates:
            view.candidates[digest] = self.catalog.candidates(view.subject, (digest,)) if view.head.highest else ()
        return view.candidates[digest]

    def body(self, subject: Subject, row: Row) -> Body:
        """What a version's id means. Raises BodyLost, which names the version."""
        return self.bodies_of([(subject, row)])[0]

    def bodies_of(self, rows: Sequence[tuple[Subject, Row]]) -> list[Body]:
        """As `body`, in the order asked, side by side where the store allows it."""
        keys = [BodyKey(subject.context, row.id) for subject, row in rows]
        try:
            bodies = self.bodies.get_many(keys) if len(keys) > 1 else [self.bodies.get(key) for key in keys]
        except BodyLost as lost:
            subject, row = rows[keys.index(lost.key)]
            raise lost.held_by(subject, row.version) from lost.__cause__
        for key, body, (subject, row) in zip(keys, bodies, rows, strict=True):
            # What agrees with itself may still be another content than the version was registered with.
            if body.guid != row.guid or body.schema.type != row.type:
                raise BodyDamaged(key).held_by(subject, row.version)
        return bodies

    def referenced(self, key: BodyKey) -> Body:
        """What a reference resolved to. Raises SchemaNamedNotFound where an import knew of nothing that it means."""
        if key.id < 0:
            raise SchemaNamedNotFound(key=key.id)
        return self.bodies.get(key)


def is_complete(offered: OfferedReference) -> bool:
    return None not in (offered.name, offered.subject, offered.version)


def check_references(view: View, draft: Draft) -> None:
    """What belongs to a topic alone is not referenced (ASC-9). Raises StrongReferenced."""
    for offered in draft.references:
        if is_complete(offered) and view.snapshot.heads[target_of(offered, view.subject.context).subject].strong:
            raise StrongReferenced(subject=offered.subject)


def target_of(offered: OfferedReference, context: str) -> VersionKey:
    """The version a complete reference means, offered by a schema of `context`."""
    return VersionKey(names.reference_target(offered.subject or "", context), Version(offered.version or 0))
