"""No id is ever given two contents by two regions, whatever is lost, late, killed, restored or promoted."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.unit.regions import model, model_joining
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

WHICH = st.integers(0, 59)
"""One of two to five sites."""

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
        self.others = {"A": self.b, "B": self.a}
        self.nobody = Site("nobody", Table(Role(0, JOINING)), {}, self.design)
        self._contents = iter(range(10**9))

    def site(self, name: str, kind: str) -> Site:
        return Site(name, Table(Role(1, kind)), self.given, self.design)

    def other(self, site: Site) -> Site:
        return self.others[site.name]

    def told(self, site: Site) -> Site:
        """Where its ceilings are told: nowhere, if the other one is followed by another by now."""
        other = self.other(site)
        return other if self.other(other) is site else self.nobody

    def dismiss(self, site: Site, name: str) -> Site | None:
        """The region that may follow in the place of the one that is lost."""
        return self._given_up(site, model.dismissed(site, self.other(site)), name)

    def abandon(self, site: Site, name: str) -> Site | None:
        """The same, of one that was passed over."""
        return self._given_up(site, model.abandoned(site), name)

    def _given_up(self, site: Site, course: Course[None], name: str) -> Site | None:
        was_alone = site.table.alone
        Operation(course).finish()
        if was_alone or not site.table.alone:
            return None
        return self.take_place(site, name)

    def take_place(self, site: Site, name: str) -> Site:
        """A new region that is to follow."""
        new = Site(name, Table(Role(site.table.role.epoch, JOINING)), self.given, self.design)
        self.others |= {site.name: new, name: site}
        return new

    def register(self, at: Site, *, wanted: int = 0, required: bool = True) -> Operation:
        content = f"{at.name}{next(self._contents)}"
        course = model.registration(at, self.told(at), content, wanted=wanted, required=required)
        return Operation(course, at)

    @property
    def twice(self) -> dict[int, set[str]]:
        return {id: contents for id, contents in self.given.items() if len(contents) > 1}


class Regions(RuleBasedStateMachine):
    """Any number of operations, each with its next request, in any order and with any trouble."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = self.begun()
        self.sites = [self.pair.a, self.pair.b]
        self.running: list[Operation] = []
        self.late: list[Call] = []
        self.kept: list[tuple[Site, Table]] = []
        self.tokens = 0

    def begun(self) -> Pair:
        return Pair()

    def chosen(self, which: int) -> Site:
        return self.sites[which % len(self.sites)]

    def begin(self, course: Course[Any], whole: bool) -> None:
        """whole: nothing comes in between."""
        operation = Operation(course)
        if whole:
            operation.finish()
        elif not operation.ended:
            self.running.append(operation)

    @rule(at=WHICH, many=st.integers(1, 2 * BLOCK))
    def register(self, at: int, many: int) -> None:
        """Bodies do not arrive: they alone would keep most ids apart."""
        for _ in range(many):
            self.pair.register(self.chosen(at), required=False).finish("put")

    @rule(at=WHICH, wanted=st.integers(0, 8 * BLOCK), required=st.booleans())
    def begin_to_register(self, at: int, wanted: int, required: bool) -> None:
        self.running.append(self.pair.register(self.chosen(at), wanted=wanted, required=required))

    @rule(to=WHICH, whole=st.booleans())
    def promote(self, to: int, whole: bool) -> None:
        self.tokens += 1
        self.begin(self.chosen(to).promote(self.pair.other(self.chosen(to)), self.tokens), whole)

    @rule(to=WHICH, whole=st.booleans())
    def take_back(self, to: int, whole: bool) -> None:
        self.begin(self.chosen(to).take_back(self.pair.other(self.chosen(to))), whole)

    @rule(to=WHICH, whole=st.booleans())
    def promote_by_force(self, to: int, whole: bool) -> None:
        self.begin(self.chosen(to).promote_by_force(), whole)

    @rule(old=WHICH, whole=st.booleans())
    def fence(self, old: int, whole: bool) -> None:
        self.begin(model.fenced(self.chosen(old), self.pair.other(self.chosen(old))), whole)

    @rule(old=WHICH, whole=st.booleans())
    def rejoin(self, old: int, whole: bool) -> None:
        site = self.chosen(old)
        assume(self.pair.told(site) is not self.pair.nobody)
        self.begin(model_joining.rejoined(site, self.pair.other(site)), whole)

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

    @rule(at=WHICH)
    def back_up(self, at: int) -> None:
        self.kept.append((self.chosen(at), deepcopy(self.chosen(at).table)))

    @precondition(lambda self: self.kept)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        site, table = self.kept[data.draw(st.integers(0, len(self.kept) - 1))]
        # Both restored at once would be a new registry: `sigla restore`, which leaves a gap.
        assume(self.pair.other(site).table.role.kind != JOINING)
        site.restored(table)

    @invariant()
    def no_id_is_given_twice(self) -> None:
        assert not self.pair.twice


class Dismissed(Regions):
    """A follower is lost, and others begin to follow, while it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.dismissals: set[tuple[str, str]] = set()
        """Who has given up whom."""
        self.abandonments: set[tuple[str, str]] = set()
        """The same, for good: where the other one does it as well, and both get followers, they are two registries."""

    @precondition(lambda self: len(self.sites) < 5)
    @rule(at=WHICH)
    def dismiss(self, at: int) -> None:
        site, other = self.chosen(at), self.pair.other(self.chosen(at))
        assume((other.name, site.name) not in self.abandonments)
        new = self.pair.dismiss(site, "ABCDE"[len(self.sites)])
        if new is not None:
            self.dismissals.add((site.name, other.name))
            self.sites.append(new)

    @precondition(lambda self: len(self.sites) < 5)
    @rule(at=WHICH)
    def abandon(self, at: int) -> None:
        """The region that was passed over, which may go on: but it gives up no other one."""
        site, other = self.chosen(at), self.pair.other(self.chosen(at))
        assume((other.name, site.name) not in {*self.dismissals, *self.abandonments})
        new = self.pair.abandon(site, "ABCDE"[len(self.sites)])
        if new is not None:
            self.abandonments.add((site.name, other.name))
            self.sites.append(new)

    @precondition(lambda self: len(self.sites) < 5)
    @rule(at=WHICH)
    def overtake(self, at: int) -> None:
        """Another one, while the region that is back has not joined yet."""
        site = self.chosen(at)
        assume(site.table.vacant and site.table.role.kind == PRIMARY)
        self.sites.append(self.pair.take_place(site, "ABCDE"[len(self.sites)]))

    @rule(new=WHICH, whole=st.booleans())
    def join(self, new: int, whole: bool) -> None:
        site = self.chosen(new)
        assume(self.pair.told(site) is not self.pair.nobody)
        self.begin(model_joining.joined(site, self.pair.other(site)), whole)

    @rule(old=WHICH, new=WHICH, whole=st.booleans())
    def rejoin_another(self, old: int, new: int, whole: bool) -> None:
        """At a region that is not its partner: it gave it up, or both took over without the other."""
        site, primary = self.chosen(old), self.chosen(new)
        has_place = self.pair.other(primary) is site and self.pair.other(site) is primary
        if site is not primary and not has_place:
            self.begin(model_joining.rejoined(site, primary, has_place=False), whole)

    @rule(at=WHICH, other=WHICH, whole=st.booleans())
    def meet(self, at: int, other: int, whole: bool) -> None:
        """Two hear of each other that never were partners."""
        self.begin(model.fenced(self.chosen(at), self.chosen(other)), whole)

    @rule(new=WHICH, primary=WHICH)
    def take_place(self, new: int, primary: int) -> None:
        """One that waits follows, where no other one does any more."""
        site, leader = self.chosen(new), self.chosen(primary)
        if site.table.role.kind == JOINING and leader.table.alone and site is not leader:
            self.pair.others |= {site.name: leader, leader.name: site}
            self.begin(model_joining.joined(site, leader), whole=True)

    @invariant()
    def two_of_one_epoch_do_not_take_writes(self) -> None:
        """The epochs of any two tell which one goes on."""
        leading = [each.table.role.epoch for each in self.sites if each.table.role.kind == PRIMARY]
        assert len(set(leading)) == len(leading)


def test_no_id_is_given_twice_whichever_follower_is_given_up() -> None:
    run_state_machine_as_test(Dismissed, settings=settings(stateful_step_count=60))


def test_no_id_is_given_twice() -> None:
    run_state_machine_as_test(Regions, settings=settings(stateful_step_count=60))


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
    Operation(model_joining.rejoined(pair.b, pair.a)).finish()
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
    Operation(model_joining.rejoined(pair.a, pair.b)).finish()
    assert isinstance(pair.register(pair.b, wanted=given.answer).finish(), Refused), "it has another content"
    assert pair.register(pair.b, wanted=given.answer + 1).finish() == given.answer + 1
