"""Looking a name up takes the same steps whether it is among the keys' names or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.auth.api_keys import NAME
from sigla.auth.listed_names import ListedNames

names = st.from_regex(NAME, fullmatch=True)


@given(st.frozensets(names, max_size=40), names)
def test_it_says_what_a_set_would(listed: frozenset[str], name: str) -> None:
    found, is_its_own = ListedNames(listed).nearest(name)
    assert is_its_own is (name in listed)
    assert found == name if is_its_own else found in (listed or {""})


@pytest.mark.parametrize("size", range(18))
def test_every_listed_name_is_found(size: int) -> None:
    """Also the first and the last one, and where the entries are filled up to a power of two."""
    listed = frozenset(f"key-{number}" for number in range(size))
    looked_up = ListedNames(listed)
    assert [looked_up.nearest(name) for name in sorted(listed)] == [(name, True) for name in sorted(listed)]


def test_a_file_that_can_be_no_key_is_left_out() -> None:
    """A stray file in the folder of keys must fail no request, and is never read as a key."""
    assert ListedNames(frozenset({"schlüssel", ".swp", ""})).nearest("orders") == ("", False)


class Compared(int):
    """A mark that counts how often it is compared."""

    times = 0

    def __lt__(self, other: int) -> bool:
        Compared.times += 1
        return int(self) < int(other)


@pytest.mark.parametrize("size", range(1, 18))
def test_a_search_takes_as_many_comparisons_wherever_it_ends(size: int) -> None:
    listed = [f"key-{number}" for number in range(size)]
    looked_up = ListedNames(frozenset(listed))
    looked_up._marks = [Compared(mark) for mark in looked_up._marks]
    counts = set()
    for name in [*listed, *(f"other-{number}" for number in range(100))]:
        Compared.times = 0
        looked_up.nearest(name)
        counts.add(Compared.times)
    assert len(counts) == 1
