"""Patterns are Java's: what compiles there is accepted, and finds what it would find there."""

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st

from sigla.errors import CheckAbandoned, Malformed
from sigla.languages.json_schema import limits, patterns
from sigla.languages.language import Budget


def ignored(_steps: int) -> None:
    """Steps that are not paid for."""


def found(pattern: str, name: str) -> bool:
    patterns.check(pattern)
    return patterns.Patterns(ignored).found(pattern, name)


def steps(pattern: str, name: str) -> int:
    """What looking costs, whatever comes of it."""
    spent: list[int] = []
    patterns.Patterns(spent.append).found(pattern, name)
    return sum(spent)


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
    ("^(?>a|ab)c$", "abc", False),
    ("^(?:a|ab)c$", "abc", True),
    ("^a*+a$", "aaa", False),
    ("^(|a){2}\\1$", "aa", True),
    ("(?<=ab{1,3})c", "abbc", True),
    ("(?<!ab{1,3})c", "abbc", False),
    ("(?<=(?>a|ab))c", "abc", False),
    ("^(?=.*\\d)(?!.*x)\\w{3,5}$", "ab1", True),
    ("^(?=.*\\d)(?!.*x)\\w{3,5}$", "ax1", False),
    ("^(a|b\\1)+$", "aba", True),
    ("(?i)^(a)\\1$", "aA", True),
    ("a(?i)b|c", "C", True),
    ("(a(?i)b)c", "ABC", False),
    (r"^(a)\11$", "aa1", True),
    (r"\2|b", "b", True),
    (r"^\R$", "\r\n", True),
    (r"^\R\n$", "\r\n", False),
    (r"^\X$", "e\u0301", True),
    (r"(?m)^b$", "a\nb\nc", True),
    (r"\bid\b", "the id!", True),
    (r"^.$", "\n", False),
    (r"(?s)^.$", "\n", True),
    (r"\Qab\E*$", "abbb", True),
    ("x{0}y", "y", True),
    ("(?:a{0,2}){3}$", "aaaaaa!", True),
    ("^(?:a{0,2}){3}$", "aaaaaaa", False),
]


@pytest.mark.parametrize("pattern", ACCEPTED)
def test_what_java_compiles_is_accepted(pattern: str) -> None:
    """JX-6; and all of it can be looked for."""
    patterns.check(pattern)
    made = patterns.Patterns(ignored).made(pattern)
    assert made is not None


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_java_does_not_compile_is_refused(pattern: str) -> None:
    with pytest.raises(Malformed):
        patterns.check(pattern)


@pytest.mark.parametrize("pattern, name, is_found", FOUND)
def test_a_pattern_is_looked_for_anywhere_in_a_name(pattern: str, name: str, is_found: bool) -> None:
    assert found(pattern, name) is is_found


def repeated(pieces: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quantifiers = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}"])
    return st.builds("".join, st.tuples(pieces, quantifiers.flatmap(lambda q: st.just(q) if not q else modes(q))))


def modes(quantifier: str) -> st.SearchStrategy[str]:
    return st.sampled_from([quantifier, f"{quantifier}?", f"{quantifier}+"])


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    branches = st.lists(st.lists(inner, max_size=3).map("".join), min_size=1, max_size=3).map("|".join)
    opened = st.sampled_from(["(", "(?:", "(?>", "(?=", "(?!", "(?i:"])
    return repeated(st.builds("{}{})".format, opened, branches))


LEAVES = ("a", "b", "c", "A", "!", ".", "[ab]", "[^a]", r"\w", r"\d", "[a-c&&[^b]]")
PLACES = ("^", "$", r"\b", r"\B", r"\Z", r"\1")
LOOKING_BACK = ("(?<=a)", "(?<!b)", "(?<=ab?)", "(?<!a|bb)", "(?<=^a)")
PATTERNS = st.lists(
    st.recursive(repeated(st.sampled_from(LEAVES + PLACES)) | st.sampled_from(LOOKING_BACK), grown, max_leaves=8),
    max_size=4,
).map("".join)


@given(PATTERNS, st.text("aabbcA!\n", max_size=8))
def test_a_pattern_finds_what_regex_finds_where_that_ends(pattern: str, name: str) -> None:
    """Another matcher, made by others, reads the same words.

    It looks back from right to left, and Java from left to right: so nothing is read atomically there.
    """
    try:
        theirs = regex.compile("".join(patterns.words(pattern)), regex.VERSION1)
        expected = theirs.search(name, timeout=0.5) is not None
    except (Malformed, regex.error, TimeoutError):
        assume(False)
    assert found(pattern, name) is expected


@pytest.mark.parametrize("pattern", ["((a{1000}){1000}){1000}", "a{100000000}", "(" * 6_000 + ")" * 6_000])
def test_a_pattern_that_would_fill_the_memory_is_refused(pattern: str) -> None:
    with pytest.raises(Malformed):
        patterns.check(pattern)


def test_a_class_of_characters_that_nobody_knows_is_found_nowhere() -> None:
    """G.3. Java knows the block, here it is unknown: the schema is accepted all the same."""
    assert not found(r"a|\p{InNowhere}", "a")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*!!$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(a*)*b", "((a?)+b*)*c"])
def test_what_takes_others_for_ever_takes_as_long_as_the_name_is(pattern: str) -> None:
    """A matcher that tries everything takes 2^n steps for n characters. Counted, so it is the same on every machine."""
    short, long = (steps(pattern, "a" * length + "!") for length in (100, 200))
    assert short < long <= 2.3 * short


@pytest.mark.parametrize("pattern", [r"(a*)*(a*)*\1\2b", "((((a{1,50}){1,50}){1,50}){1,50}){1,50}b", "(?:a?){5000}b"])
def test_a_pattern_that_takes_too_many_steps_abandons_the_check(pattern: str) -> None:
    patterns.check(pattern)
    spent: list[int] = []
    with pytest.raises(CheckAbandoned, match="too long"):
        patterns.Patterns(spent.append).found(pattern, "a" * 5_000 + "!")
    assert sum(spent) >= limits.MAX_INSTRUCTIONS


DEEP = {
    "groups": "(" * 4_000 + ")" * 4_000,
    "atomic groups": "(?>" * 2_400 + ")" * 2_400,
    "looks ahead": "(?=" * 2_400 + ")" * 2_400,
    "looks back": "(?<=" * 1_900 + ")" * 1_900,
    "loops": "(" * 3_000 + ")*" * 3_000,
    "counted loops": "(?:" * 1_400 + "a" + "){0,9}" * 900 + ")" * 500,
    "branches": "a|" * 4_999,
    "branches in branches": "(?:" * 1_500 + "a" + "|b)" * 1_500,
    "a long literal": "a" * 10_000,
    "a wide set": "[" + "".join(map(chr, range(0x4E00, 0x4E00 + 9_000))) + "]",
    "sets in sets": "[" * 4_000 + "a" + "]" * 4_000,
    "groups that are asked for": "(a)" * 2_000 + r"\1999",
}


@pytest.mark.parametrize("pattern", DEEP.values(), ids=DEEP.keys())
def test_no_pattern_is_too_deep_or_too_large_for_the_stack(pattern: str) -> None:
    """Each is found, or is not, or takes too many steps; none crashes."""
    try:
        patterns.check(pattern)
        patterns.Patterns(Budget().spend).found(pattern, "aaaa!")
    except (CheckAbandoned, Malformed):
        return


def test_what_looking_costs_does_not_depend_on_what_was_looked_for_before() -> None:
    """A verdict would otherwise depend on which requests a process has met."""
    first = steps(r"^[a-z]+_\p{L}\d{2,4}$", "order_é123")
    for number in range(600):
        found(f"[a{number}]", "a")
    assert steps(r"^[a-z]+_\p{L}\d{2,4}$", "order_é123") == first < 400
