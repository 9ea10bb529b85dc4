"""Who holds an id: the versions that have it, or the same content under another id (ID-5 to ID-8)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from sigla.errors import SchemaNotFound, StoreError
from sigla.keys import utf16
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, Holder, Page, SchemaId, Subject, Version
from sigla.registry.lookup import body_of, check_catalogued, interpret
from sigla.registry.paging import paged
from sigla.registry.resources import Resources
from sigla.registry.side_by_side import both, in_time
from sigla.rules import names

PATIENCE_S: Final = 1.0
"""A healthy store answers in a tenth of it. A silent one is then asked as any read asks it, and not waited for."""


def holders_of(
    resources: Resources, schema_id: SchemaId, *, subject: Subject | None, deleted: bool, page: Page
) -> list[tuple[Subject, Version]]:
    """The version written last of each subject that holds the id; `subject` only says where. Raises SchemaNotFound."""
    last: dict[Subject, Holder] = {}
    for each in _held_at_once(resources, schema_id, subject) or _held_by(resources, schema_id, subject):
        # ID-6, and of those the one written last (ID-7).
        if (deleted or not each.deleted) and each.revision >= getattr(last.get(each.subject), "revision", 0):
            last[each.subject] = each
    return paged(((holder.subject, holder.version) for holder in last.values()), page)


def _held_by(resources: Resources, schema_id: SchemaId, subject: Subject | None) -> list[Holder]:
    """The holders of the id, wherever the subject leads, and of the same content. Raises SchemaNotFound."""
    found = interpret(resources, schema_id, renamed(resources, subject))  # ID-5
    if found is None:  # ID-8
        raise SchemaNotFound
    key, holder = _standing_for(resources, *found)
    check_catalogued(holder)
    body = body_of(resources, key, holder)
    return _same_content(resources, key, body, resources.bodies.named(body.guid), {})


def _held_at_once(resources: Resources, schema_id: SchemaId, subject: Subject | None) -> list[Holder] | None:
    """What `_held_by` finds, in two trips, as nearly every id is: its context has no alias, and a version holds it.

    None for any other, and where a question costs no trip.
    """
    if not resources.pays_for_reads or (subject is not None and subject.name):
        return None
    key = BodyKey(DEFAULT_CONTEXT if subject is None else subject.context, schema_id)

    def content() -> tuple[Body, Sequence[BodyKey]] | None:
        with suppress(StoreError):
            body = resources.bodies.get(key)
            return body, resources.bodies.named(body.guid, known=[key])
        return None

    def holders() -> tuple[Holder, ...]:
        return resources.catalog.holders(key)

    def at_once() -> tuple[Subject | None, tuple[tuple[Holder, ...], tuple[Body, Sequence[BodyKey]] | None]]:
        return both(resources, lambda: renamed(resources, subject), lambda: both(resources, holders, content))

    answered = in_time(at_once, PATIENCE_S)
    if answered is None:
        return None
    meant, (held, found) = answered
    if meant != subject or not held or found is None:
        return None
    body, named = found
    return _same_content(resources, key, body, named, {key: held})


def _standing_for(resources: Resources, key: BodyKey, holder: Holder) -> tuple[BodyKey, Holder]:
    """The id that took the place of a displaced one: its users have taken over (ID-5)."""
    last = resources.catalog.displaced(key) if holder.displaced else None
    if last is None:
        return key, holder
    row = resources.look(last.subject, versions=(last.version,)).row(last.version)
    if row is None:
        return key, holder
    heir = Holder(last.subject, row.version, row.deleted, row.ts, row.revision)
    return BodyKey(key.context, row.id), heir


def subjects_of(
    resources: Resources, schema_id: SchemaId, *, subject: Subject | None, deleted: bool, page: Page
) -> list[Subject]:
    """The subjects of `holders_of`, without the versions."""
    held = holders_of(resources, schema_id, subject=subject, deleted=deleted, page=page)
    return [holding for holding, _ in held]


def renamed(resources: Resources, subject: Subject | None) -> Subject | None:
    """Where a named context has an alias of its own, the reference goes where that leads as it stands: out of it."""
    if subject is None or subject.name or subject.in_default_context:
        return subject
    own = resources.look(subject).chain.own.config
    return names.subject(own.alias) if own and own.alias else subject


def _same_content(
    resources: Resources,
    key: BodyKey,
    body: Body,
    named: Sequence[BodyKey],
    known: Mapping[BodyKey, tuple[Holder, ...]],
) -> list[Holder]:
    """The holders of every id that this content has in the context: imports may have given it several (REG-13).

    named: the ids of this content, in every context. known: holders that were asked for already.
    """
    keys = [same for same in named if same.context == key.context]
    held = (
        (same, known.get(same) or resources.catalog.holders(same) or _last_holders(resources, same)) for same in keys
    )
    holders = [
        holder
        for same, some in held
        # A way from a guid may lead to an id that another writer won; then it stands for other content.
        if some and (same == key or body_of(resources, same, some[0]).guid == body.guid)
        for holder in some
    ]
    return sorted(holders, key=lambda holder: utf16(holder.subject.qualified))


def _last_holders(resources: Resources, key: BodyKey) -> tuple[Holder, ...]:
    last = resources.catalog.displaced(key)
    return () if last is None else (last,)
