"""Which other registries of the table have their journal written by the function of this one's deployment.

A row for each, beside the identity, in the partition that no function may write: a registry that is broken into cannot
have a function of another one look after it.
"""

from collections.abc import Mapping
from typing import Any

from sigla import keys
from sigla.ports.clock import Clock
from sigla.stores.dynamodb.actions import Condition, update
from sigla.stores.dynamodb.table import Table


class AwsServed:
    """A `ports.Served`. client: a low-level DynamoDB client. Raises StoreError where DynamoDB does not answer."""

    def __init__(self, client: Any, table: str, clock: Clock, *, registry: str = "default") -> None:
        self._table = Table(client, table, clock)
        self._pk = keys.identity_pk(registry)

    def list(self) -> Mapping[str, str]:
        named = Condition("begins_with(#sk, :sk)", {"sk": keys.SERVED})
        found = self._table.query(self._pk, named)
        return {keys.served_name(row["sk"]): row["identity"] for row in found}

    def add(self, name: str, identity: str) -> None:
        self._table.update(update((self._pk, keys.served_sk(name)), {"identity": identity}))
