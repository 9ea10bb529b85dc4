"""An id that was deleted for good, and that an import brings back in one of two regions in AWS, survives its loss."""

from collections.abc import Callable
from contextlib import closing, suppress
from itertools import count
from typing import Any

import pytest

from sigla.errors import IdUsedUp
from sigla.model import Draft, SchemaId
from sigla.regions import rules
from sigla.regions.bodies import SILENT_MS
from sigla.regions.refusals import BodyNotInBoth
from sigla.rules import names
from tests.attack.aws import failing
from tests.attack.aws_sites import ENDS, Killing, TableSite
from tests.attack.aws_two_regions import MINUTE_MS
from tests.attack.ports import At, Call
from tests.attack.test_refused_imports import KEY, PLACE, X, Y, aws, bring, meaning, promote, two
from tests.contract.aws import Account
from tests.unit.aws.faults import Fault, Killed

__all__ = ["aws"]


def bring_in(site: TableSite, name: str, id: int) -> SchemaId | None:
    return site.registry.register(names.subject(f":.imported:{name}"), Draft(X, id=SchemaId(id), version=1)).id


def pass_on(_: Call, carry_out: Callable[[], Any]) -> Any:
    return carry_out()


def delete(site: TableSite) -> None:
    """For good."""
    site.registry.delete_subject(PLACE)
    site.registry.delete_subject(PLACE, permanent=True)


@pytest.mark.parametrize("is_told", [False, True])
@pytest.mark.parametrize("lives", [2, 3])
def test_an_id_that_is_brought_back_survives_the_region_where_that_was_done(
    aws: Account, lives: int, *, is_told: bool
) -> None:
    """Whether the other region has a tombstone by then, or gets it later. It is a life of its own each time."""
    with closing(two(aws, 20 + 2 * lives + is_told, required=True)) as regions:
        a, b = regions.sites
        bring(a, X)
        for _ in range(1, lives):
            regions.turned(b)
            delete(a)
            if is_told:
                regions.turned(b)
            bring(a, X)
        assert b.aws.bodies.get(KEY).gone is is_told
        regions.force()
        assert meaning(b) == X


def test_an_import_that_meets_the_last_delete_of_its_id_at_any_call_survives(aws: Account) -> None:
    """It may have found the id living; the other region hears of the delete, and not of the import."""
    for number in count():
        with closing(two(aws, 1000 + number, required=True)) as regions:
            a, b = regions.sites
            bring(a, X)
            bring_in(a, "s3", 7)  # the content is known by this id from now on
            regions.turned(b)

            def deleted(_: Call, carry_out: Callable[[], Any]) -> Any:
                a.gate.cuts = None  # noqa: B023 - it is called in this turn of the loop
                delete(a)  # noqa: B023 - likewise
                regions.turned(b)  # noqa: B023 - likewise
                return carry_out()

            a.gate.cuts = at = At(number, deleted)
            assert bring_in(a, "s2", KEY.id) == KEY.id
            a.gate.cuts = None
            if not at.acted:
                break
            assert meaning(a) == X
            regions.force()
            assert meaning(b) == X, (number, at.call)


@pytest.mark.parametrize("fault", ENDS)
def test_an_import_survives_whose_id_was_deleted_by_one_that_was_cut_off(aws: Account, fault: Fault) -> None:
    """Behind its commit: the id is not a tombstone yet."""
    with closing(two(aws, 60, required=True)) as regions:
        a, b = regions.sites
        bring(a, X)
        a.registry.delete_subject(PLACE)
        a.gate.cuts = lambda call, go: (failing(fault) if call.name == "s3.put_object" else pass_on)(call, go)
        with suppress(Killed):
            a.registry.delete_subject(PLACE, permanent=True)
        a.gate.cuts = None
        regions.turned(b)
        assert b.aws.bodies.get(KEY).gone
        bring(a, X)
        regions.force()
        assert meaning(b) == X


def test_what_was_deleted_once_more_means_nothing_in_the_survivor(aws: Account) -> None:
    with closing(two(aws, 30, required=True)) as regions:
        a, b = regions.sites
        for _ in range(2):
            bring(a, X)
            delete(a)
        regions.turned(b)
        regions.force()
        assert meaning(b) is None


@pytest.mark.parametrize("required", [True, False])
def test_an_id_that_the_other_region_is_not_told_to_be_back_is_refused_or_counted(
    aws: Account, *, required: bool
) -> None:
    with closing(two(aws, 31 + required, required=required)) as regions:
        a, b = regions.sites
        bring(a, X)
        delete(a)
        regions.turned(b)
        assert a.link
        a.link.is_cut = True
        if required:
            with pytest.raises(BodyNotInBoth):
                bring(a, X)
            assert meaning(a) is None
        else:
            bring(a, X)
            assert [each["id"] for each in a.told] == [KEY.id]


@pytest.mark.soak
def test_an_import_that_was_cut_off_at_any_call_and_is_done_again_survives(aws: Account) -> None:
    """What it has left is not taken for what it promised."""
    for at, fault in enumerate(ENDS):
        for number in count():
            with closing(two(aws, 100 * (at + 1) + number, required=True)) as regions:
                a, b = regions.sites
                bring(a, X)
                delete(a)
                regions.turned(b)
                killing = Killing(number, fault)
                with a.killed(killing):
                    bring(a, X)
                regions.pass_time(SILENT_MS)
                bring(a, X)
                regions.force()
                assert meaning(b) == X
            if not killing.is_over:
                break


def test_another_content_is_refused_where_the_id_is_a_tombstone_also_after_a_promotion(aws: Account) -> None:
    with closing(two(aws, 40, required=True)) as regions:
        a, b = regions.sites
        bring(a, X)
        delete(a)
        promote(regions)
        with pytest.raises(IdUsedUp):
            bring(b, Y)
        bring(b, X)
        regions.force()
        assert meaning(a) == X


def test_the_region_that_follows_the_survivor_reads_it_too(aws: Account) -> None:
    """An empty one, which gets a copy and is promoted by plan."""
    with closing(two(aws, 41, required=True)) as regions:
        a, b = regions.sites
        bring(a, X)
        delete(a)
        regions.turned(b)
        bring(a, X)
        regions.force()
        regions.abandon()
        regions.mended()
        regions.pass_time(rules.KNOWN_MS + MINUTE_MS)
        regions.turned(regions.there)
        promote(regions)
        assert regions.here not in (a, b)
        assert meaning(regions.here) == X
