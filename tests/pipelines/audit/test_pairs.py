"""Which versions are compared with which, and in whose words."""

import pytest

from sigla.contract import STRICT
from sigla.languages import LANGUAGES
from sigla.model import Parsed
from sigla.rules.compatibility import LEVELS
from sigla_pipelines.audit.pairs import DIRECTIONS, Scope, messages_of_pair, pairs_of, scope_of

NARROW, WIDE = '"int"', '"long"'


def _parsed(text: str) -> Parsed:
    return LANGUAGES["AVRO"].parse(text, (), True)


def test_a_block_is_compared_with_itself_and_with_every_older_one() -> None:
    assert set(pairs_of([1, 2, 3], [], neighbours=False)) == {(2, 1), (3, 1), (3, 2)}
    assert set(pairs_of([3, 4], [1, 2], neighbours=False)) == {(3, 1), (3, 2), (4, 1), (4, 2)}


def test_neighbours_meet_at_the_edge_of_two_blocks() -> None:
    """Each pair of neighbours is in one block, or in the pair of blocks between which it stands."""
    assert list(pairs_of([1, 2, 3], [], neighbours=True)) == [(2, 1), (3, 2)]
    assert list(pairs_of([4, 5], [2, 3], neighbours=True)) == [(4, 3)]


def test_equal_content_is_not_compared() -> None:
    """A subject that went back to an earlier schema has the same id twice."""
    assert set(pairs_of([1, 2, 1], [], neighbours=False)) == {(2, 1), (1, 2)}
    assert list(pairs_of([1, 1], [], neighbours=True)) == []


def test_messages_are_the_checkers_without_the_schemas_they_quote() -> None:
    (message,) = messages_of_pair(_parsed(NARROW), _parsed(WIDE), "BACKWARD", STRICT)
    assert "TYPE_MISMATCH" in message
    assert messages_of_pair(_parsed(NARROW), _parsed(WIDE), "FORWARD", STRICT) == []


def test_another_language_is_never_compatible() -> None:
    other = LANGUAGES["JSON"].parse('{"type":"object"}', (), True)
    assert messages_of_pair(other, _parsed(WIDE), "BACKWARD", STRICT) == [
        "Incompatible because of different schema type"
    ]


@pytest.mark.parametrize("level", [level for level in LEVELS if level != "NONE"])
def test_every_level_says_which_pairs_it_needs(level: str) -> None:
    scope = scope_of(level)
    assert {DIRECTIONS[name] for name in scope.directions} == set(LEVELS[level].directions)
    assert scope.neighbours is not level.endswith("TRANSITIVE")


def test_without_a_level_all_pairs_are_compared_both_ways() -> None:
    assert scope_of(None) == Scope(("BACKWARD", "FORWARD"), neighbours=False)
