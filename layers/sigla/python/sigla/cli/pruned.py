"""What is known of readers of subjects that are about to be deleted, told before the question whether to go on."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sigla.cli.usage import ask_for_usage, evidence, stored_form

if TYPE_CHECKING:
    from sigla.model import Subject
    from sigla.registry import Registry
    from sigla.remote.client import Remote
    from sigla.schema_files.steps import Step

UsageOf = Callable[["Subject"], Mapping[str, Any] | None]
"""What a registry tells of a subject, as its API has it; None where it tells nothing."""

UNKNOWN: Final = "Who reads {subject} is not known: {where} does not tell it."
NO_READ: Final = "No read of {subject} is known, which does not mean that it is not used."


def question(steps: "Sequence[Step]", usage_of: UsageOf, where: str) -> str:
    """What to ask before these steps. Tells the uses of what they delete, on standard error. where: the registry."""
    from sigla.schema_files.steps import DeleteStep

    used = [step.scope for step in steps if isinstance(step, DeleteStep) and _is_used(step.scope, usage_of, where)]
    what = "this" if len(steps) == 1 else "these"
    if not used:
        return f"Do {what}?"
    which = f"{used[0].qualified} is" if len(used) == 1 else f"{len(used)} of the subjects to be deleted are"
    return f"{which} read. Do {what} all the same?"


def usage_in_store(registry: "Registry", subject: "Subject") -> Mapping[str, Any] | None:
    from sigla.registry.usages import usage_if_known

    found = usage_if_known(registry, subject)
    return None if found is None else stored_form(registry, found)


def usage_behind_url(remote: "Remote", subject: "Subject") -> Mapping[str, Any] | None:
    """Raises RemoteRefused, RemoteMisused where the registry does not answer at all."""
    answer = ask_for_usage(remote, subject.qualified)
    form: Mapping[str, Any] | None = json.loads(answer.body) if answer.status == 200 else None
    return form


def _is_used(subject: "Subject", usage_of: UsageOf, where: str) -> bool:
    form = usage_of(subject)
    if form is None:
        print(UNKNOWN.format(subject=subject.qualified, where=where), file=sys.stderr)
        return False
    lines = [
        f"{subject.qualified} {version['version']} (id {version['id']}): {line}"
        for version in form["versions"]
        for line in evidence(version)
    ]
    print("\n".join(lines) if lines else NO_READ.format(subject=subject.qualified), file=sys.stderr)
    return bool(lines)
