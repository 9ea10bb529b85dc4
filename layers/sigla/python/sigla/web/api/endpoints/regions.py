"""Two regions of one registry: what this server is, and what an administrator makes of it."""

from typing import Final

from sigla.regions.refusals import RegionRefused
from sigla.regions.wire import report_form
from sigla.registry import Registry
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import json_answer
from sigla.web.api.wire import regions as wire
from sigla.web.http.answer import Answer

ANOTHER_SERVER: Final = (
    "Nothing was changed. Another server answers by this URL than the one that was looked at a moment ago, or it was "
    "started again. Give the URL of one server, and not that of a load balancer"
)


def show(exchange: Exchange, registry: Registry) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    return json_answer(report_form(registry.regions().report()))


def set_role(exchange: Exchange, registry: Registry) -> Answer:
    seen, role = wire.read_roles(exchange.body, exchange.operation)
    return json_answer({"changed": registry.regions().set_role(seen, role)})


def reach(exchange: Exchange, registry: Registry) -> Answer:
    url = wire.read_url(exchange.body, exchange.operation)
    return json_answer({"why": registry.regions().why_not_reached(url)})


def promote(exchange: Exchange, registry: Registry) -> Answer:
    asked, control = wire.read_promotion(exchange.body, exchange.operation), registry.regions()
    if asked.run not in ("", control.report().run):
        raise RegionRefused(why=ANOTHER_SERVER)
    match asked.way:
        case wire.FORCE:
            done = control.force(asked.primary)
        case wire.UNDO:
            done = control.undo(asked.primary)
        case _:
            done = control.promote(asked.url, asked.primary)
    return json_answer(wire.promoted(done))


def rejoin(exchange: Exchange, registry: Registry) -> Answer:
    """Two requests: what was brought is known to whoever asked before that region forgets that it had it."""
    asked, control = wire.read_rejoin(exchange.body, exchange.operation), registry.regions()
    if asked.end is None:
        return json_answer(wire.brought(control.bring(asked.url)))
    return json_answer(control.rejoin(asked.url, asked.follow, asked.end)._asdict())


def abandon(exchange: Exchange, registry: Registry) -> Answer:
    region = wire.read_region(exchange.body, exchange.operation)
    return json_answer(wire.promoted(registry.regions().abandon(region)))


def dismiss(exchange: Exchange, registry: Registry) -> Answer:
    follower = wire.read_follower(exchange.body, exchange.operation)
    return json_answer(wire.promoted(registry.regions().dismiss(follower)))
