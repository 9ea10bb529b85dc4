"""Stored bytes become a body here and nowhere else: they are checked before they are believed, wherever they stood."""

from sigla import records
from sigla.errors import BodyDamaged, Conflict
from sigla.model import Body, BodyKey
from sigla.rules.guid import is_guid_of


def believed(key: BodyKey, stored: bytes) -> Body:
    """The body of this id: it names its own context and id, and its guid is the hash of its content.

    Raises BodyDamaged, FormTooNew. Called once for each body that enters memory; what is there is not checked again.
    """
    try:
        body = records.body(key, stored)
        sound = is_guid_of(body.guid, body.schema)
    except (ValueError, OverflowError) as wrong:
        raise BodyDamaged(key) from wrong
    if not sound:
        raise BodyDamaged(key, body=body)
    return body


def stays(standing: Body, told: Body) -> bool:
    """Whether a body stands as the catalog tells it. A living one of an import that may have been refused does not."""
    return standing.schema == told.schema and (standing.gone or told.brought or not standing.brought)


def check_stays(standing: Body | None, told: Body) -> bool:
    """True where `stays`; raises Conflict where it does not: it is not what was to be replaced, either."""
    if standing is None or not stays(standing, told):
        raise Conflict
    return True
