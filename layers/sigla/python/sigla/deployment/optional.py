"""What a template has for a setting that a stage may leave out, and nothing else in it knows of.

A released template has all of it (`translation.py`): a dashboard, tags, and properties of roles and functions. What a
stage does not ask for is taken out again, so none of these settings makes another shape.
"""

from collections.abc import Mapping
from typing import Any, Final

from sigla.deployment.settings import Settings

OPTIONAL: Final[Mapping[str, Any]] = {
    "function.reserved_concurrency": 1009,
    "platform.permissions_boundary": "arn:aws:iam::525252525252:policy/marked-boundary",
    "platform.iam_path": "/marked-path/",
    "platform.tags": "marked-tag=marked-value",
    "watch.dashboard": True,
}
"""These settings, with what a stage has whose template is released."""

DASHBOARD: Final = "AWS::CloudWatch::Dashboard"
UNASKED: Final[Mapping[str, Any]] = {"ReservedConcurrentExecutions": 0, "PermissionsBoundary": "", "Path": "/"}
"""Properties with the value that a setting gives them that is not made use of; CDK leaves them out then."""

_TAG: Final = "marked-tag"
_ORDER: Final = " _-:.@/+0123456789abcdefghijklmnopqrstuvwxyz"
"""Characters of a tag's name in the order of the Unicode collation, by which CDK sorts tags."""


def can_be_sorted(settings: Settings) -> bool:
    """Whether the order of the stage's tags is known here as CDK knows it."""
    return all(character in _ORDER for name in settings.platform.tag_values for character in name.lower())


def without_unasked(template: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The template with what the stage asks for, and no more. Its values are those of the stage already."""
    resources = {
        name: _resource(resource, settings.platform.tag_values)
        for name, resource in template["Resources"].items()
        if settings.watch.dashboard or resource["Type"] != DASHBOARD
    }
    return {**template, "Resources": resources}


def _resource(resource: dict[str, Any], tags: Mapping[str, str]) -> dict[str, Any]:
    if "Properties" not in resource:
        return resource
    properties = {
        name: _tagged(value, tags)
        for name, value in resource["Properties"].items()
        if name not in UNASKED or value != UNASKED[name]
    }
    return {**resource, "Properties": {name: value for name, value in properties.items() if value is not None}}


def _tagged(value: Any, tags: Mapping[str, str]) -> Any:
    """What has the marked tag has those of the stage instead; None where no tag is left. They win over one of CDK's."""
    if isinstance(value, dict) and _TAG in value:
        own = {name: each for name, each in value.items() if name != _TAG}
        return dict(_sorted({**own, **tags})) or None
    if isinstance(value, list) and any(isinstance(each, dict) and each.get("Key") == _TAG for each in value):
        own = {each["Key"]: each["Value"] for each in value if each["Key"] != _TAG}
        return [{"Key": name, "Value": each} for name, each in _sorted({**own, **tags})] or None
    return value


def _sorted(tags: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Letters before their capitals, where nothing else differs."""

    def place(tag: tuple[str, Any]) -> tuple[list[int], list[bool]]:
        name = tag[0]
        return [_ORDER.find(character) for character in name.lower()], [character.isupper() for character in name]

    return sorted(tags.items(), key=place)
