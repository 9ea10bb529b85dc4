"""Texts that mean harm: each ends in a sentence, or in an answer, and soon."""

from collections.abc import Callable
from time import perf_counter

import pytest

from sigla.errors import Malformed
from sigla.languages.protobuf import canonical, limits, normalise, parse, resolve
from sigla.languages.protobuf.tree import Document

MANY = 100_000
SECONDS = 4.0
"""Each takes less than one on a machine that has nothing else to do."""

SOME = 25_000
SOMES_SECONDS = 2.0
"""Each takes less than a quarter of one."""


def nested(levels: int, head: str = "message A {", inside: str = "") -> str:
    return head * levels + inside + "}" * levels


REFUSED: dict[str, Callable[[], str]] = {
    "messages without end": lambda: nested(MANY),
    "messages a level too deep": lambda: nested(limits.MAX_DEPTH + 1),
    "groups a level too deep": lambda: nested(limits.MAX_DEPTH + 1, "message A { optional group G = 1 { ")[:-1],
    "braces without end": lambda: "message A " + "{" * MANY,
    "values without end": lambda: "option a = " + "[" * MANY,
    "values a level too deep": lambda: f"option a = {nested(limits.MAX_DEPTH + 1, '{ a: ', '1')};",
    "values too deep within messages": lambda: nested(
        limits.MAX_DEPTH // 2, inside=f"option a = {'[' * limits.MAX_DEPTH}1{']' * limits.MAX_DEPTH};"
    ),
    "a million words": lambda: "a " * 1_000_000,
    "a million fields": lambda: 'syntax = "proto3"; message M {' + "int32 a = 1;" * 1_000_000 + "}",
    "ten megabytes of parentheses": lambda: "(" * 10_000_000,
    "ten megabytes of one word": lambda: "a" * 10_000_000,
    "ten megabytes of comments, and nothing to read": lambda: "/**/" * 2_500_000 + "x",
    "a string that never ends": lambda: 'option a = "' + "a" * 10_000_000,
    "a string of quotes that never ends": lambda: 'option a = "' + '\\"' * 5_000_000,
    "quotes of two kinds": lambda: "option a = " + "\"'" * 2_000_001,
    "a comment that never ends": lambda: "/*" * 5_000_000,
    "a comment of stars": lambda: "/*" + "*" * 10_000_000,
    "slashes": lambda: "/ " * 1_000_000,
    "backslashes": lambda: "\\" * 10_000_000,
    "a tag of a million digits": lambda: f'syntax = "proto3"; message M {{ int32 a = {"1" * 1_000_000}; }}',
    "a hexadecimal tag of a million digits": lambda: (
        f'syntax = "proto3"; message M {{ int32 a = 0x{"0" * 1_000_000}; }}'
    ),
    "a package of a million characters": lambda: f"package {'a' * 1_000_000};",
    "a package of a thousand characters": lambda: f"package {'a' * 1_000};",
    "a package of hundreds of parts": lambda: f"package {'.'.join('a' * 200)};",
    "names that are long together": lambda: nested(9, f"message {'A' * 60} {{"),
    "an enum of a long name, twice": lambda: f"enum {'E' * 1_000_000} {{}}" * 2,
    "zeros": lambda: "\0" * 1_000_000,
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_too_much_is_refused_in_a_sentence(text: Callable[[], str]) -> None:
    """Never a stack that overflows, no other exception, and no minutes of work."""
    hostile = text()
    start = perf_counter()
    with pytest.raises(Malformed) as malformed:
        parse.read(hostile)
    assert perf_counter() - start < SECONDS
    assert 0 < len(malformed.value.reason) < 300


def big(body: str, head: str = 'syntax = "proto3"; message M {') -> str:
    return f"{head}{body}}}"


META = (
    "message Meta { repeated string tags = 1; Meta more = 2; } "
    "extend google.protobuf.FieldOptions { Meta meta = 50000; }"
)
ALLOWED: dict[str, Callable[[], str]] = {
    "as deep as it goes": lambda: nested(limits.MAX_DEPTH),
    "a comment of ten megabytes": lambda: f"/*{'*' * 10_000_000}*/ message M {{}}",
    "a string of ten megabytes": lambda: f'option a = "{"a" * 10_000_000}";',
    "a string of a quarter of a million escapes": lambda: 'option a = "' + r"\x41" * 250_000 + '";',
    "a string in pieces": lambda: "option a = " + '"a"' * 50_000 + ";",
    "a list of thousands": lambda: f"option a = [{'1,' * SOME}];",
    "a key said thousands of times": lambda: f"option a = {{ {'k: 1 ' * SOME} }};",
    "an option said in thousands of parts": lambda: (
        'syntax = "proto3"; message M { int32 a = 1 ['
        + ", ".join(f'(meta).tags = "{number}"' for number in range(10_000))
        + f"]; }} {META}"
    ),
    "an option said thousands of times": lambda: (
        'syntax = "proto3"; message M { int32 a = 1 ['
        + ", ".join("(meta).more.more = { tags: [] }" for _ in range(5_000))
        + f"]; }} {META}"
    ),
    "an enum of thousands": lambda: big("".join(f"A{number} = {number};" for number in range(15_000)), "enum E {"),
    "fields of many unknown types, deep inside": lambda: (
        'syntax = "proto3"; ' + nested(60, inside="".join(f"T{number} a = {number};" for number in range(7_500)))
    ),
    "fields of long names, deep inside": lambda: (
        f"package {'p' * 500}; "
        + nested(50, "message AAAAAAAA {", "".join(f"optional AAAAAAAA a{number} = 1;" for number in range(7_500)))
    ),
    "reserved ranges": lambda: big(f"reserved {', '.join(f'{number} to max' for number in range(15_000))};"),
}


@pytest.mark.parametrize("text", ALLOWED.values(), ids=ALLOWED.keys())
def test_what_is_large_but_allowed_is_no_trouble(text: Callable[[], str]) -> None:
    """Reading, printing and normalising take time in proportion."""
    large = text()
    start = perf_counter()
    document = Document(parse.read(large), {})
    canonical.written(document.file)
    canonical.written(normalise.normalised(document))
    try:
        resolve.check(document)
    except Malformed as malformed:
        assert "not defined" in malformed.reason  # noqa: PT017 - unknown types are part of the game
    assert perf_counter() - start < SOMES_SECONDS


def test_a_deep_schema_goes_all_the_way() -> None:
    """Reading, printing and normalising have one idea of how deep is too deep."""
    text = canonical.written(parse.read(nested(limits.MAX_DEPTH)))
    document = Document(parse.read(text), {})
    assert canonical.written(document.file) == text
    assert canonical.written(normalise.normalised(document)) == text
    resolve.check(document)


DEEP = nested(limits.MAX_DEPTH - 1, inside="option a = { a: 1 }; optional A a = 1;")
DOCUMENT = Document(parse.read(DEEP), {})
DOORS: dict[str, Callable[[], object]] = {
    "read": lambda: parse.read(DEEP),
    "print": lambda: canonical.written(DOCUMENT.file),
    "normalise": lambda: normalise.normalised(DOCUMENT),
    "resolve": lambda: resolve.check(DOCUMENT),
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_a_caller_near_the_end_of_its_stack_gets_an_answer(door: Callable[[], object]) -> None:
    """How deep a text may be must not depend on luck: a refusal, whatever is already on the stack."""
    assert {outcome_at(frames, door) for frames in range(0, 940, 20)} == {"done", "refused"}


def outcome_at(frames: int, door: Callable[[], object]) -> str:
    if frames:
        return outcome_at(frames - 1, door)
    try:
        door()
    except Malformed:
        return "refused"
    return "done"
