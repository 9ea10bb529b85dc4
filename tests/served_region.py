"""A registry with what its server has of another region, without a server."""

from contextlib import ExitStack
from functools import partial

from sigla import destinations
from sigla.auth.credentials import Authenticator
from sigla.auth.guesses import Guesses
from sigla.observe import Teller
from sigla.regions.installed import Installed
from sigla.second_region import OtherRegion, region_of_server
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web.local import exporting
from sigla.web.local.regions import RegionOfServer


def region_alone(
    store: EmbeddedStore,
    authenticate: Authenticator | None,
    guesses: Guesses,
    until: ExitStack,
    tell: Teller = lambda _: None,
) -> RegionOfServer:
    """As of a server that no other region follows yet. until: ends what was begun."""
    around = exporting.Surroundings(store, partial(destinations.of, store), "a", lambda _: None)
    exporters = until.enter_context(exporting.exporting(around, begin=False))
    return region_of_server(
        store,
        OtherRegion(copy=lambda _: None),
        authenticate,
        guesses,
        exporters=exporters,
        served="http://a:8081",
        tell=tell,
        installed=Installed("", {}),
        until=until,
    )
