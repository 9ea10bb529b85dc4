"""An exporter from one registry to another: what is at the source is at the destination, whatever it is."""

from random import Random

import pytest

from tests.unit.exporting.places import AVRO, Line, Place, places
from tests.unit.exporting.stories import AFTERWARDS, use


def test_a_registry_is_written_to_another_one_and_answers_the_same(furnished: list[Place]) -> None:
    """Ids, versions, references, deletes, contexts, config, keys: a client cannot tell which of the two it asks."""
    source, target = furnished
    assert target.answers() == source.answers()
    assert target.picture() == source.picture()


@pytest.mark.parametrize("story", AFTERWARDS)
def test_what_happens_afterwards_is_written_as_well(story: str, furnished: list[Place]) -> None:
    """An exporter is for all that comes, not for a copy."""
    source, target = furnished
    line = Line(source, target)
    for step in AFTERWARDS[story]:
        step(source)
        line.run()
    assert target.picture() == source.picture()


@pytest.mark.parametrize("story", [name for name, steps in AFTERWARDS.items() if len(steps) > 1])
def test_what_happened_meanwhile_is_written_as_well(story: str, furnished: list[Place]) -> None:
    """An exporter that was away finds several changes of one subject, of which only the last still holds."""
    source, target = furnished
    for step in AFTERWARDS[story]:
        step(source)
    Line(source, target).run()
    assert target.picture() == source.picture()


@pytest.mark.parametrize("schemas", [100, pytest.param(1_000, marks=pytest.mark.soak)])
def test_a_chain_of_three_with_many_schemas_ends_with_the_same_answers(schemas: int) -> None:
    """With references between them and deletes of all kinds, and everything that comes while they run."""
    drawn = Random(schemas)
    with places(3) as (first, second, third):
        lines = Line(first, second).begin(), Line(second, third).begin()
        first("PUT", "/config", {"compatibility": "NONE"})
        for number in range(schemas):
            subject = f"s{drawn.randrange(schemas // 3)}"
            if number % 5:
                first.register(subject, AVRO % number)
            else:
                first.register(f"z-base-{number}", AVRO % number)
                use(subject, number, f"z-base-{drawn.randrange(number // 5 + 1) * 5}")(first)
            if number % 7 == 0:
                _delete(first, subject, permanent=number % 2 == 0)
            if number % (schemas // 4) == 0:
                for line in lines:
                    line.run()
        for line in lines:
            line.run()
        assert third.picture() == second.picture() == first.picture()


def _delete(place: Place, subject: str, *, permanent: bool) -> None:
    for query in ("", "?permanent=true")[: 1 + permanent]:
        place("DELETE", f"/subjects/{subject}{query}")
