"""Short words for long stories: what a client sends, and what it reads of the answer."""

from typing import Any

from sigla.model import Draft, Metadata, OfferedReference, Page, Record, Subject
from sigla.registry import Registry
from sigla.rules import names

ONE = '{"type":"record","name":"Order","fields":[{"name":"a","type":"int"}]}'
TWO = '{"type":"record","name":"Order","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":0}]}'
THREE = '{"type":"record","name":"Order","fields":[{"name":"a","type":"int"},{"name":"c","type":"int","default":0}]}'
STRING = '"string"'
BASE = '{"type":"record","name":"Base","fields":[{"name":"a","type":"int"}]}'
USING = '{"type":"record","name":"Using","fields":[{"name":"base","type":"Base"}]}'
INLINE = f'{{"type":"record","name":"Using","fields":[{{"name":"base","type":{BASE}}}]}}'
UNSORTED = '{"name":"Order","type":"record","fields":[{"type":"int","name":"a"}],"zz":1,"aa":2}'

ALL = Page()


def s(text: str) -> Subject:
    return names.subject(text)


def said(**properties: str) -> Metadata:
    return Metadata(properties=properties)


def stamp(version: int | str) -> Metadata:
    return Metadata(properties={"confluent:version": str(version)})


def refer(subject: str, version: int = 1, name: str = "Base") -> OfferedReference:
    return OfferedReference(name, subject, version)


def register(registry: Registry, subject: str, text: str | None = ONE, *uses: str, **fields: Any) -> Record:
    """Registers a text; `uses` are subjects whose first version it references as Base."""
    options = {key: fields.pop(key) for key in ("normalize", "force", "form") if key in fields}
    references = fields.pop("references", tuple(refer(each) for each in uses))
    return registry.register(s(subject), Draft(text, references=references, **fields), **options)


def registered(registry: Registry, subject: str, text: str | None = ONE, *uses: str, **fields: Any) -> tuple[Any, Any]:
    """Version and id."""
    record = register(registry, subject, text, *uses, **fields)
    return record.version, record.id


def lookup(registry: Registry, subject: str, text: str | None = ONE, *uses: str, **fields: Any) -> Record:
    options = {key: fields.pop(key) for key in ("normalize", "deleted", "form") if key in fields}
    references = fields.pop("references", tuple(refer(each) for each in uses))
    return registry.lookup(s(subject), Draft(text, references=references, **fields), **options)


def versions(registry: Registry, subject: str, **options: bool) -> list[int]:
    return registry.versions(s(subject), page=ALL, **options)
