"""A memory of what was found out before has an end, and knows what has changed."""

from concurrent.futures import ThreadPoolExecutor

from sigla.bounded import BoundedMemory


def _length(_: int, value: str) -> int:
    return len(value)


def test_what_was_remembered_first_goes_first() -> None:
    memory: BoundedMemory[int, str] = BoundedMemory(2)
    for number in (1, 2, 3):
        memory.keep(number, "x")
    assert [memory.get(number) for number in (1, 2, 3)] == [None, "x", "x"]


def test_what_is_used_stays_longer() -> None:
    memory: BoundedMemory[int, str] = BoundedMemory(2)
    memory.keep(1, "x")
    memory.keep(2, "x")
    memory.use(1)
    memory.keep(3, "x")
    memory.use(2)
    assert [memory.get(number) for number in (1, 2, 3)] == ["x", None, "x"]


def test_costs_are_what_the_bound_is_about() -> None:
    """A few large answers, or many small ones."""
    memory: BoundedMemory[int, str] = BoundedMemory(10, _length)
    for number in range(5):
        memory.keep(number, "xx")
    assert len(memory) == 5
    memory.keep(5, "x" * 7)
    assert [number for number in range(6) if memory.get(number)] == [4, 5]
    memory.keep(5, "x")
    memory.keep(6, "x" * 7)
    assert len(memory) == 3, "what is replaced gives its room back"


def test_what_is_larger_than_all_of_it_is_not_kept_and_drives_nothing_out() -> None:
    """Also not what it would have replaced: that is no longer so."""
    memory: BoundedMemory[int, str] = BoundedMemory(3, _length)
    memory.keep(1, "x")
    memory.keep(2, "x")
    memory.keep(2, "xxxx")
    assert [memory.get(number) for number in (1, 2)] == ["x", None]
    memory.keep(3, "xx")
    assert len(memory) == 2


def test_a_spared_value_has_another_turn() -> None:
    spared = {"a"}

    def spares(value: str) -> bool:
        was_spared = value in spared
        spared.discard(value)
        return was_spared

    memory: BoundedMemory[int, str] = BoundedMemory(2, spares=spares)
    for number, value in enumerate("abcde"):
        memory.keep(number, value)
        if value == "c":
            assert memory.get(0) == "a"
    assert [memory.get(number) for number in range(5)] == [None, None, None, "d", "e"]


def test_forgetting_is_told_to_readers_under_way() -> None:
    """An answer from before a change must not be remembered after it."""
    memory: BoundedMemory[int, str] = BoundedMemory(3)
    memory.keep(1, "x")
    memory.keep(2, "y")
    seen = memory.changes
    memory.forget_where(lambda key, value: (key, value) == (1, "x"))
    assert memory.changes != seen
    assert [memory.get(number) for number in (1, 2)] == [None, "y"]
    memory.forget([2, 7])
    assert len(memory) == 0


def test_many_threads_keep_within_the_bound() -> None:
    memory: BoundedMemory[int, str] = BoundedMemory(50, _length)

    def work(first: int) -> None:
        for number in range(first, first + 2_000):
            memory.keep(number % 97, "x" * (number % 11))
            memory.use(number % 89)
            memory.get(number % 83)
            memory.forget([number % 79])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert sum(len(memory.get(number) or "") for number in range(97)) <= 50
    assert memory._taken == sum(len(memory.get(number) or "") for number in range(97))
