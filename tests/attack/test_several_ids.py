"""One content with several ids, which imports give it: both regions in AWS know it by the same one, at any time."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import permutations

import pytest

from sigla.model import BodyKey, Draft, SchemaId
from sigla.ports.replaying import Shipment
from sigla.regions.replay import Verdict
from sigla.rules import names
from sigla.stores.dynamodb.replaying import AwsReplayer
from tests.attack.aws_replay import contents, follower, primary, replayer, shipped
from tests.attack.aws_sites import TableSite, shared
from tests.attack.aws_two_promised import SKEW_MS
from tests.attack.aws_two_regions import TwoTables
from tests.attack.repeatable import repeat
from tests.attack.stories import mode, register
from tests.build import a_text
from tests.contract.aws import Account, account, of_two_parts

CONTEXT = ".imported"
X = a_text("X")


@pytest.fixture(scope="module")
def aws() -> Iterator[Account]:
    with pytest.MonkeyPatch.context() as patched, account() as made:
        of_two_parts(patched)
        repeat(patched).seed(0)
        yield made


def bring(site: TableSite, id: int, number: int) -> None:
    """In a subject of its own: the commits of one are ordered by its head."""
    site.registry.register(names.subject(f":.imported:s{number}"), Draft(X, id=id, version=1))


def check_known_by(regions: TwoTables, id: int) -> None:
    body = regions.here.aws.bodies.get(BodyKey(CONTEXT, SchemaId(id)))
    regions.turned(regions.there)
    assert [site.aws.catalog.id_of(CONTEXT, body.guid) for site in regions.sites] == [id, id]
    mine, theirs = (shared(contents(site)) for site in regions.sites)
    assert mine == theirs


def test_both_regions_know_a_content_by_the_id_written_last_whatever_their_clocks_say(aws: Account) -> None:
    """They change places again and again; one clock is six seconds behind the other one."""
    with closing(TwoTables(aws, 4, required=True)) as regions:
        regions.mended()
        for site, skew_ms in zip(regions.sites, (SKEW_MS, -SKEW_MS), strict=True):
            site.clock._skew_ms = skew_ms
        regions.here.registry.change_mode(names.subject(":.imported:"), "IMPORT")
        bring(regions.here, 6, 1)
        bring(regions.here, 7, 2)
        check_known_by(regions, 7)
        for number, id in enumerate((6, 7, 6, 6, 7), 3):
            while not regions.tally["promoted"]:
                regions.promote()
            regions.tally["promoted"] = 0
            regions.mended()
            bring(regions.here, id, number)
            check_known_by(regions, id)


def test_commits_that_give_a_content_ids_may_come_in_any_order(aws: Account) -> None:
    """One is of a subject that is gone by then, and one writes over what another has brought."""
    with primary(aws) as source:
        for verb in (
            mode(":.c:", "IMPORT"),
            register(":.c:a", X, id=6, version=1),
            register(":.c:b", X, id=7, version=1),
            register(":.c:c", X, id=6, version=1),
            register(":.c:b", a_text("Y"), id=8, version=1),
        ):
            source.clock.time += 7
            verb(source.registry)
        begin, *told = shipped(source)
        for order in permutations(told):
            with follower(aws) as target:
                carry_out(replayer(target), [begin, *order])
                assert contents(target) == contents(source)


def carry_out(target: AwsReplayer, left: Sequence[Shipment]) -> None:
    """Each when what it rests on is there."""
    while left:
        early = [each for each in left if target.carry_out(each) is Verdict.EARLY]
        assert len(early) < len(left)
        left = early
