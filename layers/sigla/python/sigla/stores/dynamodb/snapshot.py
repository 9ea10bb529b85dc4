"""The question that every decision begins with: one BatchGet.

Where a version stands depends on its subject's generation, which only the head tells: the one last met is taken for
granted (0 for nearly every subject, for ever), and where that was wrong, the versions are asked for once more.
"""

from collections.abc import Iterable, Mapping, Sequence

from sigla.bounded import BoundedMemory
from sigla.model import LATEST, Chain, Guid, Row, Subject
from sigla.ports.subjects import Snapshot, VersionKey
from sigla.regions import moved
from sigla.stores.dynamodb import items
from sigla.stores.dynamodb.actions import Key
from sigla.stores.dynamodb.items import SubjectState
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.values import Item

REMEMBERED = 10_000
"""Subjects whose generation is not 0; one that is forgotten costs a trip."""


class Snapshots:
    def __init__(self, tools: Tools) -> None:
        self._table = tools.table
        self._places = tools.places
        self._fence = tools.fence
        self._generations: BoundedMemory[Subject, int] = BoundedMemory(REMEMBERED)

    def ask(self, subject: Subject, wanted: Sequence[VersionKey], guess: Guid | None) -> Snapshot:
        places = self._places
        chain = places.inherited(subject)
        subjects = list(dict.fromkeys([subject, *(key.subject for key in wanted)]))
        numbered = [key for key in wanted if key.version != LATEST]
        guessed = {key: self.generation_of(key.subject) for key in numbered}
        keys = [*map(places.head, subjects), *chain]
        keys += [places.version(key.subject, generation, key.version) for key, generation in guessed.items()]
        if guess is not None:
            keys.append(places.content(subject.context, guess))
        since = self._fence.begin()
        found = self._table.get_many(keys)
        role = self._fence.met(found.get(places.role()), since)
        states = {each: items.state(each, found.get(places.head(each))) for each in subjects}
        self._learn(states)
        moved.seen(subject, states[subject].head.revision)
        if wrong := self._misplaced(guessed, states):
            found |= self._table.get_many(wrong)
        rows = {key: states[key.subject].head.newest for key in wanted if key.version == LATEST}
        rows |= self._rows(numbered, states, found)
        known = items.ids(found.get(places.content(subject.context, guess))) if guess is not None else []
        return Snapshot(
            head=states[subject].head,
            chain=Chain(*(items.settings(found.get(key)) for key in chain)),
            rows={key: row for key, row in rows.items() if row is not None},
            heads={each: state.head for each, state in states.items()},
            known=known[0] if known else None,
            epoch=role.epoch if role else 0,
        )

    def rows_of(self, wanted: Sequence[VersionKey]) -> dict[VersionKey, Row]:
        """As `ports.glances` has it: a unit for each version and one trip, or two where a generation is another one."""
        if not wanted:
            return {}
        guessed = {key: self.generation_of(key.subject) for key in wanted}
        keys = [self._places.version(key.subject, generation, key.version) for key, generation in guessed.items()]
        heads = {key.subject: self._places.head(key.subject) for key in wanted}
        found = self._table.get_many([*heads.values(), *keys], consistent=False)
        states = {subject: items.state(subject, found.get(place)) for subject, place in heads.items()}
        if wrong := self._misplaced(guessed, states):
            found |= self._table.get_many(wrong, consistent=False)
        return self._rows(wanted, states, found)

    def _misplaced(self, guessed: Mapping[VersionKey, int], states: Mapping[Subject, SubjectState]) -> list[Key]:
        """Where those stand whose generation is another one than was guessed."""
        wrong = [key for key, generation in guessed.items() if states[key.subject].head.generation != generation]
        return [self._place(key, states) for key in wrong]

    def _rows(
        self, wanted: Iterable[VersionKey], states: Mapping[Subject, SubjectState], found: Mapping[Key, Item]
    ) -> dict[VersionKey, Row]:
        stored = {key: found.get(self._place(key, states)) for key in wanted}
        return {
            key: states[key.subject].shown(items.version(item).row) for key, item in stored.items() if item is not None
        }

    def generation_of(self, subject: Subject) -> int:
        """The one that was met last."""
        return self._generations.get(subject) or 0

    def _place(self, key: VersionKey, states: Mapping[Subject, SubjectState]) -> Key:
        return self._places.version(key.subject, states[key.subject].head.generation, key.version)

    def _learn(self, states: dict[Subject, SubjectState]) -> None:
        for subject, state in states.items():
            if state.head.generation:
                self._generations.keep(subject, state.head.generation)
