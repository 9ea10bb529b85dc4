"""Answers by id, kept as the bytes that were sent: most requests of a registry ask what the same few ids mean.

An answer is good only for what it was made of, the very body and an equal speaker, whichever caller asks. The verb is
asked each time, of the registry as the caller sees it, and decides what may be told.
"""

from hashlib import blake2b
from typing import Protocol

from sigla.bounded import BoundedMemory
from sigla.model import Body, BodyKey, Holder, SchemaId, Subject
from sigla.registry.lookup import record_of
from sigla.web.api.replies import json_answer
from sigla.web.api.wire import answers
from sigla.web.http.answer import Answer


class Meanings(Protocol):
    """A registry, as far as it is asked here."""

    def meaning(self, key: BodyKey) -> tuple[Body, Holder]: ...
    def meaning_in(self, schema_id: SchemaId, subject: Subject) -> tuple[BodyKey, Body, Holder]: ...


MOST_BYTES = 16 * 2**20

Question = tuple[str, int] | tuple[str, str, int]
"""A context, or a subject with its context, and an id."""


def named_for(name: str, holder: Subject) -> str:
    """The qualified name of the subject that has an id, where it or a namesake was named for it; else an empty one."""
    return holder.qualified if name and name == holder.name else ""


class Kept:
    """An answer, the question that it was given to, and what it was made of. name: of the subject that was named."""

    __slots__ = ("answer", "body", "key", "question", "speaker")

    def __init__(self, question: Question, key: BodyKey, body: Body, speaker: Holder, name: str = "") -> None:
        self.question = question
        self.key = key
        self.body = body
        self.speaker = speaker
        self.answer = json_answer(answers.by_id(record_of(key, body, speaker)))
        self.answer.etag = etag(self.answer.body)
        self.answer.read = key, named_for(name, speaker.subject)

    def is_of(self, body: Body, speaker: Holder) -> bool:
        return self.body is body and (self.speaker is speaker or self.speaker == speaker)


class Rendered:
    """At most `most` bytes of answers, the one unused for longest dropped first. Any thread may use it."""

    def __init__(self, *, most: int = MOST_BYTES) -> None:
        self._kept: BoundedMemory[Question, Kept] = BoundedMemory(most, lambda _, kept: _weight(kept))

    def by_id(self, registry: Meanings, context: str, number: int) -> Answer:
        """What an id means, with its ETag. Raises what `Registry.meaning` raises."""
        question = (context, number)
        kept = self._kept.get(question)
        key = kept.key if kept else BodyKey(context, number)  # type: ignore[arg-type] # a number asked for is an id by trial
        body, speaker = registry.meaning(key)
        if kept and kept.is_of(body, speaker):
            return self._used(kept)
        return self._keep(Kept(question, key, body, speaker))

    def by_id_in(self, registry: Meanings, subject: Subject, number: SchemaId) -> Answer:
        """As `by_id`, for whoever says a subject as well. Raises what `Registry.meaning_in` raises."""
        question = (subject.context, subject.name, number)
        key, body, speaker = registry.meaning_in(number, subject)
        kept = self._kept.get(question)
        if kept and kept.key == key and kept.is_of(body, speaker):
            return self._used(kept)
        return self._keep(Kept(question, key, body, speaker, subject.name))

    def _used(self, kept: Kept) -> Answer:
        self._kept.use(kept.question)
        return kept.answer

    def _keep(self, kept: Kept) -> Answer:
        self._kept.keep(kept.question, kept)
        return kept.answer


def _weight(kept: Kept) -> int:
    """Bytes, with the gzip form that may join them and what an entry costs besides."""
    return 2 * len(kept.answer.body) + 4 * len(kept.question[-2]) + 1024


def etag(body: bytes) -> bytes:
    """A strong validator: equal bytes, equal tag."""
    return b'"' + blake2b(body, digest_size=16).hexdigest().encode() + b'"'
