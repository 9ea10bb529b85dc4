"""Registrations as they come, each foretold by a check that reads what the registry knows."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sigla.errors import Refusal
from sigla.model import Draft, Record, Subject
from sigla.ports.progress import unseen
from sigla.registry import Registry
from sigla.schema_files.facts import RegistryFacts
from sigla.schema_files.outcomes import outcome
from sigla.schema_files.scratch import rehearsed
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web.app import build
from tests.protocol.conversations import replay
from tests.protocol.judge import Json

Reads = Callable[[EmbeddedStore], AbstractContextManager[RegistryFacts]]
"""How what a store knows is read."""


@dataclass
class Told:
    """answers: how often each number was the answer. wrong: what was foretold, and what came."""

    answers: Counter[int] = field(default_factory=Counter)
    wrong: list[tuple[str, Any, Any]] = field(default_factory=list)

    @property
    def registrations(self) -> int:
        return self.answers.total()


def foretold(sessions: Iterable[Json], reads: Reads, *, numbering: bool = True) -> Told:
    """Each conversation with a registry of its own. Everything of an answer counts: version, id, sentence.

    numbering: whether the number of a new id is foretold as well.
    """
    told = Told()

    class Foretelling(Registry):
        def register(
            self, subject: Subject, draft: Draft, *, normalize: bool = False, force: bool = False, form: str = ""
        ) -> Record:
            with reads(store) as facts:
                one = partial(outcome, subject=subject, draft=draft, normalize=normalize, force=force)
                expected = rehearsed(facts, self.options, unseen, one)
            found: Record | Refusal
            try:
                found = super().register(subject, draft, normalize=normalize, force=force, form=form)
            except Refusal as refusal:
                found = refusal
            told.answers[found.code if isinstance(found, Refusal) else 200] += 1
            new_id = expected.is_new and not numbering
            ours, theirs = (shown(each, id=not new_id) for each in (expected.refusal or expected.record, found))
            if ours != theirs:
                told.wrong.append((subject.qualified, ours, theirs))
            if isinstance(found, Refusal):
                raise found
            return found

    for session in sessions:
        with EmbeddedStore() as store:
            app = build(Foretelling(store.catalog, store.bodies, SystemClock()))
            asyncio.run(replay(app, [session]))
    return told


def shown(answer: Record | Refusal | None, *, id: bool) -> Any:
    if isinstance(answer, Refusal):
        return answer.code, answer.message
    return answer and (answer.subject, answer.version, id and answer.id, answer.guid)
