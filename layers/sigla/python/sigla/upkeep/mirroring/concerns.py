"""What a turn has to look at: everything that the source and the registry have, or what differs from the state before.

Pure but for `everything`, which asks the catalog what it holds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from sigla.associations.nouns import Association
from sigla.journal.replay import State
from sigla.keks.nouns import DekName
from sigla.model import Search, Subject
from sigla.ports.catalog import Catalog

Key = TypeVar("Key")
Value = TypeVar("Value")

DekPlace = tuple[DekName, int]

WHOLE = Search(context=None)


@dataclass(frozen=True, slots=True)
class Concerns:
    """subjects: whose versions; scopes: whose config. deks: name and version. topics: ids of resources."""

    subjects: frozenset[Subject]
    scopes: frozenset[Subject]
    contexts: frozenset[str]
    keks: frozenset[str]
    deks: frozenset[DekPlace]
    topics: frozenset[str]


def everything(catalog: Catalog, state: State) -> Concerns:
    """All that one of both has."""
    keks = list(catalog.keks())
    deks = ((dek.name, dek.version) for kek in keks for dek in catalog.deks(kek.name))
    topics = (one.resource.id for one in chain(catalog.associations_named(), state.associations))
    return Concerns(
        frozenset(chain(catalog.subjects(WHOLE), state.subjects)),
        frozenset(chain((scope for scope, _ in catalog.settings(WHOLE)), state.settings)),
        frozenset(chain(catalog.contexts(), state.contexts)),
        frozenset(chain((kek.name for kek in keks), state.keks)),
        frozenset(chain(deks, state.deks)),
        frozenset(topics),
    )


def differing(before: State, after: State) -> Concerns:
    """What another state of the source has to do with."""
    subjects = _differing(before.subjects, after.subjects)
    scopes = _differing(before.settings, after.settings)
    return Concerns(
        subjects,
        # The config of a subject goes with its last version.
        scopes | subjects,
        frozenset(before.contexts) ^ frozenset(after.contexts),
        _differing(before.keks, after.keks),
        _differing(before.deks, after.deks),
        _differing(by_topic(before), by_topic(after)),
    )


def _differing(before: Mapping[Key, Value], after: Mapping[Key, Value]) -> frozenset[Key]:
    return frozenset(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))


def by_topic(state: State) -> dict[str, list[Association]]:
    """Associations by the id of their resource."""
    found: dict[str, list[Association]] = {}
    for one in state.associations:
        found.setdefault(one.resource.id, []).append(one)
    return found


def narrowed(before: State | None, state: State, concerns: Concerns) -> State:
    """What of the state is new to a turn, without the settings: config is changed, modes come at the end (`cut_over`).

    before: what was told of the source already.
    """
    known = State() if before is None else before
    return replace(
        state,
        subjects={subject: puts for subject, puts in state.subjects.items() if subject in concerns.subjects},
        settings={},
        contexts=tuple(context for context in state.contexts if context in concerns.contexts),
        highest={context: id for context, id in state.highest.items() if known.highest.get(context) != id},
        gone={key: put for key, put in state.gone.items() if key not in known.gone},
        displaced={key: put for key, put in state.displaced.items() if key not in known.displaced},
        keks={name: kek for name, kek in state.keks.items() if name in concerns.keks},
        deks={place: dek for place, dek in state.deks.items() if place in concerns.deks},
        associations=tuple(one for one in state.associations if one.resource.id in concerns.topics),
        skipped=tuple(each for each in state.skipped if each not in known.skipped),
    )
