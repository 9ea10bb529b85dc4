"""Pairing off two lists."""

from collections.abc import Callable, Generator
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from sigla.languages.json_schema.matching import maximum

EDGES = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


def paired(
    left: int, right: int, edge: Callable[[int, int], bool], likely: dict[int, int] | None = None
) -> tuple[dict[int, int], int]:
    """The pairs, and how many questions they took."""
    asked = 0

    def answer(i: int, j: int) -> Generator[tuple[int, int], bool, bool]:
        return (yield i, j)

    search = maximum(left, right, likely or {}, answer)
    reply = None
    while True:
        try:
            i, j = next(search) if reply is None else search.send(reply)
        except StopIteration as finished:
            return finished.value, asked
        asked += 1
        reply = edge(i, j)


def most(left: int, right: int, edges: set[tuple[int, int]]) -> int:
    """By trying everything."""
    choices = product(*([*(j for j in range(right) if (i, j) in edges), None] for i in range(left)))
    taken = ([j for j in choice if j is not None] for choice in choices)
    return max(len(each) for each in taken if len(set(each)) == len(each))


@given(EDGES, st.integers(0, 4), st.integers(0, 4), st.dictionaries(st.integers(0, 3), st.integers(0, 3)))
def test_the_smaller_list_is_paired_off_if_it_can_be(
    edges: set[tuple[int, int]], left: int, right: int, likely: dict[int, int]
) -> None:
    """And the pairs are edges, each member in one of them, whoever is asked first."""
    pairs, _ = paired(left, right, lambda i, j: (i, j) in edges, likely)
    assert all(pair in edges for pair in pairs.items())
    assert len(set(pairs.values())) == len(pairs)
    whole = min(left, right)
    assert (len(pairs) == whole) == (most(left, right, edges) == whole)


def test_a_partner_is_given_up_for_another() -> None:
    """0 takes 0, which is the only one that 1 can have; so 0 moves on, and 2 moves both."""
    edges = {(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (1, 2)}
    assert paired(3, 3, lambda i, j: (i, j) in edges)[0] == {0: 1, 1: 2, 2: 0}


@given(EDGES)
def test_equal_lists_are_paired_index_by_index(edges: set[tuple[int, int]]) -> None:
    """So that a schema compared with itself shows no difference."""
    assert paired(5, 5, lambda i, j: i == j or (i, j) in edges)[0] == {i: i for i in range(5)}


def test_equal_lists_take_one_question_each() -> None:
    assert paired(400, 400, lambda i, j: i == j)[1] == 400


def test_who_is_likely_is_asked_first() -> None:
    """Two lists in opposite order take no more questions than equal ones."""
    pairs, asked = paired(400, 400, lambda i, j: i + j == 399, {i: 399 - i for i in range(400)})
    assert asked == len(pairs) == 400


def test_it_is_given_up_once_the_smaller_list_cannot_be_paired_off() -> None:
    """Two large lists that have nothing in common are told apart by their first members."""
    assert paired(400, 400, lambda _i, _j: False) == ({}, 400)
    assert paired(402, 400, lambda _i, _j: False) == ({}, 1200)


def test_a_long_chain_of_exchanges_needs_no_stack() -> None:
    """The last one wants what the first one has, who takes what the second one has, and so on to the end."""
    last = 599
    pairs, _ = paired(last + 1, last + 1, lambda i, j: j == 0 if i == last else j in {i, i + 1})
    assert pairs == {last: 0, **{i: i + 1 for i in range(last)}}
