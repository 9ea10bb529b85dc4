"""JSON Schema texts: what is read, and how it is written again."""

import pytest

from sigla.errors import Malformed
from sigla.languages.json_schema import LANGUAGE, differences
from sigla.languages.json_schema.text import read, written
from sigla.model import Parsed

CANONICAL = {
    '{ "type" : "object" , "title":"T" }': '{"type":"object","title":"T"}',
    '{"minimum":1.0,"maximum":1e5,"multipleOf":0.10}': '{"minimum":1.0,"maximum":1E+5,"multipleOf":0.10}',
    '{"minimum":-0.0,"maximum":12345678901234567890.5}': '{"minimum":0.0,"maximum":12345678901234567890.5}',
    '{"title":"caf\\u00e9 \\u001f a\\/b \\"q\\""}': '{"title":"café \\u001F a/b \\"q\\""}',
    " true": "true",
    '{"type":"string","title":"a","type":"integer"} rest': '{"type":"integer","title":"a"}',
    '{"enum":[1E400,1e-3,100,12e1,1e-7,0e3,-0]}': '{"enum":[1E+400,0.001,100,1.2E+2,1E-7,0E+3,0]}',
    '{"default":NaN,"examples":[Infinity,-Infinity]}': '{"default":"NaN","examples":["Infinity","-Infinity"]}',
    '{"enum":[1e0,1.0e1,-10e0,123456789012345678901234567890]}': '{"enum":[1,10,-10,123456789012345678901234567890]}',
    '{"a":{},"b":[],"c":[{}]}': '{"a":{},"b":[],"c":[{}]}',
}
NO_JSON = ["", "{a:1}", "{'type':'string'}", '{"a":1,}', '/*c*/{"a":1}', "[", '{"a":01}', '{"a":"\n"}', "\ufeff{}"]


def new(text: str) -> Parsed:
    return LANGUAGE.parse(text, (), True)


@pytest.mark.parametrize("text, canonical", CANONICAL.items(), ids=str)
def test_a_text_is_stored_compactly_and_without_loss(text: str, canonical: str) -> None:
    assert new(text).canonical == canonical
    assert new(canonical).canonical == canonical


@pytest.mark.parametrize("text", NO_JSON, ids=repr)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        new(text)


@pytest.mark.parametrize(
    "number", ["1E400000000000000000000", "1e-99999999999", "0E99999999999", "1" * 5_000, "1." + "1" * 5_000 + "e5000"]
)
def test_numbers_beyond_all_use_are_refused(number: str) -> None:
    with pytest.raises(Malformed):
        new(f'{{"minimum":{number}}}')


@pytest.mark.parametrize("number", ["1E+400000000", "1E-400000000"])
def test_a_giant_exponent_costs_nothing(number: str) -> None:
    assert written(read(f"[{number}]")) == f"[{number}]"


@pytest.mark.parametrize("text", ['{"title":"\\ud800"}', '{"\\udc00":1}'])
def test_half_a_surrogate_pair_cannot_be_stored(text: str) -> None:
    with pytest.raises(Malformed, match="surrogate"):
        new(text)


def test_keys_are_normalised_by_utf_16_and_lists_are_left_alone() -> None:
    """A character beyond U+FFFF stands before U+FB01, although its code point is greater."""
    schema = new('{"b":1,"a":{"ﬁ":2,"😀":[3,{"z":1,"y":2},1]},"10":1,"9":1}')
    assert LANGUAGE.normalise(schema).canonical == '{"10":1,"9":1,"a":{"😀":[3,{"y":2,"z":1},1],"ﬁ":2},"b":1}'


def test_schemas_are_the_same_if_their_texts_are() -> None:
    assert LANGUAGE.equivalent(new('{"minimum":1E5}'), new(' {"minimum":1e+5}'))
    assert LANGUAGE.digest(new('{"minimum":1E5}')) == LANGUAGE.digest(new(' {"minimum":1e+5}'))
    for other in ('{"minimum":1.0}', '{"minimum":2}', '{"maximum":1}'):
        assert not LANGUAGE.equivalent(new('{"minimum":1}'), new(other))
        assert LANGUAGE.digest(new('{"minimum":1}')) != LANGUAGE.digest(new(other))


@pytest.mark.parametrize("form", ["", "resolved", "serialized"])
def test_there_is_one_form_only(form: str) -> None:
    schema = new('{ "$ref": "#" }')
    assert LANGUAGE.render(schema, form) == schema.canonical
    assert LANGUAGE.compiled(schema) is None


@pytest.mark.parametrize("zero", ["-0.0", "-0.00", "-0e5", "-0E-10", "-0", "-0.0e3"])
@pytest.mark.parametrize(
    "text",
    [
        '{"type":"number","default":%s}',
        '{"enum":[%s]}',
        '{"enum":[%s,0.0,{"a":[%s]}]}',
        '{"const":%s}',
        '{"type":"number","minimum":%s,"maximum":%s,"exclusiveMinimum":%s}',
        '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"number","multipleOf":%s}',
        '{"oneOf":[{"const":%s},{"const":1}],"x-own":[%s]}',
    ],
)
def test_a_schema_with_a_negative_zero_is_the_same_as_what_is_stored_of_it(text: str, zero: str) -> None:
    """The zero is stored without its sign. Whoever registers the text again would be told that it is incompatible."""
    offered = new(text.replace("%s", zero))
    stored = new(offered.canonical)
    assert stored.canonical == offered.canonical
    assert differences(offered, stored) == differences(stored, offered) == ()
    assert differences(LANGUAGE.normalise(offered), stored) == ()


def test_a_zero_keeps_its_exponent() -> None:
    assert new('{"default":-0E+400000000}').canonical == '{"default":0E+400000000}'
