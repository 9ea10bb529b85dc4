"""A bus of EventBridge: it takes ten events at a time, may take some of them alone, and says of the others why not."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson
from botocore.exceptions import ClientError

from sigla.aws.refusals import SILENT, failed
from sigla.backoff import Backoff
from sigla.errors import StoreError
from sigla.journal.cloud_events import bare
from sigla.ports.clock import Clock

SOURCE: Final = "sigla"
"""The source of every event, as rules of EventBridge match it."""

MOST_ENTRIES: Final = 10
MOST_BYTES: Final = 240_000
"""What a call takes. Source: Amazon EventBridge API Reference, "PutEvents": less than 1 MB together since January 2026,
256 KB before.
"""

TRIES: Final = 5
FIRST_PAUSE_S: Final = 0.2
"""For what the bus did not take this time; with the pauses between them they take at most 3 s."""

PASSING: Final = frozenset({"InternalException", "InternalFailure", "ThrottlingException"})
"""Codes of an entry that the bus may take when it comes again."""
AS_A_WHOLE: Final = frozenset(
    {"ValidationException", "SerializationException", "RequestEntityTooLargeException", "413"}
)
"""Codes of a call that is refused for what one of its entries is: the answer does not say of which one."""
OF_ITS_CONTENT: Final = AS_A_WHOLE | {"InvalidArgument", "MalformedDetail", "RedactionFailure"}
"""Codes of an entry that the bus refuses for what it says. Source: API Reference, "PutEventsResultEntry"."""


class EntryRefusal(NamedTuple):
    """An event that the bus did not take, and what it says of that."""

    event: Mapping[str, Any]
    code: str
    message: str


class EventBus:
    """A bus with rules and targets. client: of EventBridge. name: or its ARN."""

    def __init__(self, client: Any, name: str, clock: Clock) -> None:
        self._client = client
        self._name = name
        self._clock = clock

    def check(self) -> None:
        """Raises StoreError where there is no such bus: EventBridge would take events for it, and drop them.

        A bus of another account may let us hand events over, and not look at it.
        """
        try:
            self._client.describe_event_bus(Name=self._name)
        except SILENT as silence:
            raise failed(self._doing, silence) from silence
        except ClientError as refusal:
            if refusal.response["Error"]["Code"] != "AccessDeniedException":
                raise failed(self._doing, refusal) from refusal

    def put(self, events: Sequence[Mapping[str, Any]]) -> int:
        """The bus has taken all of them when it returns; how many were `bare`. Raises StoreError."""
        return sum(self._insist(some) for some in _together(events))

    def _insist(self, events: Sequence[Mapping[str, Any]]) -> int:
        left, stripped = list(events), 0
        for is_last in Backoff(self._clock, FIRST_PAUSE_S, tries=TRIES):
            refusals = self._put(left)
            lasting = [each for each in refusals if each.code not in PASSING | OF_ITS_CONTENT]
            if not refusals:
                break
            if is_last or lasting:
                refusal = (lasting or refusals)[0]
                raise StoreError(f"{self._doing}: {refusal.code}: {refusal.message}")
            stripped += sum(each.code in OF_ITS_CONTENT for each in refusals)
            left = [bare(each.event) if each.code in OF_ITS_CONTENT else each.event for each in refusals]
        return stripped

    def _put(self, events: Sequence[Mapping[str, Any]]) -> list[EntryRefusal]:
        """Those that the bus has not taken. A call that is refused as a whole is made again for each entry alone."""
        entries = [
            {"Source": SOURCE, "DetailType": each["type"], "Detail": _detail(each), "EventBusName": self._name}
            for each in events
        ]
        try:
            answer = self._client.put_events(Entries=entries)
        except ClientError as refusal:
            said = refusal.response["Error"]
            if said["Code"] not in AS_A_WHOLE:
                raise failed(self._doing, refusal) from refusal
            if len(events) > 1:
                return [each for event in events for each in self._put([event])]
            return [EntryRefusal(events[0], said["Code"], said.get("Message", ""))]
        except SILENT as silence:
            raise failed(self._doing, silence) from silence
        return [
            EntryRefusal(event, said["ErrorCode"], said.get("ErrorMessage", ""))
            for event, said in zip(events, answer["Entries"], strict=True)
            if "ErrorCode" in said
        ]

    @property
    def _doing(self) -> str:
        return f"handing events to the bus {self._name}"


def _together(events: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """As many as a call takes."""
    some: list[Mapping[str, Any]] = []
    size = 0
    for event in events:
        more = len(_detail(event).encode()) + len(event["type"]) + len(SOURCE)
        if some and (len(some) == MOST_ENTRIES or size + more > MOST_BYTES):
            yield some
            some, size = [], 0
        some.append(event)
        size += more
    if some:
        yield some


def _detail(event: Mapping[str, Any]) -> str:
    return orjson.dumps(event).decode()
