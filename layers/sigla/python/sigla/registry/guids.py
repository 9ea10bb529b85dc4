"""Which schema is this, by the hash of its content, and which ids does it have?"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple
from uuid import UUID

from sigla.errors import BodyLost, SchemaNamedNotFound
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, Guid, Holder, Record, SchemaId
from sigla.registry.lookup import body_of, check_catalogued, record_of, spoken_for
from sigla.registry.resources import Resources
from sigla.registry.steps.rendering import rendered


class KnownContent(NamedTuple):
    """holder: speaks for the id, as `Catalog.speaker` says; `displaced` where an import has written over the last."""

    guid: Guid
    id: SchemaId
    holder: Holder


Meant = tuple[BodyKey, Body, Holder]
"""An id, what it means, and who speaks for it."""


def schema_by_guid(resources: Resources, text: str, *, form: str = "") -> Record:
    """The schema with this content hash, as an active version has it, if there is one.

    In the default context first, in each the last id written that is live. The record says which id and whose; clients
    are not told (GUID-3).
    """
    guid = _guid(text)  # GUID-1
    found = _standing(resources, guid)
    if found is None or not _is_active(found[2]):
        found = _most_alive(_live(resources, guid), found)  # GUID-2
    if found is None:
        if guid is not None:
            resources.catalog.check_absent(None)
        raise SchemaNamedNotFound(key=text)
    key, body, speaker = found
    return rendered(resources, record_of(key, body, speaker), form)


def _most_alive(live: Iterator[Meant], known: Meant | None) -> Meant | None:
    """The first with an active version; else the one that is known, or the first. Raises BodyLost if it has none."""
    try:
        for each in live:
            if _is_active(each[2]):
                return each
            known = known or each
    except BodyLost:
        if known is None:
            raise
    return known


def _is_active(speaker: Holder) -> bool:
    return not (speaker.deleted or speaker.displaced)


def ids_of(resources: Resources, text: str) -> list[BodyKey]:
    """In each context the id that stands for this content: of several live ones the one written last. By context."""
    guid = _guid(text)
    live: dict[str, list[BodyKey]] = {}
    for key, _, speaker in _live(resources, guid):
        check_catalogued(speaker)
        live.setdefault(key.context, []).append(key)
    return sorted(
        keys[0] if len(keys) == 1 or guid is None else _known(resources, guid, keys) for keys in live.values()
    )


def known_contents(resources: Resources, context: str, texts: Sequence[str]) -> list[KnownContent]:
    """Those of these contents that are known in a context, each by the id that stands for it there (GUID-4)."""
    guids = dict.fromkeys(guid for text in texts if (guid := _guid(text)) is not None)
    ids = resources.catalog.ids_of(context, guids)
    found = ((guid, BodyKey(context, ids[guid])) for guid in guids if guid in ids)
    return [KnownContent(guid, key.id, holder) for guid, key in found if (holder := _holder(resources, key))]


def _holder(resources: Resources, key: BodyKey) -> Holder | None:
    holder = resources.catalog.speaker(key)
    if holder is None:
        return None
    check_catalogued(holder)
    return resources.catalog.displaced(key) if holder.displaced else holder


def _standing(resources: Resources, guid: Guid | None) -> Meant | None:
    """The id of the default context that the catalog names; None where bodies have to be asked who they are."""
    if guid is None or (id := resources.catalog.standing(guid)) is None:
        return None
    with suppress(BodyLost):  # another id may have the content, too
        return _meant(resources, BodyKey(DEFAULT_CONTEXT, id), guid)
    return None


def _meant(resources: Resources, key: BodyKey, guid: Guid) -> Meant | None:
    """What the id means, and who speaks for it, if it is live and of this content. Raises BodyLost."""
    found = spoken_for(resources, key)
    if found is None:
        return None
    body = body_of(resources, *found)
    return (key, body, found[1]) if body.guid == guid else None


def _live(resources: Resources, guid: Guid | None) -> Iterator[Meant]:
    """With who speaks for each. Context by context, the default one first; the last id written first.

    Raises BodyLost where an id is held whose body is lost: as far as the catalog knows it was of this content.
    """
    if guid is None:
        return
    named = resources.bodies.named(guid)
    for context in dict.fromkeys(key.context for key in named):
        for key in reversed([key for key in named if key.context == context]):
            if found := _meant(resources, key, guid):
                yield found


def _known(resources: Resources, guid: Guid, keys: Sequence[BodyKey]) -> BodyKey:
    """The one of these ids of one context that stands for the content, if it is among them; else the last."""
    known = resources.catalog.id_of(keys[0].context, guid)
    return next((key for key in keys if key.id == known), keys[0])


def _guid(text: str) -> Guid | None:
    """A GUID in any case, with short groups, or as 32 digits; None for anything else."""
    groups = text.split("-")
    widths = (8, 4, 4, 4, 12)
    if len(groups) == len(widths):
        text = "".join(group.zfill(width) for group, width in zip(groups, widths, strict=True))
    try:
        return Guid(str(UUID(hex=text))) if text.isalnum() else None
    except ValueError:
        return None
