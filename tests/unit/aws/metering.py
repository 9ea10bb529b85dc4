"""A meter between the adapters and AWS: which calls are under way at the same time, and what DynamoDB charges for them.

Units by the rules of the developer guide, "Read and write operations": a strongly consistent read is a unit for each
4 KB of an item, or of all items of a query, and one for nothing; one that is not takes half of that; a write is a unit
for each KB, two in a transaction.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from infra.trips import Rounds
from sigla.aws.clients import Clients

PATIENCE_S = 20.0
READ_BYTES, WRITTEN_BYTES = 4096, 1024


class Meter:
    """Holds each call until all of its round have begun.

    seen: the calls by rounds. A round that does not come together in time ends as it is; so does one with a call that
    was not expected in it.
    """

    def __init__(self, expected: Rounds, patience_s: float) -> None:
        self._patience_s = patience_s
        self._expected = [Counter(each) for each in expected]
        self._begun: list[list[str]] = [[]]
        self._changed = threading.Condition()
        self.read = 0.0
        self.write = 0

    @property
    def seen(self) -> Rounds:
        return tuple(tuple(sorted(each)) for each in self._begun if each)

    def begin(self, model: Any, **_: object) -> None:
        """A handler of `before-call`."""
        with self._changed:
            number = len(self._begun) - 1
            now = self._begun[number]
            now.append(model.name)
            wanted = self._expected[number] if number < len(self._expected) else Counter()
            whole = Counter(now) == wanted or Counter(now) - wanted
            if whole or not self._changed.wait_for(lambda: len(self._begun) - 1 > number, self._patience_s):
                self._begun.append([])
                self._changed.notify_all()

    def remember(self, params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
        """A handler of `before-parameter-build`."""
        context["metered"] = params

    def end(self, parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: object) -> None:
        """A handler of `after-call`."""
        asked = context["metered"]
        with self._changed:
            if model.name == "Query":
                units = max(1, _units(sum(map(_size, parsed["Items"])), READ_BYTES))
                self.read += units if asked.get("ConsistentRead") else units / 2
            elif model.name == "BatchGetItem":
                keys = sum(len(each["Keys"]) for each in asked["RequestItems"].values())
                found = [item for items in parsed["Responses"].values() for item in items]
                strongly = all(each.get("ConsistentRead") for each in asked["RequestItems"].values())
                units = keys - len(found) + sum(_units(_size(item), READ_BYTES) for item in found)
                self.read += units if strongly else units / 2
            elif model.name == "TransactWriteItems":
                self.write += sum(2 * _written(action) for each in asked["TransactItems"] for action in each.values())
            elif model.name == "UpdateItem":
                self.write += _written(asked)
            elif model.name == "BatchWriteItem":
                self.write += sum(map(len, asked["RequestItems"].values()))


def _written(action: Mapping[str, Any]) -> int:
    """Units of one action, from what it says; our rows are as long as what is written to them."""
    return _units(
        sum(_size(action.get(part, {})) for part in ("Item", "Key", "ExpressionAttributeValues")), WRITTEN_BYTES
    )


def _units(size: int, each: int) -> int:
    return -(-size // each)


def _size(item: Mapping[str, Mapping[str, Any]]) -> int:
    return sum(len(name) + _bytes(value) for name, value in item.items())


def _bytes(value: Mapping[str, Any]) -> int:
    ((kind, told),) = value.items()
    if kind == "L":
        return 3 + sum(map(_bytes, told))
    return 1 if kind in {"BOOL", "NULL"} else len(told)


@contextmanager
def metered(clients: Clients, expected: Rounds, patience_s: float = PATIENCE_S) -> Iterator[Meter]:
    meter = Meter(expected, patience_s)
    handlers = (
        (clients.s3, "before-call", meter.begin),
        (clients.ssm, "before-call", meter.begin),
        (clients.events, "before-call", meter.begin),
        (clients.dynamodb, "before-call", meter.begin),
        (clients.dynamodb, "before-parameter-build", meter.remember),
        (clients.dynamodb, "after-call", meter.end),
    )
    for client, event, handler in handlers:
        client.meta.events.register(event, handler)
    yield meter
    for client, event, handler in handlers:
        client.meta.events.unregister(event, handler)
