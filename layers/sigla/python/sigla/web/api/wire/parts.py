"""Bodies of parts of lists, and places in lists as texts."""

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from sigla.associations.nouns import Association
from sigla.model import Referrer, Row, SchemaId, Subject, Version
from sigla.ports.glances import AssociationPlace, ReferrerPlace
from sigla.ports.subjects import VersionKey
from sigla.registry.graphs import End, Referenced, Referring
from sigla.registry.parts import ListPart
from sigla.web.api.queries import number
from sigla.web.http.refusals import NoSuchArgument

T = TypeVar("T")


def part(found: ListPart[T], *, told: Callable[[T], Any], place: Callable[[T], str]) -> dict[str, Any]:
    """Tells the items, and as `after` where the next part begins, if there is one. place: that of an item."""
    body: dict[str, Any] = {"found": [told(each) for each in found.found]}
    return body | ({"after": place(found.found[-1])} if found.goes_on else {})


def told_version(row: Row) -> dict[str, Any]:
    return {"version": row.version, "deleted": row.deleted}


def read_version_place(said: str) -> Version | None:
    """None for an empty text. Raises NoSuchArgument for what is not a number."""
    return Version(number(said)) if said else None


def told_referrer(found: tuple[Version, Referrer]) -> dict[str, Any]:
    referenced, one = found
    told = {"subject": one.subject.qualified, "version": one.version, "id": one.id, "deleted": one.deleted}
    return {**told, "referenced": referenced}


def referrer_place(found: tuple[Version, Referrer]) -> str:
    return _place_text(ReferrerPlace.of(found))


def _place_text(place: ReferrerPlace) -> str:
    referenced, subject, id, version = place
    return _joined((str(referenced), subject.context, subject.name, str(id), str(version)))


def read_referrer_place(said: str) -> ReferrerPlace | None:
    """None for an empty text. Raises NoSuchArgument for what `referrer_place` never tells."""
    if not said:
        return None
    referenced, context, name, id, version = _parted(said, 5)
    return ReferrerPlace(
        Version(number(referenced)), Subject(context, name), SchemaId(number(id)), Version(number(version))
    )


_REFERENCED, _REFERRING = "referenced", "referring"


def graph_end(end: End) -> str:
    subject, version = end.key
    if isinstance(end, Referenced):
        way, place = _REFERENCED, str(end.told)
    else:
        way, place = _REFERRING, "" if end.place is None else _place_text(end.place)
    return _joined((way, subject.context, subject.name, str(version), place))


def read_graph_end(said: str) -> End:
    """Raises NoSuchArgument for what `graph_end` never tells."""
    way, context, name, version, place = _parted(said, 5)
    key = VersionKey(Subject(context, name), Version(number(version)))
    if way == _REFERENCED:
        return Referenced(key, number(place))
    if way == _REFERRING:
        return Referring(key, read_referrer_place(place))
    raise NoSuchArgument


def association_place(one: Association) -> str:
    return _joined(AssociationPlace.of(one))


def read_association_place(said: str) -> AssociationPlace | None:
    """None for an empty text. Raises NoSuchArgument for what `association_place` never tells."""
    return AssociationPlace(*_parted(said, len(AssociationPlace._fields))) if said else None


def _joined(texts: tuple[str, ...]) -> str:
    return "/".join(quote(each, safe="", errors="surrogatepass") for each in texts)


def _parted(said: str, number: int) -> list[str]:
    texts = [unquote(each, errors="surrogatepass") for each in said.split("/")]
    if len(texts) != number:
        raise NoSuchArgument
    return texts
