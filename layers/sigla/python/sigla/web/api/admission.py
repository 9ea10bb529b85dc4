"""At the door: may this principal make this request, and which part of the registry does it see?

All of it by the table of routes.
"""

from dataclasses import replace

from sigla.auth.narrowed import Narrowed, NarrowedAudits, NarrowedReads
from sigla.auth.permissions import READ, WRITE, Access, Principal
from sigla.errors import Denied, DeniedEverywhere
from sigla.model import GLOBAL, Subject
from sigla.registry import Registry
from sigla.registry.steps.numbering import FURTHEST
from sigla.web.api.exchange import Exchange
from sigla.web.api.route import Route
from sigla.web.http import paths

SETTINGS = ("/config", "/mode", "/console/api/in-force")
"""Paths about settings: a principal may read those that bear on it, whichever subject has them."""


def admitted(registry: Registry, route: Route, exchange: Exchange, principal: Principal) -> Registry:
    """The registry as the principal sees it: the same for whoever reaches everything. Raises Denied."""
    access, exchange.may, exchange.caller = asked(route, exchange), principal.may, principal.name
    if access not in principal.may:
        raise _denied(access, named(route, exchange))
    exchange.sees_credentials = WRITE in principal.may and principal.reach is None
    exchange.reaches_everything = principal.reach is None
    if principal.reach is None:
        return registry
    subject = named(route, exchange)
    if subject is not None:
        looks = access is READ and route.path.startswith(SETTINGS)
        if not (principal.reach.shows(subject) if looks else principal.reach.includes(subject)):
            raise _denied(access, subject)
    narrowed = Narrowed(registry.catalog, registry.bodies, principal.reach, access)
    reads, audits = NarrowedReads(registry.reads, principal.reach), NarrowedAudits(registry.audits, principal.reach)
    return replace(registry, catalog=narrowed, reads=reads, audits=audits, furthest=FURTHEST)


def asked(route: Route, exchange: Exchange) -> Access:
    """The access of the route, or of a flag that asks for more."""
    if exchange.raw_query:
        for query in route.query:
            if query.access is not None and query.read(exchange.query):
                return query.access
    return route.access


def named(route: Route, exchange: Exchange) -> Subject | None:
    """What the path is about; None for lists, ids and GUIDs, which are about whatever they find."""
    if "subject" in exchange.params:
        return exchange.subject
    if "context" in exchange.params:
        return Subject(paths.context_name(exchange.params["context"]), "")
    return GLOBAL if route.registry_wide or route.path.startswith(SETTINGS) else None


def _denied(access: Access, subject: Subject | None) -> Denied:
    if subject is None or subject == GLOBAL:
        return DeniedEverywhere(operation=access.operation)
    return Denied(operation=access.operation, subject=subject)
