"""What a dump of a topic tells of its registry."""

from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from operator import attrgetter

from sigla.associations.nouns import Association
from sigla.journal.replay import Put, State, key_of
from sigla.model import Body, BodyKey, Guid, SchemaId, Subject
from sigla.rules import names
from sigla.schema_files.facts import Content, KnownId, scopes_above


class DumpedRegistry:
    """A `RegistryFacts`. state: of the whole registry. shown: the file."""

    is_ours = True

    def __init__(self, state: State, shown: str) -> None:
        self.shown = shown
        self._state = state
        self._ids: dict[BodyKey, KnownId] = {}
        self._contents: dict[tuple[str, Guid], KnownId] = {}
        for key, put in state.gone.items():
            self._ids[key] = KnownId(key.id, put.subject, body=_tombstone(put))
        for put in sorted(chain(*state.subjects.values(), state.displaced.values()), key=attrgetter("offset")):
            known = KnownId(put.id, put.subject, state.displaced.get(key_of(put)))
            self._ids[key_of(put)] = self._contents[put.subject.context, put.guid] = known

    def about(self, subjects: Collection[Subject]) -> State:
        state = self._state
        scopes = dict.fromkeys(chain.from_iterable(map(scopes_above, subjects)))
        return State(
            subjects={each: state.subjects[each] for each in subjects if each in state.subjects},
            settings={each: state.settings[each] for each in scopes if each in state.settings},
            displaced=_of(subjects, state.displaced.values()),
        )

    def subjects(self, prefix: str) -> Iterable[Subject]:
        found = (each for each, puts in self._state.subjects.items() if not all(put.deleted for put in puts))
        return filter(names.search(prefix).matches, found)

    def scopes(self, prefix: str) -> Iterable[Subject]:
        return filter(names.search(prefix).matches, self._state.settings)

    def associations(self, subject: Subject) -> tuple[Association, ...]:
        return tuple(each for each in self._state.associations if each.subject == subject)

    def by_content(self, context: str, guid: Guid) -> KnownId | None:
        return self._contents.get((context, guid))

    def learn(self, believed: Mapping[Content, SchemaId | None]) -> bool:  # noqa: ARG002 - as `RegistryFacts` has it
        return False

    def by_id(self, key: BodyKey) -> KnownId | None:
        return self._ids.get(key)

    def highest(self, context: str) -> SchemaId:
        return self._state.highest.get(context, SchemaId(0))


def _tombstone(put: Put) -> Body:
    return Body(put.schema, put.guid, (), put.subject, put.version, put.ts, nonce="", gone=True)


def _of(subjects: Collection[Subject], puts: Iterable[Put]) -> dict[BodyKey, Put]:
    return {key_of(put): put for put in puts if put.subject in subjects}
