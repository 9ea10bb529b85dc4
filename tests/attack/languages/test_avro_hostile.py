"""Texts made to hurt. Counted in levels, nodes and steps: clocks differ between machines."""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest

from sigla.errors import CheckAbandoned, Malformed
from sigla.languages import LANGUAGES
from sigla.languages.avro import limits
from sigla.languages.language import MAX_STEPS, Budget
from sigla.model import Parsed, Resolved

AVRO = LANGUAGES["AVRO"]


def new(text: str) -> Parsed:
    return AVRO.parse(text, (), True)


def arrays(levels: int) -> str:
    return '{"type":"array","items":' * levels + '"int"' + "}" * levels


def optional_records(levels: int) -> str:
    opened = "".join(
        f'["null",{{"type":"record","name":"R{level}","fields":[{{"name":"f","type":' for level in range(levels)
    )
    return opened + '"int"' + "}]}]" * levels


def chain(length: int, leaf: str, last: str = "") -> str:
    """Records of which each uses the one before it twice, all side by side."""
    records = []
    for number in range(length):
        type_ = f"R{number - 1}" if number else leaf
        fields = ",".join(f'{{"name":"{name}","type":"{type_}"}}' for name in "ab")
        records.append(f'{{"type":"record","name":"R{number}","fields":[{fields}]}}')
    return f"[{','.join(records)}]" if not last else ",".join(records)


def doubling(levels: int, leaf: str) -> str:
    """A record whose only finding is met in two places at each level: 2^levels messages."""
    return (
        f'{{"type":"record","name":"Top","fields":[{{"name":"x","type":"R{levels - 1}"}},'
        f'{{"name":"all","type":[{chain(levels, leaf, "inside")}]}}]}}'
    )


REFUSED: dict[str, Callable[[], str]] = {
    "arrays without end": lambda: arrays(10_000),
    "arrays a few levels too deep": lambda: arrays(limits.MAX_DEPTH + 9),
    "brackets without end": lambda: "[" * 100_000,
    "a deep property": lambda: '{"type":"int","x":' + "[" * 600 + "]" * 600 + "}",
    "a property deeper than the scanner minds": lambda: '{"type":"int","x":' + "[" * 300 + "]" * 300 + "}",
    "a deep default": lambda: (
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":' + "[" * 400 + "]" * 400 + "}]}"
    ),
    "a chain of uses before definition": lambda: doubling(1_000, "int"),
    "too many fields": lambda: (
        '{"type":"record","name":"R","fields":['
        + ",".join(f'{{"name":"f{number}","type":"int"}}' for number in range(limits.MAX_NODES))
        + "]}"
    ),
    "too many values": lambda: '{"type":"int","x":[' + "1," * limits.MAX_VALUES + "1]}",
    "a number of 5,000 digits": lambda: '{"type":"int","x":' + "1" * 5_000 + "}",
    "a number of 5,000 digits after a comment": lambda: "/**/" + '{"type":"int","x":' + "1" * 5_000 + "}",
    "half a surrogate pair, escaped": lambda: r'{"type":"int","x":"\ud800"}',
    "half a surrogate pair, raw": lambda: '{"type":"int","\udc00":1}',
    "comments never closed": lambda: "/*" * 1_000_000,
    "a string never closed": lambda: '//\n"' + '\\"' * 1_000_000,
    "deep lists behind a comment": lambda: "/**/" + "[" * 100_000,
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
def test_what_is_too_much_is_refused_in_a_sentence(text: Callable[[], str], strict: bool) -> None:
    """Never a stack that overflows, and no other exception."""
    with pytest.raises(Malformed) as malformed:
        AVRO.parse(text(), (), strict)
    assert 0 < len(malformed.value.reason) < 300


@pytest.mark.parametrize("levels", [100, limits.MAX_DEPTH])
def test_what_is_deep_but_allowed_goes_all_the_way(levels: int) -> None:
    """Reading, printing, normalising and comparing have one idea of how deep is too deep."""
    schema = new(arrays(levels))
    assert AVRO.normalise(schema).canonical == schema.canonical
    assert AVRO.compare(schema, schema) == ()
    assert AVRO.equivalent(schema, schema)


def test_a_hundred_optional_records_in_each_other_can_be_compared() -> None:
    """Deeper than anyone writes, and still compared to the bottom."""
    deep = optional_records(100)
    assert AVRO.compare(new(deep), new(deep)) == ()
    assert len(AVRO.compare(new(deep.replace('"int"', '"bytes"')), new(deep))) == 1


def test_an_enum_of_a_hundred_thousand_symbols_is_no_trouble() -> None:
    """Large is not hostile."""
    symbols = ",".join(f'"S{number}"' for number in range(100_000))
    large = new(f'{{"type":"enum","name":"E","symbols":[{symbols}]}}')
    small = new('{"type":"enum","name":"E","symbols":["S0"]}')
    assert AVRO.compare(large, small) == ()
    (finding,) = AVRO.compare(small, large)
    assert finding.detail.count(",") == 99_998


def test_a_text_of_ten_megabytes_is_read() -> None:
    """A long doc is one value."""
    schema = new('/* */ {"type":"record","name":"R","fields":[],"doc":"' + "\\\\" * 5_000_000 + '"}')
    assert len(schema.canonical) > 10_000_000


def test_findings_that_double_at_each_level_end_the_check() -> None:
    """A hundred levels would be more messages than there are atoms; the steps are counted, findings among them."""
    with pytest.raises(CheckAbandoned, match="steps"):
        AVRO.compare(new(doubling(100, "string")), new(doubling(100, "int")))


def test_unions_of_thousands_of_records_end_the_check() -> None:
    """Each branch against each: the count of pairs is limited, not the size of the schema."""
    union = new("[" + ",".join(f'{{"type":"record","name":"R{n}","fields":[]}}' for n in range(3_000)) + "]")
    with pytest.raises(CheckAbandoned, match="Unexpected exception during compatibility check: "):
        AVRO.compare(union, union)


def test_a_thousand_shared_records_cost_a_step_or_two_each() -> None:
    """A definition that is used often is compared once: the steps grow with the fields, not with the paths to them."""
    fields = ",".join(f'{{"name":"f{n}","type":"S"}}' for n in range(1_000))
    inner = '{"type":"record","name":"S","fields":[{"name":"a","type":{"type":"map","values":"int"}}]}'
    schema = new(f'{{"type":"record","name":"R","fields":[{{"name":"s","type":{inner}}},{fields}]}}')
    assert steps(schema, schema) < 2_100


def steps(reader: Parsed, writer: Parsed) -> int:
    """What a comparison takes, up to where it is abandoned."""
    budget = Budget()
    with suppress(CheckAbandoned):
        AVRO.compare(reader, writer, budget)
    return MAX_STEPS - budget.left


def records(count: int, **more: object) -> list[object]:
    return [{"type": "record", "name": f"R{n}", "fields": [], **more} for n in range(count)]


def test_steps_grow_with_the_branches_that_are_tried() -> None:
    """In the order of the writer half as many as the other way round, of which none is the first."""
    union = records(100)
    one, other = new(json.dumps(union)), new(json.dumps(union[::-1]))
    assert 100 * 50 < steps(one, one) < 100 * 50 * 6
    assert 100 * 50 < steps(one, other) < 100 * 50 * 6


def test_names_are_paid_for_as_often_as_they_are_looked_at() -> None:
    """Symbols and aliases of a hundred definitions, each against each."""
    names = [f"n{n}" for n in range(800)]
    enums = [{"type": "enum", "name": f"E{n}", "symbols": names} for n in range(100)]
    own, of_fields = records(100, aliases=names), [{"name": "f", "type": "int", "default": 0, "aliases": names}]
    for union in (enums, own, records(100, fields=of_fields)):
        assert steps(new(json.dumps(union[::-1])), new(json.dumps(union))) > 100 * 50 * 100


def test_a_long_finding_is_paid_for_whenever_it_is_reported() -> None:
    """An enum that lacks 10,000 symbols, in 200 places: messages of 28 MB."""

    def used(symbol: str) -> Parsed:
        enum = {"type": "enum", "name": "E", "symbols": [f"{symbol}{n}" for n in range(10_000)]}
        uses = [{"name": f"u{n}", "type": "E"} for n in range(200)]
        return new(json.dumps({"type": "record", "name": "R", "fields": [{"name": "e", "type": enum}, *uses]}))

    with pytest.raises(CheckAbandoned, match="steps"):
        AVRO.compare(used("a"), used("b"))


def test_comparisons_may_share_a_budget() -> None:
    """Each takes the same from it, until there is not enough."""
    schema = new(json.dumps(records(10)))
    once = steps(schema, schema)
    budget = Budget(3 * once)
    for _ in range(3):
        assert AVRO.compare(schema, schema, budget) == ()
    assert budget.left == 0
    with pytest.raises(CheckAbandoned, match="steps"):
        AVRO.compare(schema, schema, budget)


def test_references_as_deep_as_you_like_can_be_looked_up() -> None:
    """Each text is flat, the whole is not: inlining it is refused, equality is still decided."""
    references = [
        Resolved(f"R{n}", f'{{"type":"record","name":"R{n}","fields":[{{"name":"a","type":"{before}"}}]}}')
        for n, before in enumerate(["int", *(f"R{n}" for n in range(999))])
    ]
    schema = AVRO.parse('"R999"', references, True)
    assert AVRO.equivalent(schema, schema)
    assert AVRO.digest(schema) == AVRO.digest(AVRO.normalise(schema))
    assert AVRO.tagged(schema) == ()
    with pytest.raises(Malformed):
        AVRO.render(schema, "resolved")
    with pytest.raises(CheckAbandoned):
        AVRO.compare(schema, schema)


def test_a_default_that_could_be_tried_for_ever_is_refused() -> None:
    """Unions in unions: two ways to go at each of sixty levels."""
    branches = '["A","B"]'
    records = ",".join(
        f'{{"type":"record","name":"{name}","fields":[{{"name":"f","type":{branches}}}]}}' for name in "AB"
    )
    default = '{"f":' * 60 + "1" + "}" * 60
    field = f'{{"name":"x","type":{branches},"default":{default}}}'
    text = f'{{"type":"record","name":"T","fields":[{{"name":"all","type":[{records}]}},{field}]}}'
    with pytest.raises(Malformed, match="values"):
        new(text)
    lenient = AVRO.parse(text, (), False)
    with pytest.raises(Malformed, match="values"):
        AVRO.normalise(lenient)


def test_a_caller_near_the_end_of_its_stack_gets_an_answer() -> None:
    """How deep a text may be must not depend on luck: a refusal, whatever is already on the stack."""
    outcomes = {outcome_at(frames, arrays(240)) for frames in range(0, 900, 60)}
    assert outcomes <= {"read", "refused"}


def outcome_at(frames: int, text: str) -> str:
    if frames:
        return outcome_at(frames - 1, text)
    try:
        schema = new(text)
        AVRO.compare(schema, schema)
        AVRO.normalise(schema)
    except (Malformed, CheckAbandoned):
        return "refused"
    return "read"
