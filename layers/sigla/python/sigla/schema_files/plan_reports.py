"""What has to be done, and what was: for people, and for programs."""

from collections.abc import Iterator
from typing import Any, assert_never

import orjson

from sigla import records
from sigla.model import GLOBAL, Config, Subject
from sigla.schema_files.applying import Applied
from sigla.schema_files.foreseeing import Foreseen
from sigla.schema_files.reports import checked_form
from sigla.schema_files.steps import ConfigStep, DeleteStep, ModeStep, Step, VersionStep

Json = dict[str, Any]


def plan_text(found: Foreseen, source: str) -> str:
    """A line for each step, and what they are together."""
    if not found.steps:
        return f"{source} is as the files say: nothing to change."
    count = len(found.steps)
    return "\n".join([*map(step_line, found.steps), f"{count} change{'s' * (count != 1)} to {source}."])


def step_line(step: Step) -> str:
    """`+` comes, `~` becomes another, `-` goes."""
    shown = shown_scope(step.scope)
    match step:
        case VersionStep():
            sign = "~" if step.highest else "+"
            return f"{sign} {shown}: version {step.version} from {step.file.name}"
        case ConfigStep():
            return f"~ {shown}: {', '.join(_config_changes(step.old or Config(), step.new))}"
        case ModeStep():
            return f"~ {shown}: mode {step.old or 'not set'} -> {step.new}"
        case DeleteStep():
            return f"- {shown}: soft-deleted, with all versions up to {step.newest}"
        case _:
            assert_never(step)


def shown_scope(scope: Subject) -> str:
    return "global" if scope == GLOBAL else scope.qualified


def _config_changes(old: Config, new: Config) -> Iterator[str]:
    before, after = records.config_json(old), records.config_json(new)
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            yield f"{name} {_shown_value(before.get(name))} -> {_shown_value(after.get(name))}"


def _shown_value(value: object) -> str:
    return "not set" if value is None else value if isinstance(value, str) else orjson.dumps(value).decode()


def plan_form(found: Foreseen, source: str) -> Json:
    return {
        "registry": source,
        "accepted": found.is_accepted,
        "changes": [step_form(step) for step in found.steps],
        "refused": [checked_form(each) for each in found.files if not each.is_accepted],
    }


def step_form(step: Step) -> Json:
    form: Json = {"subject": step.scope.qualified}
    match step:
        case VersionStep():
            return {"action": "register", **form, "version": step.version, "file": step.file.name}
        case ConfigStep():
            old = None if step.old is None else records.config_json(step.old)
            return {"action": "config", **form, "old": old, "new": records.config_json(step.new)}
        case ModeStep():
            return {"action": "mode", **form, "old": step.old, "new": step.new}
        case DeleteStep():
            return {"action": "delete", **form, "version": step.newest}
        case _:
            assert_never(step)


def applied_text(found: Applied, source: str) -> str:
    """What is done, and where it stopped."""
    done = f"{len(found.done)} of {len(found.done) + len(found.left)} changes to {source} are done"
    if found.stopped is None:
        return f"{done}."
    stopped = f"Stopped at {shown_scope(found.stopped.scope)}: {found.why}."
    return "\n".join(
        [
            stopped,
            "Not done:",
            *map(step_line, found.left),
            f"{done}. What is done stays; the next apply does the rest.",
        ]
    )


def applied_form(found: Applied, source: str) -> Json:
    stopped = None
    if found.stopped is not None:
        stopped = {"subject": found.stopped.scope.qualified, "why": found.why}
    return {
        "registry": source,
        "done": [step_form(step) for step in found.done],
        "notDone": [step_form(step) for step in found.left],
        "stopped": stopped,
    }
