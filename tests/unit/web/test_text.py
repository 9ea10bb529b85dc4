import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.web.api.wire import bind, text
from sigla.web.http.refusals import BadRequest, MissingBody

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def read(body: bytes) -> Any:
    return text.read(body, lambda tree: tree, operation="verb")


def spelled(body: bytes) -> str | None:
    return text.read(body, lambda tree: bind.text(tree["a"]), operation="verb")


@given(ANYTHING.filter(lambda value: value is not None))
def test_what_is_written_can_be_read(value: Any) -> None:
    """Whatever a client sends in a string comes back as it was."""
    assert json.loads(text.write(value)) == value


@pytest.mark.parametrize("body", [b"", b"  \n", b"null", b" null ", b"\xef\xbb\xbf"])
def test_a_missing_body_is_said_to_be_missing(body: bytes) -> None:
    """§1.3: the literal null is as good as nothing."""
    with pytest.raises(MissingBody) as refused:
        read(body)
    assert (refused.value.code, refused.value.message) == (422, "verb.request must not be null (was null)")


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"a":1} x',
        b'{"a":1}{}',
        b"{'a':1}",
        b'{"a":"\xff"}',
        b'{"a":"\xed\xa0\x80"}',
        b"\xff\xfe\x00",
        b'{"a":1,}',
        b'{"a":NaN} ]',
    ],
)
def test_what_is_no_json_is_refused(body: bytes) -> None:
    """§1.3: syntax, trailing tokens, bytes that are not UTF-8."""
    with pytest.raises(BadRequest):
        read(body)


@pytest.mark.parametrize(
    "body, part", [(b'{"a":', "end-of-input"), (b'{"a":1} 2', "Trailing token"), (b'{"a" 1}', "line: 1, column: 6")]
)
def test_a_syntax_error_says_where(body: bytes, part: str) -> None:
    """A client that builds its JSON by hand finds the place."""
    with pytest.raises(BadRequest) as refused:
        read(body)
    assert part in refused.value.message


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
def test_every_encoding_of_json_is_recognised(encoding: str) -> None:
    """§1.3: by the bytes, whatever the charset parameter says."""
    assert read('{"a":"ö"}'.encode(encoding)) == {"a": "ö"}


@pytest.mark.parametrize("depth, taken", [(1000, True), (1001, False), (200_000, False)])
def test_deep_nesting_is_refused_and_never_crashes(depth: int, taken: bool) -> None:
    """§1.3: the bound is 1,000."""
    body = b"[" * depth + b"]" * depth
    if taken:
        assert read(body)
    else:
        with pytest.raises(BadRequest):
            read(body)


def test_brackets_in_strings_are_no_nesting() -> None:
    """A schema of thousands of fields is one string."""
    schema = json.dumps({"schema": '{"\\"' * 5000 + "[" * 5000})
    assert read(schema.encode())["schema"].endswith("[[[")


def test_an_endless_string_is_looked_at_once() -> None:
    """A body made of quotes cannot make us look at it again from each of them."""
    with pytest.raises(BadRequest):
        read(b'{"a":"' + b'\\"[' * 500_000)


@pytest.mark.parametrize("depth", [990, 1001])
def test_deep_nesting_read_with_care_is_read_or_refused(depth: int) -> None:
    """NaN sends a body down the slow way, where some Pythons run out of frames: that is a refusal, too."""
    body = b'{"x":NaN,"a":"text","b":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"
    try:
        told = spelled(body)
    except BadRequest:
        return
    assert (depth, told) == (990, "text")


def test_not_a_number_is_read() -> None:
    """§1.3: NaN and Infinity are accepted where they are not looked at."""
    assert spelled(b'{"x":[NaN,Infinity,-Infinity],"a":"text"}') == "text"


@pytest.mark.parametrize("number", ["123", "1.50", "1e5", "-0", "123456789012345678901234567890", "NaN"])
def test_a_number_for_text_keeps_its_spelling(number: str) -> None:
    """§1.3: the reference takes the text of the token."""
    assert spelled(f'{{"a":{number}}}'.encode()) == number


def test_a_number_of_a_thousand_digits_is_refused() -> None:
    """§1.3."""
    with pytest.raises(BadRequest):
        spelled(b'{"a":' + b"1" * 1001 + b"}")


def test_half_a_surrogate_pair_is_refused_where_it_would_be_kept() -> None:
    """It is not a character: it could be neither stored nor hashed. Where it is not looked at it does no harm."""
    assert spelled(b'{"x":"\\ud800","a":"\\ud83d\\ude00"}') == "😀"
    with pytest.raises(BadRequest):
        spelled(b'{"a":"\\ud800"}')


def test_the_last_of_equal_fields_counts() -> None:
    """§1.3."""
    assert spelled(b'{"a":"1","a":"2"}') == "2"


def test_characters_beyond_the_first_plane_are_escaped() -> None:
    """§1.5: as surrogate pairs; all others are UTF-8."""
    assert text.write({"a": "é😀\x00"}) == '{"a":"é\\uD83D\\uDE00\\u0000"}'.encode()


def test_half_a_pair_in_an_answer_is_escaped() -> None:
    """A sentence that quotes a request must not fail because of what it quotes."""
    assert text.write({"a": "\ud800é"}) == '{"a":"\\uD800é"}'.encode()
