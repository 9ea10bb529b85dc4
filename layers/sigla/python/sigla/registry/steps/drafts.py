"""A draft on its way to a registration: is it a version already, and if not, what exactly is to be stored?

Each step takes what the one before made:

    Asked        the draft, and its subject as it was when it was asked for
    Reading      what the text says by itself, where that is all that would be stored
    Understood   the schema as it will be stored, and the id that its content has already
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from sigla import effort
from sigla.changes import Head
from sigla.errors import Conflict, EmptySchema, InvalidSchema, InvalidSchemaType, Malformed
from sigla.model import (
    Body,
    BodyKey,
    Config,
    Draft,
    Guid,
    OfferedReference,
    Record,
    Schema,
    SchemaId,
    Tagged,
    Version,
)
from sigla.registry.resources import Resources, View
from sigla.registry.steps import lost, match, parsing
from sigla.registry.steps.match import Match
from sigla.registry.steps.parsed import Offered
from sigla.rules.guid import guid_of
from sigla.rules.merge import VERSION_STAMP, stamped
from sigla.rules.settings import fills_in
from sigla.rules.subject import check_registrable


class Asked(NamedTuple):
    """normalize: whether the text is normalised; what is imported never is."""

    draft: Draft
    view: View
    normalize: bool


class Reading(NamedTuple):
    """refusal: what a new schema of this text meets, though it can be read."""

    offered: Offered
    refusal: InvalidSchema | None = None


@dataclass(frozen=True, slots=True)
class Understood:
    """offered: as it will be stored. id, body: what its content is known by in the context, and what stands there.

    None for both where the content is new there, or brings another id along.
    """

    draft: Draft
    view: View
    offered: Offered
    id: SchemaId | None
    body: Body | None

    def record(self, version: Version, id: SchemaId) -> Record:
        """The answer, in the request's own words."""
        return Record(self.offered.schema, self.offered.guid, self.view.subject, version, id)


Expect = Callable[[View, Offered], None]
"""Told what a text is understood as, before anything is asked about that."""


def guess(draft: Draft) -> Guid | None:
    """The content hash, should the text be canonical already and nothing be merged in.

    Then the question asked first suffices.
    """
    if draft.text is None or draft.references:
        return None
    return guid_of(Schema(draft.type, draft.text, (), draft.metadata, draft.rule_set))


def canonical_guess(draft: Draft) -> Guid | None:
    """The same of the canonical form of the text: worth its parsing where a trip is saved by it."""
    if draft.text is None or draft.references or parsing.is_blank(draft.text):
        return guess(draft)
    effort.pulse()
    try:
        parsed = parsing.language_of(draft.type).parse(draft.text, (), False)  # noqa: FBT003 - leniently; a plain function
    except (InvalidSchemaType, Malformed):
        return guess(draft)
    return guess(replace(draft, text=parsed.canonical))


def brings_id(draft: Draft) -> bool:
    """An id of 0 or more is an import (REG-4)."""
    return draft.id is not None and draft.id >= 0


def check_unmoved(seen: Head | None, view: View) -> None:
    """What a draft was made from must still be so, or it would bring back what has been changed since."""
    if seen is not None and (seen.subject, seen.revision) != (view.head.subject, view.head.revision):
        raise Conflict


# --- is it a version already? ----------------------------------------------------------------------------------------


def read(resources: Resources, asked: Asked) -> Reading | None:
    """What the text says. None where there is no text, or where more would be stored than was sent (REG-1)."""
    draft, config = asked.draft, asked.view.config
    if parsing.is_blank(draft.text) or _is_derived(draft, config):
        return None
    if not _validates_as_new(draft, config):
        return Reading(_offer(resources, asked, strict=False))
    try:
        return Reading(_offer(resources, asked, strict=True))
    except InvalidSchema as refusal:
        # What was registered under other rules is still known.
        return Reading(_offer(resources, asked, strict=False), refusal)


def known(resources: Resources, asked: Asked, offered: Offered) -> Record | None:
    """An active version that the draft already is, whatever the mode (REG-1)."""
    draft, view = asked.draft, asked.view
    found = _known_match(resources, view, draft, offered)
    if found is None:
        return None
    row = found.row
    if not draft.version or draft.version < 0:
        return found.record(view.subject, offered) if not brings_id(draft) or draft.id == row.id else None
    if not brings_id(draft) or draft.id != row.id:
        return None
    if draft.version == row.version:
        return found.record(view.subject, offered)
    wanted = Version(draft.version)
    other = resources.look(view.subject, versions=(wanted,)).row(wanted)
    if other is None or other.deleted or (other.id, other.guid) != (row.id, row.guid):
        return None
    schema = resources.body(view.subject, other).schema
    return Match(other, schema).record(view.subject, offered)


def _known_match(resources: Resources, view: View, draft: Draft, offered: Offered) -> Match | None:
    if draft.version is None or draft.version >= 0:
        return match.find(resources, view, offered, deleted=False)
    newest = view.head.newest
    return match.equivalent_to(resources, view, offered, newest) if newest else None


def _is_derived(draft: Draft, config: Config) -> bool:
    return bool(draft.tags_to_add or draft.tags_to_remove or draft.propagate_tags) or fills_in(config)


# --- what is to be stored? -------------------------------------------------------------------------------------------


def with_tags(resources: Resources, asked: Asked) -> Asked:
    """With the tags that the draft asks for; using them stamps the version (REG-6a)."""
    draft, view = asked.draft, asked.view
    add = tuple(draft.tags_to_add)
    if draft.propagate_tags:
        add = _newest_tags(resources, view) + add
    if not (add or draft.tags_to_remove):
        return asked
    if parsing.is_blank(draft.text):
        raise EmptySchema
    offered = parsing.understand(
        resources, view, draft.text, draft.type, draft.references, strict=False, normalize=False
    )
    try:
        text = offered.language.retag(offered.parsed, add, draft.tags_to_remove)
    except Malformed as malformed:
        raise InvalidSchema(reason=malformed.reason) from malformed
    explicit = draft.tags_to_add or draft.tags_to_remove
    version = -1 if explicit and draft.version is None else draft.version
    return asked._replace(draft=replace(draft, text=text, version=version))


def check_mode(asked: Asked) -> None:
    """Whether the mode lets this draft be written (REG-2). Raises ReadOnly, NotInImportMode, NotInReadWriteMode."""
    check_registrable(asked.view.subject, asked.view.mode, with_id=brings_id(asked.draft))


def with_text(resources: Resources, asked: Asked) -> Asked:
    """A draft without text means the newest version's: so metadata and rules alone get a version (REG-5)."""
    draft, view = asked.draft, asked.view
    if not parsing.is_blank(draft.text):
        return asked
    newest = view.head.newest
    if view.importing or newest is None:
        raise EmptySchema
    schema = resources.body(view.subject, newest).schema
    references = tuple(OfferedReference(ref.name, ref.subject, ref.version) for ref in schema.references)
    if references:
        # Nothing but what is referenced is asked anew: the mode stays the one that was judged.
        again = resources.look(view.subject, references=references)
        check_unmoved(view.head, again)
        view = replace(again, mode=view.mode)
    return asked._replace(view=view, draft=replace(draft, text=schema.text, type=schema.type, references=references))


def understood(resources: Resources, asked: Asked, reading: Reading | None) -> Understood:
    """The schema as it will be stored: read (REG-7), described (REG-6), and known by an id or not (REG-8).

    A body that was lost is put back, whether or not the subject has the content already.
    """
    draft, view = asked.draft, asked.view
    if reading is None:
        offered = _offer(resources, asked, strict=_validates_as_new(draft, view.config))
    elif reading.refusal is not None:
        raise reading.refusal
    else:
        offered = reading.offered
    if not view.importing:
        offered = _described(resources, view, draft, offered)
    id = resources.id_of(view, offered.guid)
    if id is None or (brings_id(draft) and id != draft.id):
        return Understood(draft, view, offered, None, None)
    return Understood(draft, view, offered, id, lost.standing(resources, BodyKey(view.subject.context, id), offered))


def same(resources: Resources, understood: Understood) -> Record | None:
    """An active version of identical content (REG-8), or an equivalent one (REG-9), unless a number is demanded."""
    draft, view, offered = understood.draft, understood.view, understood.offered
    if draft.version:
        return None
    held = match.holding(resources, view, offered, understood.id)
    if held is None or held.deleted:
        active = match.equivalents(resources, view, offered, deleted=False)
        held = next((m.row for m in active if not brings_id(draft) or m.row.id == draft.id), None)
    return None if held is None else understood.record(held.version, held.id)


def _offer(resources: Resources, asked: Asked, *, strict: bool) -> Offered:
    draft = asked.draft
    offered = parsing.understand(
        resources, asked.view, draft.text, draft.type, draft.references, strict=strict, normalize=asked.normalize
    )
    return offered.described(draft.metadata, draft.rule_set)


def _validates_as_new(draft: Draft, config: Config) -> bool:
    return not brings_id(draft) and config.validate_new_schemas is not False


def _described(resources: Resources, view: View, draft: Draft, offered: Offered) -> Offered:
    """With metadata and rules from config and newest version, and stamped where a stamp is asked for."""
    newest = resources.body(view.subject, view.head.newest).schema if view.head.newest else None
    offered = match.described(offered, view.config, newest)
    metadata = offered.schema.metadata
    if not draft.version and (metadata is None or VERSION_STAMP not in metadata.properties):
        return offered
    number = draft.version if draft.version and draft.version > 0 else view.head.highest + 1
    return offered.described(stamped(metadata, number), offered.schema.rule_set)


def _newest_tags(resources: Resources, view: View) -> tuple[Tagged, ...]:
    newest = view.head.newest
    if newest is None:
        return ()
    parsed = parsing.stored(resources, BodyKey(view.subject.context, newest.id))
    return parsing.language_of(parsed.language).tagged(parsed)
