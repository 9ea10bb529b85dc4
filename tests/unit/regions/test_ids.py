"""No id is ever given two contents by two regions, whatever is lost, late, killed, restored or promoted."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.unit.regions import model
from tests.unit.regions.model import (
    BLOCK,
    FOLLOWER,
    JOINING,
    PRIMARY,
    Call,
    Course,
    Design,
    Refused,
    Role,
    Site,
    Table,
    Unreachable,
)

DONE, LOST, UNKNOWN, LATE, KILLED = "done", "lost", "unknown", "late", "killed"


@dataclass
class Operation:
    """A course through its requests. home: where it runs; what it asks of another place may be lost."""

    course: Course[Any]
    home: Site | None = None
    call: Call | None = None
    answer: Any = None
    ended: bool = False

    def __post_init__(self) -> None:
        self._on(lambda: next(self.course))

    def step(self, fate: str = DONE, late: Callable[[Call], None] = lambda _: None) -> None:
        """Its next request, and what becomes of it."""
        assert self.call
        call = self.call
        if call.at is self.home and fate in (LOST, UNKNOWN, LATE):
            fate = DONE
        answer = call.do() if fate in (DONE, UNKNOWN) else None
        if fate == LATE:
            late(call)
        if fate == KILLED:
            self.ended, self.call = True, None
        elif fate == DONE:
            self._on(lambda: self.course.send(answer))
        else:
            self._on(lambda: self.course.throw(Unreachable()))

    def finish(self, *lost: str) -> Any:
        """To its end. lost: requests to the other side that do not reach it."""
        while self.call:
            self.step(LOST if self.call.name in lost else DONE)
        return self.answer

    def _on(self, go: Callable[[], Call]) -> None:
        try:
            self.call = go()
        except StopIteration as returned:
            self.call, self.ended, self.answer = None, True, returned.value
        except (Refused, Unreachable) as why:
            self.call, self.ended, self.answer = None, True, why


@dataclass
class Pair:
    """A as the primary of epoch 1, B as its follower."""

    design: Design = field(default_factory=Design)
    given: dict[int, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.a = self.site("A", PRIMARY)
        self.b = self.site("B", FOLLOWER)
        self._contents = iter(range(10**9))

    def site(self, name: str, kind: str) -> Site:
        return Site(name, Table(Role(1, kind)), self.given, self.design)

    def other(self, site: Site) -> Site:
        return self.b if site is self.a else self.a

    def register(self, at: Site, *, wanted: int = 0, required: bool = True) -> Operation:
        content = f"{at.name}{next(self._contents)}"
        course = model.registration(at, self.other(at), content, wanted=wanted, required=required)
        return Operation(course, at)

    @property
    def twice(self) -> dict[int, set[str]]:
        return {id: contents for id, contents in self.given.items() if len(contents) > 1}


class Regions(RuleBasedStateMachine):
    """Any number of operations, each with its next request, in any order and with any trouble."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = self.begun()
        self.sites = {"A": self.pair.a, "B": self.pair.b}
        self.running: list[Operation] = []
        self.late: list[Call] = []
        self.kept: list[tuple[str, Table]] = []
        self.tokens = 0

    def begun(self) -> Pair:
        return Pair()

    def begin(self, course: Course[Any], whole: bool) -> None:
        """whole: nothing comes in between."""
        operation = Operation(course)
        if whole:
            operation.finish()
        elif not operation.ended:
            self.running.append(operation)

    @rule(at=st.sampled_from("AB"), many=st.integers(1, 2 * BLOCK))
    def register(self, at: str, many: int) -> None:
        """Bodies do not arrive: they alone would keep most ids apart."""
        for _ in range(many):
            self.pair.register(self.sites[at], required=False).finish("put")

    @rule(at=st.sampled_from("AB"), wanted=st.integers(0, 8 * BLOCK), required=st.booleans())
    def begin_to_register(self, at: str, wanted: int, required: bool) -> None:
        self.running.append(self.pair.register(self.sites[at], wanted=wanted, required=required))

    @rule(to=st.sampled_from("AB"), whole=st.booleans())
    def promote(self, to: str, whole: bool) -> None:
        self.tokens += 1
        self.begin(self.sites[to].promote(self.pair.other(self.sites[to]), self.tokens), whole)

    @rule(to=st.sampled_from("AB"), whole=st.booleans())
    def take_back(self, to: str, whole: bool) -> None:
        self.begin(self.sites[to].take_back(self.pair.other(self.sites[to])), whole)

    @rule(to=st.sampled_from("AB"), whole=st.booleans())
    def promote_by_force(self, to: str, whole: bool) -> None:
        self.begin(self.sites[to].promote_by_force(), whole)

    @rule(old=st.sampled_from("AB"), whole=st.booleans())
    def fence(self, old: str, whole: bool) -> None:
        self.begin(model.fenced(self.sites[old], self.pair.other(self.sites[old])), whole)

    @rule(old=st.sampled_from("AB"), whole=st.booleans())
    def rejoin(self, old: str, whole: bool) -> None:
        self.begin(model.rejoined(self.sites[old], self.pair.other(self.sites[old])), whole)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), steps=st.integers(1, 15), fate=st.sampled_from([DONE, DONE, LOST, UNKNOWN, LATE, KILLED]))
    def go_on(self, data: st.DataObject, steps: int, fate: str) -> None:
        """Some requests of one operation; the last of them may meet trouble."""
        chosen = data.draw(st.sampled_from(range(len(self.running))))
        operation = self.running[chosen]
        for at in range(steps):
            if not operation.ended:
                operation.step(fate if at == steps - 1 else DONE, self.late.append)
        self.running = [each for each in self.running if not each.ended]

    @precondition(lambda self: self.late)
    @rule(data=st.data())
    def arrive(self, data: st.DataObject) -> None:
        """A request that was given up arrives."""
        self.late.pop(data.draw(st.integers(0, len(self.late) - 1))).do()

    @rule(at=st.sampled_from("AB"))
    def back_up(self, at: str) -> None:
        self.kept.append((at, deepcopy(self.sites[at].table)))

    @precondition(lambda self: self.kept)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        name, table = data.draw(st.sampled_from(self.kept))
        site = self.sites[name]
        # Both restored at once would be a new registry: `sigla restore`, which leaves a gap.
        assume(self.pair.other(site).table.role.kind != JOINING)
        site.restored(table)

    @invariant()
    def no_id_is_given_twice(self) -> None:
        assert not self.pair.twice


def test_no_id_is_given_twice() -> None:
    run_state_machine_as_test(Regions, settings=settings(stateful_step_count=60))


# --- what the design rests on: without each of these an id is given twice --------------------------------------------


def registered(pair: Pair, at: Site, number: int) -> None:
    """No body reaches the other side, so nothing but the rules of ids keeps them apart."""
    for _ in range(number):
        pair.register(at, required=False).finish("put")


def a_raise_wakes_the_old_primary(pair: Pair) -> None:
    """B goes on by force, and raises at A, which does not know of B's epoch and has ids left."""
    registered(pair, pair.a, 1)
    Operation(model.forced(pair.b)).finish()
    registered(pair, pair.b, 2 * BLOCK)
    registered(pair, pair.a, 2 * BLOCK)


def a_first_draw_is_not_heard_of(pair: Pair) -> None:
    """B takes over high above the block of its epoch, is lost, and A takes over again."""
    registered(pair, pair.a, 5 * BLOCK)
    Operation(model.planned(pair.a, pair.b, 1)).finish()
    registered(pair, pair.b, 1)
    Operation(model.forced(pair.a)).finish()
    registered(pair, pair.a, 1)


def a_raise_is_known_only_where_it_was_told(pair: Pair) -> None:
    """A dies while it raises. B, which has heard of it, takes over and brings an id of that block; A comes back."""
    registered(pair, pair.a, BLOCK + 1)
    while ceiling(pair.a) < 2 * BLOCK or ceiling(pair.b) <= ceiling(pair.a):
        raising = pair.register(pair.a, required=False)
        while not raising.ended and (ceiling(pair.a) < 2 * BLOCK or ceiling(pair.b) <= ceiling(pair.a)):
            raising.step()
    brought = ceiling(pair.a) + 2
    Operation(pair.b.promote(pair.a, 1)).finish()
    pair.register(pair.b, wanted=brought, required=False).finish("put")
    Operation(pair.a.promote_by_force()).finish()
    registered(pair, pair.a, BLOCK)


def ceiling(site: Site) -> int:
    counter = site.read().counter
    return counter.ceiling if counter else 0


def a_raise_is_forgotten(pair: Pair) -> None:
    """B's raise is half done while A, which rejoins, forgets its rows: B gives ids that A never heard of."""
    Operation(model.forced(pair.b)).finish()
    registered(pair, pair.b, BLOCK)
    raising = pair.register(pair.b, required=False)
    while pair.a.table.counter is None:
        raising.step()
    Operation(model.rejoined(pair.a, pair.b)).finish()
    raising.finish("put")
    Operation(model.forced(pair.a)).finish()
    registered(pair, pair.a, 1)


def a_restored_table_knows_nothing(pair: Pair) -> None:
    """B gives ids of its own, and its table comes back as it was before: A, which was never closed, raises there."""
    before = deepcopy(pair.b.table)
    Operation(model.forced(pair.b)).finish()
    registered(pair, pair.b, 1)
    pair.b.table = before
    pair.b.table.role = Role(1, JOINING)
    registered(pair, pair.a, BLOCK + 1)


@pytest.mark.parametrize(
    "left_out, story",
    [
        ("marks", a_raise_wakes_the_old_primary),
        ("waits", a_first_draw_is_not_heard_of),
        ("tells", a_raise_is_known_only_where_it_was_told),
        ("keeps", a_raise_is_forgotten),
        ("joins", a_restored_table_knows_nothing),
    ],
)
def test_each_rule_is_needed(left_out: str, story: Callable[[Pair], None]) -> None:
    """A rule without which nothing goes wrong would be one too many, or the story would not be the one it is for."""
    whole, without = Pair(), Pair(Design()._replace(**{left_out: False}))
    story(whole)
    assert not whole.twice
    story(without)
    assert without.twice


# --- what it costs, and that it goes on ------------------------------------------------------------------------------


def calls_elsewhere(operation: Operation) -> Iterator[Site]:
    while operation.call:
        if operation.call.at is not operation.home:
            yield operation.call.at
        operation.step()


def test_a_block_of_ids_asks_the_other_region_for_nothing_but_the_body() -> None:
    pair = Pair()
    assert [len(list(calls_elsewhere(pair.register(pair.a)))) for _ in range(BLOCK)] == [1] * BLOCK
    assert sorted(pair.given) == list(range(1, BLOCK + 1))


def test_ids_have_no_gaps_as_long_as_nobody_takes_over() -> None:
    pair = Pair()
    for _ in range(4 * BLOCK):
        pair.register(pair.a).finish()
    assert sorted(pair.given) == list(range(1, 4 * BLOCK + 1))


def test_a_primary_alone_gives_the_rest_of_its_block_and_then_refuses() -> None:
    """The link is cut: bodies are repeated later, and nothing is given that the other side might give."""
    pair = Pair()
    answers = []
    for _ in range(BLOCK + 1):
        operation = pair.register(pair.a, required=False)
        while not operation.ended:
            operation.step(LOST)
        answers.append(operation.answer)
    assert answers[:-1] == list(range(1, BLOCK + 1))
    assert isinstance(answers[-1], Refused)


def test_after_every_kind_of_promotion_ids_go_on() -> None:
    pair = Pair()
    pair.register(pair.a).finish()
    Operation(model.planned(pair.a, pair.b, 1)).finish()
    assert pair.register(pair.b).finish() == BLOCK + 1
    Operation(model.forced(pair.a)).finish()
    assert pair.register(pair.a).finish() == 2 * BLOCK + 1
    Operation(model.rejoined(pair.b, pair.a)).finish()
    assert pair.b.table.role == Role(3, FOLLOWER)
    Operation(model.planned(pair.a, pair.b, 2)).finish()
    assert pair.register(pair.b).finish() == 3 * BLOCK + 1


def test_a_planned_promotion_that_is_cut_off_anywhere_is_finished_by_the_next() -> None:
    for cut in range(20):
        pair = Pair()
        first = pair.register(pair.a).finish()
        operation = Operation(model.planned(pair.a, pair.b, 1))
        for _ in range(cut):
            if not operation.ended:
                operation.step()
        Operation(model.planned(pair.a, pair.b, 2)).finish()
        assert (pair.a.table.role, pair.b.table.role) == (Role(2, FOLLOWER), Role(2, PRIMARY))
        assert first in pair.b.table.held
    assert operation.ended


def test_what_may_have_been_given_in_the_lost_region_is_not_brought_before_it_rejoined() -> None:
    pair = Pair()
    given = pair.register(pair.a, required=False)
    while not given.ended:
        given.step(LOST)
    Operation(model.forced(pair.b)).finish()
    assert isinstance(pair.register(pair.b, wanted=given.answer).finish(), Refused)
    Operation(model.rejoined(pair.a, pair.b)).finish()
    assert isinstance(pair.register(pair.b, wanted=given.answer).finish(), Refused), "it has another content"
    assert pair.register(pair.b, wanted=given.answer + 1).finish() == given.answer + 1
