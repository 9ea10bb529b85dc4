"""Bodies and API keys of a bucket, opened: a `kinds.BodiesKind`. No table is asked, nor need one be named."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from sigla.auth.api_keys import Keys
from sigla.aws.clients import Clients
from sigla.ports.bodies import Bodies
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.s3.api_keys import AwsKeys
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.s3.objects import Objects


@contextmanager
def bodies(address: Address) -> Iterator[Bodies]:
    with _objects(address) as objects:
        yield AwsBodies(objects, registry=address.registry)


@contextmanager
def keys(address: Address) -> Iterator[Keys]:
    with _objects(address) as objects:
        yield AwsKeys(objects, registry=address.registry)


@contextmanager
def _objects(address: Address) -> Iterator[Objects]:
    _, bucket = address.names
    with closing(Clients()) as clients, closing(Objects(clients.s3, bucket, clock=SystemClock())) as objects:
        yield objects
