"""A store that is written to, step by step, by the verbs of the registry."""

from dataclasses import replace
from typing import assert_never

from sigla.errors import PreconditionFailed, Refusal, StoreError
from sigla.model import Subject
from sigla.registry import Registry
from sigla.registry.conditions import Expected, state_tag
from sigla.schema_files.applying import ScopeMoved, StepRefused, TargetSilent
from sigla.schema_files.declaration import config_fields
from sigla.schema_files.steps import ConfigStep, DeleteStep, ModeStep, Step, VersionStep


class StoreTarget:
    """A `Target`."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def write(self, step: Step) -> None:
        registry = replace(self._registry, expected=Expected(step.scope, frozenset({step.before})))
        try:
            match step:
                case ConfigStep():
                    registry.change_config(step.scope, config_fields(step.patch))
                case ModeStep():
                    registry.change_mode(step.scope, step.new)
                case VersionStep():
                    registry.register(step.scope, step.file.draft, normalize=step.file.normalize)
                case DeleteStep():
                    registry.delete_subject(step.scope)
                case _:
                    assert_never(step)
        except PreconditionFailed:
            raise ScopeMoved from None
        except Refusal as refusal:
            raise StepRefused(f"{refusal.code}: {refusal.message}".rstrip(".")) from None
        except StoreError as failure:
            raise TargetSilent(str(failure).rstrip(".")) from failure

    def tag(self, scope: Subject) -> str:
        try:
            view = self._registry.look(scope)
        except StoreError as failure:
            raise TargetSilent(str(failure).rstrip(".")) from failure
        return state_tag(view.head, view.chain.own)
