"""What a region has done alone that is not brought when it rejoins: what it took away, and settings and exporters.

What was said last about a thing counts; what is here as it was left there is not told.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from sigla import records
from sigla.associations import records as association_records
from sigla.keks.nouns import Algorithm, DekName, named
from sigla.model import Row, Settings, Subject, Version
from sigla.registry.resources import Resources
from sigla.upkeep.importing.settings import in_force

Entry = Mapping[str, Any]


def left_behind(rows: Sequence[Mapping[str, Any]], here: Resources) -> Iterator[str]:
    """A line of each, for people. rows: of the journal of that region, once they were brought."""
    last = {_thing(entry): entry for row in rows for entry in row["entries"]}
    looks = _StandsHere(here)
    for row in rows:
        found = defaultdict[str, set[str]](set)
        for entry in row["entries"]:
            if last[_thing(entry)] is entry and (what := looks.lacks(entry)):
                found[what].add(place_of(entry))
        for what, places in found.items():
            yield f"{', '.join(sorted(places))}: {what} there, and not here"


def place_of(entry: Entry) -> str:
    key = entry.get("key", {})
    match entry["type"]:
        case "KEK":
            return f"KEK {key['name']}"
        case "DEK":
            return f"DEK of {key['subject']} under {key['kekName']}, {key['algorithm']}, version {key['version']}"
        case "EXPORTER":
            return f"exporter {key['name']}"
        case "ASSOC":
            topic = f"{key['resourceNamespace']}/{key['resourceName']}"
            return f"{key['subject']} as the {key['associationType']} of {topic}"
    subject = str(Subject(entry["context"], entry.get("name", "")))
    return f"{subject} version {entry['version']}" if "version" in entry else subject or "the registry"


def _thing(entry: Entry) -> tuple[str, str]:
    """What is said again of it takes the place of this."""
    if entry["type"] == "DELETE_SUBJECT":
        return entry["type"], str(Subject(entry["context"], entry["name"]))
    return entry["type"], place_of(entry)


class _StandsHere:
    """The region to which the other one rejoins."""

    def __init__(self, here: Resources) -> None:
        self._here = here
        self._catalog = here.catalog
        self._rows = cache(self._read_rows)
        self._contexts = cache(lambda: {*here.catalog.contexts()})

    def lacks(self, entry: Entry) -> str:
        """What was done there; empty if it is so here as well, or is brought."""
        match entry["type"]:
            case "SCHEMA":
                return self._of_version(entry)
            case "DELETE_SUBJECT":
                active = (row for row in self._rows(_scope(entry)).values() if not row.deleted)
                return "the subject was deleted" if any(row.version <= entry["version"] for row in active) else ""
            case "CONFIG":
                told = records.config(entry["config"]) if entry["config"] else None
                same = in_force(self._here, told) == in_force(self._here, self._settings(entry).config)
                return "" if same else "config was changed"
            case "MODE":
                return "" if entry["mode"] == self._settings(entry).mode else "the mode was changed"
            case "CONTEXT":
                is_off = not entry["listed"] and entry["context"] in self._contexts()
                return "a context was taken off the list" if is_off else ""
            case "NUMBERING":
                return "numbering was made to go on elsewhere"
            case "KEK" | "DEK" | "EXPORTER" | "ASSOC":
                return self._of_key(entry)
        return ""

    def _of_version(self, entry: Entry) -> str:
        row = self._rows(_scope(entry)).get(entry["version"])
        if row is not None and entry["id"] is None:
            return "a version was deleted for good"
        return "a version was deleted" if row is not None and entry["deleted"] and not row.deleted else ""

    def _of_key(self, entry: Entry) -> str:
        """What was taken away, and each change of an exporter: no journal tells whether its credentials are others."""
        key = entry["key"]
        match entry["type"]:
            case "EXPORTER" if entry["value"] is not None or self._catalog.exporter(key["name"]):
                return "an exporter was changed"
            case "KEK" if entry["value"] is None and self._catalog.kek(key["name"]):
                return "a KEK was deleted for good"
            case "DEK" if entry["value"] is None:
                name = DekName(key["kekName"], named(key["subject"]), Algorithm(key["algorithm"]))
                return "a DEK was deleted for good" if self._catalog.deks_of(name, key["version"]).deks else ""
            case "ASSOC" if entry["association"] is None:
                standing = map(association_records.key, self._catalog.associations_of_subject(_scope(entry)))
                return "an association was ended" if key in standing else ""
        return ""

    def _settings(self, entry: Entry) -> Settings:
        return self._catalog.snapshot(_scope(entry)).chain.own

    def _read_rows(self, subject: Subject) -> Mapping[Version, Row]:
        return {row.version: row for row in self._catalog.history(subject)}


def _scope(entry: Entry) -> Subject:
    return Subject(entry["context"], entry.get("name", ""))
