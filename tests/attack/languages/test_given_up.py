"""Large texts of every shape: each is legal, and whatever is computed for one can be given up."""

import sys
from collections.abc import Callable

import pytest

from benchmarks.largest import SHAPES, UNLIMITED, functions, text
from sigla.effort import Effort, Unwanted
from sigla.errors import CheckAbandoned, Malformed
from sigla.languages import LANGUAGES

CASES = [(name, what) for name, shapes in SHAPES.items() for what in shapes]


def asks(work: Callable[[], object]) -> int:
    """How often a computation asks whether it may go on."""
    asked = 0

    def clock() -> float:
        nonlocal asked
        asked += 1
        return 0.0

    try:
        with Effort(UNLIMITED, clock, lambda: 0.0).turn():
            work()
    except (CheckAbandoned, Malformed):
        pass
    return asked - 2  # as the turn begins and ends


@pytest.mark.parametrize("name, what", CASES)
def test_reading_a_large_text_asks_whether_it_may_go_on(name: str, what: str) -> None:
    """A thread that cannot be taken back stops a server from stopping."""
    language, large = LANGUAGES[name], text(SHAPES[name][what], 30_000)
    language.parse(large, (), True)
    assert asks(lambda: language.parse(large, (), True)) >= (0 if what in SIMPLE else 1)


SIMPLE = {"comments", "long names", "long numbers"}
"""Few nodes in many characters, which are read by regular expressions and tables alone."""


@pytest.mark.parametrize("name, what", [("AVRO", "fields"), ("JSON", "properties"), ("PROTOBUF", "messages")])
def test_what_is_given_up_ends_in_every_function(name: str, what: str) -> None:
    for function in WHAT:
        if asks(work(name, what, 40_000, function)) < 1:
            continue
        effort, begun = Effort(UNLIMITED, lambda: 0.0, lambda: 0.0), work(name, what, 40_000, function)
        effort.give_up()
        with pytest.raises(Unwanted), effort.turn():
            begun()


@pytest.mark.parametrize("name, what", CASES)
def test_twice_the_text_takes_twice_the_steps(name: str, what: str) -> None:
    """Counted in what is computed between two looks at the clock, so that it is the same on every machine.

    What one function computed the next one may remember: then its steps were the first one's.
    """
    halves, wholes = (works(name, what, size) for size in (10_000, 20_000))
    for function in WHAT:
        if (name, what, function) not in ALL_WITH_ALL:
            half, whole = asks(halves[function]), asks(wholes[function])
            assert whole <= 2.3 * half + 3, function


@pytest.mark.parametrize(
    "name, what, function",
    [
        ("AVRO", "fields", "normalise"),
        ("AVRO", "aliases of one record", "normalise"),
        ("AVRO", "symbols", "normalise"),
        ("JSON", "enum of numbers", "normalise"),
        ("JSON", "anchors", "validate"),
        ("JSON", "properties, all of them others", "compare"),
        ("PROTOBUF", "messages", "compare"),
        ("PROTOBUF", "enums", "compare"),
        ("PROTOBUF", "oneofs", "compare"),
        ("PROTOBUF", "reserved", "normalise"),
    ],
)
def test_nothing_computes_long_without_asking(name: str, what: str, function: str) -> None:
    """Whoever waits for the thread waits until it asks. Counted in calls, to be the same everywhere."""
    calls = longest = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    def clock() -> float:
        nonlocal calls, longest
        calls, longest = 0, max(longest, calls)
        return 0.0

    begun = work(name, what, 125_000, function)
    with Effort(UNLIMITED, clock, lambda: 0.0).turn():
        sys.setprofile(called)
        try:
            begun()
        finally:
            sys.setprofile(None)
    assert 0 < longest < 27_000


def work(name: str, what: str, size: int, function: str) -> Callable[[], object]:
    """The function on schemas that were read for it alone: what was computed once is remembered."""
    return works(name, what, size)[function]


def works(name: str, what: str, size: int) -> dict[str, Callable[[], object]]:
    """All functions on the same schemas."""
    language = LANGUAGES[name]
    old, new = (language.parse(text(SHAPES[name][what], size, version), (), True) for version in "ab")
    return functions(language, old, new)


WHAT = ("validate", "normalise", "equivalent", "digest", "compare", "tagged", "resolved", "serialized")
ALL_WITH_ALL = {("AVRO", "a union of records", "compare"), ("AVRO", "enums", "compare"),
                ("JSON", "pattern properties", "compare")}  # fmt: skip
"""Every branch is compared with every branch, every pattern looked for in every name: a million steps end it."""
