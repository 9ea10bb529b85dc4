"""A registry in memory that is as another one, as far as it is asked; what is written to it is seen by no client.

It is an embedded registry, and so are its verbs: what they accept and refuse here is what they would there. What they
rest on is brought in when they ask for it, as an import brings it: a subject with all its versions, with what these
reference, and with the settings that bear on it. All is written inside one group that never ends, so no file is written
but the empty tables of a temporary directory.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import TypeVar

from sigla.changes import Change, Registered
from sigla.errors import BodyMissing, Taken
from sigla.journal.replay import Put, State, key_of
from sigla.model import Body, BodyKey, Guid, OfferedReference, SchemaId, Subject, Version
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.in_front import BodiesInFront, CatalogInFront
from sigla.ports.progress import Progress, unseen
from sigla.ports.subjects import Snapshot, VersionKey
from sigla.registry import Options, Registry
from sigla.registry.resources import Resources, View
from sigla.rules import names
from sigla.schema_files.facts import Content, KnownId, RegistryFacts, scopes_above
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.importing import Report, import_state

Told = TypeVar("Told")


class Scratch(Registry):
    """A registry over `facts`. What it is asked to write is in it alone."""

    catalog: "_BroughtCatalog"

    def look(
        self,
        subject: Subject,
        *,
        versions: Sequence[Version] = (),
        references: Sequence[OfferedReference] = (),
        guess: Guid | None = None,  # noqa: ARG002 - as `Resources` has it
    ) -> View:
        """Asks without the guess, which saves a store a question: here it is one more content to ask another about."""
        return super().look(subject, versions=versions, references=references)

    def expect(self, subjects: Collection[Subject]) -> None:
        """Brings these in together, which asks for less than one after the other."""
        self.catalog.brought.subjects(subjects)

    @property
    def writes(self) -> int:
        """How many changes were written so far."""
        return self.catalog.writes

    @property
    def believed(self) -> Mapping[Content, SchemaId | None]:
        """By which ids contents are known, as far as it follows from the subjects that were brought in alone."""
        return self.catalog.brought.believed

    @property
    def report(self) -> Report:
        """What was brought in, and what could not be."""
        return self.catalog.brought.report


def rehearsed(
    facts: RegistryFacts, options: Options | None, progress: Progress, rehearse: Callable[[Scratch], Told]
) -> Told:
    """What `rehearse` tells of a registry over `facts`; once more where it rested on contents that are known otherwise.

    options: of the registry that the facts are of, as far as they are known.
    """
    while True:
        with scratch(facts, options, progress) as scratched:
            told = rehearse(scratched)
        if not facts.learn(scratched.believed):
            return told


@contextmanager
def scratch(facts: RegistryFacts, options: Options | None = None, progress: Progress = unseen) -> Iterator[Scratch]:
    """options: of the registry that the facts are of, as far as they are known."""
    with EmbeddedStore() as store, suppress(_Enough), store.group():
        own = Resources(store.catalog, store.bodies, store.clock, options or Options())
        brought = _Brought(facts, own, progress)
        bodies = _BroughtBodies(store.bodies, brought)
        yield Scratch(_BroughtCatalog(store.catalog, brought), bodies, store.clock, own.options)
        raise _Enough


class _Enough(Exception):
    """Undoes what was written."""


class _Brought:
    """What was brought in. own: the registry in memory."""

    def __init__(self, facts: RegistryFacts, own: Resources, progress: Progress) -> None:
        self.report = Report()
        self._facts = facts
        self._own = own
        self._progress = progress
        self._subjects: set[Subject] = set()
        self._referenced: set[Subject] = set()
        self._contexts: set[str] = set()
        self._contents: dict[Content, SchemaId | None] = {}
        self.believed: dict[Content, SchemaId | None] = {}
        """What was told by nothing but the versions that were brought in."""
        self._ids: set[BodyKey] = set()

    def subjects(self, wanted: Collection[Subject]) -> None:
        """With all that their versions reference, directly or indirectly."""
        states = []
        while missing := set(wanted) - self._subjects:
            self._subjects |= missing
            # Their settings are told with them, and versions they have none.
            self._subjects |= {scope for each in missing for scope in scopes_above(each) if not scope.name}
            states.append(state := self._facts.about(missing))
            wanted = {target for put in chain(*state.subjects.values()) for target in _referenced(put)}
        if states:
            self._import(_together(states))

    def references(self, wanted: Collection[Subject]) -> None:
        """Subjects that are about to be referenced, with what is associated with them."""
        self.subjects(wanted)
        missing = set(wanted) - self._referenced
        self._referenced |= missing
        if found := tuple(chain.from_iterable(map(self._facts.associations, missing))):
            self._import(State(associations=found))

    def content(self, context: str, guid: Guid) -> SchemaId | None:
        """The id by which it was known before anything was written here."""
        content = context, guid
        if content not in self._contents:
            known = self._facts.by_content(context, guid)
            self._contents[content] = known.id if known else None
            self._bring(context, known)
            if known is None:
                self.believed[content] = self._own.catalog.id_of(context, guid)
        return self._contents[content]

    def forget_content(self, context: str, guid: Guid) -> None:
        """From now on what was written here says by which id it is known."""
        self._contents[context, guid] = None

    def id(self, key: BodyKey) -> None:
        """An id that something is to be put under, with what it means already."""
        if key not in self._ids:
            self._ids.add(key)
            self._bring(key.context, self._facts.by_id(key))

    def drawn(self, key: BodyKey) -> None:
        """A number that was not given out there: nothing is asked about it."""
        self._ids.add(key)

    def context(self, context: str) -> None:
        """Its numbering."""
        if context not in self._contexts:
            self._contexts.add(context)
            self._own.catalog.raise_counter(context, self._facts.highest(context))

    def _bring(self, context: str, known: KnownId | None) -> None:
        if known is None:
            return
        self.subjects([known.subject])
        if known.displaced is not None:
            self._import(State(displaced={key_of(known.displaced): known.displaced}))
        if known.body is not None:
            with suppress(Taken):
                self._own.bodies.put(BodyKey(context, known.id), known.body)

    def _import(self, state: State) -> None:
        self.report.add(import_state(self._own, state, progress=self._progress))


def _referenced(put: Put) -> Iterator[Subject]:
    for reference in put.schema.references:
        yield names.reference_target(reference.subject, put.subject.context)


def _together(states: Sequence[State]) -> State:
    """Each subject stands in one of them."""
    return State(
        subjects={subject: puts for state in states for subject, puts in state.subjects.items()},
        settings={scope: each for state in states for scope, each in state.settings.items()},
        displaced={key: put for state in states for key, put in state.displaced.items()},
    )


class _BroughtCatalog(CatalogInFront):
    """A catalog that is asked about what is not there yet. writes: how many changes were committed."""

    def __init__(self, catalog: Catalog, brought: _Brought) -> None:
        super().__init__(catalog)
        self.brought = brought
        self.writes = 0

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = (), guess: Guid | None = None) -> Snapshot:
        self.brought.subjects([subject])
        self.brought.references([each.subject for each in wanted])
        return self._catalog.snapshot(subject, wanted=wanted, guess=guess)

    def id_of(self, context: str, guid: Guid) -> SchemaId | None:
        known = self.brought.content(context, guid)
        return self._catalog.id_of(context, guid) if known is None else known

    def next_id(self, context: str) -> SchemaId:
        self.brought.context(context)
        id = self._catalog.next_id(context)
        self.brought.drawn(BodyKey(context, id))
        return id

    def max_id(self, context: str) -> SchemaId:
        self.brought.context(context)
        return self._catalog.max_id(context)

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        if isinstance(change, Registered):
            self.brought.forget_content(change.scope.context, change.row.guid)
        self.writes += 1
        return self._catalog.commit(change)


class _BroughtBodies(BodiesInFront):
    """Bodies that are asked about what is not there yet."""

    def __init__(self, bodies: Bodies, brought: _Brought) -> None:
        super().__init__(bodies)
        self._brought = brought

    def put(self, key: BodyKey, body: Body) -> None:
        self._brought.id(key)
        self._bodies.put(key, body)

    def get(self, key: BodyKey) -> Body:
        try:
            return self._bodies.get(key)
        except BodyMissing:
            self._brought.id(key)
            return self._bodies.get(key)
