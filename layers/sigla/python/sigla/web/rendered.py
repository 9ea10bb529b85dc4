"""Answers by id, kept as the bytes that were sent: most requests of a registry ask what the same few ids mean.

An answer is good only for what it was made of, the very body and an equal speaker, whoever asks. The verb is asked each
time, of the registry as the one who asks sees it, and decides what may be told.
"""

import threading
from collections import OrderedDict
from hashlib import blake2b
from typing import Protocol

from sigla.model import Body, BodyKey, Holder
from sigla.registry.lookup import record_of
from sigla.web.answer import Answer, told
from sigla.web.wire import answers


class Meanings(Protocol):
    """A registry, as far as it is asked here."""

    def meaning(self, key: BodyKey) -> tuple[Body, Holder]: ...


class Kept:
    """An answer and what it was made of."""

    __slots__ = ("answer", "body", "key", "speaker")

    def __init__(self, key: BodyKey, body: Body, speaker: Holder, answer: Answer) -> None:
        self.key = key
        self.body = body
        self.speaker = speaker
        self.answer = answer


class Rendered:
    """At most `most` bytes of answers, the one unused for longest dropped first. Any thread may use it."""

    def __init__(self, *, most: int = 16 * 2**20) -> None:
        self._most = most
        self._size = 0
        self._kept: OrderedDict[tuple[str, int], Kept] = OrderedDict()
        self._lock = threading.Lock()

    def by_id(self, registry: Meanings, context: str, number: int) -> Answer:
        """What an id means, with its ETag. Raises what `Registry.meaning` raises."""
        kept = self._kept.get((context, number))
        key = kept.key if kept else BodyKey(context, number)  # type: ignore[arg-type] # a number asked for is an id by trial
        body, speaker = registry.meaning(key)
        if kept and kept.body is body and (kept.speaker is speaker or kept.speaker == speaker):
            self._use(kept)
            return kept.answer
        answer = told(answers.by_id(record_of(key, body, speaker)))
        answer.etag = etag(answer.body)
        self._keep(Kept(key, body, speaker, answer))
        return answer

    def _use(self, kept: Kept) -> None:
        with self._lock:
            if self._kept.get(_name(kept)) is kept:
                self._kept.move_to_end(_name(kept))

    def _keep(self, kept: Kept) -> None:
        with self._lock:
            standing = self._kept.pop(_name(kept), None)
            self._size += _weight(kept) - (_weight(standing) if standing else 0)
            self._kept[_name(kept)] = kept
            while self._size > self._most:
                self._size -= _weight(self._kept.popitem(last=False)[1])


def _name(kept: Kept) -> tuple[str, int]:
    return kept.key.context, kept.key.id


def _weight(kept: Kept) -> int:
    """Bytes, with the gzip form that may join them and what an entry costs besides."""
    return 2 * len(kept.answer.body) + 1024


def etag(body: bytes) -> bytes:
    """A strong validator: equal bytes, equal tag."""
    return b'"' + blake2b(body, digest_size=16).hexdigest().encode() + b'"'
