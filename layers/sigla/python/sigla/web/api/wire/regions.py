"""What is told and asked of two regions, as JSON."""

from typing import Any, Final, NamedTuple

from sigla.ports.regions import BroughtBack, Promoted
from sigla.regions.nouns import Role
from sigla.regions.replay import JournalPlace
from sigla.regions.wire import role_form, role_of
from sigla.web.api.wire import bind, text
from sigla.web.http.refusals import BadRequest

PLANNED: Final = "planned"
FORCE: Final = "force"
UNDO: Final = "undo"
WAYS: Final = (PLANNED, FORCE, UNDO)


class PromotionAsked(NamedTuple):
    """way: one of `WAYS`. url: where the other region reaches this one. primary: the URL of the other one.

    run: of the server that is to do it, as of `RegionReport`; empty: whichever is asked.
    """

    way: str
    url: str
    primary: str
    run: str


def promoted(done: Promoted) -> dict[str, Any]:
    return done._asdict() | {"role": role_form(done.role)}


def read_roles(body: bytes, operation: str) -> tuple[Role | None, Role]:
    """The one that was seen, and the one to be put in its place."""

    def roles(tree: Any) -> tuple[Role | None, Role]:
        sent = bind.members(tree, "RoleRequest")
        try:
            seen, role = role_of(sent.get("seen")), role_of(sent.get("role"))
        except ValueError as wrong:
            raise BadRequest(reason=str(wrong)) from None
        if role is None:
            raise BadRequest(reason="role is missing")
        return seen, role

    return text.read(body, roles, operation=operation)


class RejoinAsked(NamedTuple):
    """url: of the region that comes back. follow: where it reaches this one. end: of its journal, once that is here."""

    url: str
    follow: str
    end: JournalPlace | None


def read_rejoin(body: bytes, operation: str) -> RejoinAsked:
    def asked(tree: Any) -> RejoinAsked:
        sent = bind.members(tree, "RejoinRequest")
        end = None
        if sent.get("end") is not None:
            place = bind.members(sent["end"], "JournalPlace")
            end = JournalPlace(bind.integer(place.get("position")) or 0, _member(place, "hash"))
        return RejoinAsked(_member(sent, "url"), _member(sent, "follow"), end)

    return text.read(body, asked, operation=operation)


def brought(done: BroughtBack) -> dict[str, Any]:
    return done._asdict() | {"end": done.end._asdict()}


def read_url(body: bytes, operation: str) -> str:
    return text.read(body, lambda tree: _member(bind.members(tree, "RegionRequest"), "url"), operation=operation)


def read_region(body: bytes, operation: str) -> str:
    """Empty where none is named."""
    return text.read(
        body, lambda tree: _member(bind.members(tree, "AbandonmentRequest"), "region"), operation=operation
    )


def read_follower(body: bytes, operation: str) -> str:
    return text.read(
        body, lambda tree: _member(bind.members(tree, "DismissalRequest"), "follower"), operation=operation
    )


def read_promotion(body: bytes, operation: str) -> PromotionAsked:
    def asked(tree: Any) -> PromotionAsked:
        sent = bind.members(tree, "PromotionRequest")
        way = _member(sent, "way") or PLANNED
        if way not in WAYS:
            raise BadRequest(reason=f"way is one of {', '.join(WAYS)}")
        return PromotionAsked(way, *(_member(sent, name) for name in ("url", "primary", "run")))

    return text.read(body, asked, operation=operation)


def _member(sent: dict[str, Any], name: str) -> str:
    return bind.text(sent.get(name)) or ""
