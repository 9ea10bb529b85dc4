"""Limits, patterns, multiples and values (contract C.7.1, C.7.2)."""

import re
from typing import Any, Final

import pytest

from sigla.contract import STRICT
from sigla.languages.json_schema import compare
from sigla.languages.json_schema.nodes import Numeric
from sigla.languages.language import Budget
from tests.unit.languages.json_schema_pairs import (
    STRING,
    differences,
    is_compatible,
    kinds,
    modern,
)

KEYWORDS: Final = {
    "maxLength": "string",
    "minLength": "string",
    "maximum": "number",
    "minimum": "number",
    "exclusiveMaximum": "number",
    "exclusiveMinimum": "number",
    "maxProperties": "object",
    "minProperties": "object",
    "maxItems": "array",
    "minItems": "array",
    "maxContains": "array",
    "minContains": "array",
}


@pytest.mark.parametrize(
    "name, keyword", [(re.sub("(?=[A-Z])", "_", keyword).upper(), keyword) for keyword in KEYWORDS]
)
def test_a_limit_may_be_loosened_not_tightened(name: str, keyword: str) -> None:
    """Whether it is an upper or a lower one decides which way is which; none at all is the loosest."""
    contains = {"contains": STRING} if "Contains" in keyword else {}
    none, low, high = (
        modern(type=KEYWORDS[keyword], **contains, **limit) for limit in ({}, {keyword: 2}, {keyword: 3})
    )
    at = f"#/{keyword}"
    if keyword != "minContains":  # `contains` alone means 1
        assert differences(none, low) == [(f"{name}_ADDED", at)]
        assert differences(low, none) == [(f"{name}_REMOVED", at)]
        assert not is_compatible(none, low)
        assert is_compatible(low, none)
    assert differences(low, high) == [(f"{name}_INCREASED", at)]
    assert differences(high, low) == [(f"{name}_DECREASED", at)]
    assert is_compatible(low, high) == keyword.lower().startswith(("max", "exclusivemax"))
    assert is_compatible(high, low) == keyword.lower().startswith(("min", "exclusivemin"))


def test_a_limit_that_says_nothing_is_a_limit() -> None:
    assert kinds(STRING, {"type": "string", "minLength": 0}) == ["MIN_LENGTH_ADDED"]


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ("5", "5.0", []),
        ("9007199254740993", "9007199254740992", []),
        ("1e400", "1e500", []),
        ("1" + "0" * 400, "1e500", []),
        ("-1" + "0" * 400, "1" + "0" * 400, ["MAXIMUM_INCREASED"]),
        ("0.1", "0.2", ["MAXIMUM_INCREASED"]),
    ],
)
def test_limits_are_compared_as_64_bit_floats(old: str, new: str, expected: list[str]) -> None:
    """So what a double cannot tell apart counts as equal, and what it cannot hold is infinite."""
    assert kinds(f'{{"maximum":{old}}}', f'{{"maximum":{new}}}') == expected


def test_a_lowered_exclusive_maximum_is_seen() -> None:
    """DV-9: whatever `maximum` says."""
    assert kinds({"exclusiveMaximum": 5}, {"exclusiveMaximum": 4}) == ["EXCLUSIVE_MAXIMUM_DECREASED"]
    assert kinds({"exclusiveMaximum": 5, "maximum": 9}, {"exclusiveMaximum": 4, "maximum": 9}) == [
        "EXCLUSIVE_MAXIMUM_DECREASED"
    ]


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ("0.5", "0.50", []),
        ("3", "3.0", []),
        ("3", "6", ["MULTIPLE_OF_EXPANDED"]),
        ("6", "3", ["MULTIPLE_OF_REDUCED"]),
        ("4", "6", ["MULTIPLE_OF_CHANGED"]),
        ("0.1", "0.3", ["MULTIPLE_OF_EXPANDED"]),
        ("0.3", "1e1", ["MULTIPLE_OF_CHANGED"]),
        ("0.7", "7e300", ["MULTIPLE_OF_EXPANDED"]),
        ("3", "1e300", ["MULTIPLE_OF_CHANGED"]),
        ("7e300", "0.7", ["MULTIPLE_OF_REDUCED"]),
        ("7", "1e-300", ["MULTIPLE_OF_REDUCED"]),
        ("0.000001", "12345678901234567890123456789012345", ["MULTIPLE_OF_EXPANDED"]),
    ],
)
def test_multiples_are_exact(old: str, new: str, expected: list[str]) -> None:
    """Decimals are decimals, and a power of ten is never written out."""
    assert kinds(f'{{"multipleOf":{old}}}', f'{{"multipleOf":{new}}}') == expected


def test_multiples_of_nothing_hurt_nobody() -> None:
    """Loaders refuse a zero; what came in by other ways must not divide by it."""
    old, new = Numeric(), Numeric()
    old.multiple_of, new.multiple_of = 0, 3
    assert [each.rule for each in compare.differences(new, old, Budget(), STRICT)] == ["MULTIPLE_OF_REDUCED"]
    assert [each.rule for each in compare.differences(old, new, Budget(), STRICT)] == ["MULTIPLE_OF_EXPANDED"]


def test_numbers_come_in_one_order() -> None:
    words = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf")
    old = {"type": "integer", **dict.fromkeys(words, 2)}
    new = {"type": "number", **dict.fromkeys(words, 4)}
    assert kinds(old, new) == [
        "MAXIMUM_INCREASED",
        "MINIMUM_INCREASED",
        "EXCLUSIVE_MAXIMUM_INCREASED",
        "EXCLUSIVE_MINIMUM_INCREASED",
        "MULTIPLE_OF_EXPANDED",
        "TYPE_EXTENDED",
    ]


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ("[1]", "[1.0]", ["ENUM_ARRAY_CHANGED"]),
        ("[1.0]", "[1.00]", ["ENUM_ARRAY_CHANGED"]),
        ("[1e2]", "[1E+2]", []),
        ("[1]", "[true]", ["ENUM_ARRAY_CHANGED"]),
        ("[0]", "[false]", ["ENUM_ARRAY_CHANGED"]),
        ('["1"]', "[1]", ["ENUM_ARRAY_CHANGED"]),
        ('["null"]', "[null]", ["ENUM_ARRAY_CHANGED"]),
        ("[[1,2]]", "[[2,1]]", ["ENUM_ARRAY_CHANGED"]),
        ('[{"a":1,"b":[{}]}]', '[{"b":[{}],"a":1}]', []),
        ("[[]]", "[{}]", ["ENUM_ARRAY_CHANGED"]),
        ("[1,2,2,3]", "[3,2,1]", []),
        ("[1]", "[2,1]", ["ENUM_ARRAY_EXTENDED"]),
        ("[1,2]", "[1]", ["ENUM_ARRAY_NARROWED"]),
        ("[1,2]", "[2,3]", ["ENUM_ARRAY_CHANGED"]),
        ("[]", "[1]", ["ENUM_ARRAY_EXTENDED"]),
        (f"[{'9' * 4000}]", f"[{'9' * 3999}8]", ["ENUM_ARRAY_CHANGED"]),
    ],
)
def test_values_are_equal_as_json_with_numbers_as_written(old: str, new: str, expected: list[str]) -> None:
    """Order and repetition of an enum do not matter; order within a list does."""
    assert kinds(f'{{"enum":{old}}}', f'{{"enum":{new}}}') == expected


@pytest.mark.parametrize("value, same", [(None, True), (False, False), ("null", False), ({}, False)])
def test_a_constant_null_is_compared_like_others(value: Any, same: bool) -> None:
    """DV-10."""
    assert differences({"const": None}, {"const": value}) == ([] if same else [("ENUM_ARRAY_CHANGED", "#/const")])


PATTERNS: Final[list[tuple[dict[str, str], dict[str, str]]]] = [
    ({}, {"pattern": "a"}),
    ({"pattern": "a"}, {}),
    ({"pattern": "a"}, {"pattern": "[a]"}),
    ({"pattern": "a"}, {"pattern": "a"}),
]


def test_a_pattern_is_compared_by_its_text() -> None:
    changes = [kinds({"type": "string", **old}, {"type": "string", **new}) for old, new in PATTERNS]
    assert changes == [["PATTERN_ADDED"], ["PATTERN_REMOVED"], ["PATTERN_CHANGED"], []]


def test_not_is_told_even_where_nothing_changed() -> None:
    """And what lies inside is not."""
    assert differences({"not": STRING}, {"not": STRING}) == [("NOT_TYPE_NARROWED", "#/not")]
