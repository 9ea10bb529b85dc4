"""API keys in S3, an object each: `<registry>/keys/<name>`.

Objects of the bucket may not be deleted, so a removed key leaves an empty object. The next key of its name replaces it.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from sigla import keys as stored
from sigla.auth.api_keys import KeyTaken
from sigla.auth.uses import note_of, read_day
from sigla.stores.s3.objects import Objects, Stored

REMOVED = b""


class AwsKeys:
    """A `Keys` in a bucket."""

    def __init__(self, objects: Objects, *, registry: str = "default") -> None:
        self._objects = objects
        self._prefix = stored.api_keys_prefix(registry)
        self._uses = stored.key_uses_prefix(registry)

    def put(self, name: str, record: bytes) -> None:
        def attempt() -> bool | None:
            if self._objects.create(self._prefix + name, record):
                return True
            standing = self._objects.read(self._prefix + name)
            if standing is None:
                return None
            if standing.content == record:  # our own, whose answer was lost
                return True
            if standing.content != REMOVED:
                raise KeyTaken(name)
            return self._objects.replace(self._prefix + name, record, standing) or None

        self._objects.insist(f"writing the key {name}", attempt)

    def get(self, name: str) -> bytes | None:
        return _content(self._objects.read(self._prefix + name))

    def names(self) -> AbstractSet[str]:
        """One question for a thousand of them."""
        return frozenset(name.removeprefix(self._prefix) for name in self._objects.names(self._prefix))

    def list(self) -> Iterator[tuple[str, bytes]]:
        for name, found in self._read_all(self._prefix):
            record = _content(found)
            if record is not None:
                yield name, record

    def state(self) -> object:
        return None

    def replace(self, name: str, seen: bytes, record: bytes) -> bool:
        def attempt() -> bool | None:
            standing = self._objects.read(self._prefix + name)
            if standing is not None and standing.content == record:  # our own, whose answer was lost
                return True
            if standing is None or standing.content != seen:
                return False
            return self._objects.replace(self._prefix + name, record, standing) or None

        return self._objects.insist(f"replacing the key {name}", attempt)

    def remove(self, name: str) -> bool:
        def attempt() -> bool | None:
            standing = self._objects.read(self._prefix + name)
            if standing is None or standing.content == REMOVED:
                return False
            return self._objects.replace(self._prefix + name, REMOVED, standing) or None

        return self._objects.insist(f"removing the key {name}", attempt)

    def note_use(self, name: str, day: str) -> None:
        """One read, and one write by the first instance of the day. If others get in the way, they write the same."""
        noted = self._objects.read(self._uses + name)
        if noted is None:
            self._objects.create(self._uses + name, note_of(day))
        elif read_day(noted.content) < day:
            self._objects.replace(self._uses + name, note_of(day), noted)

    def last_uses(self) -> Mapping[str, str]:
        found = self._read_all(self._uses)
        days = {name: read_day(note.content) for name, note in found if note}
        return {name: day for name, day in days.items() if day}

    def _read_all(self, prefix: str) -> Iterator[tuple[str, Stored | None]]:
        names = list(self._objects.names(prefix))
        for name, found in zip(names, self._objects.read_many(names) if names else [], strict=True):
            yield name.removeprefix(prefix), found


def _content(found: Stored | None) -> bytes | None:
    return None if found is None or found.content == REMOVED else found.content
