"""A role as it is stored, and as regions tell it to each other. Every release since the first one reads this form.

In it `token` is also the word for how a region joins: it has either, or neither. `peer` is a name, or a URL.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sigla.regions.nouns import Joins, KnownBy, RegionKind, Role

_JOINS = {each.value: each for each in Joins}


def form_of_role(role: Role) -> dict[str, Any]:
    form = asdict(role) | {"kind": role.kind.value, "peer": str(role.peer), "token": told_token(role)}
    del form["joins"]
    return form


def role_of_form(form: Mapping[str, Any]) -> Role:
    """form: of this release, or of one before, in which later members are missing."""
    joins = _JOINS.get(form.get("token", ""))
    plain = {**form, "token": ""} if joins else form
    peer = KnownBy.of(form.get("peer", ""))
    return Role(**{**plain, "kind": RegionKind(form["kind"]), "peer": peer, "joins": joins})


def told_token(role: Role) -> str:
    """The token, as the other region is told it."""
    return role.joins.value if role.joins else role.token
