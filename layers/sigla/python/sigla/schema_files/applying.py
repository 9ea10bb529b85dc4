"""Steps are carried out, each only if its scope is still as it was when it was planned.

Where a scope is not, it may be further along its chain: the same files are applied elsewhere at this moment, or were,
up to a call whose answer never came. Then what is done already is passed by. Else another writer has changed it:
nothing more is done, and what was planned has to be planned again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from sigla.backoff import Backoff
from sigla.model import Subject
from sigla.ports.clock import Clock
from sigla.schema_files.steps import Step

TRIES: Final = 4
FIRST_PAUSE_S: Final = 1.0


class ScopeMoved(Exception):
    """The scope is not as the step expects it; nothing was done."""


class StepRefused(Exception):
    """The registry refuses the step, and says why."""


class TargetSilent(Exception):
    """Whether the step was done is not known: why the registry does not answer."""


class Target(Protocol):
    """A registry that is written to."""

    def write(self, step: Step) -> None:
        """Carries it out if its scope has the tag `before`. Raises ScopeMoved, StepRefused, TargetSilent."""
        ...

    def tag(self, scope: Subject) -> str:
        """The tag of a scope as it is now. Raises TargetSilent."""
        ...


@dataclass(slots=True)
class Applied:
    """done: by this call, or by others meanwhile. stopped: a step that was not, and why. left: it, and the rest."""

    done: list[Step] = field(default_factory=list)
    left: list[Step] = field(default_factory=list)
    stopped: Step | None = None
    why: str = ""


def apply_steps(target: Target, steps: Sequence[Step], clock: Clock, told: Callable[[int], None]) -> Applied:
    """told: is called with the number of steps that are done."""
    found = Applied(left=list(steps))
    while found.left:
        step = found.left[0]
        try:
            passed = _carried_out(target, found.left, clock)
        except ScopeMoved:
            found.why = "it has changed since it was planned"
        except (StepRefused, TargetSilent) as problem:
            found.why = str(problem)
        if found.why:
            found.stopped = step
            break
        found.done += passed
        found.left = [each for each in found.left if not any(each is one for one in passed)]
        told(len(found.done))
    return found


def _carried_out(target: Target, left: Sequence[Step], clock: Clock) -> list[Step]:
    """The steps that are done now: the first, and others of its scope if they were done by others.

    Raises ScopeMoved, StepRefused, TargetSilent.
    """
    step = left[0]
    problem = TargetSilent()
    for _ in Backoff(clock, FIRST_PAUSE_S, tries=TRIES):
        try:
            target.write(step)
        except ScopeMoved:
            return _passed(left, target.tag(step.scope))
        except TargetSilent as silence:
            problem = silence
            standing = target.tag(step.scope)
            if standing != step.before:
                return _passed(left, standing)
        else:
            return [step]
    raise problem


def _passed(left: Sequence[Step], standing: str) -> list[Step]:
    """The steps of the first one's scope up to the state that the scope is in. Raises ScopeMoved."""
    chain = [each for each in left if each.scope == left[0].scope]
    reached = [at for at, each in enumerate(chain) if each.after == standing]
    if not reached:
        raise ScopeMoved
    return chain[: reached[-1] + 1]
