"""A draft on its way to a registration: is it a version already, and if not, what exactly is to be stored?"""

from dataclasses import replace

from sigla.changes import Head
from sigla.errors import Conflict, EmptySchema, InvalidSchema, Malformed
from sigla.model import BodyKey, Config, Draft, Guid, OfferedReference, Record, Schema, Tagged, Version
from sigla.registry.steps import match, parsing
from sigla.registry.steps.match import Match
from sigla.registry.steps.parsed import Offered
from sigla.registry.stores import Stores, View
from sigla.rules.guid import guid_of
from sigla.rules.merge import VERSION_STAMP, stamped
from sigla.rules.settings import fills_in


def guess(draft: Draft) -> Guid | None:
    """The content hash, should the text be canonical already and nothing be merged in.

    Then the question asked first suffices.
    """
    if draft.text is None or draft.references:
        return None
    return guid_of(Schema(draft.type, draft.text, (), draft.metadata, draft.rule_set))


def brings_id(draft: Draft) -> bool:
    return draft.id is not None and draft.id >= 0


def is_derived(draft: Draft, config: Config) -> bool:
    """Whether more is stored than was sent, so that an existing version cannot be told beforehand (REG-1)."""
    return bool(draft.tags_to_add or draft.tags_to_remove or draft.propagate_tags) or fills_in(config)


def understood(stores: Stores, view: View, draft: Draft, *, normalize: bool) -> tuple[Offered, InvalidSchema | None]:
    """The draft as the pre-check sees it: lenient. With it the refusal that a new schema of this text will meet."""

    def parse(*, strict: bool) -> Offered:
        offered = parsing.understand(
            stores, view, draft.text, draft.type, draft.references, strict=strict, normalize=normalize
        )
        return offered.described(draft.metadata, draft.rule_set)

    if not _validates_as_new(draft, view.config):
        return parse(strict=False), None
    try:
        return parse(strict=True), None
    except InvalidSchema as refusal:
        return parse(strict=False), refusal


def existing(stores: Stores, view: View, draft: Draft, offered: Offered) -> Record | None:
    """An active version that the draft already is, whatever the mode (REG-1)."""
    found = _precheck(stores, view, draft, offered)
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
    other = stores.look(view.subject, versions=(wanted,)).row(wanted)
    if other is None or other.deleted or (other.id, other.guid) != (row.id, row.guid):
        return None
    schema = stores.body(view.subject, other).schema
    return Match(other, schema).record(view.subject, offered)


def with_tags(stores: Stores, view: View, draft: Draft) -> Draft:
    """The draft with the tags it asks for; using them stamps the version (REG-6a)."""
    add = tuple(draft.tags_to_add)
    if draft.propagate_tags:
        add = _newest_tags(stores, view) + add
    if not (add or draft.tags_to_remove):
        return draft
    if parsing.is_blank(draft.text):
        raise EmptySchema
    offered = parsing.understand(stores, view, draft.text, draft.type, draft.references, strict=False, normalize=False)
    try:
        text = offered.language.retag(offered.parsed, add, draft.tags_to_remove)
    except Malformed as malformed:
        raise InvalidSchema(reason=malformed.reason) from malformed
    explicit = draft.tags_to_add or draft.tags_to_remove
    version = -1 if explicit and draft.version is None else draft.version
    return replace(draft, text=text, version=version)


def cloned(stores: Stores, view: View, draft: Draft) -> Draft:
    """A draft without text means the newest version's: so metadata and rules alone get a version (REG-5)."""
    newest = view.head.newest
    if newest is None:
        raise EmptySchema
    schema = stores.body(view.subject, newest).schema
    references = tuple(OfferedReference(ref.name, ref.subject, ref.version) for ref in schema.references)
    return replace(draft, text=schema.text, type=schema.type, references=references)


def with_references(stores: Stores, view: View, draft: Draft) -> View:
    """The view, asked with the draft's references as well."""
    if not draft.references:
        return view
    again = stores.look(view.subject, references=draft.references)
    check_unmoved(view.head, again)
    return again


def check_unmoved(seen: Head | None, view: View) -> None:
    """What a draft was made from must still be so, or it would bring back what somebody has changed since."""
    if seen is not None and (seen.subject, seen.revision) != (view.head.subject, view.head.revision):
        raise Conflict


def offer(stores: Stores, view: View, draft: Draft, *, normalize: bool) -> Offered:
    strict = _validates_as_new(draft, view.config)
    offered = parsing.understand(
        stores, view, draft.text, draft.type, draft.references, strict=strict, normalize=normalize
    )
    return offered.described(draft.metadata, draft.rule_set)


def described(stores: Stores, view: View, draft: Draft, offered: Offered) -> Offered:
    """With metadata and rules from config and newest version, and stamped where a stamp is asked for (REG-6)."""
    newest = stores.body(view.subject, view.head.newest).schema if view.head.newest else None
    offered = match.described(offered, view.config, newest)
    metadata = offered.schema.metadata
    if not draft.version and (metadata is None or VERSION_STAMP not in metadata.properties):
        return offered
    number = draft.version if draft.version and draft.version > 0 else view.head.highest + 1
    return offered.described(stamped(metadata, number), offered.schema.rule_set)


def _validates_as_new(draft: Draft, config: Config) -> bool:
    return not brings_id(draft) and config.validate_new_schemas is not False


def _precheck(stores: Stores, view: View, draft: Draft, offered: Offered) -> Match | None:
    if draft.version is None or draft.version >= 0:
        return match.find(stores, view, offered, deleted=False)
    newest = view.head.newest
    return match.equivalent_to(stores, view, offered, newest) if newest else None


def _newest_tags(stores: Stores, view: View) -> tuple[Tagged, ...]:
    newest = view.head.newest
    if newest is None:
        return ()
    parsed = parsing.stored(stores, BodyKey(view.subject.context, newest.id))
    return parsing.language_of(parsed.language).tagged(parsed)
