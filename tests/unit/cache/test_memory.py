"""Bodies remembered within bounds."""

from dataclasses import replace

from sigla.cache.memory import OVERHEAD, Memory, cost
from sigla.model import BodyKey, Metadata, Rule, RuleSet, SchemaId
from tests.build import FixedClock, a_body, a_schema


def key(id: int) -> BodyKey:
    return BodyKey(".", SchemaId(id))


def test_what_is_remembered_is_the_same_object() -> None:
    """Whoever came first stays: two readers of one id go on with one body."""
    memory, body = Memory(100_000, FixedClock()), a_body()
    assert memory.remember(key(1), body, since=0) is body
    assert memory.remember(key(1), replace(body), since=0) is body
    assert memory.get(key(1)) is body
    assert memory.get(key(2)) is None


def test_what_nobody_asks_for_goes_first() -> None:
    """When there are more bytes than may be."""
    memory = Memory(3 * cost(a_body("x")), FixedClock())
    for id in (1, 2, 3):
        memory.remember(key(id), a_body("x"), since=0)
    memory.get(key(1))
    memory.remember(key(4), a_body("x"), since=0)
    assert [id for id in (1, 2, 3, 4) if memory.get(key(id))] == [1, 3, 4]
    assert len(memory) == 3


def test_where_everything_is_asked_for_the_oldest_makes_room() -> None:
    """And not the newcomer."""
    memory = Memory(3 * cost(a_body("x")), FixedClock())
    for id in (1, 2, 3):
        memory.remember(key(id), a_body("x"), since=0)
        memory.get(key(id))
    memory.remember(key(4), a_body("x"), since=0)
    assert [id for id in (1, 2, 3, 4) if memory.get(key(id))] == [2, 3, 4]


def test_one_question_spares_a_body_once() -> None:
    """What was asked for long ago goes as well."""
    memory = Memory(2 * cost(a_body("x")), FixedClock())
    for id in (1, 2):
        memory.remember(key(id), a_body("x"), since=0)
    memory.get(key(1))
    for id in (3, 4):
        memory.remember(key(id), a_body("x"), since=0)
    assert memory.get(key(1)) is None


def test_what_is_larger_than_all_of_memory_is_not_kept() -> None:
    """And drives nothing out."""
    memory = Memory(2 * OVERHEAD, FixedClock())
    memory.remember(key(1), a_body("x"), since=0)
    memory.remember(key(2), a_body("x" * 10_000), since=0)
    assert memory.get(key(1))
    assert memory.get(key(2)) is None


def test_an_old_answer_does_not_come_back_after_a_change() -> None:
    """A read that began before the change ends after it."""
    memory = Memory(100_000, FixedClock())
    since = memory.changes
    memory.forget([key(1)])
    late = a_body()
    assert memory.remember(key(1), late, since=since) is late
    assert memory.get(key(1)) is None


def test_a_body_is_looked_for_again_after_its_presence() -> None:
    """Another writer may have deleted it for good; most often it was not deleted, and the object stays the same."""
    clock = FixedClock()
    memory, body = Memory(100_000, clock, presence_ms=60_000), a_body()
    memory.remember(key(1), body, since=0)
    clock.sleep(59.999)
    assert memory.get(key(1)) is body
    clock.sleep(0.001)
    assert memory.get(key(1)) is None
    assert memory.remember(key(1), replace(body), since=0) is body
    assert memory.get(key(1)) is body
    clock.sleep(60)
    changed = replace(body, gone=True)
    assert memory.remember(key(1), changed, since=0) is changed
    assert memory.get(key(1)) is changed
    assert len(memory) == 1


def test_an_old_body_is_better_than_none() -> None:
    """It is told on for ten seconds each time that it cannot be read again."""
    clock = FixedClock()
    memory, body = Memory(100_000, clock, presence_ms=60_000), a_body()
    memory.remember(key(1), body, since=0)
    clock.sleep(60)
    assert memory.spared(key(1)) is body
    assert memory.get(key(1)) is body
    clock.sleep(10)
    assert memory.get(key(1)) is None
    assert memory.spared(key(2)) is None


def test_forgetting_makes_room() -> None:
    """Bytes are given back."""
    memory = Memory(cost(a_body("x")), FixedClock())
    memory.remember(key(1), a_body("x"), since=0)
    memory.forget([key(1), key(2)])
    memory.remember(key(2), a_body("x"), since=memory.changes)
    assert memory.get(key(2))


def test_everything_that_takes_memory_is_counted() -> None:
    """Texts beyond ASCII, annotations, rules."""
    plain = cost(a_body("x"))
    assert cost(a_body("é")) > plain
    assert cost(a_body(schema=a_schema("x", metadata=Metadata(properties={"a": "b" * 100})))) > plain + 100
    assert cost(a_body(schema=a_schema("x", rule_set=RuleSet((Rule("r"),))))) > plain
