"""What a deployment will do to resources, as CloudFormation says before it does it: a line for each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class ChangeKind(StrEnum):
    """What becomes of a resource; `REPLACED` is another one afterwards, `LEFT` stays in the account without a stack."""

    ADDED = "added"
    CHANGED = "changed"
    MAYBE_REPLACED = "changed, perhaps REPLACED"
    REPLACED = "REPLACED"
    REMOVED = "removed"
    LEFT = "left alone"


@dataclass(frozen=True, slots=True)
class Change:
    """name: in the template. type: as CloudFormation calls it. properties: whose change it is."""

    kind: ChangeKind
    name: str
    type: str
    properties: tuple[str, ...] = ()

    def line(self) -> str:
        """The change in one line, for a person."""
        why = f" ({', '.join(self.properties)})" if self.properties else ""
        return f"  {self.kind:<12} {self.type}  {self.name}{why}"


_KINDS: Final[Mapping[tuple[str, str], ChangeKind]] = {
    ("Modify", "True"): ChangeKind.REPLACED,
    ("Modify", "Conditional"): ChangeKind.MAYBE_REPLACED,
    ("Modify", "False"): ChangeKind.CHANGED,
}
_ACTIONS: Final[Mapping[str, ChangeKind]] = {
    "Add": ChangeKind.ADDED,
    "Import": ChangeKind.ADDED,
    "Remove": ChangeKind.REMOVED,
    "Modify": ChangeKind.CHANGED,
    "Dynamic": ChangeKind.MAYBE_REPLACED,
}


def of_a_change_set(told: Iterable[Mapping[str, Any]]) -> list[Change]:
    """CloudFormation's own changes, by their kinds."""
    changes = [_change_of(each["ResourceChange"]) for each in told if "ResourceChange" in each]
    return sorted(changes, key=lambda change: (list(ChangeKind).index(change.kind), change.type, change.name))


def _change_of(told: Mapping[str, Any]) -> Change:
    action = told["Action"]
    kind = _KINDS.get((action, told.get("Replacement", "")), _ACTIONS[action])
    if kind is ChangeKind.REMOVED and told.get("PolicyAction") == "Retain":
        kind = ChangeKind.LEFT
    return Change(kind, told["LogicalResourceId"], told["ResourceType"], tuple(dict.fromkeys(_properties(told))))


def _properties(told: Mapping[str, Any]) -> Iterator[str]:
    for detail in told.get("Details", []):
        target = detail.get("Target", {})
        if name := target.get("Name") or target.get("Attribute"):
            yield name


def of_a_new_stack(template: Mapping[str, Any]) -> list[Change]:
    """All that is in it."""
    made = [Change(ChangeKind.ADDED, name, each["Type"]) for name, each in template["Resources"].items()]
    return sorted(made, key=lambda change: (change.type, change.name))


def summary_of(changes: Iterable[Change]) -> str:
    """How many of each kind, on one line."""
    kinds = [change.kind for change in changes]
    counts = [f"{kinds.count(kind)} {kind}" for kind in ChangeKind if kind in kinds]
    return ", ".join(counts) or "nothing changes"


def kept_resources(template: Mapping[str, Any]) -> list[str]:
    """Types and names in a template of what outlives its stack."""
    resources = template["Resources"].items()
    return sorted(f"{each['Type']}  {name}" for name, each in resources if each.get("DeletionPolicy") == "Retain")
