"""Settings, contexts and counters, which belong to no version."""

from functools import partial

from sigla.changes import ConfigChanged, ContextListed, ModeChanged
from sigla.model import Config, SchemaId, Settings, Subject
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce
from sigla.rules.settings import with_level
from sigla.upkeep.importing.insisting import insist
from sigla.upkeep.importing.report import CONFLICTING, IDENTICAL, IMPORTED, Report

OTHER_SETTINGS = "other settings stand here"


def settle(resources: Resources, scope: Subject, wanted: Settings, report: Report) -> None:
    """Config and mode of a scope are as wanted, or told to be others. What is not wanted is left alone."""

    def attempt(what: str) -> object:
        """What stands there; where nothing does, what is wanted is written."""
        own = resources.catalog.snapshot(scope).chain.own
        marks = resources.clock.now(), nonce()
        standing: object = getattr(own, what)
        if standing is None and what == "config":
            commit(resources, ConfigChanged(scope, own, wanted.config, *marks))
        elif standing is None:
            commit(resources, ModeChanged(scope, own, wanted.mode, *marks))
        return standing

    for what in ("config", "mode"):
        if getattr(wanted, what) is not None:
            standing = insist(resources, partial(attempt, what))
            same = in_force(resources, standing) == in_force(resources, getattr(wanted, what))
            outcome = IMPORTED if standing is None else IDENTICAL if same else CONFLICTING
            why = OTHER_SETTINGS if outcome is CONFLICTING else ""
            report.tell(outcome, what, scope.qualified or "(global)", why)


def count(resources: Resources, context: str, highest: SchemaId) -> None:
    """No id up to the highest is given out here. Id 0 uses up number 1 as well (REG-11)."""
    resources.catalog.raise_counter(context, max(highest, SchemaId(1)))


def list_context(resources: Resources, context: str) -> None:
    """It is listed when this returns, whether or not anything is stored in it."""

    def attempt() -> None:
        if context not in resources.catalog.contexts():
            commit(resources, ContextListed(context, resources.clock.now(), nonce()))

    insist(resources, attempt)


def in_force(resources: Resources, setting: object) -> object:
    """A config without a level has the default one, and an API tells no difference (CFG-8)."""
    return with_level(setting, resources.options.default_level) if isinstance(setting, Config) else setting
