"""Where a commit comes from: who asked for it, by which way, and what it is about before and after it.

A row names its author by a token, which stands for a name that is kept beside the journal, for a while (`ports.names`).
What stands before and after is the GUID of a schema, for numbering a number, and else a digest.
"""

import secrets
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, TypedDict, assert_never

import orjson

from sigla import records as topic
from sigla.associations import records as association_records
from sigla.associations.nouns import Associations
from sigla.changes import (
    AssociationsChanged,
    Author,
    Change,
    ConfigChanged,
    ContextDropped,
    ContextListed,
    DeksChanged,
    Displaced,
    ExporterChanged,
    Head,
    IdBuried,
    ImportBegun,
    Imported,
    KekChanged,
    ModeChanged,
    NumberingSet,
    Registered,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)
from sigla.exporters import records as exporter_records
from sigla.exporters.nouns import Exporter
from sigla.keks import records as key_records
from sigla.keks.nouns import Kek
from sigla.model import Settings

SIGLA: Final = "sigla"
"""The token of what the registry does by itself."""
ANYONE: Final = "anyone"
"""That of those who were asked for no credentials."""


class Via(TypedDict, total=False):
    """The way by which a change came.

    way: as `Author.way` says, or `replay`. asker: as `Author.asker`. forwarder: whose claim the rest is.
    """

    way: str
    asker: str
    request: str
    address: str
    forwarder: str


Origin = TypedDict(
    "Origin",
    {
        "epoch": int,
        "by": str,
        "via": Via,
        "was": str,
        "is": str,
        "before": str,
        "commit": dict[str, Any],
    },
    total=False,
)
"""Members that a row may have beside its change. Rows of release 0.2.0 and earlier ones have none.

epoch: of the region. by: a token of the author. was, is: what the change is about, before and after it. before: the
SHA-256 of the row before it, in a directory. commit: what another region needs to carry it out once more (`commits`).
A registry without a second region writes neither epoch nor commit.
"""

NO_ORIGIN: Final[Origin] = {}
_MEMBERS: Final = tuple(Origin.__annotations__)


def plain_token(author: Author | None) -> str:
    """The token that needs no name behind it; empty for an author with a name."""
    if author is None or author.asker:
        return SIGLA
    return "" if author.name else ANYONE


def fresh_token() -> str:
    return f"p{secrets.token_hex(8)}"


def origin(change: Change, by: str) -> Origin:
    """by: the token of the change's author."""
    said: Origin = {"by": by}
    if (author := change.author) is not None:
        via: Via = {"way": author.way}
        if author.request:
            via["request"] = author.request
        if author.address:
            via["address"] = author.address
        if author.asker:
            via["asker"] = author.asker
        said["via"] = via
    was, now = _was_and_is(change)
    if was:
        said["was"] = was
    if now:
        said["is"] = now
    return said


def origin_of(stored: Mapping[str, Any]) -> Origin:
    """Where a row says that it comes from."""
    said: Any = {name: stored[name] for name in _MEMBERS if name in stored}
    found: Origin = said
    return found


def _was_and_is(change: Change) -> tuple[str | None, str | None]:
    match change:
        case Registered(head=head, row=row):
            return _newest(head), row.guid
        case Imported(head=head, versions=versions):
            return _newest(head), versions[-1].row.guid
        case Displaced(row=row, standing=standing):
            return row.guid, next((each.guid for each in standing if each.version == row.version), None)
        case VersionDeleted(row=row) | VersionPurged(row=row):
            return row.guid, None
        case SubjectDeleted(head=head):
            return _newest(head), None
        case SubjectPurged(rows=rows):
            return max(((row.version, row.guid) for row in rows), default=(0, None))[1], None
        case ConfigChanged(seen=seen, config=config):
            return _settings_digest(seen), _settings_digest(Settings(config, seen.mode))
        case ModeChanged(seen=seen, mode=mode):
            return _settings_digest(seen), _settings_digest(Settings(seen.config, mode))
        case ImportBegun(seen=seen):
            return _settings_digest(seen), _settings_digest(Settings(seen.config, "IMPORT"))
        case ContextListed() | ContextDropped():
            return None, None
        case IdBuried(guid=guid):
            return None, guid
        case NumberingSet(seen=before, after=after):
            return str(before), str(after)
        case KekChanged(seen=seen, kek=kek):
            return _kek_digest(seen), _kek_digest(kek)
        case DeksChanged(deks=deks):
            was, now = [each.seen for each in deks if each.seen], [each.dek for each in deks if each.dek]
            return _several([*map(key_records.dek_value, was)]), _several([*map(key_records.dek_value, now)])
        case AssociationsChanged(seen=seen, after=after):
            return _associations_digest(seen), _associations_digest(after)
        case ExporterChanged(seen=seen, exporter=exporter):
            return _exporter_digest(seen), _exporter_digest(exporter)
        case _:
            assert_never(change)


def _newest(head: Head) -> str | None:
    return head.newest.guid if head.newest else None


def _kek_digest(kek: Kek | None) -> str | None:
    return None if kek is None else _digest(key_records.kek_value(kek))


def _exporter_digest(exporter: Exporter | None) -> str | None:
    return None if exporter is None else _digest(exporter_records.exporter_value(exporter))


def _settings_digest(settings: Settings) -> str | None:
    """None where nothing is set."""
    if settings.config is None and settings.mode is None:
        return None
    return _digest({"config": settings.config and topic.config_json(settings.config), "mode": settings.mode})


def _associations_digest(found: Associations) -> str | None:
    return _several(sorted((association_records.row(one) for one in found), key=orjson.dumps))


def _several(values: list[Any]) -> str | None:
    return _digest(values) if values else None


def _digest(value: object) -> str:
    return sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
