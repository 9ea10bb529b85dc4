"""Long work is asked, again and again, whether it may go on."""

import json
import threading
from collections.abc import Callable, Iterator

import pytest

from sigla import effort
from sigla.effort import STEPS_PER_LOOK, Effort, Limits, OutOfTime, TurnOver, Unwanted, pulse
from sigla.languages import LANGUAGES
from sigla.languages.language import Budget


class Ticking:
    """A clock that goes on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def clock() -> Iterator[Ticking]:
    yield Ticking()
    pulse()  # nothing is left held by this thread


def effort_of(clock: Ticking, seconds: float) -> Effort:
    return Effort(Limits(computing_s=seconds), clock, lambda: 0.0)


def work(times: int, pulse: Callable[[], None] = pulse) -> None:
    for _ in range(times):
        pulse()


def test_work_without_an_effort_is_never_interrupted() -> None:
    """Imports, jobs and tests compute for as long as they like."""
    work(10_000)


def test_a_request_ends_when_its_computing_time_is_used_up(clock: Ticking) -> None:
    """A client does not get a machine for itself by sending one request."""
    with effort_of(clock, 5).turn():
        work(4)
        with pytest.raises(OutOfTime):
            pulse()


def test_what_was_computed_in_one_turn_is_missing_in_the_next(clock: Ticking) -> None:
    """A request that moves from one thread to another does not begin anew."""
    request = effort_of(clock, 5)
    with request.turn():
        pulse()
        pulse()
    with request.turn(), pytest.raises(OutOfTime):
        work(3)


def test_a_turn_ends_before_the_request_does(clock: Ticking) -> None:
    """What takes long goes on elsewhere; it is not refused."""
    request = effort_of(clock, 100)
    with request.turn(3), pytest.raises(TurnOver):
        work(3)
    with request.turn():
        pulse()


def test_a_request_that_nobody_waits_for_ends_at_the_next_pulse(clock: Ticking) -> None:
    """Clients that left must not cost those who stay."""
    request = effort_of(clock, 100)
    with request.turn():
        pulse()
        leaving = threading.Thread(target=request.give_up)
        leaving.start()
        leaving.join()
        with pytest.raises(Unwanted):
            pulse()


def test_small_steps_look_at_the_clock_as_rarely_as_large_ones(clock: Ticking) -> None:
    """A clock costs as much as the work between two looks would, if every step looked."""
    with effort_of(clock, 5).turn():
        before = clock.now
        for _ in range(2 * STEPS_PER_LOOK):
            pulse(1)
        assert clock.now == before + 2


def test_steps_of_a_comparison_are_pulses(clock: Ticking) -> None:
    """All comparisons count their steps already: there is nowhere to forget one."""
    budget = Budget()
    with effort_of(clock, 5).turn(), pytest.raises(OutOfTime):
        work(6 * STEPS_PER_LOOK, lambda: budget.spend(1))


FIELDS = 1_000
TEXTS = {
    "AVRO": json.dumps(
        {
            "type": "record",
            "name": "A",
            "fields": [{"name": f"f{at}", "type": {"type": "array", "items": "int"}} for at in range(FIELDS)],
        }
    ),
    "JSON": json.dumps({"properties": {f"f{at}": {"type": "string"} for at in range(FIELDS)}}),
    "PROTOBUF": f'syntax = "proto3"; message A {{ {" ".join(f"int32 f{at} = {at + 1};" for at in range(FIELDS))} }}',
}


@pytest.mark.parametrize("name", sorted(LANGUAGES))
def test_a_text_can_be_left_in_the_middle(name: str, clock: Ticking) -> None:
    """The largest legal texts take seconds to read."""
    language = LANGUAGES[name]

    def read() -> None:
        parsed = language.parse(TEXTS[name], (), True)
        language.compare(parsed, parsed)

    with effort_of(clock, 100).turn(3), pytest.raises(TurnOver):
        work(5, read)


def test_what_was_committed_is_not_given_up(clock: Ticking) -> None:
    """The answer would say that nothing was written."""
    with effort_of(clock, 2).turn():
        effort.committed()
        work(5)


def test_others_may_compute_while_a_thread_sleeps(clock: Ticking) -> None:
    """A writer that loses races pauses; whoever computes has no reason to."""
    told: list[str] = []

    class Share:
        def take(self) -> None:
            told.append("take")

        def leave(self) -> None:
            told.append("leave")

        def pass_on(self) -> None: ...

    with effort_of(clock, 9).turn(share=Share()), effort.resting():
        told.append("sleep")
    with effort.resting():
        pass
    assert told == ["leave", "sleep", "take"]


def test_another_service_is_asked_by_no_thread_that_everybody_needs(clock: Ticking) -> None:
    """It may take seconds to answer: nothing may wait behind it but the request that needs it."""
    request = effort_of(clock, 9)
    with request.turn(seconds=5), pytest.raises(TurnOver), effort.waiting():
        pytest.fail("it was asked where others write")
    assert request.glance(_asked) is None
    with request.turn():
        assert _asked()
    assert _asked()


def _asked() -> bool:
    with effort.waiting():
        return True
