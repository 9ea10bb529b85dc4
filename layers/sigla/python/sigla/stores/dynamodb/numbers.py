"""Numbers for another region: how often settings, the listing of a context, a KEK with its DEKs, an exporter moved.

A subject's head has its revision. These rows have none that is counted, so that a registry with a second region counts
their commits in `moves`; the row of the journal tells the number (`Effects.moved`). It takes a question more for those
commits, and they then come one after the other.
"""

from dataclasses import replace
from typing import Final

from sigla import keys
from sigla.stores.dynamodb.actions import Action, Key, equals, resting_on
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import CommitPlan, Tools

MOVES: Final = "moves"


def is_numbered(places: Places, action: Action) -> bool:
    """Whether it moves such a row: it dates it. The copy of settings in the list follows its own row."""
    dated = action.kind == "Update" and "at" in action.sets
    return dated and action.key[1] != keys.HEAD and action.key[0] != keys.settings_pk(places.registry)


def number_name(key: Key) -> str:
    """How the journal calls a row, in every registry."""
    return f"{key[0].partition('#')[2]}|{key[1]}"


def named_key(places: Places, name: str) -> Key:
    """The row that the journal calls so."""
    pk, _, sk = name.partition("|")
    return f"{keys.component(places.registry)}#{pk}", sk


def numbered(tools: Tools, plan: CommitPlan) -> CommitPlan:
    """The plan, with a number more for each such row, on condition that no other commit moves it meanwhile."""
    rows = [action.key for action in plan.actions if is_numbered(tools.places, action)]
    if not rows:
        return plan
    found = tools.table.get_many(rows)
    before = {key: found.get(key, {}).get(MOVES, 0) for key in rows}
    actions = [with_number(action, before[action.key]) if action.key in before else action for action in plan.actions]
    moved = {number_name(key): number + 1 for key, number in before.items()}
    return replace(plan, actions=actions, effects=replace(plan.effects, moved=moved))


def with_number(action: Action, before: int) -> Action:
    unmoved = equals(moves=before or None)
    when = unmoved if action.when is None else action.when & unmoved
    return resting_on(action, when, {**action.sets, MOVES: before + 1})
