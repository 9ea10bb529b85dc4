"""What is wrong with settings, in words of ours: pydantic's speak of Python."""

from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import BaseModel, ValidationError

_MAPPING: Final = "expected a mapping, as in {name: value}"
_KINDS: Final = "expected `kind: kafka` or `kind: files`"
_SAID: Final = {
    "dict_type": _MAPPING,
    "invalid_key": "expected a text: put it in quotes",
    "missing": "is missing",
    "model_attributes_type": "expected a mapping, as in {kind: files}",
    "model_type": _MAPPING,
    "string_type": "expected a text: put it in quotes, so that YAML does not read it as something else",
    "too_short": "is empty",
    "tuple_type": "expected a list",
    "union_tag_invalid": _KINDS,
    "union_tag_not_found": _KINDS,
}
"""Instead of pydantic's words, which speak of Python."""


def first(problem: ValidationError, parts: Mapping[str, type[BaseModel]]) -> str:
    """The first of what is wrong. parts: of the settings, by the last name on the way to each."""
    # A list whose members are wrong is too short as well.
    errors = [error for error in problem.errors() if error["type"] != "too_short"] or problem.errors()
    found = errors[0]
    where = ".".join(str(step) for step in found["loc"] if step not in ("kafka", "files"))
    if found["type"] == "extra_forbidden":
        said = f"unknown setting. Valid settings: {', '.join(_beside(found['loc'], parts))}"
    else:
        said = _SAID.get(
            found["type"], found["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
        )
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"`{where}`: {said}{more}" if where else f"{said}{more}"


def _beside(unknown: tuple[int | str, ...], parts: Mapping[str, type[BaseModel]]) -> Iterable[str]:
    """The settings that exist beside an unknown one."""
    part = next((step for step in reversed(unknown[:-1]) if isinstance(step, str)), "")
    return parts[part].model_fields
