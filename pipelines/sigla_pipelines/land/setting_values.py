"""Values in `land.yaml` that have a form of their own: durations, sizes, readers, partitions."""

import re
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from sigla.contract import HIGHEST
from sigla_pipelines.land import bindings, partitions
from sigla_pipelines.land.dead_letter_settings import TOPIC

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_LONGEST: Final = timedelta(days=36_500)
"""The longest duration: a clock of the system ends soon after it."""
_SIZES: Final = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def _duration(text: Any) -> Any:
    found = re.fullmatch(r"(\d+)([smhd])", text) if isinstance(text, str) else None
    if not found:
        raise ValueError("expected a duration: a number and a unit, as in 60s, 5m or 1h")
    try:
        duration = timedelta(**{_UNITS[found[2]]: int(found[1])})
    except (OverflowError, ValueError):  # more digits than Python makes a number of
        duration = timedelta.max
    if duration > _LONGEST:
        raise ValueError(f"expected a duration of at most {_LONGEST.days}d")
    return duration


def _size(text: Any) -> Any:
    found = re.fullmatch(r"(\d{1,18}) ?(|KiB|MiB|GiB)", str(text))
    if not found:
        raise ValueError("expected a size: a number of bytes, or a form like 8MiB")
    return int(found[1]) * _SIZES[found[2]]


def _reader(said: Any) -> Any:
    """`latest`, `{version: 3}` or `{id: 42}`."""
    match said:
        case "latest":
            return bindings.Reader()
        case {"version": int(number)} | {"id": int(number)} if len(said) == 1 and _is_number(number):
            return bindings.Reader(next(iter(said)), number)
    raise ValueError("expected a reader: `latest`, `{version: N}` or `{id: N}`")


def _partition(said: Any) -> Any:
    return None if said is None else partitions.parse_fields(_as_list(said))


def _sort(said: Any) -> Any:
    return None if said is None else partitions.names(_as_list(said))


def _as_list(said: Any) -> str | list[str]:
    if isinstance(said, str) or (isinstance(said, list) and all(isinstance(each, str) for each in said)):
        return said
    raise ValueError("expected a list of columns, as in [customer_id]")


def _is_number(number: int) -> bool:
    """Whether this is a version, or an id. YAML's `true` is an int of Python's."""
    return not isinstance(number, bool) and 0 < number <= HIGHEST


def _as_text(said: str) -> str:
    if not said.strip():
        raise ValueError("is empty")
    return said


Reader = Annotated[bindings.Reader, BeforeValidator(_reader)]
Partition = Annotated[partitions.Fields | None, BeforeValidator(_partition)]
Columns = Annotated[tuple[str, ...] | None, BeforeValidator(_sort)]
Duration = Annotated[timedelta, BeforeValidator(_duration)]
Size = Annotated[int, BeforeValidator(_size), Field(gt=0)]
Text = Annotated[str, AfterValidator(_as_text)]
Topic = Annotated[str, Field(pattern=TOPIC)]
Topics = Annotated[str, Field(pattern=TOPIC.replace("-]", "*-]"))]
"""A topic, or a pattern of several."""


class Part(BaseModel):
    """An unknown name is refused: a typo must not become a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)
