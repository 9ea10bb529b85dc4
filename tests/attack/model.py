"""A registry in dicts and lists, written from the contract and from nothing else.

It knows no trips, no hashes, no SQL and no parser: a schema is a shape, content is compared by value, and every rule is
looked up by walking over everything there is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from tests.attack import schemas
from tests.attack.schemas import Brought, Content, Meaning, Offer, Place, Refused, Shape, Stored, Use


class Model:
    def __init__(self) -> None:
        self.subjects: dict[Place, dict[int, Stored]] = {}
        self.contexts: set[str] = set()
        self.meanings: dict[tuple[str, int], Meaning] = {}
        self.last_id: dict[tuple[str, Content], int] = {}
        self.displaced: dict[tuple[str, int], tuple[Place, int]] = {}
        self.top: dict[str, int] = {}
        self.levels: dict[Place, str] = {}
        self.modes: dict[Place, str] = {}
        self.clock = count(1)

    def rows(self, place: Place, *, deleted: bool = True) -> list[tuple[int, Stored]]:
        """Newest first."""
        found = sorted(self.subjects.get(place, {}).items(), reverse=True)
        return [(version, row) for version, row in found if deleted or not row.deleted]

    def newest(self, place: Place) -> tuple[int, Stored] | None:
        return next(iter(self.rows(place, deleted=False)), None)

    def meaning(self, place: Place, row: Stored) -> Meaning:
        return self.meanings[place.context, row.id]

    def is_held(self, context: str, id: int) -> bool:
        return any(row.id == id for place in self.subjects if place.context == context for _, row in self.rows(place))

    def last_holder(self, context: str, id: int) -> tuple[Place, int] | None:
        """For an id without a holder, the version that an import has written over, while something stands there."""
        place, version = self.displaced.get((context, id), (Place("", ""), 0))
        stands = version in self.subjects.get(place, {}) and not self.is_held(context, id)
        return (place, version) if stands else None

    def id_of(self, context: str, content: Content) -> int | None:
        """The id written last, or else the highest that is held, or was written over."""
        ids = [id for (where, id), meant in self.meanings.items() if (where, meant.content) == (context, content)]
        last = self.last_id.get((context, content))
        known = (id for id in ids if self.is_held(context, id) or (context, id) in self.displaced)
        return max(known, key=lambda held: (held == last, held), default=None)

    def inherited(self, entries: dict[Place, str], place: Place, default: str) -> str:
        """Subject, context, registry-wide, server."""
        scopes = (place, Place(place.context, ""), Place(".__GLOBAL", ""))
        return next((entries[scope] for scope in scopes if scope in entries), default)

    def mode(self, place: Place) -> str:
        return self.inherited(self.modes, place, "READWRITE")

    def referrers(self, target: Place, version: int | None = None) -> Iterator[tuple[Place, int, Stored]]:
        for place in self.subjects:
            for number, row in self.rows(place):
                for use in self.meaning(place, row).content.uses:
                    if schemas.target_of(use, place.context) == target and version in {None, use.version}:
                        yield place, number, row

    def understand(self, place: Place, offer: Offer, *, strict: bool) -> Meaning:
        if offer.text is None:
            raise Refused("EmptySchema")
        uses, base = [], None
        for use in offer.uses:
            target = schemas.target_of(use, place.context)
            newest = self.newest(target)
            version = (newest[0] if newest else 0) if use.version == -1 else use.version
            row = self.subjects.get(target, {}).get(version)
            if row is None or (strict and row.deleted):
                raise Refused("InvalidSchema")
            uses.append(Use(use.subject, version))
            base = base or self.meaning(target, row).shape
        shape = offer.text.shape
        if shape is None:
            if base is None or isinstance(base, str) or schemas.BASE not in base:
                raise Refused("InvalidSchema")
            shape = schemas.using(base)
        return Meaning(Content(offer.text.text, tuple(uses), offer.metadata), shape)

    def same(self, offered: Meaning, place: Place, version: int, row: Stored) -> bool:
        """§5.2: can be looked up by."""
        stored = self.meaning(place, row)
        if offered.content.uses and offered.content.uses != stored.content.uses:
            return False
        if offered.shape != stored.shape:
            return False
        ours, theirs = offered.content.metadata, stored.content.metadata
        our_stamp, their_stamp = dict(ours or ()).get(schemas.STAMP), dict(theirs or ()).get(schemas.STAMP)
        if (our_stamp is None) == (their_stamp is None):
            return ours == theirs
        if our_stamp is not None and int(our_stamp) != version:
            return False
        return schemas.unstamped(ours) == schemas.unstamped(theirs)

    def find(self, place: Place, offered: Meaning, *, deleted: bool) -> tuple[int, Stored] | None:
        """Stage A: by content, then by likeness, newest first."""
        held = self.holding(place, self.id_of(place.context, offered.content))
        if held is not None and (deleted or not held[1].deleted):
            return held
        rows = self.rows(place, deleted=deleted)
        return next(((v, row) for v, row in rows if self.same(offered, place, v, row)), None)

    def holding(self, place: Place, id: int | None) -> tuple[int, Stored] | None:
        """The newest active version if it has the id, else the one written last."""
        newest = self.newest(place)
        if newest is not None and newest[1].id == id:
            return newest
        rows = [(version, row) for version, row in self.rows(place) if row.id == id]
        last = None if id is None or not self.rows(place) else self.last_holder(place.context, id)
        if id is not None and last is not None and last[0] == place:
            return last[1], replace(self.subjects[place][last[1]], id=id)
        return max(rows, key=lambda held: held[1].written, default=None)

    def register(self, place: Place, offer: Offer) -> tuple[int, int]:
        """Version and id."""
        if offer.text is not None and (existing := self.existing(place, offer)):
            return existing
        mode = self.mode(place)
        self.check_writable(place)
        if offer.id is not None and mode != "IMPORT":
            raise Refused("NotInImportMode")
        if offer.id is None and mode != "READWRITE":
            raise Refused("NotInReadWriteMode")
        newest, importing = self.newest(place), mode == "IMPORT"
        if offer.text is None:
            if newest is None:
                raise Refused("EmptySchema")
            meant = self.meaning(place, newest[1])
            shape = None if meant.content.uses else meant.shape
            offer = replace(offer, text=schemas.Text(meant.content.text, shape), uses=meant.content.uses)
        offered = self.understand(place, offer, strict=offer.id is None)
        highest = max(self.subjects.get(place, {}), default=0)
        if not importing:
            inherited = self.meaning(place, newest[1]).content.metadata if newest else None
            metadata = inherited if offer.metadata is None else offer.metadata
            if offer.version or schemas.STAMP in dict(metadata or ()):
                number = offer.version if offer.version > 0 else highest + 1
                metadata = tuple(sorted({**dict(metadata or ()), schemas.STAMP: str(number)}.items()))
            offered = replace(offered, content=replace(offered.content, metadata=metadata))
        return self.place(place, offer, offered, highest, importing=importing)

    def place(self, place: Place, offer: Offer, offered: Meaning, highest: int, *, importing: bool) -> tuple[int, int]:
        known = self.id_of(place.context, offered.content)
        known = known if offer.id in {None, known} else None
        if not offer.version:
            held = self.holding(place, known)
            if held is not None and not held[1].deleted:
                return held[0], held[1].id
            for version, row in self.rows(place, deleted=False):
                if self.same(offered, place, version, row) and offer.id in {None, row.id}:
                    return version, row.id
        if not importing and not self.is_compatible(place, offered.shape):
            raise Refused("Incompatible")
        version = offer.version if offer.version > 0 else highest + 1
        if not importing and version != highest + 1:
            raise Refused("VersionOutOfOrder")
        id = known if known is not None else self.new_id(place.context, offer.id, offered)
        self.write(place, version, id, offered.content)
        return version, id

    def existing(self, place: Place, offer: Offer) -> tuple[int, int] | None:
        """REG-1."""
        offered = self.understand(place, offer, strict=False)
        newest = self.newest(place)
        if offer.version >= 0:
            found = self.find(place, offered, deleted=False)
        else:
            found = newest if newest and self.same(offered, place, *newest) else None
        if found is None:
            return None
        version, row = found
        if offer.version <= 0:
            return (version, row.id) if offer.id in {None, row.id} else None
        if offer.id != row.id:
            return None
        if offer.version == version:
            return version, row.id
        other = self.subjects[place].get(offer.version)
        return (offer.version, row.id) if other and not other.deleted and other.id == row.id else None

    def is_compatible(self, place: Place, new: Shape) -> bool:
        level = self.inherited(self.levels, place, "BACKWARD")
        rows = self.rows(place, deleted=False)
        for _, row in rows if level.endswith("_TRANSITIVE") else rows[:1]:
            old = self.meaning(place, row).shape
            if level.startswith(("BACKWARD", "FULL")) and not schemas.can_read(new, old):
                return False
            if level.startswith(("FORWARD", "FULL")) and not schemas.can_read(old, new):
                return False
        return True

    def new_id(self, context: str, brought: int | None, offered: Meaning) -> int:
        top = self.top.get(context, 0)
        id = top + 1 if brought is None else brought
        if self.meanings.setdefault((context, id), offered).content != offered.content:
            raise Refused("IdTaken")
        self.top[context] = max(top, id, 1)
        return id

    def write(self, place: Place, version: int, id: int, content: Content) -> None:
        for number, row in self.rows(place):
            if row.id == id and row.deleted and number < version and not any(self.referrers(place, number)):
                del self.subjects[place][number]
        before = self.subjects.get(place, {}).get(version)
        self.subjects.setdefault(place, {})[version] = Stored(id, deleted=False, written=next(self.clock))
        self.displaced.pop((place.context, id), None)
        if before is not None and not self.is_held(place.context, before.id):
            self.displaced[place.context, before.id] = place, version
        self.last_id[place.context, content] = id
        if place.context != ".":
            self.contexts.add(place.context)

    def bring(self, place: Place, versions: Sequence[Brought]) -> int:
        """How many were written."""
        stored, context = set(self.subjects.get(place, {})), place.context
        written = []
        for each in versions:
            if each.version not in stored:
                offered = Meaning(Content(each.text.text, (), None), each.text.shape or "")
                if self.meanings.setdefault((context, each.id), offered).content == offered.content:
                    written.append(each)
        self.top[context] = max(1, self.top.get(context, 0), *(each.id for each in versions))
        for each in written:
            self.last_id[context, self.meanings[context, each.id].content] = each.id
            self.displaced.pop((context, each.id), None)
        for each in sorted(written, key=lambda each: each.version):
            row = Stored(each.id, deleted=each.deleted, written=next(self.clock))
            self.subjects.setdefault(place, {})[each.version] = row
        if written and context != ".":
            self.contexts.add(context)
        return len(written)

    def lookup(self, place: Place, offer: Offer, *, deleted: bool) -> tuple[str, int, int]:
        found = self.lookup_in(place, offer, deleted=deleted)
        if found:
            return place.context, found[0], found[1].id
        namesakes = sorted(other for other in self.subjects if other.name == place.name and other.context != ".")
        for other in namesakes if place.context == "." else []:
            try:
                found = self.lookup_in(other, offer, deleted=deleted)
            except Refused:
                continue
            if found:
                return other.context, found[0], found[1].id
        raise Refused("SchemaNotFound" if self.rows(place, deleted=deleted) else "SubjectNotFound")

    def lookup_in(self, place: Place, offer: Offer, *, deleted: bool) -> tuple[int, Stored] | None:
        offered = self.understand(place, offer, strict=False)
        found, newest = self.find(place, offered, deleted=deleted), self.newest(place)
        if found is None and newest and offer.metadata is None:
            metadata = self.meaning(place, newest[1]).content.metadata
            filled = replace(offered, content=replace(offered.content, metadata=metadata))
            found = self.find(place, filled, deleted=deleted)
        return found

    def delete_version(self, place: Place, version: int, *, permanent: bool) -> int:
        newest = self.newest(place)
        number = (newest[0] if newest else 0) if version == -1 else version
        row = self.subjects.get(place, {}).get(number)
        if row and row.deleted and not permanent:
            raise Refused("VersionSoftDeleted")
        if row is None:
            raise Refused("VersionNotFound" if self.subjects.get(place) else "SubjectNotFound")
        self.check_writable(place)
        if any(permanent or not referrer.deleted for _, _, referrer in self.referrers(place, number)):
            raise Refused("Referenced")
        if permanent and not row.deleted:
            raise Refused("VersionNotSoftDeleted")
        # Its record is written once more (JRN-5); the delete of a whole subject writes none again.
        self.remove(place, number, replace(row, written=next(self.clock)), permanent=permanent)
        return number

    def delete_subject(self, place: Place, *, permanent: bool) -> list[int]:
        if not self.rows(place):
            raise Refused("SubjectNotFound")
        rows = self.rows(place, deleted=permanent)[::-1]
        if not rows:
            raise Refused("SubjectSoftDeleted")
        self.check_writable(place)
        for version, row in rows:
            users = [(user, each) for user, _, each in self.referrers(place, version) if user != place]
            if any(permanent or not each.deleted for _, each in users):
                raise Refused("Referenced")
            if permanent and not row.deleted:
                raise Refused("SubjectNotSoftDeleted")
        for version, row in rows:
            self.remove(place, version, row, permanent=permanent)
        return [version for version, _ in rows]

    def remove(self, place: Place, version: int, row: Stored, *, permanent: bool) -> None:
        if not permanent:
            self.subjects[place][version] = replace(row, deleted=True)
            return
        del self.subjects[place][version]
        if not self.subjects[place]:
            del self.subjects[place]
            self.levels.pop(place, None)
            self.modes.pop(place, None)

    def check_writable(self, place: Place) -> None:
        if self.mode(place) == "READONLY":
            raise Refused("ReadOnly")

    def set_level(self, place: Place, level: str) -> str:
        self.check_writable(place)
        self.levels[place] = level
        return level

    def set_mode(self, place: Place, mode: str, *, force: bool) -> None:
        if mode == "IMPORT" and self.mode(place) != "IMPORT" and not force:
            whole = place in {Place(".", ""), Place(".__GLOBAL", "")}
            scope = [s for s in self.subjects if whole or s == place or (not place.name and s.context == place.context)]
            if any(self.newest(each) for each in scope):
                raise Refused("ImportIntoExisting")
            if any(any(self.referrers(each)) for each in scope):
                raise Refused("Referenced")
            for each in scope:
                del self.subjects[each]
        self.modes[place] = mode

    def drop_mode(self, place: Place) -> None:
        if self.modes.pop(place, None) is None and place not in {Place(".", ""), Place(".__GLOBAL", "")}:
            raise Refused("SubjectNotFound")

    def drop_context(self, context: str) -> None:
        if any(place.context == context for place in self.subjects):
            raise Refused("ContextNotEmpty")
        self.contexts.discard(context)
