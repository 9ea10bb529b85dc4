"""Patterns are Java's: what compiles there is accepted, and finds what it would find there."""

import pytest

from sigla.errors import CheckAbandoned, Malformed
from sigla.languages.json_schema import patterns


def ignored(_steps: int) -> None:
    """Steps that nobody pays for."""


ACCEPTED = [
    r"^\p{L}+$",
    r"(?<n>a)\k<n>",
    r"(?>a)b++c?+d*?",
    r"(?i-s:a)(?im)(?u)b",
    r"a{2}{3}",
    r"{1}",
    r"\/\-\_\é",
    r"[^\]]+[]a][a-][-a]",
    r"[a-z&&[^aeiou]]",
    r"\Q(\E\Q",
    r"\p{IsLatin}\p{InGreek}\p{javaLowerCase}\pL\PN\p{script=Greek}\P{Alpha}",
    r"\d\D\w\W\s\S\h\H\v\V\R\X\b\B\A\G\Z\z",
    r"\t\n\r\f\a\e\cA\07\x41\x{1F600}\u00e9",
    r"}]",
    r"(a)\1(?=b)(?!c)(?<=d)(?<!e)",
    "",
]
REFUSED = [
    "(",
    ")",
    "[a",
    "[",
    "*a",
    "a**",
    "a|*",
    "(?:+)",
    "{",
    "x{,3}",
    "x{3,2}",
    "[z-a]",
    r"[a-\d]",
    "[a--z]",
    "\\",
    "[\\",
    r"\y",
    r"\p{Foo}",
    r"\p",
    r"\k<n>",
    "(?P<n>a)",
    "(?<1>a)",
    "(?<n>a)(?<n>b)",
    "(?#c)",
    r"\x{110000}",
    r"\0",
    "a{99999999999}",
]
FOUND = [
    ("^x-", "x-foo", True),
    ("^x-", "ax-foo", False),
    ("x-", "ax-foo", True),
    (r"\d", "٣", False),
    (r"\p{L}", "é", True),
    (r"\p{Alpha}", "é", False),
    (r"^\P{Alpha}+$", "1é", True),
    (r"^[^\p{Alpha}]+$", "123", True),
    (r"[\D]", "5", False),
    (r"[a-z&&[^aeiou]]", "a", False),
    (r"[a-z&&[^aeiou]]", "b", True),
    (r"\Q.\E", "a", False),
    (r"[\Q.]\E]", "]", True),
    (r"^[\w-.]+$", "a-b.c", True),
    ("[+--]", ",", True),
    ("(?i)ABC", "abc", True),
    (r"(?<n>a)\k<n>", "aa", True),
    ("^[]a]$", "]", True),
    (r"a\Z", "a\n", True),
    (r"a\z", "a\n", False),
    (r"^\x41\u0042\x{1F600}\07$", "AB😀\a", True),
    ("^a{2}$", "aa", True),
    ("^😀$", "😀", True),
]


@pytest.mark.parametrize("pattern", ACCEPTED)
def test_what_java_compiles_is_accepted(pattern: str) -> None:
    """JX-6; and `regex` understands its translation."""
    patterns.check(pattern)
    assert patterns._compiled(pattern) is not None


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_java_does_not_compile_is_refused(pattern: str) -> None:
    with pytest.raises(Malformed):
        patterns.check(pattern)


@pytest.mark.parametrize("pattern, name, is_found", FOUND)
def test_a_pattern_is_looked_for_anywhere_in_a_name(pattern: str, name: str, is_found: bool) -> None:
    patterns.check(pattern)
    assert patterns.found(pattern, name, ignored) is is_found


@pytest.mark.parametrize("pattern", ["((a{1000}){1000}){1000}", "a{100000000}", "(" * 6_000 + ")" * 6_000])
def test_a_pattern_that_would_fill_the_memory_is_refused(pattern: str) -> None:
    with pytest.raises(Malformed):
        patterns.check(pattern)


def test_what_regex_does_not_understand_is_found_nowhere() -> None:
    """G.3. Java allows it: the group is known, but does not match yet."""
    pattern = "(" * 4_000 + ")" * 4_000
    patterns.check(pattern)
    assert not patterns.found(pattern, "a", ignored)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_pattern_that_never_ends_abandons_the_check(pattern: str) -> None:
    patterns.check(pattern)
    with pytest.raises(CheckAbandoned, match="too long"):
        patterns.found(pattern, "a" * 5_000 + "!", ignored)


def test_the_memory_of_patterns_is_bounded() -> None:
    for number in range(patterns.REMEMBERED + 10):
        patterns.found(f"a{number}", "a", ignored)
    assert patterns._compiled.cache_info().currsize <= patterns.REMEMBERED


def test_looking_costs_steps_and_a_slow_pattern_costs_many() -> None:
    """10,000 names that each take a tenth of a second would hold a worker for a quarter of an hour."""
    spent: list[int] = []
    assert patterns.found("a", "a", spent.append)
    assert sum(spent) < 100
    with pytest.raises(CheckAbandoned):
        patterns.found("(a+)+$", "a" * 5_000 + "!", spent.append)
    assert sum(spent) > 100_000
