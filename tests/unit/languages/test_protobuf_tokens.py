"""Words, strings and signs (contract D.1, PI-5 and PI-6)."""

import pytest

from sigla.errors import Malformed
from sigla.languages.protobuf.numerals import plain
from sigla.languages.protobuf.tokens import integer, line_and_column, quoted, tokens, unquoted


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", [""]),
        (" \t\r\n\v\f", [""]),
        ("a.b = -1;", ["a.b", "=", "-1", ";", ""]),
        ("// a // b\nc//", ["c", ""]),
        ("/* a * / b **/c/**/d", ["c", "d", ""]),
        ("\"a\" 'b'", ['"a"', "'b'", ""]),
        (r'"a\"b" c', [r'"a\"b"', "c", ""]),
        ('"//"', ['"//"', ""]),
        ("1e+5 a+5", ["1e+5", "a", "+", "5", ""]),
        ("É", ["É", ""]),
    ],
)
def test_a_text_is_words_strings_and_signs(text: str, expected: list[str]) -> None:
    """White space and comments are between them; the last one is the end."""
    found = tokens(text)
    assert found[: len(expected)] == expected
    assert not any(found[len(expected) :])


@pytest.mark.parametrize("text", ['"a b', r'"a\"', '\'a\n"b"', "/* a", "/*/"])
def test_what_never_ends_hides_the_rest(text: str) -> None:
    """A quote or slash stands alone then, and nothing behind it is a token."""
    assert tokens(text)[:2] == [text[0], ""]


def test_a_token_knows_its_line_and_column() -> None:
    """Counted from one, as editors do."""
    text = "a\n  b /* \n */ c"
    assert [line_and_column(text, index) for index in range(3)] == [
        "line 1, column 1",
        "line 2, column 3",
        "line 3, column 5",
    ]


@pytest.mark.parametrize(
    "literal, meaning",
    [
        (r'"\a\b\f\n\r\t\v"', "\a\b\f\n\r\t\v"),
        (r'"\x41\X4a\x4g"', "AJ\x04g"),
        (r'"\101\60\0\778"', "A0\0?8"),
        (r'"\q\"\\\'"', "q\"\\'"),
        ("'\"'", '"'),
        ('"é\n"', "é\n"),
    ],
)
def test_escapes_mean_what_the_language_says(literal: str, meaning: str) -> None:
    """Any other escaped character stands for itself."""
    assert unquoted(literal) == meaning


def test_an_escape_without_digits_is_refused() -> None:
    """There is nothing it could mean."""
    with pytest.raises(Malformed, match="hexadecimal digit"):
        unquoted(r'"\x"')


def test_a_string_that_is_printed_is_read_back() -> None:
    """Whatever is in it."""
    text = "".join(map(chr, range(300))) + "\\n'\"€😀"
    assert unquoted(quoted(text)) == text
    assert quoted('it\'s\t"A"\\') == r'"it\'s\t\"A\"\\"'


@pytest.mark.parametrize(
    "word, number",
    [
        ("0", 0),
        ("010", 10),
        ("0x1F", 31),
        ("0Xff", 255),
        ("-0x1", -1),
        ("2147483647", 2**31 - 1),
        ("2147483648", None),
        ("-2147483648", -(2**31)),
        ("1.5", None),
        ("1_0", None),
        ("+1", None),
        ("٣", None),
        ("0x", None),
        ("9" * 100_000, None),
    ],
)
def test_tags_are_numbers_of_32_bits(word: str, number: int | None) -> None:
    """A leading zero means nothing (PI-6)."""
    assert integer(word) == number


@pytest.mark.parametrize(
    "word, expected",
    [
        ("0x1F", "31"),
        ("-0x1F", "-31"),
        ("010", "8"),
        ("0", "0"),
        ("-7", "-7"),
        ("1.5e3", "1500"),
        ("1e3", "1000"),
        ("1e+20", "1" + "0" * 20),
        ("1.23456", "1.23456"),
        ("0.00012", "0.00012"),
        ("1e-5", "0.00001"),
        ("12.50E-1", "1.25"),
        ("-1.0", "-1"),
        ("5.", "5"),
        (".5", "0.5"),
        ("18446744073709551615", "18446744073709551615"),
        ("inf", "inf"),
        ("-inf", "-inf"),
        ("nan", "nan"),
        ("FOO", "FOO"),
        ("a.b", "a.b"),
        ("e5", "e5"),
        (".", "."),
        ("-", "-"),
        ("1.5f", "1.5f"),
        ("1e9999", "1e9999"),
        ("9" * 500, "9" * 500),
    ],
)
def test_a_number_has_one_spelling(word: str, expected: str) -> None:
    """All its digits and no exponent (PN-8, DV-12); an unusual number stays as it is."""
    assert plain(word) == expected
    assert plain(expected) == expected


def test_control_characters_are_escaped_so_that_protoc_reads_them_too() -> None:
    """Those without a letter in octal digits, all three, or a digit behind would count."""
    text = "".join(map(chr, range(0x20))) + "\x7f1"
    assert quoted("\x007\x1f\x7f\a") == r'"\0007\037\177\a"'
    assert unquoted(quoted(text)) == text
