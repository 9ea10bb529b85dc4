"""The tables of the catalog. Names sort as BLOBs of UTF-16: SQLite compares text as UTF-8, which orders otherwise.

Subjects and rows refer to each other by number; every question has an index that makes its cost independent of how much
else is stored. Indexes in random order are few: each one costs every registration a page.
"""

import re
from collections.abc import Iterable, Mapping

LAYOUT = 1
"""Raised when the tables change in a way that an older program would misread."""

LAYOUT_OF_REGIONS = 2
"""A registry with a role has this one: whoever writes has to obey it. It is the highest that this program knows."""

CREATE = """
CREATE TABLE state (
    layout INTEGER NOT NULL,
    flushed INTEGER NOT NULL,     -- the last group whose bodies and rows are all there
    registry TEXT NOT NULL        -- whose bodies they are: ids have one catalog. Older data have no such column
) STRICT;

CREATE TABLE context (
    name TEXT PRIMARY KEY,
    key BLOB NOT NULL,            -- the name in UTF-16
    given INTEGER NOT NULL,       -- the highest id given out or raised to
    listed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX context_listed ON context (key) WHERE listed;

CREATE TABLE subject (
    num INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,     -- the qualified name in UTF-16
    context TEXT NOT NULL,
    name TEXT NOT NULL,
    name_key BLOB NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    referred INTEGER NOT NULL DEFAULT 0,
    generation INTEGER NOT NULL DEFAULT 0,
    highest INTEGER NOT NULL DEFAULT 0,
    newest INTEGER,               -- the highest active version
    nonce TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX subject_hidden ON subject (key) WHERE highest AND newest IS NULL;
CREATE INDEX subject_named ON subject (name_key, key) WHERE highest AND context <> '.';

CREATE TABLE version (
    subject INTEGER NOT NULL,
    version INTEGER NOT NULL,
    context TEXT NOT NULL,
    id INTEGER NOT NULL,
    guid TEXT NOT NULL,
    type TEXT NOT NULL,
    "references" TEXT NOT NULL,   -- a JSON list
    deleted INTEGER NOT NULL,
    ts INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    holder BLOB NOT NULL,         -- the subject's key, so that an index can tell who speaks for an id
    PRIMARY KEY (subject, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_by_id ON version (context, id, deleted, holder, revision DESC);
CREATE INDEX version_by_life ON version (subject, deleted, version);

CREATE TABLE content (
    guid TEXT NOT NULL,
    context TEXT NOT NULL,
    id INTEGER NOT NULL,
    body INTEGER NOT NULL,        -- a body was written under the id: the way from a guid to bodies
    latest INTEGER NOT NULL,      -- a version was written under it, and under no other since
    PRIMARY KEY (guid, context, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE buried (             -- ids that lost their last holder
    context TEXT NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (context, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE digest (
    subject INTEGER NOT NULL,
    digest TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (subject, digest, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX digest_of_version ON digest (subject, version);

CREATE TABLE reference (
    target INTEGER NOT NULL,
    context_key BLOB NOT NULL,    -- of the referrer, empty for the default context: the order of referrers
    id INTEGER NOT NULL,
    subject INTEGER NOT NULL,
    version INTEGER NOT NULL,
    target_version INTEGER NOT NULL,
    PRIMARY KEY (target, context_key, id, subject, version, target_version)
) STRICT, WITHOUT ROWID;
CREATE INDEX reference_to_version ON reference (target, target_version, context_key, id, subject, version);
CREATE INDEX reference_of_version ON reference (subject, version);

CREATE TABLE settings (
    key BLOB PRIMARY KEY,         -- the scope's qualified name in UTF-16
    context TEXT NOT NULL,
    name TEXT NOT NULL,
    config TEXT,                  -- JSON
    mode TEXT,
    revision TEXT NOT NULL        -- the nonce of the last change
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    form BLOB NOT NULL            -- JSON
) STRICT;
"""

ADDED: Mapping[str, str] = {
    "displaced": """
CREATE {temporary} TABLE IF NOT EXISTS displaced (  -- ids whose last holder an import has written over
    context TEXT NOT NULL,
    id INTEGER NOT NULL,
    subject INTEGER NOT NULL,     -- where it stood
    version INTEGER NOT NULL,
    ts INTEGER NOT NULL,          -- of the version that was written over
    revision INTEGER NOT NULL,
    PRIMARY KEY (context, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS displaced_from ON displaced (subject, version);
""",
    "kek": """
CREATE {temporary} TABLE IF NOT EXISTS kek (
    key BLOB PRIMARY KEY,         -- the name in UTF-16
    revision TEXT NOT NULL,       -- the nonce of the last change
    kek TEXT NOT NULL             -- JSON
) STRICT, WITHOUT ROWID;
""",
    "dek": """
CREATE {temporary} TABLE IF NOT EXISTS dek (
    kek BLOB NOT NULL,            -- the name of its KEK in UTF-16
    subject BLOB NOT NULL,        -- the qualified name in UTF-16: one for all spellings
    algorithm TEXT NOT NULL,
    version INTEGER NOT NULL,
    spelled BLOB NOT NULL,        -- the subject as it is shown, in UTF-16
    deleted INTEGER NOT NULL,
    revision TEXT NOT NULL,
    dek TEXT NOT NULL,            -- JSON
    PRIMARY KEY (kek, subject, algorithm, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS dek_by_spelling ON dek (spelled, kek, deleted);
CREATE INDEX IF NOT EXISTS dek_by_life ON dek (kek, deleted);
""",
    "association": """
CREATE {temporary} TABLE IF NOT EXISTS association (  -- what ties a topic to a subject
    resource TEXT NOT NULL,       -- the topic's id
    kind TEXT NOT NULL,           -- of the resource: topic
    type TEXT NOT NULL,           -- key or value
    name TEXT NOT NULL,
    namespace TEXT NOT NULL,
    subject INTEGER NOT NULL,
    strong INTEGER NOT NULL,
    guid TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    PRIMARY KEY (resource, kind, type)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS association_of_subject ON association (subject, strong);
CREATE INDEX IF NOT EXISTS association_named ON association (name, namespace);
""",
    "principal": """
CREATE {temporary} TABLE IF NOT EXISTS principal (  -- who stands behind a token of the journal
    name TEXT PRIMARY KEY,
    token TEXT NOT NULL,
    until INTEGER NOT NULL        -- milliseconds since the epoch
) STRICT, WITHOUT ROWID;
""",
    "last_read": """
CREATE {temporary} TABLE IF NOT EXISTS last_read (  -- who read an id, and on which day last
    context TEXT NOT NULL,
    id INTEGER NOT NULL,
    subject TEXT NOT NULL,        -- that was named; empty: none
    by TEXT NOT NULL,             -- a token, as in the journal
    day TEXT NOT NULL,
    PRIMARY KEY (context, id, subject, by)
) STRICT, WITHOUT ROWID;
""",
    "reads_noted": """
CREATE {temporary} TABLE IF NOT EXISTS reads_noted (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    first TEXT NOT NULL,          -- the day of the first note
    tidied TEXT NOT NULL          -- the day on which rows that are too old went last
) STRICT;
""",
    "journal_end": """
CREATE {temporary} TABLE IF NOT EXISTS journal_end (  -- the last row of the journal that names the one before it
    one INTEGER PRIMARY KEY CHECK (one = 1),
    position INTEGER NOT NULL,
    hash TEXT NOT NULL            -- SHA-256 of the row
) STRICT;
""",
    "history": """
CREATE {temporary} TABLE IF NOT EXISTS history (  -- which commits were about a subject
    subject BLOB NOT NULL,        -- the qualified name in UTF-16
    position INTEGER NOT NULL,    -- in the journal; negative: of another registry's, the newest of them -1
    form BLOB,                    -- JSON: of another registry's, what it told; else the row in the journal tells it
    PRIMARY KEY (subject, position)
) STRICT, WITHOUT ROWID;
""",
    "region": """
CREATE {temporary} TABLE IF NOT EXISTS region (  -- what this region of the registry is; without another region none
    one INTEGER PRIMARY KEY CHECK (one = 1),
    turn INTEGER NOT NULL,        -- how often it was changed
    role TEXT NOT NULL            -- JSON
) STRICT;
""",
    "ceiling": """
CREATE {temporary} TABLE IF NOT EXISTS ceiling (  -- how far ids are given, once there is a role
    context TEXT PRIMARY KEY,     -- whose last id is `context.given`
    ceiling INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    first INTEGER NOT NULL        -- the lowest id of this epoch
) STRICT, WITHOUT ROWID;
""",
    "exporter": """
CREATE {temporary} TABLE IF NOT EXISTS exporter (
    key BLOB PRIMARY KEY,         -- the name in UTF-16
    revision TEXT NOT NULL,       -- the nonce of the last change
    exporter TEXT NOT NULL,       -- JSON
    progress TEXT NOT NULL        -- JSON; changed without a revision by whoever follows the journal
) STRICT, WITHOUT ROWID;
""",
}
"""Tables, with their indexes, that older data do not have, and older programs do not miss.

temporary: TEMPORARY where such data are only read.
"""

NAMES: tuple[str, ...] = tuple(re.findall(r"CREATE TABLE (\w+)", CREATE))


def added(missing: Iterable[str] = ADDED, temporary: str = "") -> str:
    """The statements that make these tables."""
    return "".join(ADDED[name].format(temporary=temporary) for name in missing)
