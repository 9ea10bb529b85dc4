"""What does id 42 mean, which version is this text, what stands under this number?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sigla import effort
from sigla.errors import (
    BodyLost,
    Denied,
    InvalidSchema,
    SchemaNamedNotFound,
    SchemaNotFound,
    StoreError,
    SubjectNotFound,
    VersionNotFound,
)
from sigla.model import (
    DEFAULT_CONTEXT,
    Body,
    BodyKey,
    Draft,
    Holder,
    Record,
    Row,
    SchemaId,
    Subject,
    Version,
)
from sigla.registry.resources import Resources, View
from sigla.registry.steps import match, parsing
from sigla.registry.steps.rendering import rendered, with_qualified_references, with_tags

STEPS_OF_A_NAMESAKE = 200


def meaning(resources: Resources, key: BodyKey) -> tuple[Body, Holder]:
    """What an id means and who speaks for it. Raises SchemaNamedNotFound if no subject does, whatever the bodies say.

    Raises BodyLost if one does and its body cannot be read, MayBeElsewhere where a region that is out may know of one.
    """
    speaker = resources.catalog.speaker(key)
    if speaker is None:
        resources.catalog.check_absent(key)
        raise SchemaNamedNotFound(key=key.id)
    try:  # in place, since every warm read by id comes this way
        body = resources.bodies.get(key)
    except BodyLost as lost:
        raise lost.held_by(speaker.subject, speaker.version) from lost.__cause__
    return body, speaker if not speaker.displaced else _born(body, speaker)


def meaning_in(resources: Resources, schema_id: SchemaId, subject: Subject) -> tuple[BodyKey, Body, Holder]:
    """As `meaning`, where the subject says in which context, and for whom (ID-RES). With the key that it is under."""
    found = interpret(resources, schema_id, subject)
    if found is None:
        raise SchemaNamedNotFound(key=schema_id)
    key, holder = found
    return key, body_of(resources, key, holder), holder


def _born(body: Body, displaced: Holder) -> Holder:
    """Who registered a displaced id first: no version tells any more where it is."""
    return replace(displaced, subject=body.subject, version=body.version, deleted=False, ts=body.ts)


def body_of(resources: Resources, key: BodyKey, holder: Holder) -> Body:
    """Reads what the id means. Raises BodyLost, which names its holder."""
    try:
        return resources.bodies.get(key)
    except BodyLost as lost:
        raise lost.held_by(holder.subject, holder.version) from lost.__cause__


def schema_by_id(
    resources: Resources,
    schema_id: SchemaId,
    *,
    subject: Subject | None = None,
    form: str = "",
    qualified_references: bool = False,
    find_tags: Sequence[str] = (),
    with_max_id: bool = False,
) -> Record:
    """The schema, with a subject that holds it.

    The one asked for, else the smallest; of it the version written last.
    """
    key, body, holder = meaning_in(resources, schema_id, subject or Subject(DEFAULT_CONTEXT, ""))  # ID-1, ID-2, ID-3
    record = record_of(key, body, holder)
    if with_max_id:  # ID-4
        check_catalogued(holder)
        record = replace(record, max_id=max(resources.catalog.max_id(key.context), SchemaId(1)))
    return _shaped(resources, record, form, find_tags, qualified_references=qualified_references)


def record_of(key: BodyKey, body: Body, holder: Holder) -> Record:
    """An id's meaning joined with one who uses it. Whether the holder has deleted it, only the catalog can tell."""
    if holder.displaced:
        holder = _born(body, holder)
    deleted = holder.deleted if holder.catalogued else None
    return Record(body.schema, body.guid, holder.subject, holder.version, key.id, holder.ts, deleted=deleted)


def version(
    resources: Resources,
    subject: Subject,
    number: Version,
    *,
    deleted: bool = False,
    form: str = "",
    qualified_references: bool = False,
    find_tags: Sequence[str] = (),
) -> Record:
    """A version of a subject, or of the same name in another context (VER-8).

    Raises SubjectNotFound, VersionNotFound.
    """

    def visible(view: View) -> Row | None:
        row = view.row(number)  # VER-7
        return row if row is not None and (deleted or not row.deleted) else None  # VER-5

    view, row = locate(resources, subject, (number,), visible, deleted=deleted)
    record = stored_record(resources, view.subject, row)
    return _shaped(resources, record, form, find_tags, qualified_references=qualified_references)


def locate(
    resources: Resources,
    subject: Subject,
    numbers: Sequence[Version],
    visible: Callable[[View], Row | None],
    *,
    deleted: bool,
) -> tuple[View, Row]:
    """The row that `visible` finds in the subject, or for an unqualified one in its namesakes, by context."""
    view = resources.ask(subject, versions=numbers)
    if row := visible(view):
        return view, row
    for other in namesakes(resources, view):  # VER-8
        if row := visible(namesake := resources.look(other, versions=numbers)):
            return namesake, row
    if not is_known(view, deleted=deleted):  # VER-6
        raise SubjectNotFound(subject=view.subject)
    raise VersionNotFound(version=numbers[0])


def stored_record(resources: Resources, subject: Subject, row: Row) -> Record:
    """A version as it is stored, with its time."""
    schema = resources.body(subject, row).schema
    return Record(schema, row.guid, subject, row.version, row.id, row.ts, deleted=row.deleted)


def lookup(
    resources: Resources,
    subject: Subject,
    draft: Draft,
    *,
    normalize: bool = False,
    deleted: bool = False,
    form: str = "",
) -> Record:
    """The version that the draft is, here or in a namesake. Raises SubjectNotFound, SchemaNotFound, InvalidSchema."""
    view = resources.ask(subject, references=draft.references)
    found = find_in(resources, view, draft, normalize=normalize, deleted=deleted)  # LOOK-1 to LOOK-4
    if found is None:  # LOOK-5
        found = next(_lookup_in_namesakes(resources, view, draft, normalize=normalize, deleted=deleted), None)
    if found is not None:
        return rendered(resources, found, form)
    # LOOK-6
    raise SchemaNotFound if is_known(view, deleted=deleted) else SubjectNotFound(subject=view.subject)


def find_by_metadata(
    resources: Resources,
    subject: Subject,
    pairs: Sequence[tuple[str, str]],
    *,
    deleted: bool = False,
    form: str = "",
) -> Record:
    """The highest version whose metadata has all these properties. Raises SubjectNotFound, SchemaNotFound."""
    view = resources.ask(subject)
    if not is_known(view, deleted=deleted):
        raise SubjectNotFound(subject=view.subject)
    for row in reversed(resources.catalog.history(view.subject)):  # LIST-6
        if row.deleted and not deleted:
            continue
        metadata = resources.body(view.subject, row).schema.metadata
        if metadata is not None and all(metadata.properties.get(key) == value for key, value in pairs):
            return rendered(resources, stored_record(resources, view.subject, row), form)
    raise SchemaNotFound


def is_known(view: View, *, deleted: bool) -> bool:
    """Whether the subject has a version that may be seen."""
    return view.head.newest is not None or (deleted and view.head.highest > 0)


def interpret(resources: Resources, schema_id: SchemaId, subject: Subject | None) -> tuple[BodyKey, Holder] | None:
    """Where an id is to be read, and the holder that answers for it (ID-RES). Raises MayBeElsewhere."""
    if subject is None or not subject.name:
        key = BodyKey(DEFAULT_CONTEXT if subject is None else subject.context, schema_id)
        found = spoken_for(resources, key)
    elif found := spoken_for(resources, BodyKey(subject.context, schema_id), subject):
        return found
    else:
        subject = resources.ask(subject).subject
        key = BodyKey(subject.context, schema_id)
        found = _of_the_subject(resources, key, subject)
    if found is None or found[0] != key:  # a namesake's: the subject may have the id with another meaning
        resources.catalog.check_absent(key)
    return found


def _of_the_subject(resources: Resources, key: BodyKey, subject: Subject) -> tuple[BodyKey, Holder] | None:
    if found := _held(resources, key, subject):
        return found
    contexts = resources.catalog.contexts_of(subject.name) if subject.in_default_context else ()
    if contexts or not subject.in_default_context:
        # Without namesakes the last question finds a displaced id as well.
        last = resources.catalog.displaced(key)
        if last is not None and last.subject == subject:
            return key, last
    for context in contexts:
        if found := _held(resources, BodyKey(context, key.id), Subject(context, subject.name)):
            return found
    return spoken_for(resources, key) if subject.in_default_context else None


def spoken_for(resources: Resources, key: BodyKey, by: Subject | None = None) -> tuple[BodyKey, Holder] | None:
    """Finds who answers for the id, as `Catalog.speaker` says."""
    speaker = resources.catalog.speaker(key, by)
    return None if speaker is None else (key, speaker)


def _held(resources: Resources, key: BodyKey, by: Subject) -> tuple[BodyKey, Holder] | None:
    """The subject's own version with the id, the one written last if there are several (ID-7)."""
    holders = resources.catalog.holders(key, by)
    return (key, max(holders, key=lambda holder: holder.written)) if holders else None


def check_catalogued(holder: Holder) -> None:
    """Raises StoreError where only a body spoke, and the question is about more than what the id means."""
    if not holder.catalogued:
        raise StoreError("the catalog does not answer")


def _shaped(
    resources: Resources, record: Record, form: str, find_tags: Sequence[str], *, qualified_references: bool
) -> Record:
    record = with_tags(resources, rendered(resources, record, form), find_tags)
    return with_qualified_references(record) if qualified_references else record


def namesakes(resources: Resources, view: View) -> Iterator[Subject]:
    """The subjects of the same name in other contexts, for an unqualified one (VER-8)."""
    if view.subject.in_default_context:
        for context in effort.paced(resources.catalog.contexts_of(view.subject.name), STEPS_OF_A_NAMESAKE):
            yield Subject(context, view.subject.name)


def find_in(
    resources: Resources, view: View, draft: Draft, *, normalize: bool = False, deleted: bool = False
) -> Record | None:
    """The version of one subject that the draft is.

    Looks for the draft as it is (LOOK-2, LOOK-3), then for what a registration would make of it (LOOK-4).
    Raises InvalidSchema.
    """
    if parsing.is_blank(draft.text):
        return None
    offered = parsing.understand(
        resources,
        view,
        draft.text,
        draft.type,
        draft.references,
        strict=False,
        normalize=view.normalizes(wanted=normalize),
    ).described(draft.metadata, draft.rule_set)
    found = match.find(resources, view, offered, deleted=deleted)
    if found is None and view.head.newest is not None:
        filled = match.described(offered, view.config, resources.body(view.subject, view.head.newest).schema)
        if filled.schema != offered.schema:
            offered, found = filled, match.find(resources, view, filled, deleted=deleted)
    return None if found is None else found.record(view.subject, offered)


def _lookup_in_namesakes(
    resources: Resources, view: View, draft: Draft, *, normalize: bool, deleted: bool
) -> Iterator[Record]:
    """What the draft refers to may be missing or unreadable: then that namesake does not have it as a version."""
    for other in namesakes(resources, view):
        try:
            namesake = resources.look(other, references=draft.references)
            found = find_in(resources, namesake, draft, normalize=normalize, deleted=deleted)
        except (Denied, InvalidSchema):
            continue
        if found is not None:
            yield found
