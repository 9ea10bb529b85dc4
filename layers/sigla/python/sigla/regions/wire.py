"""What two regions tell each other over HTTP: what comes next (`ports.primary.NextTold`), what each of them is."""

from collections.abc import Mapping
from typing import Any, cast

import orjson

from sigla.model import SchemaId
from sigla.ports.primary import NextTold, Offer
from sigla.ports.regions import RegionReport
from sigla.regions.installed import Installed
from sigla.regions.nouns import RegionKind, Role, Trace
from sigla.regions.refusals import NotFollowed, RefusedAs
from sigla.regions.replay import JournalPlace
from sigla.regions.role_form import form_of_role, role_of_form
from sigla.regions.shipped import shipment_form, shipment_of


def told_bytes(told: NextTold) -> bytes:
    commits = [shipment_form(each) for each in told.shipments]
    form: dict[str, Any] = {
        "end": told.end,
        "waited": told.waited_ms,
        "ceilings": told.ceilings,
        "commits": commits,
        "lost": told.lost,
    }
    if told.offer is not None:
        offered = [shipment_form(each) for each in told.offer.shipments]
        form["offer"] = {"number": told.offer.number, "commits": offered}
    return orjson.dumps(form)


def told_of(form: bytes) -> NextTold:
    """Raises ValueError for other bytes, FormTooNew."""
    found = orjson.loads(form)
    try:
        ceilings = {str(context): SchemaId(ceiling) for context, ceiling in found["ceilings"].items()}
        commits = [shipment_of(each, "a commit of the primary") for each in found["commits"]]
        lost = None if found.get("lost") is None else [str(name) for name in found["lost"]]
        return NextTold(commits, int(found["end"]), int(found["waited"]), ceilings, lost, _offer_of(found.get("offer")))
    except (LookupError, TypeError, AttributeError) as wrong:
        raise ValueError("this is not what a primary tells") from wrong


def _offer_of(form: Any) -> Offer | None:
    if form is None:
        return None
    return Offer(int(form["number"]), [shipment_of(each, "a commit of the primary") for each in form["commits"]])


_REASONS = {each.value: each for each in RefusedAs}


def refused_form(refusal: NotFollowed) -> dict[str, Any]:
    form = {"error_code": refusal.code, "message": refusal.message}
    return form | ({"reason": refusal.reason.value} if refusal.reason else {})


def refused_of(form: Mapping[str, Any], registry: str, otherwise: str) -> NotFollowed:
    """From whatever was answered at a URL: a newer release may have more reasons.

    otherwise: why, where there are no words.
    """
    why = str(form.get("message", "")).removeprefix(NotFollowed(why="").message)
    return NotFollowed(why=why or otherwise, registry=registry, reason=_REASONS.get(str(form.get("reason"))))


_OF_ROLE = {name: type(value) for name, value in form_of_role(Role(0, RegionKind.JOINING)).items() if name != "kind"}
"""The types of what a role has beside its kind, by name."""


def role_form(role: Role | None) -> dict[str, Any] | None:
    return None if role is None else form_of_role(role)


def role_of(form: object) -> Role | None:
    """Raises ValueError for anything else; what only a newer release has in it, too."""
    if form is None:
        return None
    if not isinstance(form, Mapping) or form.keys() != {"kind", *_OF_ROLE}:
        raise ValueError("this is not a role")
    if any(type(form[name]) is not kind for name, kind in _OF_ROLE.items()):
        raise ValueError("this is not a role")
    return role_of_form(form)


_OF_REPORT = [name for name in RegionReport._fields if name not in RegionReport._field_defaults]
"""What every release tells."""


def _trace_of(form: Mapping[str, Any]) -> Trace:
    return Trace(str(form["name"]), str(form["url"]), int(form["seen"]), bool(form["abandoned"]))


def report_form(report: RegionReport) -> dict[str, Any]:
    return report._asdict() | {
        "role": role_form(report.role),
        "journal": report.journal._asdict(),
        "installed": report.installed.compared,
        "out": [each._asdict() for each in report.out],
    }


def report_of(form: object) -> RegionReport:
    """Raises ValueError."""
    try:
        found: dict[str, Any] = {name: cast("dict[str, Any]", form)[name] for name in _OF_REPORT}
        place = JournalPlace(int(found["journal"]["position"]), str(found["journal"]["hash"]))
        options = {str(name): str(said) for name, said in found["installed"]["options"].items()}
        installed = Installed(str(found["installed"]["release"]), options)
        out = [_trace_of(each) for each in cast("dict[str, Any]", form).get("out", ())]
        run = str(cast("dict[str, Any]", form).get("run", ""))
        return RegionReport(
            **found | {"role": role_of(found["role"]), "journal": place, "installed": installed, "out": out, "run": run}
        )
    except (LookupError, TypeError, AttributeError) as wrong:
        raise ValueError("this is not what a registry tells of its region") from wrong
