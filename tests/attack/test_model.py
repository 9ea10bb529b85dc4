"""The registry against a model of it: thousands of steps, and after each of them both must say the same.

What an id means is written down when it is first seen and compared for ever after: through deletes, purges and imports.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sigla.errors import IdTaken, Refusal
from sigla.model import (
    LATEST,
    BodyKey,
    Draft,
    Guid,
    Metadata,
    OfferedReference,
    SchemaId,
    Search,
    Show,
    Subject,
    Version,
)
from sigla.rules.compatibility import LEVELS
from sigla.upkeep import importing
from tests.attack.importer import Had, bring
from tests.attack.model import Model
from tests.attack.schemas import (
    ALONE,
    BASE_ONE,
    BASE_TWO,
    INLINE,
    ONE,
    THREE,
    TWO,
    USING,
    Brought,
    Content,
    Offer,
    Place,
    Refused,
    Text,
    Use,
)
from tests.attack.world import EVERY_PAGE, EVERYTHING, World

CONTEXTS = (".", ".c", ".d")
PLACES = st.builds(Place, st.sampled_from((".", ".", *CONTEXTS)), st.sampled_from(["orders", "orders", "base"]))
SCOPES = PLACES | st.builds(Place, st.sampled_from((*CONTEXTS, ".__GLOBAL")), st.just(""))
ANY_ROW = st.integers(0, 60)
VERSIONS = st.integers(1, 4)
METADATA = st.sampled_from(
    [None] * 6 + [(), (("k", "v"),), (("confluent:version", "1"),), (("confluent:version", "2"),)]
)
USES = st.builds(Use, st.sampled_from(["base", "base", "base", ":.c:base"]), st.sampled_from([-1, 1, 1, 2]))
ORDERS = st.sampled_from([*ALONE, ONE, TWO, THREE, ONE, TWO, THREE])
BROUGHT = st.builds(Brought, st.integers(1, 6), st.integers(1, 9), ORDERS, st.booleans())
ASKED = st.sampled_from([0, 0, 0, 0, 0, -1, 2, 3])
BY_TEXT = {text.text: text for text in (*ALONE, USING)}


@st.composite
def offers(draw: st.DrawFn, *, imported: bool = False) -> Offer:
    text = draw(ORDERS)
    if imported:
        return Offer(text, (), draw(METADATA), draw(VERSIONS | st.just(0)), draw(st.integers(0, 9)))
    return Offer(draw(st.sampled_from([text] * 9 + [None])), (), draw(METADATA), draw(ASKED))


def subject(place: Place) -> Subject:
    return Subject(*place)


def draft(offer: Offer) -> Draft:
    references = tuple(OfferedReference("Base", use.subject, use.version) for use in offer.uses)
    metadata = None if offer.metadata is None else Metadata(properties=dict(offer.metadata))
    text = None if offer.text is None else offer.text.text
    return Draft(text, references=references, metadata=metadata, version=offer.version, id=offer.id)


class RegistryAgainstModel(RuleBasedStateMachine):
    """Each rule does one thing to both and compares the answers; the invariants compare all that is left.

    steps: of all lives. looked_at: after each so many steps the invariants are looked at.
    """

    steps = 0
    looked_at = 1

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.world = self.begun()
        self.registry = self.world.registry
        self.guids: dict[Content, Guid] = {}

    def begun(self) -> World:
        return World()

    def teardown(self) -> None:
        try:
            self.world.check_sound(imported=True)
            self.check_meanings()
            self.world.store.check()
        finally:
            self.world.store.close()

    def both(self, ours: Callable[[], Any], theirs: Callable[[], Any]) -> Any:
        """The answer both give; a refusal by its name."""
        type(self).steps += 1
        try:
            expected = theirs()
        except Refused as refused:
            expected = str(refused)
        try:
            found = ours()
        except Refusal as refusal:
            found = "IdTaken" if isinstance(refusal, IdTaken) else type(refusal).__name__
        assert found == expected
        return found

    # --- what is done ------------------------------------------------------------------------------------------------

    @initialize(level=st.sampled_from([*LEVELS, "NONE", "NONE", "NONE", "NONE"]))
    def begin(self, level: str) -> None:
        """An attack needs something in the registry."""
        self.level_set(Place(".", ""), level)
        for context in CONTEXTS[:2]:
            self.registered(Place(context, "base"), Offer(BASE_ONE))
            self.registered(Place(context, "orders"), Offer(ONE))

    @rule(place=PLACES, offer=offers())
    def register(self, place: Place, offer: Offer) -> None:
        self.registered(place, offer)

    @rule(context=st.sampled_from(CONTEXTS), text=st.sampled_from([BASE_ONE, BASE_TWO]))
    def register_a_base(self, context: str, text: Text) -> None:
        self.registered(Place(context, "base"), Offer(text))

    @rule(context=st.sampled_from(CONTEXTS), use=USES)
    def register_a_user(self, context: str, use: Use) -> None:
        self.registered(Place(context, "orders"), Offer(USING, (use,)))

    @rule(row=ANY_ROW, place=PLACES, version=ASKED)
    def register_again(self, row: int, place: Place, version: int) -> None:
        """What is stored somewhere, perhaps soft-deleted, perhaps elsewhere."""
        if held := self.held(row):
            self.registered(place, replace(self.offer_of(*held), version=version))

    @rule(place=PLACES, offer=offers(imported=True), use=st.none() | USES)
    def import_(self, place: Place, offer: Offer, use: Use | None) -> None:
        if self.model.mode(place) != "IMPORT":
            self.mode_set(place, "IMPORT", force=True)
        self.registered(place, offer if use is None else replace(offer, text=USING, uses=(use,)))

    @rule(row=ANY_ROW, place=PLACES, id=st.integers(0, 9))
    def import_again(self, row: int, place: Place, id: int) -> None:
        """Content that is known, under another id."""
        if held := self.held(row):
            if self.model.mode(place) != "IMPORT":
                self.mode_set(place, "IMPORT", force=True)
            self.registered(place, replace(self.offer_of(*held), id=id))

    @rule(place=PLACES, versions=st.lists(BROUGHT, min_size=1, max_size=4, unique_by=lambda each: each.version))
    def bring_(self, place: Place, versions: list[Brought]) -> None:
        """Several at once, from another registry, whatever the mode."""
        if place.name == "base" and any(each.text is INLINE for each in versions):
            return  # as in `registered`
        had = [Had(each.version, each.id, each.text.text, deleted=each.deleted) for each in versions]
        self.both(
            lambda: bring(subject(place).qualified, *had)(self.registry).of(importing.IMPORTED).get("version", 0),
            lambda: self.model.bring(place, versions),
        )

    def held(self, number: int) -> tuple[Place, int] | None:
        """Some stored version, if there is one."""
        rows = sorted((place, version) for place, versions in self.model.subjects.items() for version in versions)
        return rows[number % len(rows)] if rows else None

    def offer_of(self, place: Place, version: int) -> Offer:
        content = self.model.meaning(place, self.model.subjects[place][version]).content
        return Offer(BY_TEXT[content.text], content.uses, content.metadata)

    def registered(self, place: Place, offer: Offer) -> None:
        if place.name == "base" and offer.text is INLINE:
            return  # a base that brings an Order along: its users would define theirs a second time

        def ours() -> tuple[int, int]:
            record = self.registry.register(subject(place), draft(offer))
            assert record.version is not None
            assert record.id is not None
            return record.version, record.id

        self.both(ours, lambda: self.model.register(place, offer))

    @rule(place=PLACES, offer=offers(), deleted=st.booleans())
    def lookup(self, place: Place, offer: Offer, *, deleted: bool) -> None:
        if offer.text is not None:
            self.looked_up(place, offer, deleted=deleted)

    def looked_up(self, place: Place, offer: Offer, *, deleted: bool) -> None:
        def ours() -> tuple[str, int, int]:
            record = self.registry.lookup(subject(place), draft(offer), deleted=deleted)
            assert record.subject is not None
            assert record.version is not None
            assert record.id is not None
            return record.subject.context, record.version, record.id

        self.both(ours, lambda: self.model.lookup(place, offer, deleted=deleted))

    @rule(row=ANY_ROW, deleted=st.booleans(), bare=st.booleans())
    def lookup_what_is_there(self, row: int, *, deleted: bool, bare: bool) -> None:
        if held := self.held(row):
            offer = self.offer_of(*held)
            place = Place(".", held[0].name) if bare else held[0]
            self.looked_up(place, replace(offer, metadata=None) if bare else offer, deleted=deleted)

    @rule(row=ANY_ROW, permanent=st.booleans())
    def delete_version(self, row: int, *, permanent: bool) -> None:
        if held := self.held(row):
            self.deleted(*held, permanent=permanent)

    @rule(row=ANY_ROW)
    def delete_version_for_good(self, row: int) -> None:
        if held := self.held(row):
            self.deleted(*held, permanent=False)
            self.deleted(*held, permanent=True)

    @rule(place=PLACES, version=VERSIONS | st.just(-1), permanent=st.booleans())
    def delete_perhaps_nothing(self, place: Place, version: int, *, permanent: bool) -> None:
        self.deleted(place, version, permanent=permanent)

    def deleted(self, place: Place, version: int, *, permanent: bool) -> None:
        self.both(
            lambda: self.registry.delete_version(subject(place), Version(version), permanent=permanent),
            lambda: self.model.delete_version(place, version, permanent=permanent),
        )

    @rule(place=PLACES, permanent=st.booleans())
    def delete_subject(self, place: Place, *, permanent: bool) -> None:
        self.both(
            lambda: self.registry.delete_subject(subject(place), permanent=permanent),
            lambda: self.model.delete_subject(place, permanent=permanent),
        )

    @rule(scope=SCOPES, level=st.sampled_from([*LEVELS, "NONE", "NONE"]))
    def set_level(self, scope: Place, level: str) -> None:
        self.level_set(scope, level)

    def level_set(self, scope: Place, level: str) -> None:
        self.both(
            lambda: self.registry.change_config(subject(scope), {"level": level}).level,
            lambda: self.model.set_level(scope, level),
        )

    @rule(scope=SCOPES, mode=st.sampled_from(["READWRITE", "READONLY", "IMPORT"]), force=st.booleans())
    def set_mode(self, scope: Place, mode: str, *, force: bool) -> None:
        self.mode_set(scope, mode, force=force)

    def mode_set(self, scope: Place, mode: str, *, force: bool) -> None:
        self.both(
            lambda: self.registry.change_mode(subject(scope), mode, force=force),
            lambda: self.model.set_mode(scope, mode, force=force),
        )

    @rule(scope=SCOPES)
    def drop_mode(self, scope: Place) -> None:
        self.mode_dropped(scope)

    def mode_dropped(self, scope: Place) -> None:
        self.both(lambda: self.registry.drop_mode(subject(scope)) and None, lambda: self.model.drop_mode(scope))

    @rule()
    def write_again(self) -> None:
        """Everything is open to writers, as on most days."""
        for scope in list(self.model.modes):
            self.mode_dropped(scope)

    @rule(context=st.sampled_from(CONTEXTS[1:]))
    def drop_context(self, context: str) -> None:
        self.both(lambda: self.registry.drop_context(context), lambda: self.model.drop_context(context))

    # --- what must be so ---------------------------------------------------------------------------------------------

    def is_looked_at(self) -> bool:
        return not type(self).steps % self.looked_at

    @precondition(is_looked_at)
    @invariant()
    def the_same_is_stored(self) -> None:
        """Versions, their ids and what is deleted: no number is missing but what was deleted or never imported."""
        found = {(place_of(each), row.version): (row.id, row.deleted) for each, row in self.world.rows()}
        assert found == {
            (place, version): (row.id, row.deleted)
            for place, rows in self.model.subjects.items()
            for version, row in rows.items()
        }

    @precondition(is_looked_at)
    @invariant()
    def one_content_has_one_guid(self) -> None:
        for each, row in self.world.rows():
            content = self.model.meanings[each.context, row.id].content
            assert self.guids.setdefault(content, row.guid) == row.guid
        assert len(set(self.guids.values())) == len(self.guids)

    @precondition(is_looked_at)
    @invariant()
    def the_same_is_listed(self) -> None:
        active = {place for place in self.model.subjects if self.model.newest(place)}
        for show, expected in (
            (Show.ACTIVE, active),
            (Show.ALL, {p for p, rows in self.model.subjects.items() if rows}),
        ):
            assert {
                place_of(each) for each in self.registry.subjects(EVERYTHING, show=show, page=EVERY_PAGE)
            } == expected
        assert self.world.contexts() == [".", *sorted(self.model.contexts)]

    def check_meanings(self) -> None:
        """One id, one meaning – for ever: also of ids without a holder."""
        for (context, id), meaning in self.model.meanings.items():
            key = BodyKey(context, SchemaId(id))
            schema = self.world.store.bodies.get(key).schema
            assert schema.text == meaning.content.text
            assert tuple(Use(ref.subject, ref.version) for ref in schema.references) == meaning.content.uses
            assert (schema.metadata and dict(schema.metadata.properties)) == (
                None if meaning.content.metadata is None else dict(meaning.content.metadata)
            )
            self.check_id(key)
        for context in CONTEXTS:
            assert self.world.store.catalog.max_id(context) == self.model.top.get(context, 0)

    def check_id(self, key: BodyKey) -> None:
        """By id it is found as long as it is held, or something stands where it was."""
        held = self.model.is_held(*key) or self.model.last_holder(*key) is not None
        self.both(
            lambda: self.registry.schema_by_id(key.id, subject=Subject(key.context, "")).id,
            lambda: key.id if held else _raise("SchemaNamedNotFound"),
        )


def _raise(refusal: str) -> None:
    raise Refused(refusal)


def place_of(subject: Subject) -> Place:
    return Place(subject.context, subject.name)


def run(machine: type[RegistryAgainstModel], examples: int, steps: int, *suppressed: HealthCheck) -> None:
    machine.steps = 0
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=suppressed,
        ),
    )


def test_the_registry_does_as_its_model() -> None:
    """A thousand steps over six subjects in three contexts: every answer, every list and every id agree."""
    run(RegistryAgainstModel, examples=30, steps=60)
    assert RegistryAgainstModel.steps >= 1_000


@pytest.mark.soak
def test_the_registry_does_as_its_model_for_long() -> None:
    """A hundred thousand steps, some of them in long lives."""
    run(RegistryAgainstModel, examples=1_000, steps=120)
    assert RegistryAgainstModel.steps >= 100_000


def test_searches_and_latest_agree_after_a_long_life() -> None:
    """The one schema of a subject is found by number, by word and by prefix."""
    with World() as world:
        world.registry.register(Subject(".c", "orders"), Draft(BASE_ONE.text))
        found = world.registry.schemas(Search(context=".c"), page=EVERY_PAGE)
        assert [record.version for record in found] == [1]
        assert world.registry.version(Subject(".c", "orders"), LATEST).id == found[0].id
