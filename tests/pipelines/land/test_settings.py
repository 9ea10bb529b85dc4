"""`land.yaml` says what it means, or one sentence says what is wrong with it."""

from datetime import timedelta
from pathlib import Path

import pytest

from sigla.settings import Address
from sigla_pipelines.land.bindings import Policy, Reader, Strategy
from sigla_pipelines.land.decoders import extension
from sigla_pipelines.land.decoders.decoder import Additional, Native
from sigla_pipelines.land.settings import InvalidLanding, KafkaPart, Landing, parse_landing, read_settings

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
    return read_settings(path)


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
    assert landing.registry.address == Address.of(data="registry")


def test_properties_beyond_a_schema_are_kept_unless_the_settings_say_drop(tmp_path: Path) -> None:
    assert read_text(tmp_path, SMALL).sink.additional is Additional.KEEP
    dropping = SMALL.replace("{lake: lake}", "{lake: lake, additional: drop}")
    assert read_text(tmp_path, dropping).sink.additional is Additional.DROP


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
    assert (landing.trigger.every, landing.max_stale) == (timedelta(minutes=5), timedelta(hours=2))


@pytest.mark.parametrize(
    "change, said",
    [
        (("work: work", ""), "`work`: is missing"),
        (("work: work", "work: work\nworks: 1"), "`works`: unknown setting"),
        (("{data: registry}", "{}"), "either `data` or `bucket`"),
        (("{data: registry}", "{data: a, bucket: b}"), "either `data` or `bucket`"),
        (("{data: registry}", "{data: a, context: eu}"), "it must begin with a dot: `context: .eu`"),
        (("kind: files", "kind: pulsar"), "`source`"),
        (("{topic: orders}", "{topic: orders, reader: newest}"), "`latest`, `{version: N}` or `{id: N}`"),
        (("{topic: orders}", "{topic: orders, strategy: RecordName}"), "RecordName needs `records`"),
        (("{topic: orders}", "{topic: orders, strategy: RecordName, records: [':.b:p']}"), "set `registry.context`"),
        (("{topic: orders}", "{topic: orders, strategy: TopicRecordName, reader: {id: 1}}"), "an id needs `records`"),
        (("{topic: orders}", "{topic: orders, records: [a]}"), "`records` needs the strategy"),
        (("{topic: orders}", "{topic: orders, strategy: TopicRecordName, table: t}"), "must contain `{record}`"),
        (("{topic: orders}", "{topic: orders, part: key}"), "its values are not"),
        (
            ("{topic: orders}", "{topic: o, strategy: TopicRecordName, message: M}"),
            "`message` needs the strategy TopicName",
        ),
        (("{topic: orders}", "{topic: orders}, {topic: orders}"), "two bindings have the same topic and part"),
        (("{topic: orders}", "{topic: a}, {topic: a, part: key, table: t}"), "a key has no `table`"),
        (("[{topic: orders}]", "[]"), "`bind`"),
        (("work: work", "work: work\ntrigger: {every: 60}"), "a number and a unit"),
        (("work: work", "work: work\nchecks: {max_bytes: 8 pounds}"), "expected a size"),
        (("work: work", "work: work\nstop_if: {bad_ratio: 2}"), "`stop_if.bad_ratio`"),
        (("work: work", "work: [work"), "cannot be read"),
        (("work: work", "- nothing"), "cannot be read"),
        ((SMALL, ""), "is empty: it needs `registry`, `source`, `bind`, `sink` and `work`"),
        ((SMALL, "- orders"), "expected a mapping"),
        ((SMALL, "[" * 2_000), "cannot be read"),
        (("[{topic: orders}]", "[orders]"), "`bind.0`: expected a mapping, as in {name: value}."),
        (("[{topic: orders}]", "orders"), "`bind`: expected a list"),
        (("{topic: orders}", "{topic: ''}"), "`bind.0.topic`"),
        (("{topic: orders}", "{topic: a/b}"), "`bind.0.topic`"),
        (("{topic: orders}", "{topic: _quarantine}"), "the job uses the table _quarantine itself"),
        (("{topic: orders}", "{topic: orders, table: _resolved}"), "choose another for orders"),
        (("{topic: orders}", "{topic: orders, reader: {version: true}}"), "`latest`, `{version: N}`"),
        (("{topic: orders}", "{topic: orders, reader: {id: -5}}"), "`latest`, `{version: N}`"),
        (("{topic: orders}", "{topic: orders, reader: {id: 99999999999}}"), "`latest`, `{version: N}`"),
        (("lake: lake", "lake: ''"), "`sink.lake`"),
        (("path: raw", "path: ''"), "`source.path`"),
        (("work: work", "work: ''"), "`work`"),
        (("work: work", "work: work\nchecks: {max_bytes: 0}"), "`checks.max_bytes`"),
        (("work: work", "work: work\nchecks: {depth: 101}"), "`checks.depth`: expected less than or equal to 100"),
        (("work: work", "work: work\nmax_stale: 99999999999999999d"), "expected a duration of at most 36500d"),
        (("work: work", f"work: work\nmax_stale: {'9' * 5_000}d"), "expected a duration of at most 36500d"),
        (("work: work", "work: work\ntrigger: {every: 999999999d}"), "expected a duration of at most 36500d"),
        (("work: work", f"work: work\nchecks: {{max_bytes: '{'9' * 5_000}'}}"), "expected a size"),
        (("work: work", "work: work\nchecks: {values: yes}"), "`checks.values`: expected a valid integer"),
        (("work: work", "work: work\nstop_if: {bad_ratio: true}"), "`stop_if.bad_ratio`: expected a valid number"),
        (("work: work", "work: work\nstop_if: {bad_ratio: .nan}"), "`stop_if.bad_ratio`: expected"),
        (("{topic: orders}", "{topic: orders, table: 2024}"), "`bind.0.table`: expected a text: put it in quotes"),
        (
            ("{topic: orders}", "{topic: orders, table: 't.{record}'}"),
            "`{record}` in `table` needs the strategy",
        ),
        (("{topic: orders}", "{topic: orders, strategy: RecordName, records: ['']}"), "`bind.0.records.0`: is empty"),
        (("[{topic: orders}]", "[]"), "`bind`: is empty"),
        (
            ("{topic: orders}", "{topic: orders, tabel: t}"),
            "Valid settings: topic, part, strategy, reader, records, table, message, mode,",
        ),
        (
            ("path: raw", "path: raw, batch: 1"),
            "`source.batch`: unknown setting. Valid settings: kind, path, batch_f",
        ),
        (("work: work", "work: work\n1: 2"), "`1`: expected a text: put it in quotes"),
        (("lake: lake", "lake: lake, catalog: sql"), "`sink.catalog`: expected a mapping"),
        (("lake: lake", "lake: lake, namespace: a..b"), "a level of the namespace a..b is empty"),
        (("kind: files, path: raw", f"kind: kafka, brokers: b, max_offsets: {2**63}"), "expected less than"),
        (("kind: files", "kind: pulsar"), "`source`: expected `kind: kafka` or `kind: files`"),
        (("kind: files, path", "path"), "`source`: expected `kind: kafka` or `kind: files`"),
        (("{data: registry}", "{data: ~/registry}"), "Only a shell expands ~/registry"),
        (("{topic: orders}", "{topic: orders, skip: [a]}"), "`skip` needs a pattern, and orders is a topic"),
        (("{topic: orders}", "{topic: 'a.*', table: '{2}'}"), "`table` names {2}, but `topic` contains 1 of `*`"),
        (("{topic: orders}", "{topic: 'a.*'}, {topic: 'a.*'}"), "two bindings have the same topic and part"),
        (
            ("{topic: orders}]", "{topic: 'a.*'}]\ndead_letter: {topic: '{topic}.dlq', brokers: b}"),
            "`bind` names their topic a.x.dlq, too; where a pattern does, `skip`",
        ),
        (("{topic: orders}", "{topic: 'a.*', mode: upsert}"), "needs the name of a topic, and a.* is a pattern"),
        (("{topic: orders}", "{topic: 'a.*'}, {topic: b, part: key}"), "keys of b are bound, but its values are not"),
        (("work: work", "work: work\ndefaults: {topic: a}"), "unknown setting `defaults.topic`. Valid settings: "),
        (("work: work", "work: work\ndefaults: {reader: newest}"), "`bind.0.reader`: expected a reader: `latest`"),
        (("work: work", "work: work\ndefaults: yes"), "`defaults`: expected a mapping"),
        (("kind: files, path: raw", "kind: kafka, brokers: b, start: first"), "`source.start`: expected `earliest`"),
        (
            ("kind: files, path: raw", "kind: kafka, brokers: b, start: {a: {b: 1}}"),
            "invalid offsets: expected an offset for each partition",
        ),
        (("kind: files, path: raw", "kind: kafka, brokers: b, start: {time: noon}"), "invalid time 'noon'"),
        (("kind: files, path: raw", "kind: kafka, brokers: b, start: {time: 2026-11-01}"), "lacks a time zone"),
        (("{data: registry}", "{data: ' '}"), "it is blank, or contains"),
        (("{data: registry}", "{data: a, name: ''}"), "`registry.name`: is empty"),
        (("{data: registry}", "{data: a, context: '.a:b'}"), "a context cannot contain a colon"),
    ],
)
def test_what_is_wrong_is_one_sentence(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidLanding) as invalid:
        read_text(tmp_path, SMALL.replace(*change))
    assert said in str(invalid.value)
    assert "\n" not in str(invalid.value)


@pytest.mark.parametrize(
    "change, said",
    [
        (("work: work", "work: work\nwork: other"), "`work` occurs twice (line 7)"),
        (("{data: registry}", "{data: registry, data: other}"), "`data` occurs twice (line 2)"),
        (("{topic: orders}", "{topic: orders, reader: {id: 1, id: 2}}"), "`id` occurs twice (line 4)"),
        (("work: work", r'work: "a\0b"'), "which cannot be stored (line 6)"),
        (("{topic: orders}", r'{topic: orders, table: "x\ud800"}'), "which cannot be stored (line 4)"),
        (("{data: registry}", r'{data: registry, context: ".\udfff"}'), "which cannot be stored (line 2)"),
        (("work: work", r'"work\0": work'), "which cannot be stored"),
        (("work: work", "work: !!binary AA=="), "tag:yaml.org,2002:binary"),
        (("work: work", "work: !!python/object:os.system x"), "tag:yaml.org,2002:python/object:os.system"),
        (("work: work", "work: 0b_"), "invalid int `0b_`; if it is meant as a text, put it in quotes (line 6)"),
        (("work: work", f"work: {'9' * 5_000}"), f"invalid int `{'9' * 60}`"),
        (("work: work", "work: !!bool perhaps"), "invalid bool `perhaps`"),
        (("work: work", "work: !!timestamp today"), "invalid timestamp `today`"),
        (("work: work", "work: work\n---\nwork: work"), "expected a single document in the stream, but found another"),
    ],
)
def test_what_yaml_lets_pass_or_chokes_on_is_one_sentence_with_its_line(
    change: tuple[str, str], said: str, tmp_path: Path
) -> None:
    """The last one of two equal keys would win, and no file could be made from a text without bytes."""
    with pytest.raises(InvalidLanding, match=r"land\.yaml cannot be read: .*\.$") as invalid:
        read_text(tmp_path, SMALL.replace(*change))
    assert said in str(invalid.value)
    assert "\n" not in str(invalid.value)


def test_anchors_and_merges_are_no_repetition(tmp_path: Path) -> None:
    """What is merged may be said again: that is what merging is for, also by several from one."""
    landing = read_text(
        tmp_path,
        """
registry: {data: registry}
source: {kind: files, path: raw}
bind:
  - &first {topic: orders, reader: {id: 1}, table: t}
  - &second {<<: *first, topic: events, table: u}
  - {<<: *second, topic: clicks}
sink: {lake: lake}
work: work
""",
    )
    assert [(each.topic, each.reader.number, each.table) for each in landing.bindings] == [
        ("orders", 1, "t"),
        ("events", 1, "u"),
        ("clicks", 1, "u"),
    ]


def test_no_setting_is_a_switch_or_a_day_so_what_looks_like_one_is_a_text(tmp_path: Path) -> None:
    landing = read_text(
        tmp_path,
        """
registry: {data: registry}
source: {kind: kafka, brokers: b, options: {check.crcs: false}}
bind: [{topic: on, table: 2024-05-01}, {topic: 'yes'}]
sink: {lake: 2024-13-45}
work: work
""",
    )
    assert isinstance(landing.source, KafkaPart)
    assert landing.source.options == {"check.crcs": "false"}
    assert (landing.topics, landing.bindings[0].table, landing.sink.lake) == (("on", "yes"), "2024-05-01", "2024-13-45")


def test_a_file_is_utf_8_wherever_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "land.yaml"
    path.write_bytes(SMALL.replace("work: work", "work: größe").encode())
    assert read_settings(path).work == "größe"
    path.write_bytes(SMALL.replace("work: work", "work: größe").encode("latin-1"))
    with pytest.raises(InvalidLanding, match=r"cannot be read: .*#x00f6: invalid start byte"):
        read_settings(path)


def test_a_folder_is_no_file_of_settings(tmp_path: Path) -> None:
    with pytest.raises(InvalidLanding, match=r"cannot be read \(Is a directory\)"):
        read_settings(tmp_path)


@pytest.mark.parametrize(
    "option, said",
    [
        ("bootstrap.servers: x", "the option bootstrap.servers cannot be set here: use `source.brokers`"),
        ("kafka.bootstrap.servers: x", "use `source.brokers`"),
        ("Bootstrap.Servers: x", "use `source.brokers`"),
        ("subscribe: x", "use `bind`"),
        ("startingOffsets: latest", "use `source.start`"),
        ("auto.offset.reset: latest", "use `source.start`"),
        ("maxOffsetsPerTrigger: '5'", "use `source.max_offsets`"),
        (
            "kafka.security.protocol: SSL",
            "unknown option kafka.security.protocol: expected one of Kafka's consumer",
        ),
        (
            "failOnDataLoss: 'false'",
            "unknown option failOnDataLoss: expected one of Kafka's consumer, as",
        ),
        ("session.timeout.ms: 45000", "`source.options.session.timeout.ms`: expected a text"),
    ],
)
def test_an_option_of_kafka_neither_overrides_a_setting_nor_is_passed_over(option: str, said: str) -> None:
    with pytest.raises(InvalidLanding) as invalid:
        parse_landing(
            SMALL.replace("{kind: files, path: raw}", f"{{kind: kafka, brokers: b, options: {{{option}}}}}"), "x"
        )
    assert said in str(invalid.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidLanding, match=r"nowhere\.yaml cannot be read"):
        read_settings(tmp_path / "nowhere.yaml")


def test_the_environment_says_before_the_settings_whether_the_extension_is_used() -> None:
    assert extension.chosen_native(Native.AUTO, {}) is Native.AUTO
    assert extension.chosen_native(Native.AUTO, {"SIGLA_NATIVE": "off"}) is Native.OFF
    with pytest.raises(ValueError, match=r"Unknown value of SIGLA_NATIVE: yes\. Valid values: auto, on, off\."):
        extension.chosen_native(Native.AUTO, {"SIGLA_NATIVE": "yes"})


def test_an_extension_that_is_missing_is_told_once_and_refused_where_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extension, "installed", lambda: None)
    assert extension.chosen_extension(Native.AUTO) is None
    assert "sigla-registry-native is not installed" in extension.remark(Native.AUTO)
    assert extension.remark(Native.OFF) == ""
    with pytest.raises(extension.NotInstalled, match="`native: on` asks for it"):
        extension.chosen_extension(Native.ON)
