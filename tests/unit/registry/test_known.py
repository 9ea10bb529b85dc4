"""A producer's start: what was found registered is remembered until something is committed."""

from dataclasses import replace

import pytest

from sigla import keys
from sigla.auth.narrowed import Narrowed
from sigla.auth.permissions import WRITE, reach
from sigla.errors import Denied
from sigla.model import BodyKey, Draft, Entity, Metadata, RuleSet, SchemaId, Tagged
from sigla.registry import Registry
from sigla.registry.steps.known import Found, Known, question
from sigla.stores.sqlite.store import EmbeddedStore
from tests.unit.registry.tell import ONE, TWO, refer, register, s


def test_a_schema_registered_again_is_the_same_answer_until_a_commit(registry: Registry) -> None:
    """The very object: a restart of a thousand producers asks for nothing twice."""
    register(registry, "a", ONE)
    found = register(registry, "a", ONE)
    assert register(registry, "a", ONE) is found
    register(registry, "b", TWO)
    again = register(registry, "a", ONE)
    assert again is not found
    assert again == found


def test_a_lost_body_is_put_back_by_who_is_remembered_too(store: EmbeddedStore, registry: Registry) -> None:
    """The catalog knows nothing of it, so that nothing was committed."""
    for _ in range(3):
        register(registry, "a", ONE)
    body = store.path / keys.body_file("default", BodyKey(".", SchemaId(1)))
    body.unlink()
    assert register(registry, "a", ONE).id == 1
    assert body.exists()


def test_what_an_alias_leads_to_is_not_told_to_who_may_not_see_it(registry: Registry) -> None:
    """What others have asked for is remembered, and does not count as a key."""
    register(registry, "b", ONE)
    registry.change_config(s("a"), {"alias": "b"})
    for _ in range(2):
        assert register(registry, "a", ONE).subject == s("b")
    theirs = Narrowed(registry.catalog, registry.bodies, reach(["a"]), WRITE)  # type: ignore[arg-type]  # of a prefix there is one
    with pytest.raises(Denied):
        register(replace(registry, catalog=theirs), "a", ONE)


TAGS = (Tagged(Entity("Order", "sr_record"), ("PII",)),)


@pytest.mark.parametrize(
    "draft",
    [
        Draft(None),
        Draft(ONE, references=(refer("b"),)),
        Draft(ONE, metadata=Metadata()),
        Draft(ONE, rule_set=RuleSet()),
        Draft(ONE, version=0),
        Draft(ONE, id=1),
        Draft(ONE, tags_to_add=TAGS),
        Draft(ONE, tags_to_remove=TAGS),
        Draft(ONE, propagate_tags=True),
    ],
    ids=str,
)
def test_only_a_text_alone_is_remembered(draft: Draft) -> None:
    """The answer to all else rests on more than the subject, or says how it was asked."""
    assert question(s("a"), draft, normalize=False) is None
    assert question(s("a"), Draft(ONE), normalize=False) is not None


def test_what_was_found_first_goes_first(registry: Registry) -> None:
    """Texts come from clients: there is a bound in bytes."""
    known, record = Known(most=6_000), register(registry, "a", '"int"')
    asked = [question(s(name), Draft('"int"'), normalize=False) for name in ("a", "b", "c")]
    for each in asked:
        assert each is not None
        known.keep(each, Found(1, record, None))  # type: ignore[arg-type] # it is not looked at
    assert [each is not None and known.get(each, 1) is not None for each in asked] == [False, True, True]
    assert asked[2] is not None
    assert known.get(asked[2], 2) is None
