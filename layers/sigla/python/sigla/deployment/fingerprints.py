"""What resources are made of, in twelve letters: others as soon as a template says anything else of one of them.

Names in a template depend on it: a function's version, the deployment of an API. CDK computes it while it makes a
template, and `translation.py` again for another stage, so it is a matter of the template alone.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

LETTERS: Final = 12

SILENT: Final[Mapping[str, frozenset[str]]] = {
    # Lambda publishes no version for these. Source: AWS Lambda Developer Guide, "Manage Lambda function versions".
    "AWS::Lambda::Function": frozenset({"codesigningconfigarn", "reservedconcurrentexecutions"}),
    # An API has them at once, without a deployment.
    "AWS::ApiGateway::RestApi": frozenset({"description", "name"}),
}
"""Properties, in small letters, that change nothing of what is named by a type; for all types, see NOWHERE."""

NOWHERE: Final = frozenset({"s3bucket", "tags"})
"""Tags change nothing, and the bucket that code lies in says nothing of the code: its key names the content."""

Part = tuple[str, Any]
"""A type of CloudFormation and the properties of one resource, as a template or as CDK writes their names."""


def fingerprint(parts: Iterable[Part]) -> str:
    """The same for the same parts, whatever their order."""
    texts = sorted(json.dumps([type, _plain(type, properties)], sort_keys=True) for type, properties in parts)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:LETTERS]


def _plain(type: str, properties: Mapping[str, Any]) -> Any:
    silent = SILENT.get(type, frozenset())
    return {name: value for name, value in _lowered(properties).items() if name not in silent}


def _lowered(value: Any) -> Any:
    """Names in small letters: CDK begins them with a small one, a template with a capital."""
    if isinstance(value, Mapping):
        return {name.lower(): _lowered(each) for name, each in value.items() if name.lower() not in NOWHERE}
    if isinstance(value, list):
        return [_lowered(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
