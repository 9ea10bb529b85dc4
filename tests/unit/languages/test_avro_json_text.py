"""JSON read with Avro's tolerance and written as Java writes it."""

import pytest

from sigla.errors import Malformed
from sigla.languages.avro import json_text
from sigla.languages.json_text import quoted

NUMBERS = {
    0.0: "0.0",
    1.0: "1.0",
    100.0: "100.0",
    1234567.0: "1234567.0",
    9999999.0: "9999999.0",
    1e7: "1.0E7",
    12345678.9: "1.23456789E7",
    0.1: "0.1",
    0.001: "0.001",
    0.00099: "9.9E-4",
    1e-5: "1.0E-5",
    -2.5e-8: "-2.5E-8",
    1e300: "1.0E300",
    123.456: "123.456",
    float("inf"): '"Infinity"',
    float("-inf"): '"-Infinity"',
}


@pytest.mark.parametrize("number, text", [*NUMBERS.items(), (-0.0, "-0.0")])
def test_floats_are_printed_as_java_prints_them(number: float, text: str) -> None:
    """The shortest digits, at least one of them a fraction; scientific from ten million up and below a thousandth."""
    assert json_text.decimal(number) == text


def test_what_is_no_number_is_printed_as_text() -> None:
    """JSON has no NaN."""
    assert json_text.decimal(float("nan")) == '"NaN"'


@pytest.mark.parametrize(
    "number, narrow",
    [
        (3.14159265358979, 3.1415927),
        (0.1, 0.1),
        (1e39, float("inf")),
        (-1e39, float("-inf")),
        (3.4028235e38, 3.4028235e38),
    ],
)
def test_a_float_has_32_bits(number: float, narrow: float) -> None:
    """And is printed with as few digits as tell it from its neighbours."""
    assert json_text.single(number) == narrow


@pytest.mark.parametrize(
    "text, number",
    [("1.5", 1.5), (" 2 ", 2.0), ("1e3", 1000.0), (".5", 0.5), ("7.", 7.0), ("1f", 1.0), ("-Infinity", float("-inf"))],
)
def test_text_may_stand_for_a_number(text: str, number: float) -> None:
    """In the default of a float or double field."""
    assert json_text.parsed_float(text) == number


@pytest.mark.parametrize("text", ["", "x", "inf", "nan", "1_000", "1,5", "0b1", "1.5ff", "é1"])
def test_other_text_does_not(text: str) -> None:
    """What Python would read as a number, Java would not."""
    assert json_text.parsed_float(text) is None


@pytest.mark.parametrize(
    "text, literal",
    [
        ('a"b\\c/d', r'"a\"b\\c/d"'),
        ("\b\f\n\r\t", r'"\b\f\n\r\t"'),
        ("\x00\x01\x1f\x0b", r'"\u0000\u0001\u001F\u000B"'),
        ("\x7fé😀\u2028", '"\x7fé😀\u2028"'),
        ("é\x1b", '"é\\u001B"'),
    ],
)
def test_strings_are_escaped_no_more_than_needed(text: str, literal: str) -> None:
    """Non-ASCII raw, control characters with upper-case digits."""
    assert quoted(text) == literal


@pytest.mark.parametrize("text", ["/* a */ 1", "// a\n1", "[1/* ] */]", '{"a"://\r\n1}', " \t\r\n1 \n"])
def test_comments_and_space_are_passed_over(text: str) -> None:
    """Before the value and inside it."""
    assert json_text.read(text) in (1, [1], {"a": 1})


@pytest.mark.parametrize(
    "text", ["1 // a", "1 /* a */", "1 2", "1 /*", "'a'", "NaN", "[Infinity]", "", "/* 1", "\ufeff1"]
)
def test_anything_else_around_the_value_is_refused(text: str) -> None:
    """Even a comment, after it."""
    with pytest.raises(Malformed):
        json_text.read(text)


def test_what_looks_like_a_comment_in_a_string_is_text() -> None:
    """Also where comments had to be taken out."""
    assert json_text.read('/**/{"a//b": "/* c */ \\" //"}') == {"a//b": '/* c */ " //'}


def test_of_an_attribute_given_twice_the_last_value_counts() -> None:
    """In the place of the first."""
    assert list(json_text.read('{"a":1,"b":2,"a":3}').items()) == [("a", 3), ("b", 2)]  # type: ignore[union-attr]  # an object
