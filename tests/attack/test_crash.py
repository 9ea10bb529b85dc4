"""A failure before and after every call that writes, and at each that reads: nothing is half done, a retry succeeds.

Each verb runs once with a recorder to learn its calls; then, for every call and every kind of failure, on a fresh
registry in the same state, with the failure at that call.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from sigla.errors import OutcomeUnknown, Refusal, StoreError
from tests.attack.ports import At, Between, Call, Recorder
from tests.attack.stories import READS, WRITES, Story
from tests.attack.world import Embedded, Fresh, World, outcome, shown
from tests.unit.aws.faults import Killed


class PowerCut(Exception):
    """Something no adapter announces: a bug, a killed process, a full disk."""


def before(error: type[Exception]) -> Between:
    def fail(call: Call, carry_out: Callable[[], Any]) -> Any:
        raise error(call.name)

    return fail


def after(error: type[Exception]) -> Between:
    def fail(call: Call, carry_out: Callable[[], Any]) -> Any:
        carry_out()
        raise error(call.name)

    return fail


KINDS: dict[str, Between] = {
    "silent before": before(StoreError),
    "cut before": before(PowerCut),
    "silent after": after(StoreError),
    "cut after": after(PowerCut),
    "unknown, not done": before(OutcomeUnknown),
    "unknown, done": after(OutcomeUnknown),
}
OF_READS = ("silent before",)
"""Whether a read was done makes no difference; who is cut there is cut after the write before it."""
OF_WRITES = ("silent before", "cut before", "silent after", "cut after")
WRITING = {
    *("catalog.commit", "catalog.next_id", "catalog.admit", "catalog.raise_counter"),
    *("bodies.put", "bodies.bury", "bodies.revive", "bodies.mend"),
    *("catalog.advance", "secrets.put", "secrets.delete"),
}

READING = {
    *("bodies.get", "bodies.get_many", "bodies.named", "bodies.next_above"),
    *("catalog.snapshot", "catalog.history", "catalog.candidates", "catalog.referrers"),
    "catalog.commits_about",
    *(
        "catalog.id_of",
        "catalog.ids_of",
        "catalog.standing",
        "catalog.speaker",
        "catalog.holders",
        "catalog.displaced",
        "catalog.max_id",
    ),
    *("catalog.associations_of_resource", "catalog.associations_of_subject", "catalog.associations_named"),
    *("catalog.subjects", "catalog.versions", "catalog.settings", "catalog.contexts", "catalog.contexts_of"),
    "catalog.look",
    "catalog.versions_below",
    "catalog.rows_of",
    *(
        "catalog.contexts_after",
        "catalog.holders_after",
        "catalog.referrers_after",
        "catalog.keks_after",
        "catalog.associations_after",
    ),
    *("catalog.kek", "catalog.deks_of", "catalog.deks_counted"),
    *("catalog.exporter", "catalog.exporters", "catalog.progress", "secrets.get"),
}


def failures(calls: list[Call]) -> Iterator[tuple[int, str]]:
    """Every call with every kind of failure it can have; only a commit's outcome can be unknown."""
    for number, call in enumerate(calls):
        for kind in KINDS if call.is_commit else OF_WRITES if call.name in WRITING else OF_READS:
            yield number, kind


class Undisturbed:
    """What a story's verb does when nothing fails: the measure of all its disturbed runs."""

    def __init__(self, story: Story, fresh: Fresh = Embedded) -> None:
        recorder = Recorder()
        with World(*story.before, store=fresh()) as world:
            self.before = world.picture()
            self.answer = outcome(world, story.verb, world.registry_with(recorder))
            self.calls = recorder.calls
            self.after = world.picture()
            world.check_sound(imported=story.imported)
            self.repeated = outcome(world, story.verb)
            self.end = world.picture()


@cache
def undisturbed(name: str) -> Undisturbed:
    """Measured once for all tests."""
    return Undisturbed((WRITES | READS)[name])


def disturb(story: Story, measure: Undisturbed, number: int, act: Between, fresh: Fresh = Embedded) -> None:
    """One disturbed run, and all that must hold after it."""
    with World(*story.before, store=fresh()) as world:
        meanings = world.meanings()
        trap = At(number, act)
        answer, failed = attempt(world, story, trap)
        assert trap.acted
        if story.piecewise:
            world.store.check()
        world.check_sound(imported=story.imported)
        seen = world.picture()
        if not story.piecewise:
            assert seen in (measure.before, measure.after), "half done"
        if not failed:
            assert answer == measure.answer, "answered something else than without the failure"
            assert seen == measure.after, "answered, and not done"
            return
        retried = outcome(world, story.verb)
        world.check_sound(imported=story.imported)
        if seen == measure.before:
            assert retried == measure.answer
            assert world.picture() == measure.after
        elif not story.piecewise:
            assert retried == measure.repeated
            assert world.picture() == measure.end
        else:
            assert world.picture() == measure.after
        assert meanings.items() <= world.meanings().items(), "an id has two meanings"
        world.store.check()


def attempt(world: World, story: Story, trap: At) -> tuple[Any, bool]:
    """The answer, and whether the verb failed (rather than answered)."""
    try:
        return shown(world, story.verb(world.registry_with(trap))), False
    except Refusal as refusal:
        return (type(refusal).__name__, refusal.message), False
    except (StoreError, PowerCut, Killed):
        return None, True


@pytest.mark.parametrize("name", WRITES)
def test_a_failure_anywhere_leaves_nothing_half_done_and_a_retry_succeeds(name: str) -> None:
    """Before and after every call: what can be read is as before or as after, and one more try ends where it should."""
    story = WRITES[name]
    measure = undisturbed(name)
    for number, kind in failures(measure.calls):
        try:
            disturb(story, measure, number, KINDS[kind])
        except AssertionError as error:
            error.add_note(f"{name}: {kind} call {number} of {[call.name for call in measure.calls]}")
            raise


@pytest.mark.parametrize("name", READS)
def test_what_only_reads_changes_nothing_however_it_ends(name: str) -> None:
    """Neither does a write that is refused: no version, no setting, no journal row."""
    story = READS[name]
    measure = undisturbed(name)
    assert measure.after == measure.before
    assert not [call.name for call in measure.calls if call.is_commit or call.name == "bodies.put"]
    for number, kind in failures(measure.calls):
        disturb(story, measure, number, KINDS[kind])


@pytest.mark.parametrize("name", [name for name, story in WRITES.items() if not story.piecewise])
@pytest.mark.parametrize("done", [True, False])
def test_an_unknown_outcome_that_cannot_be_settled_is_settled_by_the_retry(name: str, *, done: bool) -> None:
    """The commit did not say whether it happened, and the question that would tell failed as well."""
    story = WRITES[name]
    measure = undisturbed(name)
    commits = [number for number, call in enumerate(measure.calls) if call.is_commit]
    for number in commits:

        class Twice:
            """Fails the commit, then whatever is asked next."""

            def __init__(self) -> None:
                self.number = -1

            def __call__(self, call: Call, carry_out: Callable[[], Any]) -> Any:
                self.number += 1
                if self.number == number:  # noqa: B023 - used within this turn of the loop
                    return (after if done else before)(OutcomeUnknown)(call, carry_out)
                if self.number == number + 1:  # noqa: B023 - as above
                    raise StoreError(call.name)
                return carry_out()

        with World(*story.before) as world:
            with pytest.raises(StoreError):
                story.verb(world.registry_with(Twice()))
            assert world.picture() == (measure.after if done else measure.before)
            assert outcome(world, story.verb) == (measure.repeated if done else measure.answer)
            world.check_sound(imported=story.imported)


@pytest.mark.parametrize("name", ["a permanent delete of the last version", "a permanent delete of a subject"])
def test_a_delete_whose_tombstone_cannot_be_put_is_told_to_be_done(name: str) -> None:
    """It is: only those who read without the catalog are not told yet."""
    story, measure = WRITES[name], undisturbed(name)
    buries = [number for number, call in enumerate(measure.calls) if call.name == "bodies.bury"]
    assert buries
    for number in buries:
        with World(*story.before) as world:
            silent = world.registry_with(At(number, before(StoreError)))
            assert outcome(world, story.verb, silent) == measure.answer
            assert world.picture() == measure.after


def test_every_verb_that_writes_is_attacked() -> None:
    """The stories cover all kinds of change, and the reads cover what has no commit."""
    from sigla.changes import Change
    from tests.attack import test_associations, test_exporters  # which import this module

    measured = [undisturbed(name) for name in WRITES]
    measured += [Undisturbed(story) for story in (test_associations.STORIES | test_exporters.STORIES).values()]
    seen = {type(call.arguments[0]) for measure in measured for call in measure.calls if call.is_commit}
    assert seen == set(Change.__args__)


def test_every_call_of_a_verb_is_known_to_write_or_to_read() -> None:
    """Else too few failures of it would be tried."""
    seen = {call.name for name in WRITES | READS for call in undisturbed(name).calls}
    unknown = seen - WRITING - READING
    assert not unknown, f"add to WRITING or to READING, above: {sorted(unknown)}"
