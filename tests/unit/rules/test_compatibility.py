"""Levels, directions, groups and the message list (LV, GR, RS, MS), with real Avro."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from sigla.contract import STRICT
from sigla.languages import LANGUAGES
from sigla.languages.language import Budget
from sigla.model import Finding, Metadata, Parsed, Version
from sigla.rules import compatibility
from sigla.rules.compatibility import LEVELS, Against, Direction, Earlier, check

AVRO = LANGUAGES["AVRO"]


def avro(text: str) -> Parsed:
    return AVRO.parse(text, (), True)


def pay(kind: str) -> str:
    """P(t), the record of the worked message lists."""
    return f'{{"type":"record","name":"Pay","fields":[{{"name":"amt","type":"{kind}"}}]}}'


def mismatch(reader: str, reads: str, writer: str, wrote: str) -> str:
    return (
        f"{{errorType:'TYPE_MISMATCH', description:'The type (path '/fields/0/type') of a field in the {reader} schema "
        f"does not match with the {writer} schema', additionalInfo:'reader type: {reads} not compatible with "
        f"writer type: {wrote}'}}"
    )


def old_lines(version: int, text: str) -> list[str]:
    return [f"{{oldSchemaVersion: {version}}}", f"{{oldSchema: '{text}'}}"]


def history(*texts: str, group: Sequence[Mapping[str, str] | None] = ()) -> list[Earlier]:
    """Newest first, as the check wants them; written oldest first, as people do."""
    properties = list(group) + [None] * (len(texts) - len(group))
    earlier = [
        Earlier(Version(number), avro(text), None if said is None else Metadata(properties=said))
        for number, (text, said) in enumerate(zip(texts, properties, strict=True), 1)
    ]
    return earlier[::-1]


def messages(level: str, earlier: Sequence[Earlier], new: str) -> list[str]:
    """Without the last line, which must be the one that says the level."""
    found = list(check(avro(new), None, earlier, language=AVRO, level=level))
    if found:
        assert found.pop() == f"{{validateFields: 'false', compatibility: '{level}'}}"
    return found


WORKED: list[tuple[str, list[str], str, list[str]]] = [
    (
        "BACKWARD",
        ["long"],
        "int",
        [mismatch("new", "INT", "old", "LONG"), *old_lines(1, pay("long"))],
    ),
    ("FORWARD", ["int"], "long", [mismatch("old", "INT", "new", "LONG"), *old_lines(1, pay("int"))]),
    ("FULL", ["int"], "long", [mismatch("old", "INT", "new", "LONG")]),
    ("FULL", ["long"], "int", [mismatch("new", "INT", "old", "LONG"), *old_lines(1, pay("long"))]),
    (
        "FULL",
        ["int"],
        "string",
        [mismatch("old", "INT", "new", "STRING"), mismatch("new", "STRING", "old", "INT"), *old_lines(1, pay("int"))],
    ),
    (
        "BACKWARD_TRANSITIVE",
        ["string", "int", "long"],
        "long",
        [mismatch("new", "LONG", "old", "STRING"), *old_lines(1, pay("string"))],
    ),
    ("FULL_TRANSITIVE", ["string", "int", "long"], "long", [mismatch("old", "INT", "new", "LONG")]),
]


@pytest.mark.parametrize("level, earlier, new, expected", WORKED)
def test_the_worked_message_lists(level: str, earlier: list[str], new: str, expected: list[str]) -> None:
    """Word by word what a client of the reference reads (A.4)."""
    assert messages(level, history(*map(pay, earlier)), pay(new)) == expected


INT, LONG, STRING = pay("int"), pay("long"), pay("string")


@pytest.mark.parametrize(
    "level, widened, narrowed, changed",
    [
        ("NONE", True, True, True),
        ("BACKWARD", True, False, False),
        ("BACKWARD_TRANSITIVE", True, False, False),
        ("FORWARD", False, True, False),
        ("FORWARD_TRANSITIVE", False, True, False),
        ("FULL", False, False, False),
        ("FULL_TRANSITIVE", False, False, False),
    ],
)
def test_a_level_says_who_must_read_whom(level: str, *, widened: bool, narrowed: bool, changed: bool) -> None:
    """Int → long is read by new consumers, long → int by old ones, int → string by none."""
    assert (not messages(level, history(INT), LONG)) is widened
    assert (not messages(level, history(LONG), INT)) is narrowed
    assert (not messages(level, history(INT), STRING)) is changed


@pytest.mark.parametrize("level", [name for name, level in LEVELS.items() if level.directions])
def test_only_a_transitive_level_looks_past_the_newest(level: str) -> None:
    """string, then int, then int again: the last change is fine, the way there was not (LV-4)."""
    assert bool(messages(level, history(STRING, INT), INT)) is (LEVELS[level].against is Against.ALL)


def test_the_seven_levels_are_directions_times_reach() -> None:
    """FULL asks the old readers first (LV-6)."""
    assert {name.removesuffix("_TRANSITIVE"): level.directions for name, level in LEVELS.items()} == {
        "NONE": (),
        "BACKWARD": (Direction.NEW_READS_OLD,),
        "FORWARD": (Direction.OLD_READS_NEW,),
        "FULL": (Direction.OLD_READS_NEW, Direction.NEW_READS_OLD),
    }
    assert {name for name, level in LEVELS.items() if level.against is Against.ALL} == {
        "BACKWARD_TRANSITIVE",
        "FORWARD_TRANSITIVE",
        "FULL_TRANSITIVE",
    }


@pytest.mark.parametrize("level", LEVELS)
def test_with_no_history_everything_is_compatible(level: str) -> None:
    """No version can disagree (LV-2)."""
    assert messages(level, [], STRING) == []


def test_a_transitive_check_stops_at_the_first_failure() -> None:
    """Older versions are neither reported nor read (LV-5)."""

    def newest_first() -> Iterator[Earlier]:
        yield from history(INT, STRING, INT)[:2]
        pytest.fail("looked past the version that failed")

    found = list(check(avro(INT), None, newest_first(), language=AVRO, level="BACKWARD_TRANSITIVE"))
    assert "{oldSchemaVersion: 2}" in found


def test_a_plain_level_reads_the_newest_version_alone() -> None:
    """Older bodies are not fetched for nothing."""

    def newest_first() -> Iterator[Earlier]:
        yield history(INT)[0]
        pytest.fail("looked past the newest version")

    assert check(avro(INT), None, newest_first(), language=AVRO, level="FULL") == ()


def test_all_versions_of_a_check_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A union of records turned round can be read, but not be compared with a hundred versions."""
    monkeypatch.setattr(compatibility, "Budget", lambda: Budget(left=100_000, looked=100_000, next_look=99_000))
    records = [f'{{"type":"record","name":"R{n}","fields":[]}}' for n in range(126)]
    old, new = avro(f"[{','.join(records)}]"), avro(f"[{','.join(reversed(records))}]")
    left: list[int] = []

    def compare(
        reader: Parsed, writer: Parsed, budget: Budget | None = None, policy: str = STRICT
    ) -> tuple[Finding, ...]:
        assert budget is not None
        try:
            return AVRO.compare(reader, writer, budget, policy)
        finally:
            left.append(budget.left)

    def found(versions: int) -> tuple[str, ...]:
        earlier = [Earlier(Version(number), old, None) for number in range(versions, 0, -1)]
        return check(new, None, earlier, language=replace(AVRO, compare=compare), level="FULL_TRANSITIVE")

    assert found(1) == ()
    left.clear()
    assert "steps" in found(100)[0]
    assert left == sorted(left, reverse=True)
    assert len(left) < 10


def test_another_type_of_schema_is_one_message() -> None:
    """No old-schema lines; and NONE does not even look (LV-7)."""
    other = [Earlier(Version(1), Parsed("JSON", '{"type":"string"}', None), None)]
    assert messages("BACKWARD", other, '"string"') == ["Incompatible because of different schema type"]
    assert messages("NONE", other, '"string"') == []


def test_a_group_takes_only_its_own_versions() -> None:
    """Versions with another value of the property do not take part; missing equals missing (GR-1)."""
    earlier = history(STRING, INT, LONG, group=[{"major": "1"}, {"major": "2"}, None])

    def found(properties: Mapping[str, str] | None, new: str) -> list[str]:
        metadata = None if properties is None else Metadata(properties=properties)
        return list(check(avro(new), metadata, earlier, language=AVRO, level="BACKWARD", group="major"))

    assert found({"major": "1"}, STRING) == []
    assert found({"major": "2"}, LONG) == []
    assert found({"major": "3"}, STRING) == []
    assert found(None, LONG) == []
    assert found({"minor": "1"}, LONG) == []
    assert "{oldSchemaVersion: 1}" in found({"major": "1"}, INT)
    assert "{oldSchemaVersion: 3}" in found(None, INT)


def test_a_long_old_schema_is_cut() -> None:
    """After 10,240 characters (A.4)."""
    doc = "x" * 10_240
    old = f'{{"type":"record","name":"Pay","doc":"{doc}","fields":[{{"name":"amt","type":"long"}}]}}'
    found = messages("BACKWARD", history(old), INT)
    canonical = AVRO.parse(old, (), True).canonical
    assert found[-1] == f"{{oldSchema: <truncated> '{canonical[:10_240]}...'}}"


def test_a_percent_sign_in_a_schema_is_only_a_percent_sign() -> None:
    """The reference feeds its messages through a formatter and answers 500; ours inserts text literally (MS-6)."""
    old = '{"type":"record","name":"Pay","fields":[{"name":"amt","type":"long","doc":"100%s {0}"}]}'
    found = messages("BACKWARD", history(old), INT)
    assert "100%s {0}" in found[-1]


def reserving(names: str | None) -> Metadata | None:
    return None if names is None else Metadata(properties={"confluent:reserved": names})


@pytest.mark.parametrize("level", LEVELS)
def test_reserved_fields_are_minded_at_every_level(level: str) -> None:
    """A name once reserved stays so, and no field bears it (RS-1, RS-2); reserved-field messages come first."""
    earlier = [Earlier(Version(1), avro(INT), reserving("amt, old"))]
    found = check(avro(INT), reserving(" amt ,new"), earlier, language=AVRO, level=level, validate_fields=True)
    assert found == (
        (
            "The new schema has reserved field old removed from its metadata "
            "which is present in the old schema's metadata."
        ),
        "The new schema has field that conflicts with the reserved field amt.",
        f"{{validateFields: 'true', compatibility: '{level}'}}",
    )


def test_reserved_fields_are_nothing_unless_fields_are_validated() -> None:
    """The setting is off by default."""
    earlier = [Earlier(Version(1), avro(INT), reserving("amt"))]
    assert check(avro(INT), None, earlier, language=AVRO, level="BACKWARD") == ()


def test_reserved_names_are_kept_by_the_latest_version_alone() -> None:
    """What an older version reserved, and the latest does not, is free again."""
    earlier = [Earlier(Version(2), avro(INT), None), Earlier(Version(1), avro(INT), reserving("gone"))]
    assert check(avro(INT), None, earlier, language=AVRO, level="BACKWARD_TRANSITIVE", validate_fields=True) == ()


def test_metadata_and_rules_play_no_part_in_compatibility() -> None:
    """Only structure is compared (LV-10)."""
    earlier = [Earlier(Version(1), avro(INT), Metadata(properties={"owner": "a"}))]
    found = check(avro(INT), Metadata(properties={"owner": "b"}), earlier, language=AVRO, level="FULL_TRANSITIVE")
    assert found == ()
