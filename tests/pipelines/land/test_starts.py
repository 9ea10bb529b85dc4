"""A first run begins where its settings say, or says why it cannot."""

from collections.abc import Mapping

import pytest

from sigla_pipelines.land.starts import NoSuchStart, Start, parse_start, start_offsets

FIRST, LAST = {"0": 10, "1": 0}, {"0": 50, "1": 7}


def ask(at: int) -> Mapping[str, Mapping[str, int]]:
    """Answers for a topic with two partitions; since the first of November 2026 there are records in one of them."""
    return {"orders": {-2: FIRST, -1: LAST}.get(at, {"0": 33, "1": -1}), "clicks": {"0": 3}}


@pytest.mark.parametrize(
    "said, begun",
    [
        ("earliest", {"0": -2, "1": -2}),
        ("latest", {"0": -1, "1": -1}),
        ({"time": "2026-11-01T00:00:00Z"}, {"0": 33, "1": 7}),
        ({"orders": {"time": "2026-11-01T01:00:00+01:00"}}, {"0": 33, "1": 7}),
        ({"orders": {0: 42}}, {"0": 42, "1": -2}),
        ({"orders": {0: 10, 1: 7}}, {"0": 10, "1": 7}),
        ({"orders": "latest"}, {"0": -1, "1": -1}),
        ({"clicks": "latest"}, {"0": -2, "1": -2}),
    ],
)
def test_a_topic_begins_at_an_end_at_a_time_or_at_offsets(said: object, begun: Mapping[str, int]) -> None:
    """Where nothing is so young, with what comes next; partitions and topics that are not named, at the beginning."""
    assert start_offsets(parse_start(said), {"orders": 2, "clicks": 1}, ask)["orders"] == begun


@pytest.mark.parametrize(
    "said, why",
    [
        ({"orders": {0: 9}}, "is offset 9 of orders, partition 0, and Kafka has 10 to 50"),
        ({"orders": {1: 8}}, "is offset 8 of orders, partition 1, and Kafka has 0 to 7"),
        ({"orders": {2: 0}}, "names partition 2 of orders, which has 2 partitions, numbered from 0"),
        ({"paid": "latest"}, "names paid, but `bind` has no such topic"),
    ],
)
def test_what_kafka_does_not_have_is_told_before_anything_is_read(said: object, why: str) -> None:
    """Else Spark would call it lost, or begin somewhere else."""
    with pytest.raises(NoSuchStart, match=why):
        start_offsets(parse_start(said), {"orders": 2, "clicks": 1}, ask)


def test_a_topic_may_be_called_time() -> None:
    assert parse_start({"time": {0: 1}}) == Start(topics={"time": {0: 1}})
