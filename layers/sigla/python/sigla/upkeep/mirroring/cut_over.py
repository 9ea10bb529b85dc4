"""The end of a mirror: clients are moved over."""

from collections.abc import Iterator, Sequence
from itertools import chain

from sigla.journal.replay import State
from sigla.model import GLOBAL, REGISTRY_WIDE, Chain, Settings, Subject
from sigla.registry.resources import Resources
from sigla.rules.settings import READ_ONLY_MODES, effective_mode
from sigla.upkeep.mirroring.concerns import WHOLE
from sigla.upkeep.mirroring.settings import set_mode

WHOLE_SCOPES = (GLOBAL, REGISTRY_WIDE)
"""Whose mode says that the source is frozen, and whose mode makes a mirror: they become READWRITE."""


def writable(state: State) -> list[Subject]:
    """What of the source takes writes still: subjects, and contexts in which new ones may be made.

    A source is frozen where this is empty. The mode of the default context is not that of others (INH-1).
    """
    contexts = (Subject(context, "") for context in state.contexts)
    own = (scope for scope, each in state.settings.items() if each.mode is not None and scope != REGISTRY_WIDE)
    scopes = {GLOBAL, *contexts, *own, *state.subjects}
    return [scope for scope in sorted(scopes, key=str) if effective_mode(_chain(state, scope)) not in READ_ONLY_MODES]


def scopes_to_freeze(state: State, left: Sequence[Subject]) -> Iterator[Subject]:
    """Whose modes are to be READONLY so that nothing takes writes any more. left: what does still, as of `writable`."""
    own = [scope for scope in left if scope != GLOBAL and _mode_of(state, scope) is not None]
    if GLOBAL in left:
        yield GLOBAL
    elsewhere = (scope for scope in left if not scope.in_default_context)
    if any(scope not in own and Subject(scope.context, "") not in own for scope in elsewhere):
        yield REGISTRY_WIDE
    yield from own


def read_only(state: State) -> list[Subject]:
    """What takes no writes once the registry does: subjects and contexts with a mode of their own."""
    scopes = (scope for scope in state.settings if scope not in WHOLE_SCOPES)
    return [scope for scope in sorted(scopes, key=str) if _mode_of(state, scope) in READ_ONLY_MODES]


def _mode_of(state: State, scope: Subject) -> str | None:
    return state.settings.get(scope, Settings()).mode


def _chain(state: State, scope: Subject) -> Chain:
    def of(scope: Subject) -> Settings:
        return state.settings.get(scope, Settings())

    default = of(GLOBAL)
    context = of(Subject(scope.context, ""))
    own = of(scope) if scope.name else Settings()
    return Chain(own, context, default, of(REGISTRY_WIDE))


def cut_over(resources: Resources, state: State) -> int:
    """Modes of scopes become those of the source, how many; at last the registry takes writes.

    Cut off before that, it is a mirror still, and begins again. Raises StoreError.
    """
    own = (scope for scope, each in resources.catalog.settings(WHOLE) if each.mode is not None)
    scopes = set(chain(own, state.settings)) - set(WHOLE_SCOPES)
    changed = 0
    for scope in sorted(scopes, key=str):
        changed += set_mode(resources, scope, state.settings.get(scope, Settings()).mode)
    for scope in WHOLE_SCOPES:
        set_mode(resources, scope, None)
    return changed
