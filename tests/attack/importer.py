"""An import of one subject in one commit: the steps of `sigla.upkeep.importing`, the counter first."""

from dataclasses import dataclass

from sigla.journal.replay import Put
from sigla.model import Reference, Schema, SchemaId, Subject, Version
from sigla.ports.subjects import VersionKey
from sigla.registry import Registry
from sigla.rules import names
from sigla.rules.guid import guid_of
from sigla.upkeep import importing
from tests.attack.world import Verb
from tests.build import NOW


@dataclass(frozen=True)
class Had:
    """A version as another registry had it. uses: the subject whose first version it references under the name Base."""

    version: int
    id: int
    text: str
    uses: str = ""
    deleted: bool = False

    def put(self, subject: Subject) -> Put:
        references = (Reference("Base", self.uses, Version(1)),) if self.uses else ()
        schema = Schema("AVRO", self.text, references)
        version, id = Version(self.version), SchemaId(self.id)
        return Put(self.version, subject, version, id, schema, guid_of(schema), self.deleted, NOW + self.version)


def bring(name: str, *versions: Had) -> Verb:
    """Answers what became of them."""
    subject = names.subject(name)
    puts = [had.put(subject) for had in versions]
    own = {put.version: put.id for put in puts}

    def verb(registry: Registry) -> importing.Report:
        def target_of(target: Subject, version: Version) -> SchemaId | None:
            key = VersionKey(target, version)
            row = registry.catalog.snapshot(target, wanted=[key]).rows.get(key)
            return row.id if row else own.get(version) if target == subject else None

        report = importing.Report()
        missing = importing.compare(registry, subject, puts, report)
        placed = [importing.place_body(registry, put, target_of, report) for put in missing]
        importing.count(registry, subject.context, max(own.values()))
        importing.write(registry, subject, [each for each in placed if not isinstance(each, str)], report)
        return report

    return verb


def displaced(name: str, had: Had) -> Verb:
    """Answers what became of an id whose version was written over in the other registry."""
    put = had.put(names.subject(name))

    def verb(registry: Registry) -> importing.Report:
        report = importing.Report()
        importing.displace(registry, put, lambda *_: None, report)
        return report

    return verb


def buried(name: str, had: Had) -> Verb:
    """Answers what became of an id whose version was deleted for good in the other registry."""
    put = had.put(names.subject(name))

    def verb(registry: Registry) -> importing.Report:
        report = importing.Report()
        importing.bury(registry, put, lambda *_: None, report)
        return report

    return verb


def listed(context: str) -> Verb:
    return lambda registry: importing.list_context(registry, context)
