"""Any sequence of requests about associations is answered as a registry of a few dictionaries answers it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sigla.associations.nouns import CREATE, STRONG, UPSERT, WEAK, Request, Selection, Wanted
from sigla.associations.refusals import InvalidAssociation
from sigla.associations.verbs import deleting, reading, writing
from sigla.associations.verbs.writing import Manner
from sigla.errors import Refusal
from sigla.model import LATEST, Draft, Page
from sigla.registry import Registry
from sigla.rules import names
from sigla.stores.sqlite.store import EmbeddedStore
from tests.attack.stories import ONE, THREE, TWO, config
from tests.build import FixedClock
from tests.contract.aws import Account, moto

__all__ = ["moto"]

NAMES, IDS, TYPES = ("t", "u"), ("id-t", "id-u", "id-3"), ("key", "value")
SHARED = ("a", "b")
OWN = tuple(f":.lkc:{name}-{type}" for name in NAMES for type in TYPES)
TEXTS = (ONE, TWO, THREE)

WISHES = st.builds(
    Wanted,
    operation=st.sampled_from([CREATE, UPSERT]),
    subject=st.sampled_from([None, *SHARED, *OWN]),
    type=st.sampled_from([None, *TYPES]),
    lifecycle=st.sampled_from([None, None, STRONG, WEAK]),
    frozen=st.sampled_from([None, None, None, True, False]),
    draft=st.sampled_from([None, *map(Draft, TEXTS)]),
)
"""Anything that a request can say of one association; most of it contradicts itself."""
DRAFTS = st.sampled_from([*map(Draft, TEXTS)])
OWNED = st.builds(Wanted, st.just(CREATE), type=st.sampled_from(TYPES), draft=DRAFTS)
USED = st.builds(Wanted, st.just(CREATE), subject=st.sampled_from(SHARED), type=st.sampled_from(TYPES))
NEXT = st.builds(Wanted, st.just(UPSERT), type=st.sampled_from(TYPES), draft=DRAFTS)
OF_EACH_TYPE = st.sampled_from([OWNED, USED]).flatmap(
    lambda wishes: st.tuples(wishes, wishes).map(
        lambda both: [replace(wish, type=type) for wish, type in zip(both, TYPES, strict=True)]
    )
)


def associate(wishes: st.SearchStrategy[list[Wanted]]) -> st.SearchStrategy[tuple[Any, ...]]:
    dry = st.sampled_from([False, False, False, True])
    return st.tuples(st.just("associate"), st.sampled_from(NAMES), st.sampled_from(IDS), wishes, dry)


SUBJECTS = st.sampled_from([*SHARED, *OWN])
KINDS = {
    associate(st.lists(WISHES, min_size=1, max_size=2)): 2,
    associate(st.lists(OWNED, min_size=1, max_size=1)): 3,
    associate(st.lists(USED, min_size=1, max_size=1)): 4,
    associate(st.lists(NEXT, min_size=1, max_size=1)): 2,
    associate(OF_EACH_TYPE): 3,
    st.tuples(st.just("end"), st.sampled_from(IDS), st.sampled_from([(), ("key",), ("value",)]), st.booleans()): 3,
    st.tuples(st.just("register"), SUBJECTS, st.sampled_from(TEXTS)): 3,
    st.tuples(st.just("delete subject"), SUBJECTS): 1,
    st.tuples(st.just("delete version"), SUBJECTS): 2,
}
REQUESTS = st.sampled_from([kind for kind, weight in KINDS.items() for _ in range(weight)]).flatmap(lambda kind: kind)
BEGUN = [("register", subject, ONE) for subject in SHARED]
SEQUENCES = st.lists(REQUESTS, min_size=10, max_size=40).map(lambda requests: [*BEGUN, *requests])


class Refused(Exception):
    """An error code; of a value that cannot be, the property that it is of as well."""

    def __init__(self, code: int, property: str = "") -> None:
        super().__init__(code, property)


@dataclass(frozen=True)
class Held:
    """An association, by its topic's name and id, and the role."""

    name: str
    id: str
    type: str
    subject: str
    lifecycle: str


@dataclass
class Wish:
    """What a request says, while the rules complete it."""

    creates: bool
    name: str
    type: str | None
    subject: str | None
    lifecycle: str | None
    frozen: bool | None
    text: str | None

    @property
    def default(self) -> str:
        return f":.lkc:{self.name}-{self.type}"


def _check(holds: bool, property: str) -> None:
    if not holds:
        raise Refused(42212, property)


@dataclass
class Model:
    """What the rules say (docs/api.md, §12), one after the other.

    subjects: of each version, in order, the text, and whether it is deleted.
    """

    subjects: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)
    held: list[Held] = field(default_factory=list)

    def ask(self, request: tuple[Any, ...]) -> Any:
        verb: Callable[..., Any] = getattr(self, request[0].replace(" ", "_"))
        try:
            return verb(*request[1:])
        except Refused as refused:
            return refused.args

    def active(self, subject: str) -> dict[int, str]:
        texts = enumerate(self.subjects.get(subject, []), 1)
        return {number: text for number, (text, deleted) in texts if not deleted}

    def of_subject(self, subject: str) -> list[Held]:
        return [one for one in self.held if one.subject == subject]

    # --- schemas -----------------------------------------------------------------------------------------------------

    def register(self, subject: str, text: str) -> int:
        known = {each: number for number, each in self.active(subject).items()}
        if text not in known:
            self.subjects.setdefault(subject, []).append((text, False))
        return known.get(text, len(self.subjects[subject]))

    def delete_subject(self, subject: str) -> list[int]:
        if self.of_subject(subject):
            raise Refused(40904)
        active = self.active(subject)
        if not active:
            raise Refused(40404 if self.subjects.get(subject) else 40401)
        self.subjects[subject] = [(text, True) for text, _ in self.subjects[subject]]
        return list(active)

    def delete_version(self, subject: str) -> int:
        active = self.active(subject)
        if not active:
            raise Refused(40402 if self.subjects.get(subject) else 40401)
        if len(active) == 1 and self.of_subject(subject):
            raise Refused(40907)
        self.subjects[subject][max(active) - 1] = active[max(active)], True
        return max(active)

    # --- associations ------------------------------------------------------------------------------------------------

    def associate(self, name: str, id: str, wanted: list[Wanted], dry: bool) -> Any:
        wishes = [self._understood(name, each) for each in wanted]
        _check(len({wish.type for wish in wishes}) == len(wishes), "associationType")
        due = [wish for wish in wishes if self._judged(id, wish)]
        lifecycles = {one.type: one.lifecycle for one in self.held if one.id == id}
        lifecycles |= {wish.type: wish.lifecycle for wish in wishes if wish.type not in lifecycles}  # type: ignore[misc]  # both are known by now
        _check(len(set(lifecycles.values())) < 2, "lifecycle")
        for wish in due:
            self._check_subject(id, wish)
        _check(all(one.name == name for one in self.held if one.id == id), "resourceName")
        return None if dry else self._written(id, due)

    def _understood(self, name: str, wanted: Wanted) -> Wish:
        """Step 2."""
        text = wanted.draft.text if wanted.draft else None
        creates = wanted.operation == CREATE
        wish = Wish(creates, name, wanted.type or "value", wanted.subject, wanted.lifecycle, wanted.frozen, text)
        if not creates:
            _check(not (wish.lifecycle == WEAK and text), "lifecycle")
            _check(not (wish.lifecycle == WEAK and wish.frozen), "frozen")
            return wish
        _check(not (text and wish.lifecycle == WEAK), "lifecycle")
        _check(not (text and wish.frozen is False), "frozen")
        wish.lifecycle = STRONG if text else wish.lifecycle or WEAK
        _check(wish.frozen in (None, wish.lifecycle == STRONG), "frozen")
        wish.frozen = wish.lifecycle == STRONG
        _check(wish.lifecycle == STRONG or wish.subject is not None, "subject")
        wish.subject = wish.subject or wish.default
        _check((wish.subject == wish.default) == (wish.lifecycle == STRONG), "subject")
        return wish

    def _judged(self, id: str, wish: Wish) -> bool:
        """Step 5: whether something is to be written, or registered."""
        old = next((one for one in self.held if (one.id, one.type) == (id, wish.type)), None)
        if old is None and not wish.creates:
            _check(wish.text is None, "schema")
            wish.lifecycle = wish.lifecycle or WEAK
            _check(wish.frozen in (None, wish.lifecycle == STRONG), "frozen")
            wish.frozen = wish.lifecycle == STRONG
        lifecycle = wish.lifecycle or (old.lifecycle if old else None)
        if wish.subject is None:
            _check(old is not None or lifecycle == STRONG, "subject")
            wish.subject = old.subject if old else wish.default
        if lifecycle == WEAK:
            _check(wish.text is None, "lifecycle")
            _check(wish.subject != wish.default, "subject")
        frozen = wish.frozen if wish.frozen is not None else old is not None and old.lifecycle == STRONG
        _check(frozen == (lifecycle == STRONG), "frozen")
        owned = frozen if old is None else old.lifecycle == STRONG
        _check(not owned or wish.subject == wish.default, "subject")
        if old is None:
            return self._begun(wish)
        is_equal = old.subject == wish.subject and wish.lifecycle in (None, old.lifecycle)
        found = wish.text is None or wish.text in self.active(wish.subject).values()
        if wish.creates and not (is_equal and found):
            raise Refused(40903)
        if not is_equal:
            _check(bool(wish.lifecycle or wish.text), "lifecycle")
            _check(False, "subject")
        wish.lifecycle = old.lifecycle
        return wish.text is not None

    def _begun(self, wish: Wish) -> bool:
        if wish.lifecycle == STRONG:
            _check(wish.creates, "lifecycle")
            _check(wish.text is not None, "schema")
            _check(self.active(wish.subject or "") in ({}, {1: wish.text}), "frozen")
        return True

    def _check_subject(self, id: str, wish: Wish) -> None:
        """Step 7."""
        assert wish.subject is not None
        others = self.of_subject(wish.subject)
        if wish.text is None and not self.active(wish.subject):
            raise Refused(40907)
        if wish.lifecycle == STRONG:
            if any((one.id, one.type) != (id, wish.type) for one in others):
                raise Refused(40904)
            return
        if any(one.lifecycle == STRONG for one in others):
            raise Refused(40905)
        if any((one.name, one.type) == (wish.name, wish.type) for one in others):
            raise Refused(40903)

    def _written(self, id: str, due: list[Wish]) -> Any:
        written, versions = [], {}
        for wish in due:
            assert wish.subject is not None
            is_new = all((one.id, one.type) != (id, wish.type) for one in self.held)
            count = len(self.subjects.get(wish.subject, []))
            if wish.text is not None:
                version = self.register(wish.subject, wish.text)
                if is_new or version > count:
                    versions[wish.type] = version
            if is_new:
                self.held.append(Held(wish.name, id, wish.type or "", wish.subject, wish.lifecycle or ""))
                written.append((wish.subject, wish.type, wish.lifecycle))
        return written, versions

    def end(self, id: str, types: tuple[str, ...], cascade: bool) -> Any:
        gone = [one for one in self.listed() if one.id == id and (not types or one.type in types)]
        if not gone:
            raise Refused(40410)
        if not cascade and any(one.lifecycle == STRONG for one in gone):
            raise Refused(40908)
        for one in gone:
            self.held.remove(one)
            if one.lifecycle == STRONG:
                self.subjects.pop(one.subject, None)
        return [(one.subject, one.type) for one in gone]

    def listed(self) -> list[Held]:
        return sorted(self.held, key=lambda one: (one.name, one.type, one.subject))


# --- the registry ----------------------------------------------------------------------------------------------------


def asked(registry: Registry, request: tuple[Any, ...]) -> Any:
    """The same of the registry."""
    try:
        match request:
            case "associate", name, id, wanted, dry:
                became = writing.write(registry, Request(name, "lkc", id, None, tuple(wanted)), Manner(dry=dry))
                written = [(str(one.subject), one.type, one.lifecycle) for one in became.written]
                versions = {type: record.version for type, record in became.schemas.items()}
                return None if dry else (written, versions)
            case "end", id, types, cascade:
                gone = deleting.delete(registry, id, Selection(types=types), cascade=cascade)
                return [(str(one.subject), one.type) for one in gone]
            case "register", subject, text:
                return registry.register(names.subject(subject), Draft(text)).version
            case "delete subject", subject:
                return registry.delete_subject(names.subject(subject))
            case "delete version", subject:
                return registry.delete_version(names.subject(subject), LATEST)
    except InvalidAssociation as refused:
        return refused.code, refused.facts["property"]
    except Refusal as refused:
        return refused.code, ""
    raise AssertionError(request)


def listed(registry: Registry) -> list[Held]:
    """By each of the questions that there are; the answers agree."""
    all, page = Selection(), Page()
    everything = reading.of_name(registry, "-", "-", all, page)
    by_id = [one for id in IDS for one in reading.of_resource(registry, id, all, page)]
    by_subject = [
        one for name in (*SHARED, *OWN) for one in reading.of_subject(registry, names.subject(name), all, page)
    ]
    by_name = [one for name in NAMES for one in reading.of_name(registry, "lkc", name, all, page)]
    assert set(everything) == set(by_id) == set(by_subject)
    assert everything == by_name
    return [Held(one.resource.name, one.resource.id, one.type, str(one.subject), one.lifecycle) for one in everything]


def compared(registry: Registry, requests: list[tuple[Any, ...]]) -> None:
    config("", level="NONE")(registry)
    model = Model()
    for request in requests:
        assert asked(registry, request) == model.ask(request), request
        assert listed(registry) == model.listed(), request


@given(SEQUENCES)
def test_any_sequence_of_requests_about_associations_is_answered_by_the_rules(requests: list[tuple[Any, ...]]) -> None:
    """What a topic may have depends on what was acknowledged before, and on nothing else."""
    with EmbeddedStore() as store:
        compared(Registry(store.catalog, store.bodies, FixedClock()), requests)


@settings(max_examples=max(1, settings().max_examples // 25))  # each is hundreds of calls
@given(requests=SEQUENCES)
def test_the_rules_about_associations_are_the_same_on_aws(moto: Account, requests: list[tuple[Any, ...]]) -> None:
    """Whatever a table keeps in several places says one thing."""
    with moto.stores() as stores:
        compared(Registry(stores.catalog, stores.bodies, FixedClock()), requests)
