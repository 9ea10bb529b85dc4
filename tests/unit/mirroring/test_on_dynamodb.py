"""A mirror in AWS: the same turns on DynamoDB's own engine, side by side, and cut off in each of them."""

import asyncio

import pytest

from sigla.journal.replay import replayed
from sigla.upkeep.importing import SIDE_BY_SIDE
from sigla.upkeep.mirroring import Mirror, begin, cut_over
from tests.contract.aws import Account, engine
from tests.protocol.dumped import differences, reads, records
from tests.protocol.test_dump import CutOff, on_aws

__all__ = ["engine"]

TURNS = 4


@pytest.mark.soak
def test_a_topic_that_grows_is_mirrored_into_aws_though_each_turn_is_cut_off_once(engine: Account) -> None:
    whole = records()
    with on_aws(engine) as (registry, _):
        begin(registry)
        for turn in range(1, TURNS + 1):
            state = replayed(whole[: len(whole) * turn // TURNS])

            def cut(what: str, done: int, total: int = 0, /) -> None:
                if what == "versions" and done > total // 2:
                    raise CutOff

            with pytest.raises(CutOff):
                Mirror(registry, threads=SIDE_BY_SIDE, may_remove=True, progress=cut).turn(state)
            mirror = Mirror(registry, threads=SIDE_BY_SIDE, may_remove=True)
            assert mirror.turn(state).is_complete
            assert mirror.turn(state).is_quiet
        cut_over(registry, replayed(whole))
        wanted = [read for read in reads() if not read["path"].startswith("/mode")]
        assert asyncio.run(differences(registry, wanted)) == []
