"""The table, one call a method: strongly consistent, whole (pages, unprocessed keys), and tried again where that helps.

What DynamoDB says and what it becomes:

    a condition does not hold                            Cancelled, with the items as they stand; FormTooNew where one
                                                         of them is in a form that only a newer release knows
    too fast                                             tried again with full jitter, then StoreError
    another transaction on the same items                tried again with full jitter, then Conflict: ask anew
    no answer, a fault of the service, or an earlier     tried again with full jitter, a transaction under the same
    try that is still under way                          token; then StoreError, of a transaction OutcomeUnknown
    an item or a transaction that is too large           SchemaTooLarge
    the table does not exist, or is not permitted        Unusable

All tries are made here: the client makes none by itself (`clients.TABLE`), or each of ours would be three.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as NotConnected

from sigla.aws.refusals import SILENT, Failure, failed
from sigla.backoff import Backoff
from sigla.errors import Conflict, OutcomeUnknown, SchemaTooLarge, StoreError
from sigla.ports.clock import Clock
from sigla.stores.dynamodb.actions import Action, Condition, Key
from sigla.stores.dynamodb.values import Item, read_item, written

TRIES = 10
FAULTS = 3
"""A call that gets no answer, or a fault of the service, so often is given up: what is down is not asked ten times."""
FAULT_LASTS = 5
"""The pause after a fault is the one after so many more tries: what failed needs longer than what was too fast."""
FIRST_PAUSE_S = 0.02
LONGEST_PAUSE_S = 1.0
PATIENCE_MS = 5_000
"""A call that has taken longer is not tried again: a request makes several, and has 20 s for all of them."""
MOST_ACTIONS = 100
MOST_READ = 100
MOST_WRITTEN = 25
MOST_SCANNED = 1_000
"""Items of a page: some hundred kilobytes, told in a part of the time after which a call is given up."""

LONGEST_PK, LONGEST_SK = 2_048, 1_024
"""Bytes of a key. Nothing that is longer can be there, and DynamoDB refuses the question."""

_UNDER_WAY = "TransactionInProgressException"
_LATER = frozenset(
    {
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingError",
        "ThrottlingException",
        "TransactionConflict",
        "TransactionConflictException",
        _UNDER_WAY,
    }
)
_RACES = frozenset({"TransactionConflict", "TransactionConflictException"})
_UNMET = frozenset({"ConditionalCheckFailed", "ConditionalCheckFailedException"})


class Cancelled(Exception):
    """A condition did not hold, and nothing was written.

    items: as they stand, of the actions whose condition failed. repeated: an earlier try may have written it all.
    """

    def __init__(self, items: Sequence[Item], *, repeated: bool = False) -> None:
        super().__init__("a condition does not hold")
        self.items = items
        self.repeated = repeated


class Table:
    """client: a low-level DynamoDB client."""

    def __init__(self, client: Any, name: str, clock: Clock) -> None:
        self._client = client
        self._name = name
        self._clock = clock

    @property
    def name(self) -> str:
        return self._name

    def elapsed(self) -> int:
        """As the clock of the caller tells it: see `ports.Clock`."""
        return self._clock.elapsed()

    # --- reading -----------------------------------------------------------------------------------------------------

    def get(self, key: Key) -> Item | None:
        return self.get_many([key]).get(key)

    def get_many(self, keys: Sequence[Key], *, consistent: bool = True) -> dict[Key, Item]:
        """The items that are there, by key: one call for each hundred keys.

        consistent: whether all that was written before is seen; it costs twice as much.
        """
        distinct = [key for key in dict.fromkeys(keys) if _is_key(*key)]
        found: dict[Key, Item] = {}
        for at in range(0, len(distinct), MOST_READ):
            self._get_page(distinct[at : at + MOST_READ], found, consistent=consistent)
        return found

    def _get_page(self, keys: Sequence[Key], found: dict[Key, Item], *, consistent: bool) -> None:
        wanted: list[dict[str, Any]] = [{"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in keys]
        for lost in range(TRIES):
            request = {self._name: {"Keys": wanted, "ConsistentRead": consistent}}
            answer = self._call("batch_get_item", RequestItems=request)
            for raw in answer["Responses"].get(self._name, ()):
                item = read_item(raw)
                found[item["pk"], item["sk"]] = item
            wanted = answer.get("UnprocessedKeys", {}).get(self._name, {}).get("Keys", [])
            if not wanted:
                return
            self._pause(lost)
        raise StoreError("DynamoDB left keys unread, again and again")

    def query(
        self,
        pk: str,
        where: Condition | None = None,
        *,
        descending: bool = False,
        page: int | None = None,
        consistent: bool = True,
    ) -> Iterator[Item]:
        """The items of a partition by sort key; a page is asked for when it is wanted.

        where: a condition on `#sk`; nothing meets one with a value that is too long for a key. page: items of the first
        page; of the next ones four times as many. consistent: as of `get_many`.
        """
        if not all(_is_key(pk, sk) for sk in (where.values.values() if where else [""])):
            return
        text = "#pk = :pk" + (f" AND {where.text}" if where else "")
        values = {"pk": pk, **(where.values if where else {})}
        arguments: dict[str, Any] = {
            "ConsistentRead": consistent,
            "ScanIndexForward": not descending,
            "KeyConditionExpression": text,
            "ExpressionAttributeNames": {"#pk": "pk"} | ({"#sk": "sk"} if where else {}),
            "ExpressionAttributeValues": {f":{name}": written(value) for name, value in values.items()},
        }
        while True:
            if page is not None:
                arguments["Limit"] = page
                page = min(page * 4, 1000)
            answer = self._call("query", TableName=self._name, **arguments)
            yield from map(read_item, answer["Items"])
            if "LastEvaluatedKey" not in answer:
                return
            arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def scan(
        self, after: Key | None = None, *, where: Condition | None = None, only: Sequence[str] = ()
    ) -> tuple[list[Item], Key | None]:
        """Some items of the whole table, each partition's together and by sort key; and after which the others come.

        where: which of them are told; only: these attributes. All are read, and paid for.
        """
        names = {f"#{name}": name for name in ("pk", "sk", *only)}
        more: dict[str, Any] = {}
        if only:
            more = {"ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}
        if where is not None:
            values = {f":{name}": written(value) for name, value in where.values.items()}
            used = {name: value for name, value in names.items() if only or name in where.text}
            more |= {"FilterExpression": where.text, "ExpressionAttributeValues": values}
            more |= {"ExpressionAttributeNames": used}
        if after:
            more["ExclusiveStartKey"] = dict(zip(("pk", "sk"), map(written, after), strict=True))
        answer = self._call("scan", TableName=self._name, ConsistentRead=True, Limit=MOST_SCANNED, **more)
        last = answer.get("LastEvaluatedKey")
        return [*map(read_item, answer["Items"])], (last["pk"]["S"], last["sk"]["S"]) if last else None

    # --- writing -----------------------------------------------------------------------------------------------------

    def update(self, action: Action, *, tell: str = "UPDATED_NEW") -> Item:
        """One update, outside any transaction; the attributes it wrote. Raises Cancelled, FormTooNew.

        tell: `ALL_NEW` for those that it left as they were as well.
        """
        try:
            answer = self._call("update_item", TableName=self._name, ReturnValues=tell, **action.arguments)
        except ClientError as refused:
            standing = refused.response.get("Item")
            raise Cancelled([read_item(standing)] if standing else ()) from refused
        return read_item(answer.get("Attributes", {}))

    def write_all(self, actions: Sequence[Action]) -> None:
        """Puts and deletes, each on its own and without its condition: of rows that are new, or were read before."""
        requests = [{f"{each.kind}Request": _unconditioned(each)} for each in actions]
        for at in range(0, len(requests), MOST_WRITTEN):
            self._write_page(requests[at : at + MOST_WRITTEN])

    def write_checked(self, actions: Sequence[Action], checks: Sequence[Action]) -> None:
        """In as many transactions as it takes, each with the checks. What is written stays where one is refused.

        Raises as `transact`.
        """
        most = MOST_ACTIONS - len(checks)
        for first in range(0, len(actions), most):
            self.transact([*checks, *actions[first : first + most]])

    def _write_page(self, requests: list[dict[str, Any]]) -> None:
        for lost in range(TRIES):
            answer = self._call("batch_write_item", RequestItems={self._name: requests})
            requests = answer.get("UnprocessedItems", {}).get(self._name, [])
            if not requests:
                return
            self._pause(lost)
        raise StoreError("DynamoDB left items unwritten, again and again")

    def transact(self, actions: Sequence[Action]) -> None:
        """All or nothing. Raises Cancelled, Conflict, OutcomeUnknown, SchemaTooLarge, FormTooNew."""
        items = [{each.kind: {"TableName": self._name, **each.arguments}} for each in actions]
        token = secrets.token_hex(16)
        unknown: Exception | None = None
        raced = True
        until = self._clock.elapsed() + PATIENCE_MS
        for lost in range(TRIES):
            try:
                self._client.transact_write_items(TransactItems=items, ClientRequestToken=token)
            except ClientError as refused:
                if (cancelled := _cancelled(refused, repeated=unknown is not None)) is not None:
                    raise cancelled from refused
                if _is_open(refused):
                    unknown = refused
                raced = raced and _is_race(refused)
            except SILENT as silent:
                unknown = silent
            else:
                return
            if self._clock.elapsed() >= until:
                break
            self._pause(lost)
        if unknown is not None:
            raise OutcomeUnknown("DynamoDB did not say whether it committed") from unknown
        if raced:
            raise Conflict("DynamoDB is busy: too many writers of the same rows")
        raise StoreError("DynamoDB is busy: too many requests, or too many writers of the same rows")

    # --- calling -----------------------------------------------------------------------------------------------------

    def _call(self, operation: str, **arguments: Any) -> Mapping[str, Any]:
        """The answer. Raises StoreError, and ClientError only where a condition does not hold."""
        until, faults = self._clock.elapsed() + PATIENCE_MS, 0
        for lost in range(TRIES):
            try:
                answer: Mapping[str, Any] = getattr(self._client, operation)(**arguments)
            except ClientError as refused:
                if refused.response["Error"]["Code"] in _UNMET:
                    raise
                failure: Failure = refused
            except SILENT as silent:
                failure = silent
            else:
                return answer
            busy = _is_busy(failure)
            faults += not busy
            if not _passes(failure) or faults == FAULTS or self._clock.elapsed() >= until:
                break
            self._pause(lost if busy else lost + FAULT_LASTS)
        outcome = "refused" if isinstance(failure, ClientError) else "did not answer"
        raise failed(f"DynamoDB {outcome} {operation}", failure) from failure

    def _pause(self, lost: int) -> None:
        Backoff(self._clock, FIRST_PAUSE_S, LONGEST_PAUSE_S).pause(lost)


def _unconditioned(action: Action) -> Mapping[str, Any]:
    return {name: value for name, value in action.arguments.items() if name in ("Item", "Key")}


def _is_key(pk: str, sk: str) -> bool:
    return len(pk.encode()) <= LONGEST_PK and len(sk.encode()) <= LONGEST_SK


def _cancelled(refused: ClientError, *, repeated: bool) -> Exception | None:
    """What a refused transaction raises; None if it is to be tried again."""
    code, message = refused.response["Error"]["Code"], refused.response["Error"].get("Message", "")
    reasons = refused.response.get("CancellationReasons", ())
    codes = {reason.get("Code") for reason in reasons} | {code}
    if codes & _UNMET:
        items = [read_item(reason["Item"]) for reason in reasons if reason.get("Item")]
        return Cancelled(items, repeated=repeated)
    if codes & _LATER or _is_open(refused):
        return None
    if "size" in message.lower() or any("size" in reason.get("Message", "").lower() for reason in reasons):
        return SchemaTooLarge()
    return failed("DynamoDB refused a transaction", refused)


def _is_busy(failure: Failure) -> bool:
    return isinstance(failure, ClientError) and failure.response["Error"]["Code"] in _LATER


def _passes(failure: Failure) -> bool:
    """Whether another try may succeed where this one failed: too fast, no answer, a fault of the service."""
    if isinstance(failure, ClientError):
        return _is_busy(failure) or _is_open(failure)
    return isinstance(failure, HTTPClientError | NotConnected)


def _is_race(refused: ClientError) -> bool:
    """Whether other transactions were all that stood in the way."""
    reasons = {reason["Code"] for reason in refused.response.get("CancellationReasons", ())} - {"None"}
    return (reasons or {refused.response["Error"]["Code"]}) <= _RACES


def _is_open(refused: ClientError) -> bool:
    """Whether it may yet be written: the service failed, or a try whose answer was lost is still under way."""
    status = int(refused.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    return status >= 500 or refused.response["Error"]["Code"] == _UNDER_WAY
