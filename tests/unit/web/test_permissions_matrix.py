"""Every route of the table × every principal × every place a target may lie: who is let in, made of the table alone.

`test_permissions` says what is answered; here nothing is written down for a route, so that none can be forgotten.
"""

from collections.abc import Iterator, Mapping
from itertools import product

import pytest

from sigla.auth.permissions import OPEN, READ
from sigla.web.api.admission import SETTINGS
from sigla.web.api.route import Route
from sigla.web.api.routes import ROUTES
from tests.unit.auth.guarded import DOORS, EVERYWHERE, WHO, Ask, Who, cut, guarded

INSIDE: Mapping[str, frozenset[str]] = {
    "a-none": frozenset({"a"}),
    "b-none": frozenset(),
    ":.team:none": frozenset({"team"}),
    ":.team:": frozenset({"team"}),
    ":.other:none": frozenset(),
    ":.__GLOBAL:": frozenset(),
    ":.:": frozenset(),
}
"""Places by a name in them, none of which has a version; and the reaches that have them."""

SHOWN: Mapping[str, frozenset[str]] = {
    ":.__GLOBAL:": frozenset({"a", "z", "team"}),
    ":.:": frozenset({"a", "z", "team"}),
}
"""Settings of these bear on everybody, who may read them."""

CONTEXTS = {".team": frozenset({"team"}), ".other": frozenset[str]()}
PARAMETERS = {"id": "1", "guid": "none", "version": "1", "kek": "none", "exporter": "none", "key": "none"}
PARAMETERS |= {"namespace": "-", "resource": "none", "old": "1", "new": "1"}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with guarded(*cut(tmp_path_factory.mktemp("keys"))) as world, DOORS["local"](world) as ask:
        yield ask


def targets(route: Route) -> Iterator[tuple[str, frozenset[str] | None]]:
    """Paths that the route answers, each with the reaches that have it; None where the path names no subject."""
    if "{subject}" in route.path:
        looks = route.access is READ and route.path.startswith(SETTINGS)
        named = {name: own | (SHOWN.get(name, frozenset()) if looks else frozenset()) for name, own in INSIDE.items()}
        yield from ((filled(route, subject=name), own) for name, own in named.items())
    elif "{context}" in route.path:
        yield from ((filled(route, context=name), own) for name, own in CONTEXTS.items())
    elif route.registry_wide or (route.path in SETTINGS and route.access is not READ):
        yield filled(route), frozenset()
    else:
        yield filled(route), None


def filled(route: Route, **places: str) -> str:
    path = route.path
    for name, value in {**PARAMETERS, **places}.items():
        path = path.replace(f"{{{name}}}", value)
    assert "{" not in path, f"{route.name}: say in PARAMETERS what stands for a parameter of its path"
    return path


def outcome(route: Route, who: Who, own: frozenset[str] | None, flag: str) -> int:
    """401, 403 or, for who is let in, 0."""
    access = next((query.access for query in route.query if query.name == flag and query.access), route.access)
    if access is OPEN:
        return 0
    if not who.kind:
        return 401
    inside = own is None or who.reach in (EVERYWHERE, *own)
    return 0 if access in who.may and inside else 403


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_principal_is_let_in_or_refused_as_the_table_says(ask: Ask, route: Route) -> None:
    """By the role before the prefixes, and before the body is read; a refusal is the same whatever exists."""
    flags = ["", *(query.name for query in route.query if query.access)]
    for (target, own), who, flag in product(targets(route), WHO, flags):
        asked = f"{target}?{flag}=true" if flag else target
        reply = ask(who.name, route.method, asked, {"mode": "none"} if route.body else None)
        expected = outcome(route, who, own, flag)
        assert (reply.status if reply.status in (401, 403) else 0) == expected, (str(who), asked, reply)


def test_places_are_inside_outside_and_everybodys() -> None:
    """The matrix would prove little if all of its places lay on one side."""
    reached = {reach for own in INSIDE.values() for reach in own}
    assert reached == {"a", "team"}
    assert {who.reach for who in WHO} == {EVERYWHERE, "a", "z", "team"}
    assert frozenset() in INSIDE.values()
