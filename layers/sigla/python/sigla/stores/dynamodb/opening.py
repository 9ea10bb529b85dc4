"""A table and a bucket, opened: a `kinds.StoreKind`. Any number of processes may share them."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from sigla.aws.clients import Clients
from sigla.model import BodyKey, Guid
from sigla.regions import promotion
from sigla.regions.giving import carried_out
from sigla.regions.promotion import Promotion
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.promoting import TablePair
from sigla.stores.dynamodb.store import AwsStore
from sigla.stores.s3.opening import bodies, keys

__all__ = ["adopt_keys", "bodies", "is_handed_over", "keys", "pair", "promote_by_force", "reading", "writing"]


@contextmanager
def reading(address: Address) -> Iterator[AwsStore]:
    table, bucket = address.names
    with (
        closing(Clients(region=address.region)) as clients,
        closing(AwsStore(clients, table, bucket, SystemClock(), registry=address.registry)) as store,
    ):
        yield store


writing = reading


def pair(here: AwsStore, there: AwsStore) -> TablePair:
    return TablePair(here, there)


def promote_by_force(store: AwsStore, *, now: int) -> Promotion:
    return carried_out(promotion.forced(store.region, now=now))


def is_handed_over(store: AwsStore, key: BodyKey, guid: Guid, over: str) -> bool:
    return store.handed_ids.is_marked(key, guid, over)


def adopt_keys(store: AwsStore) -> int:
    return store.key_adoption.adopt_all()
