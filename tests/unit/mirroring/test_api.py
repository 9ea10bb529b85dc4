"""A registry that is mirrored by its API: what lists tell, and what they do not."""

from collections.abc import Iterator
from itertools import count

import pytest

from sigla.model import Subject
from sigla.remote import state
from sigla.remote.failures import WrittenMeanwhile
from tests.build import FixedClock
from tests.unit.cli.answering import behind_a_url, registry
from tests.unit.exporting.places import AVRO, Place, places
from tests.unit.exporting.stories import Step, configure, delete
from tests.unit.mirroring.mirrored import Mirrored

DELETED: dict[str, tuple[Step, ...]] = {
    "the other id": (delete("first", 1),),
    "both ids, this one first": (delete("second"), delete("first", 1)),
}


@pytest.fixture
def one_content() -> Iterator[Mirrored]:
    """A source with one content under two ids, as only an import leaves it, and an empty registry."""
    with places(2) as (source, target):
        source("PUT", "/mode", {"mode": "IMPORT"})
        for subject, id in (("first", 1), ("second", 5)):
            source.register(subject, AVRO % 1, id=id, version=1)
            source.clock.sleep(1)
        source("PUT", "/mode", {"mode": "READWRITE"})
        yield Mirrored(source, target)


def told_of(place: Place) -> tuple[object, object]:
    """What the GUID of its only content is told to be: with the time of a version, and by which id."""
    (guid,) = {each["guid"] for each in place("GET", "/schemas?deleted=true")}
    return place("GET", f"/schemas/guids/{guid}"), place("GET", f"/schemas/guids/{guid}/ids")


@pytest.mark.parametrize("deleted", DELETED)
@pytest.mark.parametrize("is_there", [False, True])
def test_a_content_is_known_by_the_id_that_it_is_known_by_there(
    one_content: Mirrored, deleted: str, *, is_there: bool
) -> None:
    """A version that is deleted gets another time: its id looks like the one written last, and is not given anew."""
    source, target = one_content.source, one_content.target
    with behind_a_url(registry(source.registry)) as url:

        def turn() -> None:
            one_content.mirror.turn(state.read(url, "", FixedClock()))

        if is_there:
            turn()
        for step in DELETED[deleted]:
            step(source)
            source.clock.sleep(1)
        turn()
    assert told_of(target) == told_of(source)
    assert target.store.catalog.id_of(".", source("GET", "/schemas?deleted=true")[0]["guid"]) == 5


@pytest.mark.parametrize("page", [2, 3, state.PAGE])
def test_settings_of_subjects_without_versions_are_mirrored_from_a_registry_that_lists_them(
    source: Place, page: int
) -> None:
    """An alias may be all that a client knows of a subject."""
    configure("only-an-alias", alias="orders")(source)
    source("PUT", "/mode/no-versions", {"mode": "READONLY"})
    with behind_a_url(registry(source.registry)) as url:
        found = state.read(url, "", FixedClock(), page=page)
    assert found.settings.keys() >= {Subject(".", "only-an-alias"), Subject(".", "no-versions")}
    assert {scope: each.config for scope, each in found.settings.items() if each.config} == source.picture()["config"]


def test_a_list_of_settings_that_moves_under_the_reader_is_told_and_not_taken(source: Place) -> None:
    """A scope that slips from one page to the other would lose its config here for a while."""
    answered, pages = registry(source.registry), count(1)

    def moving(path: str, user: str) -> tuple[int, str]:
        if path.startswith(state.SETTINGS) and next(pages) == 2:
            source("DELETE", "/config")
        return answered(path, user)

    with behind_a_url(moving) as url, pytest.raises(WrittenMeanwhile):
        state.read(url, "", FixedClock(), page=2)
