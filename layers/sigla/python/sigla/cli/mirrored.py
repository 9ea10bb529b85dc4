"""What `sigla mirror` keeps a registry in step with: the topic of another one, or its API, asked time and again."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, Protocol

from sigla.cli import credentials, topics
from sigla.cli.misuse import Misuse, reading_remote
from sigla.ports.progress import Progress

if TYPE_CHECKING:
    from sigla.journal.replay import Put, State, TopicRecord
    from sigla.model import Reference, Subject, Version
    from sigla.ports.clock import Clock

LOOK_MS = 10_000
AGAIN = 5
"""So often an API is read at once that was written to while it was read."""
START_MS = 60_000
"""So long an API is waited for that does not answer yet, or not as a registry: both may be about to start."""


class Source(Protocol):
    """behind_ms: how old what it has told last may be, where it follows another registry."""

    behind_ms: int

    def first(self) -> "State":
        """All that it holds. Raises Misuse, Refused."""
        ...

    def next(self) -> "State | None":
        """What it holds now; None if that is what it held before. Raises Misuse, Refused."""
        ...


@contextmanager
def opened_source(args: argparse.Namespace, told: Progress, pause: Callable[[], object]) -> Iterator[Source]:
    """pause: waits a little, before a source is asked again. Raises Misuse, Refused."""
    from sigla.remote import client, urls

    if topics.is_topic(args.source):
        with ExitStack() as stack:
            yield _topics(args, told, stack)
    elif urls.is_url(args.source):
        yield ApiSource(args.source, credentials.user_of(args, args.source), told, pause)
    else:
        shown = urls.shown_text(args.source)
        raise Misuse(f"{shown} is neither a topic nor the URL of a registry: {topics.FORM}; {client.FORM}.")


OF_A_TOPIC = {"settings": "--settings", "keys_topic": "--keys-topic"}
OF_AN_API = {"every": "--every", "user": "--user"}


def check_options(args: argparse.Namespace) -> None:
    """Raises Misuse for an option that says nothing of such a source."""
    strange, wanted = (OF_AN_API, "https://") if topics.is_topic(args.source) else (OF_A_TOPIC, topics.SCHEME)
    for name, option in strange.items():
        if getattr(args, name):
            raise Misuse(f"{option} is for sources that begin with {wanted}: leave it out.")


def _topics(args: argparse.Namespace, told: Progress, stack: ExitStack) -> "TopicSource":
    """Keys of field encryption stand in a topic beside the other one, if there are any, or will be."""
    from sigla.stores.clock import SystemClock

    settings = topics.properties(args.settings)
    beside = topics.topic_beside(args.source, args.keys_topic or topics.KEYS)
    schemas = stack.enter_context(topics.following(args.source, settings))

    def opened() -> topics.Following:
        return stack.enter_context(topics.following(beside, settings))

    if args.keys_topic:
        return TopicSource([schemas, opened()], told)
    return TopicSource([schemas], told, KeysToCome(partial(schemas.has_beside, topics.KEYS), opened, SystemClock()))


@dataclass(slots=True)
class TopicSource:
    """Records are replayed from the first one on, as a registry does it that starts.

    keys: a topic that is followed as soon as it is there.
    """

    followed: "list[topics.Following]"
    told: Progress
    keys: "KeysToCome | None" = None
    behind_ms: int = field(default=0, init=False)
    _records: "list[TopicRecord]" = field(default_factory=list, init=False)
    _replayed: int = field(default=0, init=False)

    def first(self) -> "State":
        for each in self.followed:
            each.all(self.told, self._records)
        self._begin_keys()
        return self._state()

    def next(self) -> "State | None":
        for each in self.followed:
            each.more(self._records)
        self._begin_keys()
        return self._state() if len(self._records) > self._replayed else None

    def _begin_keys(self) -> None:
        keys = self.keys.begin() if self.keys is not None else None
        if keys is not None:
            self.followed.append(keys)
            self.keys = None
            keys.all(self.told, self._records)

    def _state(self) -> "State":
        """As they came: topics are in order each, and what they tell has nothing to do with each other."""
        from sigla.journal import replay

        self._replayed = len(self._records)
        return replay.replayed(record._replace(offset=place) for place, record in zip(count(), self._records))


@dataclass(slots=True)
class KeysToCome:
    """A topic of keys that may not be there yet: a registry makes it with its first key.

    is_there: asks a broker. opened: follows it. Both raise Refused.
    """

    is_there: Callable[[], bool]
    opened: "Callable[[], topics.Following]"
    clock: "Clock"
    _asked: int | None = field(default=None, init=False)

    def begin(self) -> "topics.Following | None":
        """The topic, if it is there; a broker is asked every ten seconds."""
        now = self.clock.elapsed()
        if self._asked is not None and now - self._asked < LOOK_MS:
            return None
        self._asked = now
        return self.opened() if self.is_there() else None


@dataclass(slots=True)
class ApiSource:
    """Answers of an API are of several moments.

    A version that is missing may have slipped from one page to the other: it counts as gone when it is missing twice.
    """

    url: str
    user: str
    told: Progress
    pause: Callable[[], object]
    behind_ms: int = field(default=0, init=False)
    _read: "State | None" = field(default=None, init=False)
    _dangling: "frozenset[Reference]" = field(default=frozenset(), init=False)
    _told: "State | None" = field(default=None, init=False)

    def first(self) -> "State":
        self._read = self._told = self._started()
        return self._told

    def next(self) -> "State | None":
        before, now = self._read, self._asked()
        self._read = now
        state = now if before is None else _without_slips(before, now)
        if state == self._told:
            return None
        self._told = state
        return state

    def _started(self) -> "State":
        """What it answers as soon as it is there. Raises Misuse, Refused."""
        from sigla.remote.failures import NoRegistry, RemoteAway
        from sigla.stores.clock import SystemClock

        clock, is_told = SystemClock(), False
        ends = clock.elapsed() + START_MS
        with reading_remote():
            while True:
                try:
                    return self._whole()
                except (NoRegistry, RemoteAway) as problem:
                    if clock.elapsed() >= ends:
                        raise
                    if not is_told:
                        again = "It is asked again for a minute, as it may be about to start."
                        print(f"sigla: {str(problem).rstrip('.')}. {again}", file=sys.stderr, flush=True)
                        is_told = True
                self.pause()

    def _asked(self) -> "State":
        """Raises Misuse, Refused."""
        with reading_remote():
            return self._whole()

    def _whole(self) -> "State":
        """Raises RemoteMisused, RemoteRefused."""
        from sigla.remote import state
        from sigla.remote.failures import WrittenMeanwhile
        from sigla.stores.clock import SystemClock

        for left in reversed(range(AGAIN)):
            try:
                found = state.read(self.url, self.user, SystemClock(), self.told, behind=self._is_behind)
            except WrittenMeanwhile:
                if not left:
                    raise
                continue
            before, self._dangling = self._dangling, frozenset(_dangling(found))
            if self._dangling <= before:
                return found
        return found

    def _is_behind(self, ms: int) -> None:
        self.behind_ms = ms


def _dangling(state: "State") -> "Iterator[Reference]":
    """What is referenced and is not there: read too early, or missing in the source itself."""
    from sigla.rules import names

    for put in chain.from_iterable(state.subjects.values()):
        for reference in put.schema.references:
            target = names.reference_target(reference.subject, put.subject.context)
            if reference.version not in _numbers(state.subjects, target):
                yield reference


def _without_slips(before: "State", now: "State") -> "State":
    """What is there, and the versions that were there at the time before."""
    subjects: dict[Subject, tuple[Put, ...]] = dict(now.subjects)
    for subject, puts in before.subjects.items():
        there = _numbers(now.subjects, subject)
        missing = [put for put in puts if put.version not in there]
        if missing:
            subjects[subject] = (*subjects.get(subject, ()), *missing)
    return replace(now, subjects=subjects)


def _numbers(subjects: "Mapping[Subject, Sequence[Put]]", subject: "Subject") -> "set[Version]":
    return {put.version for put in subjects.get(subject, ())}
