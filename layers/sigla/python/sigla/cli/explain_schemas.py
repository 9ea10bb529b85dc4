"""Where `sigla explain` looks for schemas: in a registry's stores, or through its API."""

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager

from sigla.cli import credentials, place
from sigla.cli.misuse import reading_remote
from sigla.decoding.explain import Schemas


@contextmanager
def opened(args: argparse.Namespace) -> Iterator[Schemas]:
    """Raises Misuse, Refused."""
    if args.registry_url:
        from sigla.remote.client import Remote
        from sigla.remote.schemas import RemoteSchemas
        from sigla.stores.clock import SystemClock

        user = credentials.user_of(args, args.registry_url)
        with reading_remote(), closing(Remote(args.registry_url, user, SystemClock())) as remote:
            yield RemoteSchemas(remote)
        return
    from sigla import opening
    from sigla.registry.stored_schemas import StoredSchemas

    address = place.address(args, bodies_alone=True)
    with place.explained(address), opening.lookup(address) as (bodies, catalog):
        yield StoredSchemas(bodies, catalog)
