"""What ids mean, in S3: an object for each id, an empty pointer for each way from a guid to an id.

A pointer is written beside its body, in the same moment, and nothing is ever removed. So one may point to a body that
was never written, or that means something else because another writer won the id; `named` leaves the latter out.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from urllib.parse import unquote

from sigla import keys, records
from sigla.contract import HIGHEST
from sigla.errors import BodyDamaged, BodyMissing, Taken
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, Guid, SchemaId, Subject
from sigla.rules.bodies import believed, check_stays
from sigla.stores.s3.objects import PAGE, SIDE_BY_SIDE, Objects, Stored


class AwsBodies:
    """A `ports.Bodies`."""

    def __init__(self, objects: Objects, *, registry: str = "default") -> None:
        self._objects = objects
        self._registry = registry

    def put(self, key: BodyKey, body: Body) -> None:
        standing = self._place(key, body)
        if standing and standing.nonce != body.nonce:
            raise Taken(standing)

    def get(self, key: BodyKey) -> Body:
        return self._find(key) or _missing(key)

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        stored = self._read_many(keys)
        found = {key: believed(key, each.content) if each else _missing(key) for key, each in stored.items()}
        return [found[key] for key in keys]

    def named(self, guid: Guid, *, known: Collection[BodyKey] = ()) -> tuple[BodyKey, ...]:
        prefix = keys.guid_prefix(self._registry, guid)
        pointed = [_pointed(name.removeprefix(prefix)) for name in self._objects.names(prefix)]
        stored = self._read_many([key for key in pointed if key not in known])
        having = (key for key in pointed if key in known or _may_have(key, stored[key], guid))
        return tuple(sorted(having, key=_order))

    def last(self, context: str) -> SchemaId:
        """S3 lists upwards only: ever longer leaps while there is something above, then halving.

        One listing for up to 1,000 bodies, some 20 for a million, 45 at most.
        """
        last, end, leap = 0, HIGHEST, 0
        # There are bodies up to `last` at least and up to `end` at most.
        while last < end:
            probe = last + (min(leap, (end - last) // 2) if end - last > PAGE else 0)
            ids, more = self._ids_after(context, probe)
            if ids and not more:
                return SchemaId(ids[-1])
            last, end = (ids[-1], end) if ids else (last, probe)
            leap = 2 * leap or PAGE
        return SchemaId(last)

    def next_above(self, key: BodyKey) -> SchemaId | None:
        ids, _ = self._ids_after(key.context, key.id)
        return next((SchemaId(id) for id in ids if id > key.id), None)

    def bury(self, key: BodyKey) -> None:
        self._replace(key, lambda standing: None if standing.gone else replace(standing, gone=True))

    def revive(self, key: BodyKey, body: Body) -> None:
        def living(standing: Body) -> Body | None:
            if standing.schema != body.schema:
                raise Taken(standing)
            return body if standing.gone else None

        if self._place(key, body):
            self._replace(key, living)

    def mend(self, key: BodyKey, body: Body, seen: Body | None) -> None:
        keys.check_length(Subject(key.context, ""))
        name, content = self._name(key), records.body_bytes(key, body)
        self._objects.create(keys.guid_object(self._registry, body.guid, key), b"")

        def attempt() -> bool | None:
            stored, standing = self._objects.read(name), None
            with suppress(BodyDamaged):
                standing = believed(key, stored.content) if stored else None
            if standing != seen:
                return check_stays(standing, body)
            if stored is None:
                return self._objects.create(name, content) or None
            return self._objects.replace(name, content, stored) or None

        self._objects.insist(f"mending {name}", attempt)

    def _place(self, key: BodyKey, body: Body) -> Body | None:
        """What stands in the way, or None. The pointer is there in any case: who adopts the standing body has it."""
        keys.check_length(Subject(key.context, ""))
        name, pointer = self._name(key), keys.guid_object(self._registry, body.guid, key)
        made = self._objects.create_all({name: records.body_bytes(key, body), pointer: b""})
        return None if made[name] else self.get(key)

    def _replace(self, key: BodyKey, change: Callable[[Body], Body | None]) -> None:
        """Puts what `change` makes of the standing body, if there is one, in its place; None leaves it as it is.

        After an unknown outcome the next look finds it changed, and there is nothing left to do.
        """
        name = self._name(key)

        def attempt() -> bool | None:
            stored = self._objects.read(name)
            changed = change(believed(key, stored.content)) if stored else None
            if stored is None or changed is None:
                return True
            return self._objects.replace(name, records.body_bytes(key, changed), stored) or None

        self._objects.insist(f"replacing {name}", attempt)

    def _find(self, key: BodyKey) -> Body | None:
        stored = self._objects.read(self._name(key))
        return believed(key, stored.content) if stored else None

    def _read_many(self, wanted: Sequence[BodyKey]) -> dict[BodyKey, Stored | None]:
        """Each once, side by side."""
        once = list(dict.fromkeys(wanted))
        return dict(zip(once, self._objects.read_many([self._name(key) for key in once]), strict=True))

    def _ids_after(self, context: str, id: int) -> tuple[list[int], bool]:
        """The next ids with a body, ascending, and whether there are more; the first of all if none is given (0)."""
        start = self._name(BodyKey(context, SchemaId(id)))
        prefix = start[: start.rindex("/") + 1]
        page = self._objects.page(prefix, after=start if id else "")
        return [int(name.removeprefix(prefix).removesuffix(".json")) for name in page.names], page.more

    def _name(self, key: BodyKey) -> str:
        return keys.body_object(self._registry, key)


def mend_all(here: AwsBodies, there: AwsBodies, brought: Iterable[BodyKey]) -> None:
    """What imports that were refused here have left under these ids gives way to what they mean there."""
    waiting = iter(sorted(brought))
    while some := list(islice(waiting, SIDE_BY_SIDE)):
        for key, ours, theirs in zip(some, here.get_many(some), there.get_many(some), strict=True):
            if ours.schema != theirs.schema:
                here.mend(key, theirs, ours)


def _missing(key: BodyKey) -> Body:
    raise BodyMissing(key)


def _may_have(key: BodyKey, stored: Stored | None, guid: Guid) -> bool:
    """Whether the content may be what stands there, or stood there before it was lost."""
    try:
        return stored is None or believed(key, stored.content).guid == guid
    except BodyDamaged:
        return True


def _pointed(pointer: str) -> BodyKey:
    """The key that the end of a pointer's name stands for."""
    context, id = pointer.split("/")
    return BodyKey(DEFAULT_CONTEXT if context == "_" else unquote(context), SchemaId(int(id)))


def _order(key: BodyKey) -> tuple[bool, bytes, int]:
    return key.context != DEFAULT_CONTEXT, keys.utf16(key.context), key.id
