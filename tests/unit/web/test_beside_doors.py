"""What stands beside the table of routes: every path of it × everybody, as the matrix has the table itself."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from itertools import product

import pytest
from fastapi import FastAPI

from sigla.auth.guesses import Guesses
from sigla.web import app
from sigla.web.console import live
from sigla.web.local import server, several
from sigla.web.registries import Choice, OfRegistry, Unchosen
from sigla.web.registries import read as registries
from tests.build import FixedClock
from tests.served_region import region_alone
from tests.unit.auth.guarded import EVERYWHERE, WHO, Guarded, Who, cut, guarded
from tests.unit.web.conftest import Client

OPEN, WITH_A_KEY, ADMIN_OF_ALL = "open", "with a key", "an admin of everything"
ACCESS: Mapping[str, str] = {
    "/health": OPEN,
    "/health/live": OPEN,
    "/health/ready": OPEN,
    "/docs": OPEN,
    "/metrics": WITH_A_KEY,
    "/zones/live": WITH_A_KEY,
    "/zones/live.json": WITH_A_KEY,
    "/regions/journal": ADMIN_OF_ALL,
    "/regions/copy": ADMIN_OF_ALL,
    "/regions/rows": ADMIN_OF_ALL,
    "/regions/place": ADMIN_OF_ALL,
}
FILES_OF_DOCS = "/docs/"
"""Below it are files of the page alone."""
DESCRIPTION = "/openapi.json"
"""Open at a server, whose page reads it without a key; a function asks for one."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(*cut(tmp_path_factory.mktemp("keys"))) as world:
        yield world


Made = Callable[[Guarded, ExitStack], FastAPI]


def leading(world: Guarded, opened: ExitStack) -> FastAPI:
    """A server of one registry, which another region may follow, with the page of zones."""
    options = app.HttpOptions(authenticate=world.authenticate)
    region = region_alone(world.store, world.authenticate, Guesses(FixedClock()), opened)
    page = live.routes((), "", world.authenticate, None)
    return server.application(world.registry, options=options, table=region.table, routes=[*region.routes, *page])


def of_several(world: Guarded, opened: ExitStack) -> FastAPI:
    strangers = OfRegistry("a", world.authenticate)
    member = several.Served("a", world.registry, app.HttpOptions(authenticate=strangers))
    unchosen = app.HttpOptions(authenticate=Unchosen(strangers))
    made = several.Several([member], Choice(registries(["a=test"])), unchosen, is_open=False)
    opened.callback(made.close)
    return made.application


def function(world: Guarded, _: ExitStack) -> FastAPI:
    return app.build(world.registry, options=app.HttpOptions(authenticate=world.authenticate))


def outcome(access: str, who: Who) -> tuple[int, ...]:
    """What may be answered; 400 and 422 by what no other region has followed yet."""
    if access == OPEN:
        return (200,)
    if not who.kind:
        return (401,)
    if access == WITH_A_KEY or (who.kind == "admin" and who.reach == EVERYWHERE):
        return (200, 400, 422)
    return (403,)


def access_of(path: str, made: Made) -> str:
    if path == DESCRIPTION:
        return WITH_A_KEY if made is function else OPEN
    return OPEN if path.startswith(FILES_OF_DOCS) else ACCESS[path]


@pytest.mark.parametrize("made", [leading, of_several, function])
def test_who_is_let_in_beside_the_table(world: Guarded, made: Made) -> None:
    """A path that is not listed here fails: nothing was decided about it."""
    with ExitStack() as opened, closing(asyncio.new_event_loop()) as loop:
        application = made(world, opened)
        client = Client(application)
        paths = [getattr(route, "path", "") for route in application.router.routes]
        assert paths
        for path, method, who in product(paths, ("GET", "HEAD"), WHO):
            headers = {"host": "test", **world.authorization(who.name)}
            told = loop.run_until_complete(client.send(method, path, [b""], headers))
            assert told.status in outcome(access_of(path, made), who), (method, path, str(who), told)
