"""A record as the question wants it: another form of the text, qualified references, inline tags."""

from collections.abc import Sequence
from dataclasses import replace

from sigla.model import DEFAULT_CONTEXT, BodyKey, Record, Reference, Subject, Tagged
from sigla.registry.resources import Resources
from sigla.registry.steps import parsing
from sigla.registry.steps.parsed import Offered

ANY_TAG = "*"


def rendered(resources: Resources, record: Record, form: str, offered: Offered | None = None) -> Record:
    """With the text in another form; blank means as it is stored.

    Raises InvalidSchema where the stored text is invalid. offered: the schema just understood, if the record shows it.
    """
    if not form.strip():
        return record
    understood = offered is not None and offered.schema is record.schema
    parsed = offered.parsed if offered and understood else parsing.stored(resources, _key(record))
    return replace(record, schema=replace(record.schema, text=parsing.render(parsed, form)))


def with_qualified_references(record: Record) -> Record:
    """References spelled with the context of the schema that declares them, where that is a named one."""
    if record.subject is None or record.subject.context == DEFAULT_CONTEXT:
        return record
    context = record.subject.context
    references = tuple(_qualified(reference, context) for reference in record.schema.references)
    return replace(record, schema=replace(record.schema, references=references))


def with_tags(resources: Resources, record: Record, wanted: Sequence[str]) -> Record:
    """With every tagged entity that has one of the wanted tags, and all of its tags; `*` wants any."""
    if not wanted:
        return record
    parsed = parsing.stored(resources, _key(record))
    tagged = parsing.language_of(record.schema.type).tagged(parsed)
    return replace(record, tags=tuple(entity for entity in tagged if _is_wanted(entity, wanted)))


def _is_wanted(entity: Tagged, wanted: Sequence[str]) -> bool:
    return ANY_TAG in wanted or not set(entity.tags).isdisjoint(wanted)


def _qualified(reference: Reference, context: str) -> Reference:
    if reference.subject.startswith((":.", ":*:")):
        return reference
    return replace(reference, subject=Subject(context, reference.subject).qualified)


def _key(record: Record) -> BodyKey:
    if record.subject is None or record.id is None:
        raise TypeError
    return BodyKey(record.subject.context, record.id)
