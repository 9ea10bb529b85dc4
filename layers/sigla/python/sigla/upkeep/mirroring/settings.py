"""Config and modes of scopes, and which contexts are listed."""

from sigla.changes import ConfigChanged, ContextDropped, ModeChanged
from sigla.model import Config, Search, Subject
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce
from sigla.upkeep.importing.insisting import insist
from sigla.upkeep.importing.settings import in_force


def set_config(resources: Resources, scope: Subject, wanted: Config | None) -> bool:
    """The scope has this config, or none; whether it had another one."""

    def attempt() -> bool:
        own = resources.catalog.snapshot(scope).chain.own
        if in_force(resources, own.config) == in_force(resources, wanted):
            return False
        commit(resources, ConfigChanged(scope, own, wanted, resources.clock.now(), nonce()))
        return True

    return insist(resources, attempt)


def set_mode(resources: Resources, scope: Subject, wanted: str | None) -> bool:
    """The scope has this mode, or none; whether it had another one."""

    def attempt() -> bool:
        own = resources.catalog.snapshot(scope).chain.own
        if own.mode == wanted:
            return False
        commit(resources, ModeChanged(scope, own, wanted, resources.clock.now(), nonce()))
        return True

    return insist(resources, attempt)


def drop_context(resources: Resources, context: str) -> bool:
    """It is not listed any more, unless a version is stored in it; whether it was."""

    def attempt() -> bool:
        if context not in resources.catalog.contexts():
            return False
        if next(resources.catalog.subjects(Search(context=context)), None) is not None:
            return False
        commit(resources, ContextDropped(context, resources.clock.now(), nonce()))
        return True

    return insist(resources, attempt)
