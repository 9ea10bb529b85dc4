"""An import that was refused, or cut off, in one of two regions in AWS: the body that it left means nothing."""

from collections.abc import Iterator
from contextlib import closing
from itertools import count

import pytest

from sigla.errors import IdTaken, SchemaNotFound
from sigla.model import BodyKey, Draft, SchemaId, Subject
from sigla.ports.replaying import Shipment
from sigla.regions.bodies import SILENT_MS
from sigla.regions.following import deliver
from sigla.regions.giving import carried_out
from sigla.regions.nouns import RegionKind
from sigla.regions.refusals import BodyNotInBoth, MayBeElsewhere
from sigla.regions.replay import Verdict
from sigla.rules import names
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.replaying import AwsReplayer, AwsShipper
from tests.attack.aws_sites import ENDS, Killing, TableSite
from tests.attack.aws_two_regions import MINUTE_MS, TwoTables
from tests.attack.repeatable import repeat
from tests.build import a_body, a_text
from tests.contract.aws import Account, account, of_two_parts

KEY = BodyKey(".imported", SchemaId(6))
PLACE = names.subject(":.imported:s1")
X, Y = a_text("X"), a_text("Y")


@pytest.fixture(scope="module")
def aws() -> Iterator[Account]:
    with pytest.MonkeyPatch.context() as patched, account() as made:
        of_two_parts(patched)
        for name, value in (("COPIES", 2), ("AT_ONCE", 1)):
            patched.setattr(fence, name, value)
        repeat(patched).seed(0)
        yield made


def two(aws: Account, number: int, *, required: bool) -> TwoTables:
    """In step, with a context into which is imported."""
    regions = TwoTables(aws, number, required=required)
    regions.mended()
    regions.here.registry.change_mode(names.subject(":.imported:"), "IMPORT")
    return regions


def bring(site: TableSite, text: str, id: int = KEY.id, version: int = 1) -> SchemaId | None:
    return site.registry.register(PLACE, Draft(text, id=SchemaId(id), version=version)).id


def shipped(site: TableSite) -> list[Shipment]:
    return list(AwsShipper(site.aws.journal, site.aws.bodies).shipments())


def replayer(site: TableSite) -> AwsReplayer:
    return site.aws.catalog.replayer(site.aws.bodies)


def promote(regions: TwoTables) -> None:
    regions.mended()
    regions.pass_time(SILENT_MS)
    carried_out(regions.planned("a drill", rehearses=False))
    regions.turn_round()


def left_by_one_that_was_cut_off(site: TableSite, text: str) -> None:
    """Its process has ended behind the first call."""
    site.aws.bodies.put(KEY, a_body(text, subject=PLACE, brought=True))


def meaning(site: TableSite, id: int = KEY.id) -> str | None:
    """None also where a region that is out may know it."""
    place = Subject(KEY.context, "")
    try:
        return site.answered(lambda registry: registry.schema_by_id(SchemaId(id), subject=place)).schema.text
    except (SchemaNotFound, MayBeElsewhere):
        return None


def test_two_imports_of_one_id_that_were_refused_mean_nothing_in_either_region(aws: Account) -> None:
    with closing(two(aws, 1, required=True)) as regions:
        a, b = regions.sites
        assert a.link
        a.link.is_cut = True
        with pytest.raises(BodyNotInBoth):
            bring(a, X)
        promote(regions)
        with pytest.raises(IdTaken):
            bring(b, Y)
        regions.force()
        assert regions.here is a
        assert (meaning(a), meaning(b)) == (None, None)


def test_what_the_other_region_has_acknowledged_under_such_an_id_is_what_it_means(aws: Account) -> None:
    """Also where this region had not heard of it when it was promoted by force."""
    with closing(two(aws, 2, required=False)) as regions:
        a, b = regions.sites
        left_by_one_that_was_cut_off(a, X)
        promote(regions)
        assert b.link
        b.link.is_cut = True
        assert bring(b, Y) == KEY.id
        assert b.told, "it is counted as out of step"
        regions.force()
        assert (meaning(a), meaning(b)) == (None, Y)
        regions.mended()
        while not regions.tally["rejoined"]:
            regions.rejoin()
        assert meaning(a) == Y


def test_the_same_import_that_is_done_again_in_the_other_region_survives_that_one(aws: Account) -> None:
    """The body that was left is that of the new one from then on."""
    with closing(two(aws, 3, required=True)) as regions:
        a, b = regions.sites
        left_by_one_that_was_cut_off(a, X)
        promote(regions)
        assert meaning(a) is None
        assert bring(b, X) == KEY.id
        regions.force()
        assert not a.is_known(KEY), "its commit did not come"
        assert meaning(a) == X


def test_a_region_that_rejoins_takes_what_the_id_means_meanwhile_over_what_it_has_left(aws: Account) -> None:
    """While it joins it may be told of nothing: the copy brings it."""
    with closing(two(aws, 4, required=False)) as regions:
        a, b = regions.sites
        left_by_one_that_was_cut_off(a, X)
        regions.turned(b)
        regions.force()
        regions.mended()
        while not regions.tally["rejoined"]:
            regions.rejoin()
        regions.mended()
        assert b.link
        b.link.is_cut = True
        assert bring(b, Y) == KEY.id
        regions.mended()
        regions.pass_time(MINUTE_MS)
        while a.role.kind is not RegionKind.FOLLOWER:
            regions.rejoin()
            regions.mended()
            regions.turned(a)
        assert a.role.follows(b.role)
        assert (meaning(a), a.aws.bodies.get(KEY).schema.text) == (Y, Y)


def test_an_import_whose_commit_waits_is_read_in_the_survivor_wherever_that_was_cut_off(aws: Account) -> None:
    """Its body is never a tombstone meanwhile, and means something by what the other region has handed over."""
    with closing(two(aws, 5, required=True)) as regions:
        a, b = regions.sites
        bring(a, X)
        ids = count(KEY.id + 1)
        for fault in ENDS:
            for number in count():
                id = next(ids)
                bring(a, a_text(f"T{id}"), id, version=id)
                killing = Killing(number, fault)
                with b.killed(killing):
                    deliver(shipped(a)[-1:], replayer(b))
                if not killing.is_over:
                    break
        regions.force()
        assert not b.is_known(BodyKey(KEY.context, SchemaId(KEY.id + 1))), "its commit waits for the first one"
        told = range(KEY.id + 1, id + 1)
        assert [meaning(b, id) for id in told] == [a_text(f"T{id}") for id in told]


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_commit_that_waits_takes_the_place_of_what_a_refused_import_has_left(aws: Account, *, is_lost: bool) -> None:
    """Whether it is carried out later, from what was kept of it, or the region that made it is lost before."""
    with closing(two(aws, 6 + is_lost, required=False)) as regions:
        a, b = regions.sites
        left_by_one_that_was_cut_off(b, X)
        assert a.link
        a.link.is_cut = True
        bring(a, a_text("First"), KEY.id + 1)
        bring(a, Y, version=2)
        first, second = shipped(a)[-2:]
        assert deliver([second], replayer(b)) == {Verdict.EARLY: 1}
        if is_lost:
            regions.force()
        else:
            assert deliver([first], replayer(b)) == {Verdict.CARRY_OUT: 1}
        assert (b.is_known(KEY), meaning(b)) == (not is_lost, Y)


def test_a_commit_whose_id_has_another_content_here_diverges_and_does_not_wait(aws: Account) -> None:
    """Carried out later, from what was kept of it, it would be compared with nothing."""
    with closing(two(aws, 8, required=False)) as regions:
        a, b = regions.sites
        bring(a, X)
        regions.turned(b)
        b.aws.bodies.mend(KEY, a_body(Y), b.aws.bodies.get(KEY))
        bring(a, a_text("First"), KEY.id + 1, version=2)
        bring(a, X, version=3)
        assert deliver(shipped(a)[-1:], replayer(b)) == {Verdict.EARLY: 1}
        assert (len([*replayer(b).aside()]), len([*replayer(b).apart()])) == (0, 1)
