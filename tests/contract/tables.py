"""DynamoDB in this process, as far as our adapters ask it: a tenth of what moto takes, and tokens of transactions.

Botocore offers a request to whoever registered before it is sent (its event `before-send`), so that all of a client is
real but the wire and what is behind it. What is not here is refused, as DynamoDB refuses what it does not know.
`test_tables.py` and every suite of this folder ask the same of DynamoDB's own engine.

What is copied is what the adapters rest on: conditions, all or nothing, the order of sort keys, pages by number and by
megabytes, the limits of keys, items and transactions, tokens. What is not: capacity, indexes, streams, sets.
"""

import io
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Final
from uuid import uuid4

import orjson
from botocore.awsrequest import AWSPreparedRequest, AWSResponse

from tests.contract.expressions import Item, change, changed_names, condition, used

Key = tuple[str, str]
Asked = Mapping[str, Any]

PAGE_BYTES: Final = 1 << 20
READ_BYTES: Final = 16 << 20
ITEM_BYTES: Final = 400 << 10
TRANSACTION_BYTES: Final = 4 << 20
MOST_READ, MOST_WRITTEN, MOST_ACTIONS = 100, 25, 100
LONGEST: Final = {"pk": 2048, "sk": 1024}


class Refused(Exception):
    """An answer of 400. reason: its code among those of a cancelled transaction, if it is one of them.

    more: what it says beside its sentence.
    """

    def __init__(self, name: str, sentence: str, *, reason: str = "", more: Mapping[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence
        self.more = more or {}
        self.form = {"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": sentence, **self.more}


def invalid(sentence: str, *, reason: str = "") -> Refused:
    return Refused("ValidationException", sentence, reason=reason)


class _Raw(io.BytesIO):
    """The body of an answer as botocore reads it."""

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


class Tables:
    """The tables of one account. Calls wait for each other, as a transaction must.

    forgetful: as DynamoDB is ten minutes after a transaction, when it knows its token no more.
    """

    def __init__(self, *, forgetful: bool = False) -> None:
        self._forgetful = forgetful
        self._tables: dict[str, dict[str, dict[str, Item]]] = {}
        self._tokens: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def serve(self, client: Any) -> None:
        """Each call of this client is answered here."""
        client.meta.events.register_first("before-send.dynamodb", self._sent)

    def _sent(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        operation = str(request.headers["X-Amz-Target"].decode()).rpartition(".")[2]
        status, told = self._answered(operation, orjson.loads(request.body))
        headers = {"Content-Type": "application/x-amz-json-1.0", "x-amzn-RequestId": str(uuid4())}
        return AWSResponse(request.url, status, headers, _Raw(orjson.dumps(told)))

    def _answered(self, operation: str, asked: Asked) -> tuple[int, Asked]:
        try:
            with self._lock:
                return 200, OPERATIONS[operation](self, asked)
        except Refused as refused:
            return 400, refused.form

    def copied(self) -> dict[str, dict[str, dict[str, Item]]]:
        """What is in all of them now."""
        with self._lock:
            return deepcopy(self._tables)

    def put_back(self, copied: dict[str, dict[str, dict[str, Item]]]) -> None:
        """What was in them when they were copied, and nothing else."""
        with self._lock:
            self._tables = deepcopy(copied)

    def is_changed(self, copied: dict[str, dict[str, dict[str, Item]]], table: str, prefix: str) -> bool:
        """Whether rows of a table are others than they were, of those whose partition begins so."""
        with self._lock:
            before, now = copied[table], self._tables[table]
            return any(before.get(pk) != now.get(pk) for pk in before.keys() | now.keys() if pk.startswith(prefix))

    # --- tables ------------------------------------------------------------------------------------------------------

    def _rows(self, asked: Asked) -> dict[str, dict[str, Item]]:
        try:
            return self._tables[asked["TableName"]]
        except KeyError:
            raise Refused("ResourceNotFoundException", "Cannot do operations on a non-existent table") from None

    def create_table(self, asked: Asked) -> Asked:
        if asked["TableName"] in self._tables:
            raise Refused("ResourceInUseException", f"Table already exists: {asked['TableName']}")
        self._tables[asked["TableName"]] = {}
        return {"TableDescription": self._described(asked)}

    def describe_table(self, asked: Asked) -> Asked:
        self._rows(asked)
        return {"Table": self._described(asked)}

    def list_tables(self, _: Asked) -> Asked:
        return {"TableNames": sorted(self._tables)}

    def delete_table(self, asked: Asked) -> Asked:
        self._rows(asked)
        del self._tables[asked["TableName"]]
        return {"TableDescription": self._described(asked)}

    def _described(self, asked: Asked) -> Asked:
        return {"TableName": asked["TableName"], "TableStatus": "ACTIVE"}

    # --- reading -----------------------------------------------------------------------------------------------------

    def get_item(self, asked: Asked) -> Asked:
        found = self._found(asked, _key(asked["Key"]))
        return {} if found is None else {"Item": found}

    def _found(self, asked: Asked, key: Key) -> Item | None:
        return self._rows(asked).get(key[0], {}).get(key[1])

    def batch_get_item(self, asked: Asked) -> Asked:
        answers: dict[str, list[Item]] = {}
        left: dict[str, Any] = {}
        room = READ_BYTES
        for table, wanted in asked["RequestItems"].items():
            named = [_key(key) for key in wanted["Keys"]]
            if len(named) > MOST_READ:
                raise invalid("Too many items requested for the BatchGetItem call")
            if len(set(named)) < len(named):
                raise invalid("Provided list of item keys contains duplicates")
            answers[table] = []
            for key, asked_key in zip(named, wanted["Keys"], strict=True):
                found = self._found({"TableName": table}, key)
                room -= _size(found) if found else 0
                if room < 0:
                    left.setdefault(table, {**wanted, "Keys": []})["Keys"].append(asked_key)
                elif found:
                    answers[table].append(found)
        return {"Responses": answers, "UnprocessedKeys": left}

    def query(self, asked: Asked) -> Asked:
        used(asked, "KeyConditionExpression")
        holds = condition(asked["KeyConditionExpression"])
        rows = self._rows(asked)
        values = [value["S"] for value in asked["ExpressionAttributeValues"].values()]
        partitions = [rows[pk] for pk in dict.fromkeys(values) if pk in rows]
        met = [item for rows in partitions for item in rows.values() if holds(item, asked)]
        met.sort(key=lambda item: str(item["sk"]["S"]), reverse=not asked.get("ScanIndexForward", True))
        return _page(asked, met, after=_beyond(asked))

    def scan(self, asked: Asked) -> Asked:
        if "TotalSegments" in asked:
            raise invalid("Segments are not imitated")
        used(asked, "FilterExpression", "ProjectionExpression")
        items = [item for _, rows in sorted(self._rows(asked).items()) for _, item in sorted(rows.items())]
        page = _page(asked, items, after=_beyond_in_table(asked))
        told: list[Item] = page["Items"]
        if text := asked.get("FilterExpression"):
            holds = condition(text)
            told = [item for item in told if holds(item, asked)]
        if text := asked.get("ProjectionExpression"):
            only = {asked["ExpressionAttributeNames"][name.strip()] for name in text.split(",")}
            told = [{name: item[name] for name in item if name in only} for item in told]
        return {**page, "Items": told, "Count": len(told)}

    # --- writing -----------------------------------------------------------------------------------------------------

    def put_item(self, asked: Asked) -> Asked:
        return self._one("Put", asked)

    def delete_item(self, asked: Asked) -> Asked:
        return self._one("Delete", asked)

    def update_item(self, asked: Asked) -> Asked:
        return self._one("Update", asked)

    def _one(self, kind: str, asked: Asked) -> Asked:
        key, before, after = self._changed(kind, asked)
        self._write(asked, key, after)
        wanted = asked.get("ReturnValues", "NONE")
        told = (before if wanted.endswith("OLD") else after) or {}
        if wanted.startswith("UPDATED"):
            told = {name: value for name, value in told.items() if name in changed_names(asked)}
        return {} if wanted == "NONE" or not told else {"Attributes": told}

    def _changed(self, kind: str, asked: Asked) -> tuple[Key, Item | None, Item | None]:
        """The key, and the item as it is and as it becomes. Raises Refused where its condition does not hold."""
        key = _key(asked["Item"] if kind == "Put" else asked["Key"])
        before = self._found(asked, key)
        used(asked, "ConditionExpression", "UpdateExpression")
        if (rests := asked.get("ConditionExpression")) and not condition(rests)(before or {}, asked):
            shown = before and asked.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
            more = {"Item": before} if shown else {}
            raise Refused(
                "ConditionalCheckFailedException",
                "The conditional request failed",
                reason="ConditionalCheckFailed",
                more=more,
            )
        match kind:
            case "Put":
                after = asked["Item"]
            case "Delete":
                after = None
            case "ConditionCheck":
                after = before
            case _:
                after = change(asked["UpdateExpression"])(before or dict(asked["Key"]), asked)
        if _size(asked.get("Item") or asked.get("ExpressionAttributeValues", {})) > ITEM_BYTES:
            raise invalid("Item size has exceeded the maximum allowed size")
        if after is not None and _size(after) > ITEM_BYTES:
            raise invalid("Item size to update has exceeded the maximum allowed size", reason="ValidationError")
        return key, before, after

    def _write(self, asked: Asked, key: Key, item: Item | None) -> None:
        rows = self._rows(asked)
        if item is not None:
            rows.setdefault(key[0], {})[key[1]] = item
        elif partition := rows.get(key[0]):
            partition.pop(key[1], None)

    def batch_write_item(self, asked: Asked) -> Asked:
        for table, requests in asked["RequestItems"].items():
            named = {"TableName": table}
            whats = [(kind.removesuffix("Request"), named | what) for each in requests for kind, what in each.items()]
            changes = [self._changed(kind, what) for kind, what in whats]
            if len(changes) > MOST_WRITTEN:
                raise invalid("Too many items requested for the BatchWriteItem call")
            if len({key for key, _, _ in changes}) < len(changes):
                raise invalid("Provided list of item keys contains duplicates")
            for key, _, after in changes:
                self._write(named, key, after)
        return {"UnprocessedItems": {}}

    def transact_write_items(self, asked: Asked) -> Asked:
        actions = [(kind, what) for each in asked["TransactItems"] for kind, what in each.items()]
        token, whole = asked.get("ClientRequestToken", ""), orjson.dumps(asked["TransactItems"])
        if token in self._tokens:
            if self._tokens[token] != whole:
                raise Refused("IdempotentParameterMismatchException", "The token was used with other parameters")
            return {}
        if len(actions) > MOST_ACTIONS:
            raise invalid(f"Member must have length less than or equal to {MOST_ACTIONS}")
        places = [(what["TableName"], _key(what["Item"] if kind == "Put" else what["Key"])) for kind, what in actions]
        if len(set(places)) < len(places):
            raise invalid("Transaction request cannot include multiple operations on one item")
        changes, reasons = [], []
        for kind, what in actions:
            try:
                changes.append((what, *self._changed(kind, what)))
                reasons.append({"Code": "None"})
            except Refused as refused:
                if not refused.reason:
                    raise
                reasons.append({"Code": refused.reason, "Message": refused.sentence, **refused.more})
        if len(changes) < len(actions):
            codes = ", ".join(str(reason["Code"]) for reason in reasons)
            sentence = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
            raise Refused("TransactionCanceledException", sentence, more={"CancellationReasons": reasons})
        if sum(_size(after) for _, _, _, after in changes if after) > TRANSACTION_BYTES:
            raise invalid("Transaction size has exceeded the maximum allowed size")
        for (kind, _), (what, key, _, after) in zip(actions, changes, strict=True):
            if kind != "ConditionCheck":
                self._write(what, key, after)
        if token and not self._forgetful:
            self._tokens[token] = whole
        return {}


OPERATIONS: Final[Mapping[str, Callable[[Tables, Asked], Asked]]] = {
    "BatchGetItem": Tables.batch_get_item,
    "BatchWriteItem": Tables.batch_write_item,
    "CreateTable": Tables.create_table,
    "DeleteItem": Tables.delete_item,
    "DeleteTable": Tables.delete_table,
    "DescribeTable": Tables.describe_table,
    "GetItem": Tables.get_item,
    "ListTables": Tables.list_tables,
    "PutItem": Tables.put_item,
    "Query": Tables.query,
    "Scan": Tables.scan,
    "TransactWriteItems": Tables.transact_write_items,
    "UpdateItem": Tables.update_item,
}


def _key(item: Item) -> Key:
    for name, longest in LONGEST.items():
        if not 0 < len(item[name]["S"].encode()) <= longest:
            raise invalid(f"One or more parameter values were invalid: the size of {name} is not from 1 to {longest}")
    return item["pk"]["S"], item["sk"]["S"]


def _beyond(asked: Asked) -> Callable[[Item], bool]:
    """Whether an item comes after the one with which the page before ended."""
    start = asked.get("ExclusiveStartKey")
    if not start:
        return lambda _: True
    sk, ascending = start["sk"]["S"], asked.get("ScanIndexForward", True)
    return lambda item: item["sk"]["S"] > sk if ascending else item["sk"]["S"] < sk


def _beyond_in_table(asked: Asked) -> Callable[[Item], bool]:
    """The same of a whole table."""
    start = asked.get("ExclusiveStartKey")
    begin = _key(start) if start else ("", "")
    return lambda item: _key(item) > begin


def _page(asked: Asked, items: Iterable[Item], after: Callable[[Item], bool]) -> Asked:
    """The next ones, as many as were asked for and as go into a page."""
    told: list[Item] = []
    room, most = PAGE_BYTES, asked.get("Limit", float("inf"))
    for item in filter(after, items):
        told.append(item)
        room -= _size(item)
        if room <= 0 or len(told) == most:
            return _told(told) | {"LastEvaluatedKey": {name: item[name] for name in LONGEST}}
    return _told(told)


def _told(items: list[Item]) -> dict[str, Any]:
    return {"Items": items, "Count": len(items), "ScannedCount": len(items)}


def _size(item: Item) -> int:
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, told),) = value.items()
    match kind:
        case "S":
            return len(told.encode())
        case "B":
            return len(told) * 3 // 4
        case "N":
            return len(told) // 2 + 2
        case "L":
            return 3 + sum(1 + _value_size(each) for each in told)
        case "M":
            return 3 + sum(1 + len(name) + _value_size(each) for name, each in told.items())
        case _:
            return 1
