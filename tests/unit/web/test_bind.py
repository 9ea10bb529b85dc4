from typing import Any

import pytest

from sigla.web.api.wire import bind
from sigla.web.api.wire.text import Numeral
from sigla.web.http.refusals import BadRequest


def reason(bound: Any, *arguments: Any) -> str:
    with pytest.raises(BadRequest) as refused:
        bound(*arguments)
    return refused.value.message


@pytest.mark.parametrize(
    "value, expected", [("a", "a"), (None, None), (True, "true"), (False, "false"), (Numeral("1.50"), "1.50")]
)
def test_scalars_stand_for_text(value: object, expected: str | None) -> None:
    """§1.3."""
    assert bind.text(value) == expected


@pytest.mark.parametrize(
    "value, expected",
    [
        (2, 2),
        (-1, -1),
        (1.7, 1),
        (-1.7, -1),
        ("2", 2),
        (" +2 ", 2),
        ("", None),
        ("  ", None),
        (None, None),
        (Numeral("1.7"), 1),
        (2**31 - 1, 2**31 - 1),
    ],
)
def test_integers_are_read_leniently(value: object, expected: int | None) -> None:
    """§1.3: numbers in strings, fractions cut, nothing for null."""
    assert bind.integer(value) == expected


@pytest.mark.parametrize(
    "value", ["latest", "1.7", "1" * 30, "3000000000", 2**31, 1e300, Numeral("NaN"), Numeral("Infinity"), True, [], {}]
)
def test_what_is_no_integer_is_refused(value: object) -> None:
    """§1.3."""
    assert reason(bind.integer, value)


@pytest.mark.parametrize(
    "value, expected",
    [
        (True, True),
        (False, False),
        ("true", True),
        ("TRUE", True),
        ("False", False),
        ("", None),
        (None, None),
        (0, False),
        (7, True),
        (Numeral("0"), False),
    ],
)
def test_booleans_are_read_leniently(value: object, expected: bool | None) -> None:
    """§1.3."""
    assert bind.flag(value) is expected


def test_refusals_are_worded_as_the_reference_words_them() -> None:
    """Recorded: people search for these sentences."""
    assert (
        reason(bind.flag, "yes")
        == 'Cannot deserialize value of type `Boolean` from String "yes": only "true" or "false" recognized'
    )
    assert reason(bind.integer, "latest") == (
        'Cannot deserialize value of type `Integer` from String "latest": not a valid `java.lang.Integer` value'
    )
    assert (
        reason(bind.text, {})
        == "Cannot deserialize value of type `String` from Object value (token `JsonToken.START_OBJECT`)"
    )
    assert reason(bind.items, {}, bind.text, "SchemaReference>") == (
        "Cannot deserialize value of type `SchemaReference>` from Object value (token `JsonToken.START_OBJECT`)"
    )
    assert reason(bind.members, [], "RegisterSchemaRequest") == (
        "Cannot deserialize value of type `RegisterSchemaRequest` from Array value (token `JsonToken.START_ARRAY`)"
    )
    assert reason(bind.members, "x", "RegisterSchemaRequest") == (
        "Cannot construct instance of `RegisterSchemaRequest` (although at least one Creator exists): "
        "no String-argument constructor/factory method to deserialize from String value ('x')"
    )
    assert reason(bind.choice, "X", "RuleKind", {"TRANSFORM", "CONDITION"}) == (
        'Cannot deserialize value of type `RuleKind` from String "X": '
        "not one of the values accepted for Enum class: [CONDITION, TRANSFORM]"
    )


@pytest.mark.parametrize("value", [5, True, 1.5, Numeral("5")])
def test_a_scalar_is_no_object(value: object) -> None:
    """The sentence names what was sent."""
    assert str(value).lower() in reason(bind.members, value, "Thing")


@pytest.mark.parametrize("value", [1.5, Numeral("1.5"), [], {}])
def test_what_is_no_boolean_is_refused(value: object) -> None:
    """A fraction is neither true nor false."""
    assert reason(bind.flag, value)


def test_a_long_value_is_not_repeated_whole() -> None:
    """A sentence shows enough to recognise the value, never a whole schema."""
    assert len(reason(bind.integer, "x" * 10_000)) < 400


@pytest.mark.parametrize("value", ["a", 1, [1, None], ["a", None]])
def test_lists_hold_what_they_should_and_no_nulls(value: object) -> None:
    """The reference fails on a null element; we say so."""
    assert reason(bind.items, value, bind.text if value != [1, None] else bind.integer, "String>")


def test_sets_are_sorted_and_hold_nothing_twice() -> None:
    """§1.6: by UTF-16 code units, where the planes beyond the first come before U+E000."""
    assert bind.words(["b", "a", "b", "\ue000", "😀"]) == ("a", "b", "😀", "\ue000")
    assert bind.words(None) is None


def test_maps_are_sorted_and_hold_no_nulls() -> None:
    """§1.3: a null in properties is a failure of the reference later; here it is refused at once."""
    assert list(bind.mapping({"b": "1", "a": "2"}, bind.text) or {}) == ["a", "b"]
    assert bind.mapping(None, bind.text) is None
    assert "'k' is null" in reason(bind.mapping, {"k": None}, bind.text)
    assert reason(bind.mapping, [], bind.text)


@pytest.mark.parametrize("value, expected", [(None, None), ("A", "A")])
def test_words_of_an_enumeration_are_exact(value: object, expected: str | None) -> None:
    """Any case would be more than the contract allows."""
    assert bind.choice(value, "Kind", {"A"}) == expected


@pytest.mark.parametrize("value", ["a", "", 0, []])
def test_other_words_are_refused(value: object) -> None:
    """Also the empty one, and ordinals."""
    assert reason(bind.choice, value, "Kind", {"A"})
