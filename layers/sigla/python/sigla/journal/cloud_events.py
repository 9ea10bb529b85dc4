"""A commit as an event for others: CloudEvents 1.0, in the JSON format. Without texts, names of people and addresses.

It is made of the lines that a segment has of one row, and of nothing else: whenever it is made again, it is the same,
under the same id.

Source: CloudEvents 1.0.2, "Context Attributes" and "JSON Event Format".
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

import orjson

from sigla import records
from sigla.journal.log_entries import entry_of_lines, form_of_entry, time_text, without_address
from sigla.ports.log import MOST_MATTERS
from sigla.rules.guid import guid_of, is_encrypted

Json = dict[str, Any]

PREFIX: Final = "sigla."
"""What every type begins with."""

TYPES: Final[Mapping[str, str]] = {
    "Registered": "schema.registered",
    "Imported": "schema.imported",
    "Displaced": "id.displaced",
    "VersionDeleted": "version.deleted",
    "SubjectDeleted": "subject.deleted",
    "VersionPurged": "version.purged",
    "SubjectPurged": "subject.purged",
    "ConfigChanged": "config.changed",
    "ModeChanged": "mode.changed",
    "ImportBegun": "import.begun",
    "ContextListed": "context.listed",
    "ContextDropped": "context.dropped",
    "NumberingSet": "numbering.set",
    "IdBuried": "id.buried",
    "KekChanged": "kek.changed",
    "DeksChanged": "dek.changed",
    "AssociationsChanged": "association.changed",
    "ExporterChanged": "exporter.changed",
}
"""By the kind of change, as rows of the journal name it."""

OF_UNKNOWN_KIND: Final = "commit"
"""The type where the row does not say its kind, as those of release 0.2.0, or says one that is not known here."""

_FLAT: Final = ("subject", "name", "version", "id", "guid", "schemaType")
"""What is said at the top of `data` of what a commit is about first of all: rules find it without an index."""


def cloud_event(lines: Sequence[Mapping[str, Any]], *, registry: str, identity: str = "") -> Json:
    """lines: all of one row, in order. identity: of the deployment; empty where it has none."""
    entry = without_address(entry_of_lines(lines))
    about = [*map(_about, form_of_entry(entry, None)["about"], lines)]
    told = form_of_entry(replace(entry, matters=(), more=max(0, len(about) - MOST_MATTERS)), None)
    first = _first(about)
    said: Json = {
        "specversion": "1.0",
        "id": f"{entry.at}-{entry.nonce}",
        "source": "/".join(["/sigla", *filter(None, [identity, quote(registry, safe="")])]),
        "type": PREFIX + TYPES.get(entry.change, OF_UNKNOWN_KIND),
        "subject": first.get("subject"),
        "time": time_text(entry.at),
        "datacontenttype": "application/json",
        "data": {
            "registry": registry,
            "revision": lines[0].get("revision"),
            **{name: first.get(name) for name in _FLAT},
            **{name: value for name, value in told.items() if name != "at"},
            "about": about[:MOST_MATTERS],
        },
    }
    said["data"] = _without_nothing(said["data"])
    return _without_nothing(said)


def bare(event: Mapping[str, Any]) -> Json:
    """The event without anything that a client has named: it tells that there was a commit, and which one."""
    kept = ("registry", "revision", "change", "commit", "by")
    data = {name: value for name, value in event["data"].items() if name in kept}
    return {name: value for name, value in event.items() if name != "subject"} | {"data": data}


def _about(said: Mapping[str, Any], line: Mapping[str, Any]) -> Json:
    """What the log says of a line, and which content a version has."""
    if said["type"] != "SCHEMA" or line["value"] is None:
        return dict(said)
    schema = records.schema(orjson.loads(line["value"]))
    known = {} if is_encrypted(schema.metadata) else {"guid": guid_of(schema)}
    return {**said, **known, "schemaType": schema.type}


def _first(about: Sequence[Json]) -> Json:
    """A version that stands from now on goes before what else is told: that it left, or that its context is listed."""
    standing = (each for each in about if each["type"] == "SCHEMA" and "gone" not in each)
    others = (each for each in about if each["type"] != "CONTEXT")
    return next(standing, None) or next(others, None) or next(iter(about), {})


def _without_nothing(members: Mapping[str, Any]) -> Json:
    return {name: value for name, value in members.items() if value is not None and value != ""}
