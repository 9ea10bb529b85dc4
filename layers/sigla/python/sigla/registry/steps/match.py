"""Is this schema already a version of the subject?

There are two kinds of sameness: identical content, which has one id, and equivalent structure (EQ-1 to EQ-4).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from sigla.model import BodyKey, Config, Holder, Metadata, Record, Row, RuleSet, Schema, SchemaId, Subject
from sigla.registry.resources import Resources, View
from sigla.registry.steps import parsing
from sigla.registry.steps.parsed import Offered
from sigla.rules.merge import merge_metadata, merge_rule_sets, stamp_of, unstamped


@dataclass(frozen=True, slots=True)
class Match:
    """A version that is the offered schema already.

    Stored: its content where it was found by equivalence, else None.
    """

    row: Row
    stored: Schema | None = None

    def record(self, subject: Subject, offered: Offered) -> Record:
        """The request's own text for identical content; the stored entity, with its time, for an equivalent one."""
        if self.stored is None:
            return Record(offered.schema, self.row.guid, subject, self.row.version, self.row.id)
        return Record(
            self.stored, self.row.guid, subject, self.row.version, self.row.id, self.row.ts, deleted=self.row.deleted
        )


def find(resources: Resources, view: View, offered: Offered, *, deleted: bool) -> Match | None:
    """By content first, then by equivalence, newest first; soft-deleted versions only if asked for."""
    held = holding(resources, view, offered, resources.id_of(view, offered.guid))
    if held is not None and (deleted or not held.deleted):
        return Match(held)
    return next(equivalents(resources, view, offered, deleted=deleted), None)


def holding(resources: Resources, view: View, offered: Offered, schema_id: SchemaId | None) -> Row | None:
    """The subject's version with this id; of several the newest active one, or else the one written last.

    schema_id: that of the offered content. Where the subject's version with it was written over by an import, and none
    has the id since, it is that version, and as much deleted as what stands in its place.
    """
    newest = view.head.newest
    if schema_id is None or not view.head.highest:
        return None
    if newest is not None and newest.id == schema_id:
        return newest
    key = BodyKey(view.subject.context, schema_id)
    held = resources.catalog.holders(key, view.subject)
    if not held:
        return _displaced(resources, view, offered, key)
    last = max(held, key=attrgetter("written"))
    return _holders_row(offered, schema_id, last)


def _displaced(resources: Resources, view: View, offered: Offered, key: BodyKey) -> Row | None:
    last = resources.catalog.displaced(key)
    # Equal content hashes may hide different types (HQ-1): an id means one thing.
    if last is None or last.subject != view.subject or resources.bodies.get(key).schema != offered.schema:
        return None
    return _holders_row(offered, key.id, last)


def _holders_row(offered: Offered, schema_id: SchemaId, holder: Holder) -> Row:
    """The version of a holder of the offered content's id."""
    schema = offered.schema
    return Row(
        holder.version,
        schema_id,
        offered.guid,
        schema.type,
        schema.references,
        deleted=holder.deleted,
        ts=holder.ts,
        revision=holder.revision,
    )


def equivalents(resources: Resources, view: View, offered: Offered, *, deleted: bool) -> Iterator[Match]:
    """Versions that the offered schema can be looked up by, newest first."""
    for row in resources.candidates(view, offered.language.digest(offered.parsed)):
        if (deleted or not row.deleted) and (match := equivalent_to(resources, view, offered, row)):
            yield match


def equivalent_to(resources: Resources, view: View, offered: Offered, row: Row) -> Match | None:
    """The match, if the offered schema can be looked up by this version."""
    body = resources.body(view.subject, row)
    schema = body.schema
    if schema.type != offered.schema.type or not _same_references(offered.schema, schema):
        return None
    if not _same_description(offered.schema, schema, row):
        return None
    parsed = parsing.stored(resources, BodyKey(view.subject.context, row.id), body)
    return Match(row, schema) if offered.language.equivalent(offered.parsed, parsed) else None


def described(offered: Offered, config: Config, newest: Schema | None) -> Offered:
    """The offered schema with the metadata and rules that a registration would give it, but for the stamp (REG-6)."""
    metadata, rule_set = offered.schema.metadata, offered.schema.rule_set
    return offered.described(*describe(metadata, rule_set, config, newest))


def describe(
    metadata: Metadata | None, rule_set: RuleSet | None, config: Config, newest: Schema | None
) -> tuple[Metadata | None, RuleSet | None]:
    """Default, then what was sent or else the newest version's, then override."""
    if newest is not None:
        metadata = newest.metadata if metadata is None else metadata
        rule_set = newest.rule_set if rule_set is None else rule_set
    metadata = merge_metadata(merge_metadata(config.default_metadata, metadata), config.override_metadata)
    rule_set = merge_rule_sets(merge_rule_sets(config.default_rule_set, rule_set), config.override_rule_set)
    return metadata, rule_set


def _same_references(offered: Schema, stored: Schema) -> bool:
    """Equal one by one; or none offered: a schema with everything inlined finds the one that refers."""
    return not offered.references or offered.references == stored.references


def _same_description(offered: Schema, stored: Schema, row: Row) -> bool:
    """Metadata and rule sets are equal but for a version stamp that only one of the two bears."""
    if offered.rule_set != stored.rule_set:
        return False
    theirs, ours = stamp_of(stored.metadata), stamp_of(offered.metadata)
    if (theirs is None) == (ours is None):
        return offered.metadata == stored.metadata
    if ours is not None and ours != row.version:
        return False
    return unstamped(offered.metadata) == unstamped(stored.metadata)
