"""What an id or a GUID means to whoever explains a record, through the API of a registry."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import quote
from uuid import UUID

from sigla.decoding.decoder import Source, Unreadable
from sigla.decoding.explain import Named
from sigla.decoding.reasons import Reason
from sigla.decoding.sources import source
from sigla.errors import Malformed
from sigla.journal import replay
from sigla.languages import LANGUAGES
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, SchemaId, Subject, Target
from sigla.remote.client import Remote
from sigla.remote.failures import RemoteMisused
from sigla.rules import names


class RemoteSchemas:
    """A `decoding.explain.Schemas`. It asks for versions, because they tell their references, and where these lead to.

    known: those that were read; None while what they reference is read.
    """

    def __init__(self, remote: Remote) -> None:
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
        """Around what is taken from answers. Raises RemoteMisused."""
        try:
            yield
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
            raise RemoteMisused(f"{self.remote.shown} answers, but not as a schema registry does.") from None

    def version(self, subject: str, version: int) -> tuple[BodyKey, Body]:
        """As a body, with those that it references. Raises TypeError and others where the answer makes no sense."""
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
    language = LANGUAGES.get(of.type)
    if language is None:
        return of
    try:
        return replace(of, compiled=language.compiled(language.parse(of.text, of.references, False)))  # noqa: FBT003 - Language's signature
    except Malformed as problem:
        raise Unreadable(Reason.BAD_SCHEMA, str(problem)) from None
