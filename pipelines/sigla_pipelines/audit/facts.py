"""What a body is: whether it can be read and understood, and what makes it equal or equivalent to others.

Tasks ask the bodies themselves, in batches of ids; no catalog is needed.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Final

import pyarrow as pa

from sigla import opening
from sigla.errors import BodyDamaged, BodyLost, BodyMissing, Malformed
from sigla.languages import LANGUAGES
from sigla.model import Body, BodyKey, Parsed, SchemaId
from sigla.ports.bodies import Bodies
from sigla.registry.steps.parsed import Understood
from sigla.rules import references
from sigla.settings import Address
from sigla.upkeep.scrub import AT_ONCE, is_sound, read_bodies

TARGET: Final = pa.struct(
    [
        pa.field("name", pa.string()),
        pa.field("context", pa.string()),
        pa.field("subject", pa.string()),
        pa.field("version", pa.int32()),
        pa.field("id", pa.int64()),
    ]
)
FACTS: Final = pa.schema(
    [
        pa.field("context", pa.string()),
        pa.field("id", pa.int64()),
        pa.field("status", pa.string()),
        pa.field("detail", pa.string()),
        pa.field("guid", pa.string()),
        pa.field("type", pa.string()),
        pa.field("characters", pa.int64()),
        pa.field("digest", pa.string()),
        pa.field("gone", pa.bool_()),
        pa.field("targets", pa.list_(TARGET)),
        pa.field("properties", pa.map_(pa.string(), pa.string())),
    ]
)
"""digest: equal for schemas that are equivalent after normalising; null unless the status is UNDERSTOOD."""


class Status(Enum):
    """The value is the sentence for people."""

    UNDERSTOOD = "understood"
    NO_BODY = "the body is missing"
    UNREADABLE = "the object is not a valid body"
    UNRESOLVED = "a reference leads nowhere"
    NOT_UNDERSTOOD = "the text cannot be parsed"


def rows_of_facts(batches: Iterable[pa.RecordBatch], address: Address) -> Iterator[pa.RecordBatch]:
    """batches: with `context` and `id`."""
    with opening.bodies(address) as bodies:
        understanding = Understanding(bodies)
        for batch in batches:
            keys = keys_of(batch.column("context"), batch.column("id"))
            for at in range(0, len(keys), AT_ONCE):
                rows = understanding.rows(keys[at : at + AT_ONCE])
                yield pa.RecordBatch.from_pylist(list(rows), FACTS)


def keys_of(contexts: pa.Array, ids: pa.Array) -> list[BodyKey]:
    found = zip(contexts.to_pylist(), ids.to_pylist(), strict=True)
    return [BodyKey(context, SchemaId(id)) for context, id in found]


class Understanding:
    """Bodies, parsed leniently as the registry does with what it stores; what was parsed lately is kept."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._kept: Understood[BodyKey, Parsed] = Understood(40 * 2**20)

    def rows(self, keys: Sequence[BodyKey]) -> Iterator[dict[str, Any]]:
        """The rows of FACTS."""
        for key, body in zip(keys, read_bodies(self._bodies, keys), strict=True):
            told = self._of(key, body) if body and is_sound(body) else self._missing(key)
            yield {"context": key.context, "id": key.id, **told}

    def parsed(self, key: BodyKey, body: Body | None = None) -> Parsed:
        """Raises Malformed, BodyLost, StoreError."""
        found = self._kept.get(key)
        if found is None:
            body = body or self._bodies.get(key)
            schema = body.schema
            if len(schema.references) != len(body.targets):
                raise BodyMissing(key)
            used = references.resolve(schema.references, body.targets, self._bodies.get)
            if schema.type not in LANGUAGES:
                raise Malformed(f"unknown schema type {schema.type}")
            found = LANGUAGES[schema.type].parse(schema.text, used, False)  # noqa: FBT003 - leniently; a plain function
            self._kept.keep(key, found, len(schema.text))
        return found

    def _missing(self, key: BodyKey) -> dict[str, Any]:
        """`read` does not distinguish an object that holds something else from a missing one.

        Raises StoreError of a silence.
        """
        try:
            self._bodies.get(key)
        except BodyDamaged as problem:
            return _of_status(Status.UNREADABLE, str(problem))
        except BodyMissing:
            pass
        return _of_status(Status.NO_BODY)

    def _of(self, key: BodyKey, body: Body) -> dict[str, Any]:
        schema = body.schema
        plain: dict[str, Any] = {
            "guid": body.guid,
            "type": schema.type,
            "characters": len(schema.text),
            "gone": body.gone,
            "targets": [
                {"name": used.name, **_target(each)}
                for used, each in zip(schema.references, body.targets, strict=False)
            ],
            "properties": list((schema.metadata.properties if schema.metadata else {}).items()),
        }
        try:
            parsed = self.parsed(key, body)
        except BodyLost as lost:
            return plain | _of_status(Status.UNRESOLVED, str(lost))
        except Malformed as malformed:
            return plain | _of_status(Status.NOT_UNDERSTOOD, malformed.reason)
        return plain | _of_status(Status.UNDERSTOOD) | {"digest": _meaning_digest(body, parsed)}


def _of_status(status: Status, detail: str | None = None) -> dict[str, Any]:
    return {"status": status.name, "detail": detail}


def _target(target: Any) -> dict[str, Any]:
    return {"context": target.context, "subject": target.subject, "version": target.version, "id": target.id}


def _meaning_digest(body: Body, parsed: Parsed) -> str:
    """The digest of the normalised text, and of what its references mean."""
    schema = body.schema
    try:
        text = LANGUAGES[schema.type].normalise(parsed).canonical
    except Malformed:
        text = parsed.canonical
    used = sorted((target.context, target.id) for target in body.targets)
    content = "\x00".join([schema.type, text, *(f"{context}\x01{id}" for context, id in used)])
    return hashlib.blake2b(content.encode("utf-8", "replace"), digest_size=16).hexdigest()
