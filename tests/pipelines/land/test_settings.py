"""`land.yaml` says what it means, or one sentence says what is wrong with it."""

from datetime import timedelta
from pathlib import Path

import pytest

from pipelines.land.plan import Policy, Reader, Strategy
from pipelines.land.settings import InvalidLanding, KafkaPart, Landing, read
from sigla.settings import Address

SMALL = """
registry: {data: registry}
source: {kind: files, path: raw}
bind: [{topic: orders}]
sink: {lake: lake}
work: work
"""


def read_text(tmp_path: Path, text: str) -> Landing:
    path = tmp_path / "land.yaml"
    path.write_text(text)
    return read(path)


def test_what_is_not_said_has_a_sensible_default(tmp_path: Path) -> None:
    landing = read_text(tmp_path, SMALL)
    (binding,) = landing.bindings
    assert (binding.part, binding.strategy, binding.reader, binding.table) == (
        "value",
        Strategy.TOPIC,
        Reader("latest"),
        "orders",
    )
    assert landing.checks.checks.membership is Policy.FAIL
    assert landing.stop_if.bad_ratio == 0.2
    assert landing.registry.address == Address(data="registry")


def test_everything_can_be_said(tmp_path: Path) -> None:
    landing = read_text(
        tmp_path,
        """
name: orders
registry: {bucket: schemas, table: sigla, name: prod, context: ".eu"}
source: {kind: kafka, brokers: "a:9092,b:9092", start: latest, max_offsets: 5_000_000, options: {a.b: SSL}}
bind:
  - {topic: orders, strategy: TopicRecordName, reader: {version: 3}, table: "shop.{record}"}
  - {topic: orders, part: key, reader: {id: 7}}
  - {topic: events, strategy: RecordName, records: [com.acme.Clicked, com.acme.Seen]}
checks: {membership: allow, deleted: fail, trailing: allow, max_bytes: 1MiB, depth: 20}
sink: {kind: iceberg, lake: s3://lake, evolve: pin, zstd: 9, row_group: 1000, namespace: shop, catalog: {type: glue}}
stop_if: {bad_ratio: 0.5, min_rows: 10}
trigger: {every: 5m}
work: s3://lake/_sigla
max_stale: 2h
""",
    )
    assert isinstance(landing.source, KafkaPart)
    assert landing.topics == ("orders", "events")
    assert landing.bindings[0].table_of("com.acme.Paid") == "shop.com.acme.Paid"
    assert landing.bindings[0].subject("com.acme.Paid") == "orders-com.acme.Paid"
    assert landing.bindings[1].subject() == "orders-key"
    assert landing.bindings[2].table == "events.{record}"
    assert landing.checks.checks.limits.max_bytes == 2**20
    assert landing.checks.checks.limits.trailing
    assert landing.sink.format.by_day
    assert (landing.trigger.every, landing.max_stale) == (timedelta(minutes=5), timedelta(hours=2))


@pytest.mark.parametrize(
    "change, said",
    [
        (("work: work", ""), "`work`: Field required"),
        (("work: work", "work: work\nworks: 1"), "`works`: Extra inputs are not permitted"),
        (("{data: registry}", "{}"), "either `data` or `bucket`"),
        (("{data: registry}", "{data: a, bucket: b}"), "either `data` or `bucket`"),
        (("kind: files", "kind: pulsar"), "`source`"),
        (("{topic: orders}", "{topic: orders, reader: newest}"), "`latest`, `{version: N}` or `{id: N}`"),
        (("{topic: orders}", "{topic: orders, strategy: RecordName}"), "say in `records` which"),
        (("{topic: orders}", "{topic: orders, records: [a]}"), "strategies that go by them"),
        (("{topic: orders}", "{topic: orders, strategy: TopicRecordName, table: t}"), "must have `{record}` in it"),
        (("{topic: orders}", "{topic: orders, part: key}"), "its values are not"),
        (("{topic: orders}", "{topic: orders}, {topic: orders}"), "bound once"),
        (("{topic: orders}", "{topic: a}, {topic: a, part: key, table: t}"), "a key has no table"),
        (("[{topic: orders}]", "[]"), "`bind`"),
        (("work: work", "work: work\ntrigger: {every: 60}"), "a number with its unit"),
        (("work: work", "work: work\nchecks: {max_bytes: 8 pounds}"), "a size is"),
        (("work: work", "work: work\nstop_if: {bad_ratio: 2}"), "`stop_if.bad_ratio`"),
        (("work: work", "work: [work"), "cannot be read"),
        (("work: work", "- nothing"), "cannot be read"),
    ],
)
def test_what_is_wrong_is_one_sentence(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidLanding) as invalid:
        read_text(tmp_path, SMALL.replace(*change))
    assert said in str(invalid.value)
    assert "\n" not in str(invalid.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidLanding, match=r"nowhere\.yaml cannot be read"):
        read(tmp_path / "nowhere.yaml")
