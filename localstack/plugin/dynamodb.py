"""DynamoDB for LocalStack, on moto: no Java, no Docker, no download.

Moto alone is not it: it takes calls side by side without a lock, ignores the token of a transaction, and copies the
whole table for each action of one.
"""

import copy
import json
import threading
import time
from collections import defaultdict
from typing import Any

from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.table import Table

from localstack.aws.api import CommonServiceException, handler
from localstack.aws.api.dynamodb import DynamodbApi
from localstack.services.moto import MotoFallbackDispatcher, call_moto
from localstack.services.plugins import SERVICE_PLUGINS, Service, ServiceLifecycleHook

TOKEN_S = 600.0
"""For how long a transaction's token is good: ten minutes, as the API reference has it."""

_update_item = DynamoDBBackend.update_item


class DynamoDB(DynamodbApi, ServiceLifecycleHook):  # type: ignore[misc]  # LocalStack's modules are not there where types are checked
    """What is not written here falls through to moto."""

    def __init__(self) -> None:
        self._tokens: dict[tuple[str, str, str], tuple[float, str]] = {}

    @handler("TransactWriteItems", expand=False)  # type: ignore[untyped-decorator]  # as above
    def transact_write_items(self, context: Any, request: Any) -> Any:
        """The same token again changes nothing; with other actions it is refused."""
        token = request.get("ClientRequestToken")
        if not token:
            return call_moto(context)
        key = (context.account_id, context.region, token)
        actions, now = json.dumps(request["TransactItems"], sort_keys=True, default=repr), time.monotonic()
        since, seen = self._tokens.get(key, (0.0, ""))
        if seen and now - since < TOKEN_S:
            if seen != actions:
                told = "Request token is already used with different parameters"
                raise CommonServiceException("IdempotentParameterMismatchException", told, status_code=400)
            return {}
        answer = call_moto(context)
        self._tokens[key] = (now, actions)
        return answer


def one_at_a_time(provider: DynamoDB) -> dict[str, Any]:
    """Every operation of the provider, each of which waits for the others: what DynamoDB's are, serialisable."""
    lock = threading.RLock()

    def locked(operation: Any) -> Any:
        def call(context: Any, request: Any) -> Any:
            with lock:
                return operation(context, request)

        return call

    return {name: locked(operation) for name, operation in MotoFallbackDispatcher(provider).items()}


def remembered(table: Any, _: object) -> Any:
    """A table as it is, for a transaction that may fail: other lists of the same items, which never change (below)."""
    twin = copy.copy(table)
    twin.items = defaultdict(dict, {k: dict(rows) if table.range_key_attr else rows for k, rows in table.items.items()})
    return twin


def update_a_copy(self: Any, table_name: str, key: Any, *arguments: Any, **named: Any) -> Any:
    """Moto changes an item where it stands; whoever remembers it would see that."""
    table = self.get_table(table_name)
    partition, sort = self.get_keys_value(table, key)
    item = table.get_item(partition, sort)
    if item is not None and table.range_key_attr:
        table.items[partition][sort] = copy.deepcopy(item)
    elif item is not None:
        table.items[partition] = copy.deepcopy(item)
    return _update_item(self, table_name, key, *arguments, **named)


def install() -> None:
    """Makes this LocalStack's DynamoDB."""
    Table.__deepcopy__ = remembered
    DynamoDBBackend.update_item = update_a_copy  # moto offers no other way in
    SERVICE_PLUGINS.add_service(Service.for_provider(DynamoDB(), dispatch_table_factory=one_at_a_time))
