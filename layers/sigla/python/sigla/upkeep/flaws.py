"""What can be wrong between bodies, catalog and journal: each kind of flaw is a row, with the question that finds it.

The questions are asked about these relations, in the part of SQL that SQLite and Spark share; what they answer are
suspects, since bodies and catalog are read one after the other while others write: `scrub` looks at each again.

    body       every object: whether it can be read, what guid it states and what its content hashes to
    reference  what the references of bodies resolved to
    pointer    every way from a guid to a body
    version    every stored version; expected: whether the journal still has to tell it
    told       the journal's entries about versions, numbered; an id of null: the version was purged
    second     every subject that is kept under a name which is read as another
    mark       which deployment's the catalog and the bodies say they are, where they are two stores; empty: unmarked
    kept       every KEK, DEK and association, by the key of its record in Confluent's topics (`kept_records`); kek: the
               record of a DEK's KEK; stored, active: what a KEK counts; whole: an association stands everywhere;
               material: a digest of what a DEK encrypts with
    listed_dek what the list of all DEKs says
    told_record
               the journal's entries about them, numbered; a digest of null: it is gone. The kind UNREADABLE: a row
               that cannot be read, by its position
    exporter   every row in the place of an exporter: of kind EXPORTER, PROGRESS (that of no exporter) or UNREADABLE;
               credentials: which it names, empty: none (`kept_exporters`)
    credentials
               all that are kept for exporters; one that is not listed: they cannot be listed
    history    every commit in the history of a subject, by its position in the journal, as far as that is kept
    told_commit
               every commit that the journal tells, for each subject that it is about
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from sigla.model import BodyKey, Guid, SchemaId, Subject, Target, Version
from sigla.upkeep.kept_records import about


class Severity(Enum):
    """CRITICAL: an answer is wrong or missing, or will be. WARNING: a promise is not kept, no answer is wrong."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is wrong. What a kind does not speak of is None.

    target: what a reference resolved to. guid: what a pointer leads from. record: the key of the record by which
    Confluent's topics tell a KEK, a DEK or an association; of a row that cannot be read, its place; of an exporter, its
    name; of its credentials, theirs; of a commit, its position in the journal.
    """

    kind: str
    context: str
    id: SchemaId | None = None
    subject: str | None = None
    version: Version | None = None
    target: Target | None = None
    guid: Guid | None = None
    record: str | None = None

    @property
    def key(self) -> BodyKey:
        return BodyKey(self.context, self.id or SchemaId(0))

    @property
    def owner(self) -> Subject:
        return Subject(self.context, self.subject or "")

    @property
    def sentence(self) -> str:
        target, kind = self.target, KINDS[self.kind]
        return (kind.of_row if kind.of_row and self.subject is not None else kind.sentence).format(
            id=self.id,
            context=self.context,
            subject=self.owner.qualified,
            version=self.version,
            guid=self.guid,
            target=f"{Subject(target.context, target.subject)} version {target.version}" if target else "",
            target_id=target.id if target else "",
            about=about(self.record or ""),
            record=self.record,
        )


@dataclass(frozen=True, slots=True)
class FlawKind:
    """query: its columns are fields of a flaw, a target's as `reference` has them.

    remedy: what `--fix` does, or what a person can do where it does nothing. fixable: `--fix` knows how. settles: what
    is under way looks the same for a moment. of_row: the sentence of a flaw of the kind that a version has, if another.
    """

    severity: Severity
    sentence: str
    query: str
    remedy: str
    fixable: bool = False
    settles: bool = False
    of_row: str = ""


RELATIONS: Final[Mapping[str, str]] = {
    "body": "context TEXT, id INTEGER, gone BOOLEAN, readable BOOLEAN, guid TEXT, hashed TEXT, ts INTEGER",
    "reference": "context TEXT, id INTEGER, target_context TEXT, target_subject TEXT, target_version INTEGER,"
    " target_id INTEGER",
    "pointer": "guid TEXT, context TEXT, id INTEGER",
    "version": "context TEXT, subject TEXT, version INTEGER, id INTEGER, guid TEXT, deleted BOOLEAN, expected BOOLEAN",
    "told": "number INTEGER, context TEXT, subject TEXT, version INTEGER, id INTEGER",
    "second": "context TEXT, subject TEXT",
    "mark": "of_catalog TEXT, of_bodies TEXT",
    "kept": "kind TEXT, record TEXT, kek TEXT, stored INTEGER, active INTEGER, context TEXT, subject TEXT,"
    " deleted BOOLEAN, strong BOOLEAN, whole BOOLEAN, digest TEXT, expected BOOLEAN, material TEXT",
    "listed_dek": "kek TEXT, subject TEXT, deleted BOOLEAN",
    "told_record": "number INTEGER, kind TEXT, record TEXT, digest TEXT, material TEXT",
    "exporter": "kind TEXT, record TEXT, credentials TEXT",
    "credentials": "exporter TEXT, nonce TEXT, listed BOOLEAN",
    "history": "context TEXT, subject TEXT, record TEXT",
    "told_commit": "context TEXT, subject TEXT, record TEXT",
}

_UNHELD = """
    SELECT b.context, b.id FROM body b LEFT JOIN version v ON v.context = b.context AND v.id = b.id
    WHERE v.id IS NULL AND b.readable AND b.guid = b.hashed AND NOT b.gone"""

_LAST_TOLD = """
    (SELECT t.* FROM (SELECT max(number) AS number FROM told_record GROUP BY record) l
     JOIN told_record t ON t.number = l.number)"""

_RESTORES = (
    "puts back the newest of the bucket's earlier versions that is sound; without one, as in a directory: "
    "sigla import --bodies with a dump or an export that has it"
)

KINDS: Final[Mapping[str, FlawKind]] = {
    "IDENTITY_MISMATCH": FlawKind(
        Severity.CRITICAL,
        "The table and the bucket do not have the same identity: they may be of different deployments.",
        "SELECT '' AS context FROM mark WHERE of_catalog <> of_bodies",
        "name the table and the bucket that belong together; if these do, sigla init says so",
        settles=True,
    ),
    "SECOND_NAME": FlawKind(
        Severity.CRITICAL,
        "{subject} is kept in context {context} too, under a name that is read as another subject's.",
        "SELECT context, subject FROM second",
        "takes it away, with what was registered under it; the other subject stays as it is",
        fixable=True,
        settles=True,
    ),
    "META_NO_OBJECT": FlawKind(
        Severity.CRITICAL,
        "{subject} version {version} has id {id}, and no body says what that means.",
        """
        SELECT v.context, v.id, v.subject, v.version
        FROM version v LEFT JOIN body b ON b.context = v.context AND b.id = v.id WHERE b.id IS NULL""",
        _RESTORES,
        fixable=True,
    ),
    "UNREADABLE_OBJECT": FlawKind(
        Severity.CRITICAL,
        "What stands under id {id} in context {context} is not its body.",
        "SELECT context, id FROM body WHERE NOT readable",
        _RESTORES,
        fixable=True,
    ),
    "HASH_MISMATCH": FlawKind(
        Severity.CRITICAL,
        "The body of id {id} in context {context} does not have the content that its guid was made of.",
        """
        SELECT b.context, b.id, NULL AS subject, NULL AS version FROM body b WHERE b.readable AND b.guid <> b.hashed
        UNION ALL
        SELECT b.context, b.id, v.subject, v.version
        FROM body b JOIN version v ON v.context = b.context AND v.id = b.id
        WHERE b.readable AND b.guid = b.hashed AND b.guid <> v.guid""",
        _RESTORES,
        fixable=True,
        of_row="{subject} version {version} has another guid than the body of its id {id}.",
    ),
    "REFERENCE_MISSING": FlawKind(
        Severity.CRITICAL,
        "Id {id} in context {context} references {target}, and the body of its id {target_id} is missing.",
        """
        SELECT r.context, r.id, r.target_context, r.target_subject, r.target_version, r.target_id
        FROM reference r LEFT JOIN body t ON t.context = r.target_context AND t.id = r.target_id WHERE t.id IS NULL""",
        "restore the referenced body, as that of its own version",
    ),
    "POINTER_ASTRAY": FlawKind(
        Severity.CRITICAL,
        "Guid {guid} leads to id {id} in context {context}, whose body has another one.",
        """
        SELECT p.context, p.id, p.guid FROM pointer p JOIN body b ON b.context = p.context AND b.id = p.id
        WHERE b.readable AND b.guid = b.hashed AND p.guid <> b.guid""",
        "no command removes the way from a guid to a body: export the registry, and import it into an empty place",
    ),
    "ROW_UNREADABLE": FlawKind(
        Severity.CRITICAL,
        "A row of keys, associations or exporters cannot be read: {about}.",
        """
        SELECT '' AS context, record FROM kept WHERE kind = 'UNREADABLE'
        UNION ALL
        SELECT '' AS context, record FROM exporter WHERE kind = 'UNREADABLE'""",
        "restore the row from a backup; or remove it and import the journal, which tells what stood there; an exporter"
        " is created anew",
    ),
    "JOURNAL_UNREADABLE": FlawKind(
        Severity.CRITICAL,
        "The journal's row at {about} cannot be read: what it told is lost to its readers.",
        "SELECT '' AS context, record FROM told_record WHERE kind = 'UNREADABLE'",
        "sigla export --compacted writes what stands without the journal; import that into an empty place",
    ),
    "KEK_MISSING": FlawKind(
        Severity.CRITICAL,
        "A DEK stands under {about}, which is missing: it can never be unwrapped.",
        """
        SELECT DISTINCT '' AS context, d.kek AS record
        FROM kept d LEFT JOIN kept k ON k.record = d.kek WHERE d.kind = 'DEK' AND k.record IS NULL""",
        "puts the KEK back as the journal told it last; if it does not know it, create the KEK again",
        fixable=True,
        settles=True,
    ),
    "KEK_MISCOUNTED": FlawKind(
        Severity.CRITICAL,  # a KEK could be deleted under its DEKs
        "What is counted and listed under {about} is not what stands there.",
        """
        SELECT '' AS context, k.record
        FROM kept k LEFT JOIN (SELECT kek, count(*) AS stored, sum(CASE WHEN deleted THEN 0 ELSE 1 END) AS active
                               FROM kept WHERE kind = 'DEK' GROUP BY kek) d ON d.kek = k.record
        WHERE k.kind = 'KEK' AND (k.stored <> coalesce(d.stored, 0) OR k.active <> coalesce(d.active, 0))
        UNION
        SELECT '' AS context, d.kek AS record FROM kept d
        LEFT JOIN listed_dek l ON l.kek = d.kek AND l.subject = d.subject AND l.deleted = d.deleted
        WHERE d.kind = 'DEK' AND l.kek IS NULL
        UNION
        SELECT '' AS context, l.kek AS record FROM listed_dek l
        LEFT JOIN kept d ON d.kind = 'DEK' AND d.kek = l.kek AND d.subject = l.subject AND d.deleted = l.deleted
        WHERE d.kek IS NULL""",
        "counts and lists the DEKs anew",
        fixable=True,
        settles=True,
    ),
    "ASSOCIATION_WITHOUT_SUBJECT": FlawKind(
        Severity.CRITICAL,
        "The subject of {about} has no active version.",
        """
        SELECT a.context, a.subject, a.record FROM kept a
        LEFT JOIN version v ON v.context = a.context AND v.subject = a.subject AND NOT v.deleted
        WHERE a.kind = 'ASSOC' AND v.version IS NULL""",
        "register a version of the subject, or delete the association",
    ),
    "ASSOCIATION_SCATTERED": FlawKind(
        Severity.CRITICAL,  # a subject could be deleted under its topic
        "Not every question finds {about}, or its subject or its topic does not know of it.",
        f"""
        SELECT '' AS context, record FROM kept WHERE kind = 'ASSOC' AND NOT whole
        UNION
        SELECT '' AS context, t.record FROM {_LAST_TOLD} t LEFT JOIN kept k ON k.record = t.record
        WHERE t.kind = 'ASSOC' AND t.digest IS NOT NULL AND k.record IS NULL""",  # noqa: S608 - our own words
        "puts it everywhere, and counts those of its subject anew",
        fixable=True,
        settles=True,
    ),
    "SUBJECT_SHARED": FlawKind(
        Severity.WARNING,
        "{subject} belongs to one topic alone, by {about}, and others use or reference it.",
        """
        SELECT a.context, a.subject, a.record FROM kept a
        JOIN kept b ON b.kind = 'ASSOC' AND b.context = a.context AND b.subject = a.subject AND b.record <> a.record
        WHERE a.kind = 'ASSOC' AND a.strong
        UNION
        SELECT a.context, a.subject, a.record FROM kept a
        JOIN reference r ON r.target_context = a.context AND r.target_subject = a.subject
        JOIN version v ON v.context = r.context AND v.id = r.id
        WHERE a.kind = 'ASSOC' AND a.strong""",
        "delete the other associations, or the schemas that reference it",
    ),
    "RECORD_AHEAD": FlawKind(
        Severity.CRITICAL,
        "The journal has {about}, but the catalog does not.",
        f"""
        SELECT '' AS context, t.record FROM {_LAST_TOLD} t LEFT JOIN kept k ON k.record = t.record
        WHERE t.digest IS NOT NULL AND k.record IS NULL""",  # noqa: S608 - our own words
        "the table is older than its journal: import the journal into it",
    ),
    "DEK_ALTERED": FlawKind(
        Severity.CRITICAL,
        "{about} is stored with other key material than the journal tells: one of the two cannot decrypt.",
        f"""
        SELECT '' AS context, k.record FROM kept k JOIN {_LAST_TOLD} t ON t.record = k.record
        WHERE k.kind = 'DEK' AND t.digest IS NOT NULL AND t.material <> k.material""",  # noqa: S608 - our own words
        "stop clients from encrypting with it; restore the row from a backup, or remove it and import the journal",
    ),
    "RECORD_GAP": FlawKind(
        Severity.WARNING,
        "The journal does not tell {about} as it is stored.",
        f"""
        SELECT '' AS context, k.record FROM kept k LEFT JOIN {_LAST_TOLD} t ON t.record = k.record
        WHERE k.expected AND (t.digest IS NULL OR t.digest <> k.digest AND t.material = k.material)""",  # noqa: S608 - our own words
        "readers of the journal lack it: give them an export instead",
    ),
    "CREDENTIALS_MISSING": FlawKind(
        Severity.WARNING,
        "The exporter {record} names credentials that are not kept: it cannot enter its destination.",
        """
        SELECT '' AS context, e.record FROM exporter e
        LEFT JOIN credentials c ON c.exporter = e.record AND c.nonce = e.credentials
        LEFT JOIN credentials u ON NOT u.listed
        WHERE e.kind = 'EXPORTER' AND e.credentials <> '' AND c.nonce IS NULL AND u.listed IS NULL""",
        "pause the exporter, send its config with its credentials, and resume it",
        settles=True,
    ),
    "CREDENTIALS_LEFT": FlawKind(
        Severity.WARNING,
        "Credentials are kept that no exporter names: {record}.",
        """
        SELECT '' AS context, c.exporter || '/' || c.nonce AS record FROM credentials c
        LEFT JOIN exporter e ON e.kind = 'EXPORTER' AND e.record = c.exporter AND e.credentials = c.nonce
        WHERE c.listed AND e.record IS NULL""",
        "deletes them",
        fixable=True,
        settles=True,
    ),
    "PROGRESS_WITHOUT_EXPORTER": FlawKind(
        Severity.WARNING,
        "How far an exporter {record} has come is stored, and no such exporter.",
        "SELECT '' AS context, record FROM exporter WHERE kind = 'PROGRESS'",
        "takes it away; to have the exporter, create it anew: it begins at the start",
        fixable=True,
        settles=True,
    ),
    "COUNTER_BEHIND": FlawKind(
        Severity.WARNING,  # registrations skip what is taken
        "Context {context} has given out id {id}, and its counter has not come that far.",
        """
        SELECT u.context, max(u.id) AS id
        FROM (SELECT context, id FROM body UNION ALL SELECT context, id FROM version) u
        WHERE u.id <= 2147483647 GROUP BY u.context""",
        "raises the counter past it",
        fixable=True,
        settles=True,
    ),
    "JOURNAL_AHEAD": FlawKind(
        Severity.CRITICAL,
        "The journal has {subject} version {version} with id {id}, but the catalog does not.",
        """
        SELECT t.context, t.id, t.subject, t.version
        FROM (SELECT max(number) AS number FROM told GROUP BY context, subject, version) l
        JOIN told t ON t.number = l.number
        LEFT JOIN version v ON v.context = t.context AND v.subject = t.subject AND v.version = t.version
        WHERE t.id IS NOT NULL AND v.version IS NULL""",
        "the table is older than its journal: import the journal into it",
    ),
    "TOMBSTONE_HELD": FlawKind(
        Severity.WARNING,  # the catalog is what decides
        "Id {id} in context {context} is held by a version, and its body says that it is gone.",
        """
        SELECT DISTINCT b.context, b.id
        FROM body b JOIN version v ON v.context = b.context AND v.id = b.id
        WHERE b.readable AND b.guid = b.hashed AND b.gone""",
        "takes the tombstone away",
        fixable=True,
        settles=True,
    ),
    "TOMBSTONE_MISSING": FlawKind(
        Severity.WARNING,
        "Id {id} in context {context} is gone for good, and its body does not say so.",
        _UNHELD,
        "marks the body as gone; its content stays",
        fixable=True,
        settles=True,
    ),
    "POINTER_MISSING": FlawKind(
        Severity.WARNING,
        "The body of id {id} in context {context} cannot be found by its guid.",
        """
        SELECT b.context, b.id
        FROM body b LEFT JOIN pointer p ON p.guid = b.guid AND p.context = b.context AND p.id = b.id
        WHERE b.readable AND b.guid = b.hashed AND p.id IS NULL""",
        "puts the pointer",
        fixable=True,
        settles=True,
    ),
    "JOURNAL_GAP": FlawKind(
        Severity.WARNING,
        "{subject} version {version} with id {id} is stored, but missing in the journal.",
        """
        SELECT v.context, v.id, v.subject, v.version FROM version v
        LEFT JOIN told t ON t.context = v.context AND t.subject = v.subject AND t.version = v.version AND t.id = v.id
        WHERE v.expected AND t.id IS NULL""",
        "readers of the journal lack it: give them an export instead",
    ),
    "HISTORY_GAP": FlawKind(
        Severity.WARNING,
        "The journal tells of {subject} at {record}, and its history does not.",
        """
        SELECT t.context, t.subject, t.record FROM told_commit t
        LEFT JOIN history h ON h.context = t.context AND h.subject = t.subject AND h.record = t.record
        WHERE h.record IS NULL""",
        "puts it into the history",
        fixable=True,
        settles=True,
    ),
    "HISTORY_AHEAD": FlawKind(
        Severity.WARNING,
        "The history of {subject} tells of a commit at {record}, and the journal does not.",
        """
        SELECT h.context, h.subject, h.record FROM history h
        LEFT JOIN told_commit t ON t.context = h.context AND t.subject = h.subject AND t.record = h.record
        WHERE t.record IS NULL""",
        "takes it out of the history",
        fixable=True,
        settles=True,
    ),
    "DELETED_BUT_REFERENCED": FlawKind(
        Severity.WARNING,
        "{subject} version {version} references {target}, which is deleted.",
        """
        SELECT v.context, v.id, v.subject, v.version, r.target_context, r.target_subject, r.target_version, r.target_id
        FROM reference r JOIN version v ON v.context = r.context AND v.id = r.id
        LEFT JOIN version t ON t.context = r.target_context AND t.subject = r.target_subject
          AND t.version = r.target_version
        WHERE NOT v.deleted AND (t.version IS NULL OR t.deleted)""",
        "register the referenced version again, or delete the one that references it",
    ),
    "OBJECT_NO_META": FlawKind(
        Severity.INFO,
        "The body of id {id} in context {context} belongs to no version.",
        _UNHELD,
        "harmless: a registration was cut off; the next one with this content takes it over",
    ),
    "VERSION_GAP": FlawKind(
        Severity.INFO,
        "{subject} has versions up to {version}, and not all numbers below.",
        """
        SELECT context, subject, max(version) AS version
        FROM version GROUP BY context, subject HAVING max(version) > count(*)""",
        "harmless: versions were deleted for good, or imported with these numbers",
    ),
    "CREDENTIALS_UNLISTED": FlawKind(
        Severity.INFO,
        "The credentials of exporters cannot be listed, and were not compared.",
        "SELECT DISTINCT '' AS context FROM credentials c CROSS JOIN exporter e WHERE NOT c.listed",
        "give whoever scrubs leave to list them, and a way there: in AWS, ssm:GetParametersByPath",
    ),
}
"""In the order in which they are told."""

FIXABLE: Final = tuple(name for name, kind in KINDS.items() if kind.fixable)
