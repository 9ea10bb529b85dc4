"""Keys under attack: many writers of one key, and two verbs that meet between any two calls."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from sigla.errors import Refusal
from tests.attack.keys import KEYS, dek, deks_deleted, deks_purged, kek, kek_deleted, kek_patched, kek_purged
from tests.attack.test_aws_races import few
from tests.attack.test_races import Pair, Points, allowed, every_point, meetings
from tests.attack.world import Embedded, Fresh, Verb, World

WRITERS = 32

PAIRS: dict[str, Pair] = {
    "one KEK, twice": Pair(kek("k"), kek("k")),
    "one KEK, with other settings": Pair(kek("k"), kek("k", doc="other")),
    "two updates of a KEK": Pair(kek_patched("k", doc="one"), kek_patched("k", kms_props={"a": "b"}), KEYS),
    "one DEK, twice": Pair(dek("k", "s"), dek("k", "s", material="other"), KEYS[:1]),
    "two DEKs under one KEK": Pair(dek("k", "a"), dek("k", "b"), KEYS[:1]),
    "a DEK against the soft delete of its KEK": Pair(dek("k", "s"), kek_deleted("k"), KEYS[:1]),
    "a deleted DEK against the permanent delete of its KEK": Pair(
        dek("k", "s", deleted=True), kek_purged("k"), (kek("k"), kek_deleted("k"))
    ),
    "a new version against the soft delete of all": Pair(dek("k", "s", 3), deks_deleted("k", "s"), KEYS),
    "a DEK undeleted against its permanent delete": Pair(
        dek("k", "s"), deks_purged("k", "s"), (*KEYS, deks_deleted("k", "s"))
    ),
    "the last DEK deleted against its KEK": Pair(deks_deleted("k", "s"), kek_deleted("k"), KEYS),
}


def meet(name: str, fresh: Fresh = Embedded, points: Points = every_point) -> None:
    """Raises AssertionError where a meeting ends as no order explains."""
    pair = PAIRS[name]
    explained = allowed(pair)
    for where, happened in meetings(pair, fresh, points):
        assert happened in explained, f"{name}: {where}"


@pytest.mark.parametrize("name", PAIRS)
def test_two_verbs_about_keys_end_as_if_one_had_been_first(name: str) -> None:
    """No DEK without its KEK, and of two writers of one key the second is told that it exists."""
    meet(name)


@pytest.mark.parametrize(
    "name", ["a DEK against the soft delete of its KEK", "a deleted DEK against the permanent delete of its KEK"]
)
def test_a_kek_that_goes_takes_no_dek_with_it_on_aws(name: str, small: Fresh) -> None:
    """A wrapped key without its KEK can never be unwrapped again."""
    meet(name, small, few)


@pytest.mark.soak
@pytest.mark.parametrize("name", PAIRS)
def test_two_verbs_about_keys_end_on_aws_as_if_one_had_been_first(name: str, small: Fresh) -> None:
    """Whoever comes between any two calls of the other."""
    meet(name, small)


def outcomes(world: World, verbs: list[Verb]) -> Counter[int]:
    """How often each answer was given, where all begin at once: 200, or the number of a refusal."""

    def ask(verb: Verb) -> int:
        try:
            verb(world.registry)
        except Refusal as refused:
            return refused.code
        return 200

    with ThreadPoolExecutor(len(verbs)) as threads:
        return Counter(threads.map(ask, verbs))


@pytest.mark.parametrize("where", ["one machine", pytest.param("aws", marks=pytest.mark.process)])
def test_of_32_writers_of_one_key_one_wins(where: str, request: pytest.FixtureRequest) -> None:
    """All instances of a producer start at once; each that loses reads what the winner wrote."""
    fresh: Fresh = Embedded if where == "one machine" else request.getfixturevalue("small")
    with World(store=fresh()) as world:
        assert outcomes(world, [kek("k")] * WRITERS) == {200: 1, 40971: WRITERS - 1}
        assert outcomes(world, [dek("k", "s", material=f"m{n}") for n in range(WRITERS)]) == {200: 1, 40971: 31}
        others = [dek("k", f"s{n}") for n in range(WRITERS // 2)]
        assert outcomes(world, [*others, *[kek_deleted("k")] * 2]) == {200: WRITERS // 2, 42272: 2}
        world.check_sound()
        world.store.check()
