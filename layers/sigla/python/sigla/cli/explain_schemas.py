"""What an id or a GUID means, for `sigla explain`: from a registry's stores, or through its API."""

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote
from uuid import UUID

from sigla.cli import place
from sigla.cli.misuse import Misuse
from sigla.decoding.decoder import Source, Unreadable
from sigla.decoding.reasons import Reason
from sigla.decoding.sources import source
from sigla.errors import BodyMissing, Malformed
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, Guid, SchemaId, Subject, Target
from sigla.ports.bodies import Bodies
from sigla.ports.ids import Ids

if TYPE_CHECKING:
    from sigla.cli.remote import Remote


@dataclass(frozen=True, slots=True)
class Named:
    """A schema and who uses it. deleted: None where it is unknown."""

    key: BodyKey
    guid: str
    subject: str
    version: int
    deleted: bool | None
    source: Source


class Schemas(Protocol):
    def by_id(self, key: BodyKey) -> Named | None:
        """None if there is no such schema.

        Raises Unreadable, and BodyLost if the id exists and its body cannot be read.
        """
        ...

    def by_guid(self, guid: UUID, context: str) -> Named | None:
        """As above; of the context, if it has it."""
        ...


@contextmanager
def opened(args: argparse.Namespace) -> Iterator[Schemas]:
    """Raises Misuse, Refused."""
    if args.registry_url:
        from sigla.cli.remote import Remote
        from sigla.stores.clock import SystemClock

        with closing(Remote(args.registry_url, args.user, SystemClock())) as remote:
            yield _OfAnApi(remote)
        return
    from sigla import opening
    from sigla.settings import Address

    if args.table and not args.bucket:
        raise Misuse("--table needs --bucket: give both.")
    data = "" if args.bucket else str(args.data)
    address = Address.of(data, args.bucket or "", args.table or "", args.registry)
    with place.explained(address), opening.lookup(address) as (bodies, catalog):
        yield _OfStores(bodies, catalog)


class _OfStores:
    def __init__(self, bodies: Bodies, catalog: Ids | None) -> None:
        self.bodies = bodies
        self.catalog = catalog

    def by_id(self, key: BodyKey) -> Named | None:
        try:
            body = self.bodies.get(key)
        except BodyMissing:
            if self.catalog and self.catalog.speaker(key):
                raise
            return None
        speaker = self.catalog.speaker(key) if self.catalog else None
        of = source(body, self.bodies.get)
        if speaker is None:
            return Named(key, body.guid, str(body.subject), body.version, None, of)
        return Named(key, body.guid, str(speaker.subject), speaker.version, speaker.deleted, of)

    def by_guid(self, guid: UUID, context: str) -> Named | None:
        keys = self.bodies.named(Guid(str(guid)))
        here = [key for key in keys if key.context == context]
        return self.by_id((here or list(keys))[0]) if keys else None


class _OfAnApi:
    """Versions are asked for, because they tell their references, and where these lead to.

    known: those that were read; None while what they reference is read.
    """

    def __init__(self, remote: "Remote") -> None:
        self.remote = remote
        self.known: dict[tuple[str, int], tuple[BodyKey, Body] | None] = {}

    def by_id(self, key: BodyKey) -> Named | None:
        scope = {} if key.context == DEFAULT_CONTEXT else {"subject": Subject(key.context, "").qualified}
        with self.understood():
            users = self.remote.get(f"/schemas/ids/{key.id}/versions", deleted="true", **scope)
            if not users:
                return None
            _, body = self.version(users[0]["subject"], users[0]["version"])
        bodies = dict(filter(None, self.known.values()))
        return Named(key, body.guid, str(body.subject), body.version, None, compiled(source(body, bodies.__getitem__)))

    def by_guid(self, guid: UUID, context: str) -> Named | None:
        with self.understood():
            told = self.remote.get(f"/schemas/guids/{guid}/ids") or ()
            keys = [BodyKey(each["context"], SchemaId(each["id"])) for each in told]
        here = [key for key in keys if key.context == context]
        return self.by_id((here or keys)[0]) if keys else None

    @contextmanager
    def understood(self) -> Iterator[None]:
        """Around what is taken from answers. Raises Misuse."""
        try:
            yield
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
            raise Misuse(f"{self.remote.shown} answers, but not as a schema registry does.") from None

    def version(self, subject: str, version: int) -> tuple[BodyKey, Body]:
        """As a body, with those that it references. Raises TypeError and others where the answer makes no sense."""
        from sigla.journal import replay
        from sigla.rules import names

        if known := self.known.get((subject, version)):
            return known
        path = f"/subjects/{quote(subject, safe='')}/versions/{version}"
        answer = None if (subject, version) in self.known else self.remote.get(path, deleted="true")
        put = replay.read(replay.from_answer(answer)) if answer else None
        if not isinstance(put, replay.Put):
            raise TypeError(path)
        self.known[subject, version] = None
        targets = []
        for reference in put.schema.references:
            target = names.reference_target(reference.subject, put.subject.context)
            key, _ = self.version(target.qualified, reference.version)
            targets.append(Target(target.context, target.name, reference.version, key.id))
        body = Body(put.schema, put.guid, tuple(targets), put.subject, put.version, put.ts, nonce="")
        found = self.known[subject, version] = BodyKey(put.subject.context, put.id), body
        return found


def compiled(of: Source) -> Source:
    """With the form that readers of Protobuf need, which no API tells; as it is in a language that we do not have.

    Raises Unreadable.
    """
    from sigla.languages import LANGUAGES

    language = LANGUAGES.get(of.type)
    if language is None:
        return of
    try:
        return replace(of, compiled=language.compiled(language.parse(of.text, of.references, False)))  # noqa: FBT003 - Language's signature
    except Malformed as problem:
        raise Unreadable(Reason.BAD_SCHEMA, str(problem)) from None
