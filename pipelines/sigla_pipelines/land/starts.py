"""Where a first run begins in Kafka: at the beginning, at the end, at an offset or at a time; for each topic apart."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

NUMBERS: Final = {"earliest": -2, "latest": -1}
"""Where to begin, as numbers among offsets, for Spark and for Kafka."""

HOW: Final = (
    "expected `earliest`, `latest`, `{time: 2026-11-01T00:00:00Z}`, or for each topic one of these or its offsets, "
    "for example `{orders: {0: 42}}`"
)

At = str | datetime | Mapping[int, int]
"""`earliest` or `latest`, a time, or offsets by partition; partitions that are not there begin at the first offset."""

Ask = Callable[[int], Mapping[str, Mapping[str, int]]]
"""`earliest` or `latest` as a number, or milliseconds of a time → the first offsets from there on."""


class NoSuchStart(Exception):
    """One sentence: what of `source.start` Kafka does not have."""


@dataclass(frozen=True, slots=True)
class Start:
    """everywhere: of topics that are not in `topics`."""

    everywhere: At = "earliest"
    topics: Mapping[str, At] = field(default_factory=dict)

    @property
    def plain(self) -> str | None:
        """As Spark is told, where no offset has to be asked for."""
        return self.everywhere if isinstance(self.everywhere, str) and not self.topics else None


def parse_start(said: Any) -> Start:
    """Reads the start of the settings. Raises ValueError."""
    if isinstance(said, Start):
        return said
    if _is_everywhere(said):
        return Start(_parse_at(said))
    if not isinstance(said, dict) or not said:
        raise ValueError(HOW)
    if not all(isinstance(topic, str) for topic in said):
        raise ValueError(HOW)
    return Start(topics={topic: _offsets(at) if _has_offsets(at) else _parse_at(at) for topic, at in said.items()})


def _is_everywhere(said: Any) -> bool:
    return isinstance(said, str) or (isinstance(said, dict) and [*said] == ["time"] and isinstance(said["time"], str))


def _has_offsets(said: Any) -> bool:
    return isinstance(said, dict) and [*said] != ["time"]


def _parse_at(said: Any) -> At:
    match said:
        case "earliest" | "latest":
            return str(said)
        case {"time": str(text)}:
            return _time(text)
    raise ValueError(HOW)


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"invalid time '{text}': expected a form like 2026-11-01T00:00:00Z") from None
    if time.tzinfo is None:
        raise ValueError(f"the time '{text}' lacks a time zone: for UTC write {text}Z")
    return time.astimezone(UTC)


def _offsets(said: dict[Any, Any]) -> Mapping[int, int]:
    if not said or not all(type(each) is int and each >= 0 for each in (*said, *said.values())):
        raise ValueError("invalid offsets: expected an offset for each partition, for example `{orders: {0: 42}}`")
    return said


def start_offsets(start: Start, partitions: Mapping[str, int], ask: Ask) -> dict[str, dict[str, int]]:
    """Where each partition begins: an offset, or one of NUMBERS. partitions: how many each topic has.

    Raises NoSuchStart.
    """
    if unknown := sorted({*start.topics} - {*partitions}):
        raise NoSuchStart(f"`source.start` names {', '.join(unknown)}, but `bind` has no such topic.")
    asked: dict[int, Mapping[str, Mapping[str, int]]] = {}

    def found(spec: int, topic: str) -> Mapping[str, int]:
        if spec not in asked:
            asked[spec] = ask(spec)
        return asked[spec][topic]

    begun: dict[str, dict[str, int]] = {}
    for topic, count in partitions.items():
        at = start.topics.get(topic, start.everywhere)
        names = [str(number) for number in range(count)]
        if isinstance(at, str):
            begun[topic] = dict.fromkeys(names, NUMBERS[at])
        elif isinstance(at, datetime):
            last = found(NUMBERS["latest"], topic)
            later = found(round(at.timestamp() * 1000), topic)
            # Kafka says -1 of a partition in which nothing is so young: what comes begins where it ends now.
            begun[topic] = {name: later[name] if later[name] >= 0 else last[name] for name in names}
        else:
            first, last = (found(NUMBERS[end], topic) for end in ("earliest", "latest"))
            _check_offsets(topic, at, first, last)
            begun[topic] = dict.fromkeys(names, NUMBERS["earliest"]) | {str(n): offset for n, offset in at.items()}
    return begun


def _check_offsets(topic: str, at: Mapping[int, int], first: Mapping[str, int], last: Mapping[str, int]) -> None:
    for number, offset in at.items():
        if (name := str(number)) not in first:
            raise NoSuchStart(
                f"`source.start` names partition {number} of {topic}, which has {len(first)} partitions, numbered from "
                "0."
            )
        if not first[name] <= offset <= last[name]:
            raise NoSuchStart(
                f"`source.start` is offset {offset} of {topic}, partition {number}, and Kafka has {first[name]} to "
                f"{last[name]}."
            )
