"""Config and mode of a subject, a context, the default context (global), the whole registry.

CFG-1 to CFG-10 and MODE-1 to MODE-11 say what becomes of an entry, INH-1 to INH-6 which entry is in force.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from sigla.changes import ConfigChanged, ImportBegun, ModeChanged
from sigla.contract import FORWARD, IMPORT, MODES, POLICIES, READWRITE
from sigla.errors import (
    Denied,
    ForwardOnlyGlobal,
    ImportIntoExisting,
    InvalidLevel,
    InvalidMode,
    LevelNotConfigured,
    ModeImmutable,
    ModeNotConfigured,
    Referenced,
    SubjectNotFound,
)
from sigla.model import DEFAULT_CONTEXT, GLOBAL, REGISTRY_WIDE, Config, Page, Search, Settings, Show, Subject
from sigla.registry.paging import paged
from sigla.registry.resources import Resources, View
from sigla.registry.side_by_side import side_by_side
from sigla.registry.steps.committing import commit, nonce, until_committed
from sigla.rules import names, rule_sets
from sigla.rules.compatibility import LEVELS
from sigla.rules.settings import origins, with_level
from sigla.rules.subject import check_writable

NOTHING_SET = Settings()


@dataclass(frozen=True, slots=True)
class InForce:
    """What applies to a scope. origins: which scopes it comes from, as `rules.settings.origins` tells it."""

    scope: Subject
    config: Config
    mode: str
    origins: Mapping[str, Subject]


ALWAYS_ANSWERED = (GLOBAL, REGISTRY_WIDE)
"""Scopes that report the server's default where they have no entry (INH-4)."""


def config(resources: Resources, scope: Subject, *, default_to_global: bool = False) -> Config:
    """The scope's own entry, or with `default_to_global` what is in force. Raises LevelNotConfigured."""
    view = resources.look(scope)  # ALIAS-2: the entry of the alias itself
    if default_to_global:
        return view.config
    own = view.chain.own.config
    if own is None and scope not in ALWAYS_ANSWERED:  # CFG-6, CFG-7
        raise LevelNotConfigured(subject=scope)
    return with_level(own or Config(), resources.options.default_level)  # CFG-8


def listed_settings(resources: Resources, search: Search, *, page: Page) -> list[tuple[Subject, Settings]]:
    """Scopes with an entry of their own: those above all that is searched, then those that match, by their names."""
    told = settings_of_all(resources, scopes_above(search))
    below = (each for each in resources.catalog.settings(search) if each[0] not in told)
    return paged(chain(told.items(), below), page)


def scopes_above(search: Search) -> list[Subject]:
    """Those whose settings hold for all that is searched."""
    own = [Subject(search.context, "")] if search.context and search.context != DEFAULT_CONTEXT else []
    return [REGISTRY_WIDE, GLOBAL, *own]


def settings_of_all(resources: Resources, scopes: Sequence[Subject]) -> dict[Subject, Settings]:
    """What is set for each of them, of those for which anything is."""
    owns = side_by_side(resources, [partial(_own, resources, scope) for scope in scopes])
    return {scope: own for scope, own in zip(scopes, owns, strict=True) if own != NOTHING_SET}


def _own(resources: Resources, scope: Subject) -> Settings:
    """What is set for the scope itself; nothing, to a principal that may not see it: a list leaves that out."""
    try:
        return replace(resources.look(scope).chain.own, revision="")
    except Denied:
        return NOTHING_SET


def change_config(resources: Resources, scope: Subject, patch: Mapping[str, Any]) -> Config:
    """The whole entry after the patch: a field that is absent keeps its value, None clears it.

    Raises InvalidLevel, InvalidRuleSet, InvalidSubject, ReadOnly, in this order.
    """
    fields = _checked(patch)  # CFG-1, COMPAT-8
    if scope not in ALWAYS_ANSWERED:
        names.check_configurable(scope)  # CFG-4

    def attempt() -> Config:
        view = resources.look(scope)
        _check_writable(view)
        changed = replace(view.chain.own.config or Config(), **fields)  # CFG-2, CFG-5
        commit(resources, ConfigChanged(scope, view.chain.own, changed, resources.clock.now(), nonce()))
        return changed  # CFG-3

    return until_committed(resources, "Update config operation", attempt)


def drop_config(resources: Resources, scope: Subject) -> Config:
    """The entry that was removed; for the global ones what was in force. Raises SubjectNotFound, ReadOnly."""

    def attempt() -> Config:
        view = resources.look(scope)
        own = view.chain.own.config
        if own is None and scope not in ALWAYS_ANSWERED:  # CFG-10
            raise SubjectNotFound(subject=scope)
        _check_writable(view)
        if own is None:  # CFG-9
            return view.config
        commit(resources, ConfigChanged(scope, view.chain.own, None, resources.clock.now(), nonce()))
        return with_level(own, resources.options.default_level)

    return until_committed(resources, "Delete config operation", attempt)


def in_force(resources: Resources, scope: Subject) -> InForce:
    """Config and mode as they apply to the scope, whether or not anything is stored there."""
    view = resources.look(scope)  # ALIAS-2: of an alias what is set for itself
    return InForce(scope, view.config, view.mode, origins(view.chain, scope))


def mode(resources: Resources, scope: Subject, *, default_to_global: bool = False) -> str:
    """The scope's own mode, or with `default_to_global` the one in force. Raises ModeNotConfigured."""
    view = resources.look(scope)
    if default_to_global:
        return view.mode
    own = view.chain.own.mode
    if own is None and scope not in ALWAYS_ANSWERED:  # MODE-9
        raise ModeNotConfigured(subject=scope)
    return own or READWRITE


def change_mode(resources: Resources, scope: Subject, wanted: str | None, *, force: bool = False) -> None:
    """Sets the mode, or removes the entry (None).

    Into IMPORT, unless forced, only where nothing is active; what is soft-deleted there is purged.
    Raises InvalidSubject, InvalidMode, ForwardOnlyGlobal, ModeImmutable, ImportIntoExisting, Referenced.
    """
    if scope not in ALWAYS_ANSWERED:
        names.check_configurable(scope)
    target = _mode_named(scope, wanted)  # MODE-1, MODE-2, MODE-3
    _check_mutable(resources)

    def attempt() -> None:
        view = resources.look(scope)
        if target == IMPORT and view.mode != IMPORT and not force:  # MODE-7
            _begin_import(resources, view)  # MODE-5, MODE-6
        else:
            commit(resources, ModeChanged(scope, view.chain.own, target, resources.clock.now(), nonce()))

    until_committed(resources, "Update mode operation", attempt)


def drop_mode(resources: Resources, scope: Subject, *, recursive: bool = False) -> str | None:
    """The mode that was removed; None without one. recursive: also those of all subjects of a context.

    Raises ModeImmutable, SubjectNotFound.
    """
    _check_mutable(resources)

    def attempt() -> str | None:
        view = resources.look(scope)
        own = view.chain.own.mode
        if own is not None:
            commit(resources, ModeChanged(scope, view.chain.own, None, resources.clock.now(), nonce()))
            return own
        if recursive:
            return None
        if scope not in ALWAYS_ANSWERED:  # MODE-10
            raise SubjectNotFound(subject=scope)
        return READWRITE

    dropped = until_committed(resources, "Delete mode operation", attempt)
    if recursive and not scope.name:  # MODE-11
        for below, settings in list(resources.catalog.settings(Search(context=scope.context))):
            if settings.mode is not None and below != scope:
                _drop_below(resources, below)
    return dropped


def _drop_below(resources: Resources, scope: Subject) -> None:
    def attempt() -> None:
        own = resources.look(scope).chain.own
        if own.mode is not None:
            commit(resources, ModeChanged(scope, own, None, resources.clock.now(), nonce()))

    until_committed(resources, "Delete mode operation", attempt)


def _checked(patch: Mapping[str, Any]) -> dict[str, Any]:
    """The patch with its level in upper case. Unknown policies count as none set (COMPAT-8)."""
    fields = dict(patch)
    level = fields.get("level")
    if level is not None:
        fields["level"] = str(level).upper()
        if fields["level"] not in LEVELS:
            raise InvalidLevel
    policy = fields.get("policy")
    if policy is not None:
        fields["policy"] = policy.upper() if policy.upper() in POLICIES else None
    for name in ("default_rule_set", "override_rule_set"):
        rule_sets.validate(fields.get(name))
    return fields


def _check_writable(view: View) -> None:
    check_writable(view.subject, view.mode, shown="null" if view.subject == GLOBAL else None)


def _mode_named(scope: Subject, wanted: str | None) -> str | None:
    if wanted is None:
        return None
    if wanted.upper() not in MODES:
        raise InvalidMode
    if wanted.upper() == FORWARD and scope != REGISTRY_WIDE:
        raise ForwardOnlyGlobal
    return wanted.upper()


def _check_mutable(resources: Resources) -> None:
    if not resources.options.mode_mutability:
        raise ModeImmutable


def _begin_import(resources: Resources, view: View) -> None:
    """The store judges again, in the same commit; here a refusal gets its sentence."""
    change = ImportBegun(view.subject, view.chain.own, resources.clock.now(), nonce())
    if next(resources.catalog.subjects(change.search, Show.ACTIVE), None) is not None:  # MODE-5
        raise ImportIntoExisting
    for subject in resources.catalog.subjects(change.search):  # MODE-6
        for version, _ in resources.catalog.referrers(subject):
            raise Referenced(subject=subject, version=version)
    commit(resources, change)
