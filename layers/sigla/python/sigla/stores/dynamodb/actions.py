"""What a transaction consists of: puts, updates, deletes and checks, each with its condition.

Expressions name attributes as `#name`, what they are compared with as `:name`, and what an update writes as
`:new_name`: no reserved word is in the way, and no attribute gets the value of a condition.

Each item says its form, and each action of a transaction and each update rests on the item's form being known: no
release writes over what a newer one wrote, also where it has not read it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sigla.forms import FORM, ITEM, ITEM_OF_REGIONS
from sigla.stores.dynamodb.values import Item, written, written_item

Key = tuple[str, str]
"""Partition and sort key."""

_ATTRIBUTE = re.compile(r"#(\w+)")
_VALUE = re.compile(r":(\w+)")


@dataclass(frozen=True, slots=True)
class Condition:
    """What must be so about the item as it stands; `text` is DynamoDB's."""

    text: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __and__(self, other: "Condition") -> "Condition":
        return Condition(f"({self.text}) AND ({other.text})", {**self.values, **other.values})


ABSENT = Condition("attribute_not_exists(#pk)")
PRESENT = Condition("attribute_exists(#pk)")
_KNOWN = Condition(
    f"NOT (attribute_type(#{FORM}, :number) AND #{FORM} > :known_{FORM})",
    {"number": "N", f"known_{FORM}": ITEM_OF_REGIONS},
)
"""It holds for an item without a form, too, and for a journal row, whose form is the row."""


def equals(**attributes: Any) -> Condition:
    """Each attribute has this value; None: it is not there."""
    clauses = [
        f"attribute_not_exists(#{name})" if value is None else f"#{name} = :seen_{name}"
        for name, value in attributes.items()
    ]
    seen = {f"seen_{name}": value for name, value in attributes.items() if value is not None}
    return Condition(" AND ".join(clauses), seen)


def earlier(at: int) -> Condition:
    """What has a time is of an earlier one."""
    return Condition("attribute_not_exists(#at) OR #at < :at", {"at": at})


@dataclass(frozen=True, slots=True)
class Action:
    """One of a transaction's; `arguments` are in DynamoDB's form, without the table's name. when: what it rests on.

    sets, add, keep: of an update, as `update` was told.
    """

    kind: str
    key: Key
    arguments: Mapping[str, Any]
    when: Condition | None = None
    sets: Item = field(default_factory=dict)
    add: Mapping[str, int] = field(default_factory=dict)
    keep: str = ""


def put(key: Key, attributes: Item, when: Condition | None = None) -> Action:
    """Replaces the whole item. An attribute of None is left out."""
    item = _key(key) | written_item({FORM: ITEM, **attributes})
    return Action("Put", key, {"Item": item, **_conditioned(when)}, when)


def delete(key: Key, when: Condition | None = None) -> Action:
    return Action("Delete", key, {"Key": _key(key), **_conditioned(when)}, when)


def condition_check(key: Key, when: Condition) -> Action:
    return Action("ConditionCheck", key, {"Key": _key(key), **_conditioned(when)}, when)


def update(
    key: Key, attributes: Item, add: Mapping[str, int] | None = None, when: Condition | None = None, *, keep: str = ""
) -> Action:
    """Sets attributes (None: removes), adds to numbers. keep: an attribute that is set only where it is missing.

    So is the form, unless it is named: an item in a former one gets the one that it has now.
    """
    given = {FORM: ITEM, **{name: value for name, value in attributes.items() if value is not None}}
    kept = {keep, FORM} - {FORM if FORM in attributes else ""}
    removed = [f"#{name}" for name, value in attributes.items() if value is None]
    parts = {
        "SET": [f"#{n} = if_not_exists(#{n}, :new_{n})" if n in kept else f"#{n} = :new_{n}" for n in given],
        "REMOVE": removed,
        "ADD": [f"#{name} :new_{name}" for name in add or {}],
    }
    text = " ".join(f"{word} {', '.join(clauses)}" for word, clauses in parts.items() if clauses)
    values = {f"new_{name}": value for name, value in {**given, **(add or {})}.items()}
    arguments = {"Key": _key(key), "UpdateExpression": text, **_conditioned(when, text, values)}
    return Action("Update", key, arguments, when, attributes, add or {}, keep)


def resting_on(action: Action, when: Condition | None, sets: Item | None = None) -> Action:
    """The same action on another condition. sets: what an update sets in the place of what it did."""
    if action.kind == "Update":
        given = action.sets if sets is None else sets
        return update(action.key, given, add=action.add, when=when, keep=action.keep)
    content = {name: value for name, value in action.arguments.items() if name in ("Item", "Key")}
    return replace(action, arguments={**content, **_conditioned(when)}, when=when)


def merged(actions: Iterable[Action]) -> list[Action]:
    """One action for each key, as a transaction takes it, where several changes are written together.

    Updates of an item become one, which adds what they add and rests on what they rest on; else the last one counts.
    """
    found: dict[Key, Action] = {}
    for action in actions:
        before = found.get(action.key)
        found[action.key] = _both(before, action) if before is not None else action
    return list(found.values())


def checked(actions: Sequence[Action], check: Action | None) -> list[Action]:
    """The actions with one more check, which is part of the update where one of them updates that item."""
    if check is None or check.when is None:
        return list(actions)
    if all(each.key != check.key for each in actions):
        return [*actions, check]
    return [_resting(each, check.when) if each.key == check.key else each for each in actions]


def _resting(one: Action, when: Condition) -> Action:
    return update(one.key, one.sets, one.add, when if one.when is None else one.when & when, keep=one.keep)


def _both(one: Action, other: Action) -> Action:
    if one.kind == other.kind == "Update":
        add = {name: one.add.get(name, 0) + other.add.get(name, 0) for name in {**one.add, **other.add}}
        when = one.when if one.when == other.when or other.when is None else other.when
        if one.when is not None and other.when is not None and one.when != other.when:
            when = one.when & other.when
        return update(one.key, {**one.sets, **other.sets}, add=add, when=when, keep=one.keep or other.keep)
    if other.kind == "ConditionCheck":
        return one
    return other


def rests_on_another(action: Action, item: Item) -> bool:
    """Whether an item has another revision than the action was planned with (`equals(revision=…)`)."""
    if action.when is None or "#revision" not in action.when.text:
        return False
    return bool(item.get("revision") != action.when.values.get("seen_revision"))


def _key(key: Key) -> dict[str, Any]:
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


def _conditioned(when: Condition | None, text: str = "", values: Mapping[str, Any] | None = None) -> dict[str, Any]:
    rests = _KNOWN if when is None else _KNOWN & when
    values = {**(values or {}), **rests.values}
    text = f"{text} {rests.text}"
    arguments: dict[str, Any] = {
        "ConditionExpression": rests.text,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    if names := set(_ATTRIBUTE.findall(text)):
        arguments["ExpressionAttributeNames"] = {f"#{name}": name for name in names}
    if used := set(_VALUE.findall(text)):
        arguments["ExpressionAttributeValues"] = {f":{name}": written(values[name]) for name in used}
    return arguments
