"""After a promotion by force nothing is concluded from absence: the region that is out may have given what is unknown.

A client that is told 404 gives up for good, and some remember it; one that is told 50003 asks again.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from sigla.auth.narrowed import Narrowed
from sigla.auth.permissions import READ, Reach
from sigla.errors import Refusal, SchemaNamedNotFound, SchemaNotFound
from sigla.model import BodyKey, Page, SchemaId
from sigla.regions.adoption import AdoptedIds, given_before, out_since
from sigla.regions.nouns import Counter, KnownBy, RegionKind, Role, Trace
from sigla.regions.refusals import MayBeElsewhere
from sigla.registry import Registry
from sigla.registry.explaining import explain_part
from sigla.registry.parts import holder_part
from sigla.rules.names import search
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, a_body, a_guid, a_text
from tests.unit.registry.tell import register, s

OUT = Role(2, RegionKind.PRIMARY, peer=KnownBy(url="http://a"), reconciled=False, adopts=True)
FIRST = 100_001
"""The first id that the new epoch gives."""

Ask = Callable[[Registry], Any]


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    """`a` has id 1, `other` 2; in `:.eu:` 1 is of `far` and 2 of `b`."""
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        register(registry, "a", a_text("A"))
        register(registry, "other", a_text("Other"))
        register(registry, ":.eu:far", a_text("Far"))
        register(registry, ":.eu:b", a_text("Namesake"))
        become(store, OUT)
        yield store


@pytest.fixture
def registry(store: EmbeddedStore) -> Registry:
    look = store.region.look
    before, out = given_before(look), out_since(look)
    catalog = AdoptedIds(store.catalog, store.bodies, before, is_out=out, buried=store.inventory.buried)
    return Registry(catalog, store.bodies, FixedClock())


def become(store: EmbeddedStore, role: Role) -> None:
    assert store.region.set_role(store.region.role(), role)


def told(registry: Registry, ask: Ask) -> tuple[int, str]:
    with pytest.raises(Refusal) as refused:
        ask(registry)
    return refused.value.code, str(refused.value)


def by_id(id: int, subject: str = "") -> dict[str, Ask]:
    """Everything that is asked by an id."""
    key, scope = SchemaId(id), s(subject) if subject else None
    context = scope.context if scope else "."
    asked: dict[str, Ask] = {
        "schema": lambda registry: registry.schema_by_id(key, subject=scope),
        "versions": lambda registry: registry.holders_of(key, subject=scope, deleted=True, page=Page()),
        "subjects": lambda registry: registry.subjects_of(key, subject=scope, deleted=False, page=Page()),
    }
    if scope is None or not scope.name:
        asked["meaning"] = lambda registry: registry.meaning(BodyKey(context, key))
        asked["a person's list"] = lambda registry: holder_part(registry, key, scope, None, 10)
        asked["a record"] = lambda registry: explain_part(registry, b"", context=context, id=id)
    return asked


def by_guid(text: str) -> Ask:
    return lambda registry: registry.schema_by_guid(text)


UNKNOWN: dict[str, Ask] = {
    **by_id(7),
    **{f"{name} for a subject": ask for name, ask in by_id(7, "a").items()},
    **{f"{name} in a context": ask for name, ask in by_id(7, ":.eu:").items()},
    **{f"{name} in a context that is unknown": ask for name, ask in by_id(7, ":.none:").items()},
    **{f"{name} for a subject that is not known to have it": ask for name, ask in by_id(1, ":.eu:near").items()},
    "a GUID": by_guid(a_guid(a_text("Lost"))),
    "a record with a GUID": lambda registry: explain_part(registry, b"\1" + bytes(16)),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_is_unknown_is_not_told_to_be_nowhere(store: EmbeddedStore, registry: Registry, what: str) -> None:
    """Until the region that was passed over is back, or given up."""
    ask = UNKNOWN[what]
    assert told(registry, ask)[0] == MayBeElsewhere.code == 50003
    become(store, replace(OUT, reconciled=True))
    if what.startswith("a record"):
        assert ask(registry).failure["reason"].startswith("UNKNOWN")
    else:
        assert told(registry, ask)[0] == SchemaNotFound.code


@pytest.mark.parametrize("id", [0, -1, FIRST, 2**31 - 1])
def test_an_id_that_the_lost_region_cannot_have_given_is_unknown(registry: Registry, id: int) -> None:
    for ask in (each for name, each in by_id(id).items() if name != "a record"):
        assert told(registry, ask)[0] == SchemaNotFound.code


def test_ids_go_by_the_first_one_of_their_context(store: EmbeddedStore, registry: Registry) -> None:
    """Before the promotion `:.eu:` had used three blocks."""
    assert store.region.set_counter(
        ".eu", store.region.look(".eu").counter, Counter(SchemaId(300_007), SchemaId(400_000), 2, SchemaId(300_001))
    )
    assert told(registry, by_id(300_000, ":.eu:")["schema"])[0] == 50003
    for ask in (by_id(300_001, ":.eu:")["schema"], by_id(300_000)["schema"]):
        assert told(registry, ask)[0] == SchemaNotFound.code


@pytest.mark.parametrize("text", ["", "x", "0" * 31, "schema"])
def test_what_is_no_guid_is_unknown(registry: Registry, text: str) -> None:
    assert told(registry, by_guid(text))[0] == SchemaNotFound.code


@pytest.mark.parametrize(
    "role",
    [
        Role(2, RegionKind.PRIMARY, peer=KnownBy(url="http://a")),
        replace(OUT, adopts=False, peer=KnownBy(), lost="b"),
        replace(OUT, peer=KnownBy(), lost="b", traces=Trace("b", "http://b", 1).line),
    ],
    ids=["promoted by plan", "its follower was given up", "its follower was given up, once it had been promoted so"],
)
def test_a_registry_that_has_passed_over_no_region_tells_what_is_unknown(
    store: EmbeddedStore, registry: Registry, role: Role
) -> None:
    become(store, role)
    for ask in (*[ask for name, ask in by_id(7).items() if name != "a record"], by_guid(a_guid(a_text("Lost")))):
        assert told(registry, ask)[0] == SchemaNotFound.code


def test_what_was_deleted_for_good_is_unknown(registry: Registry) -> None:
    """An id is given once; its content may have another one by now, in the region that is out."""
    for permanent in (False, True):
        registry.delete_subject(s("a"), permanent=permanent)
    for ask in (each for name, each in by_id(1).items() if name != "a record"):
        assert told(registry, ask)[0] == SchemaNotFound.code
    assert told(registry, by_guid(a_guid(a_text("A"))))[0] == 50003


def test_an_id_that_is_adopted_is_in_the_list_of_a_person_without_a_version(
    store: EmbeddedStore, registry: Registry
) -> None:
    store.bodies.put(BodyKey(".", SchemaId(7)), a_body(a_text("Adopted")))
    assert holder_part(registry, SchemaId(7), None, None, 10).found == ()
    assert registry.schema_by_guid(a_guid(a_text("Adopted"))).schema.text == a_text("Adopted")


# --- whoever sees a part ---------------------------------------------------------------------------------------------


def seen(registry: Registry, prefix: str) -> Registry:
    reach = Reach((search(prefix),))
    return replace(registry, catalog=Narrowed(registry.catalog, registry.bodies, reach, READ))


@pytest.mark.parametrize("happens", ["it is held", "it is deleted for good", "it is adopted", "its body is lost"])
def test_an_id_of_others_is_told_as_one_that_is_unknown(store: EmbeddedStore, registry: Registry, happens: str) -> None:
    """Else the answers would count what others have."""
    hidden = 2
    if happens == "it is deleted for good":
        for permanent in (False, True):
            registry.delete_subject(s("other"), permanent=permanent)
    if happens == "it is adopted":
        hidden = 7
        store.bodies.put(BodyKey(".", SchemaId(hidden)), a_body(a_text("Adopted"), subject=s("other")))
    if happens == "its body is lost":
        for file in store.path.rglob("*2.json*"):
            file.unlink()
    theirs = seen(registry, "a")
    for subject in ("", "a", ":.:"):
        for name, ask in by_id(hidden, subject).items():
            code, text = told(theirs, ask)
            unknown = told(theirs, by_id(9, subject)[name])
            assert (code, text.replace(str(hidden), "9")) == unknown == (50003, unknown[1]), (subject, name)
    guids = [a_guid(a_text(each)) for each in ("Other", "Adopted", "Lost")]
    assert {told(theirs, by_guid(guid)) for guid in guids} == {unknown}


def test_whoever_has_deleted_an_id_for_good_is_told_that_it_is_gone(registry: Registry) -> None:
    for permanent in (False, True):
        registry.delete_subject(s("a"), permanent=permanent)
    assert told(seen(registry, "a"), by_id(1)["schema"]) == (40403, str(SchemaNamedNotFound(key=1)))
    assert told(seen(registry, "other"), by_id(1)["schema"])[0] == 50003


def test_a_namesake_of_others_changes_no_answer(registry: Registry) -> None:
    """`:.eu:b` has id 2, which the default context has with another schema."""
    ask = by_id(2, "b")["schema"]
    assert told(registry, ask)[0] == 50003
    assert ask(seen(registry, ":.:")).subject == s("other")
