"""Registrations of new schemas per second over DynamoDB and S3, by 1, 8 and 32 writers at the same time.

Each writer is a thread with an instance of its own over one table and one bucket, as environments of a function are.
In turns with them run as many threads that only make the calls which a new subject's first schema cannot do without,
with the same clients: ask, draw a number, put two objects side by side, write seven rows in one transaction.

It may mislead: DynamoDB's engine and moto's S3 share this machine's processors with the writers, and all writers share
one interpreter, so figures for several writers say how little Sigla adds and nothing about how far AWS scales.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import count, islice
from statistics import median
from typing import Any

from benchmarks import filled
from benchmarks.account import BUCKET, Account, account
from benchmarks.harness import Goal, Line, Lines, in_turns, main
from sigla.model import Draft
from sigla.registry import Registry

WRITERS = (1, 8, 32)
ROWS = 7
"""Head, version, content, holders and holder of the id, list, journal."""


def lines(*, quick: bool = False) -> Lines:
    (rounds, each), crowds = ((1, 4), (1, 2)) if quick else ((5, 160), WRITERS)
    with account() as made, ExitStack() as opened, ThreadPoolExecutor(2 * max(crowds)) as pool:
        instances = [opened.enter_context(made.registry()) for _ in range(max(crowds))]
        numbers = count(1)
        for writers in crowds:
            ours = partial(_per_second, pool, [partial(_register, one) for one in instances[:writers]], numbers, each)
            least = partial(_per_second, pool, [_Bare(made, pool).register] * writers, numbers, each)
            here, beside = (median(figures) for figures in in_turns(rounds, ours, least))
            what = f"registrations on AWS's engines, {writers} writer{'s' if writers > 1 else ''}"
            goal = None if quick else Goal(0.6, least=True)
            yield Line(what, here, "/s", beside, "the calls alone", goal)


def _per_second(
    pool: ThreadPoolExecutor, writers: list[Callable[[int], object]], numbers: Iterator[int], each: int
) -> float:
    """Each writer registers its share, one after the other."""
    shares = [list(islice(numbers, each // len(writers))) for _ in writers]

    def work(writer: Callable[[int], object], share: list[int]) -> None:
        for number in share:
            writer(number)

    begun = time.perf_counter()
    list(pool.map(work, writers, shares))
    return sum(map(len, shares)) / (time.perf_counter() - begun)


def _register(registry: Registry, number: int) -> object:
    return registry.register(filled.subject(number), Draft(filled.text(number)))


class _Bare:
    """What DynamoDB and S3 take of a registration, with nothing decided."""

    def __init__(self, made: Account, pool: ThreadPoolExecutor) -> None:
        self._dynamodb, self._s3, self._table = made.clients.dynamodb, made.clients.s3, made.table
        self._pool = pool

    def register(self, number: int) -> None:
        asked = [_key(f"bare#{number}", f"{row}") for row in range(6)]
        self._dynamodb.batch_get_item(RequestItems={self._table: {"Keys": asked, "ConsistentRead": True}})
        self._dynamodb.update_item(
            TableName=self._table,
            Key=_key("bare#numbers", "NEXT"),
            UpdateExpression="ADD #next :one",
            ExpressionAttributeNames={"#next": "next"},
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
        text = filled.text(number).encode()
        pointer = self._pool.submit(self._put, f"bare/guids/{number}", b"")
        self._put(f"bare/schemas/{number}", text)
        pointer.result()
        rows = [{**_key(f"bare#{number}", f"{row}"), "row": {"B": text[:300]}} for row in range(ROWS)]
        puts = [{"Put": {"TableName": self._table, "Item": row, **_NEW}} for row in rows]
        self._dynamodb.transact_write_items(TransactItems=puts, ClientRequestToken=secrets.token_hex(16))

    def _put(self, name: str, content: bytes) -> None:
        self._s3.put_object(Bucket=BUCKET, Key=name, Body=content, IfNoneMatch="*")


_NEW = {"ConditionExpression": "attribute_not_exists(#pk)", "ExpressionAttributeNames": {"#pk": "pk"}}


def _key(pk: str, sk: str) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


if __name__ == "__main__":
    main(lines, __doc__)
