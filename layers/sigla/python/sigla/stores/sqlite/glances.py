"""Lists from a place in them on (`ports.glances`), in the pages of `lists`: each row that is passed by has an index."""

from collections.abc import Iterator

from sigla.associations.nouns import Association
from sigla.keks.nouns import Kek
from sigla.keys import utf16
from sigla.model import BodyKey, Holder, Row, Subject, Version
from sigla.ports.glances import AssociationPlace
from sigla.stores.sqlite import associations, rows, speakers
from sigla.stores.sqlite import keks as stored_keks
from sigla.stores.sqlite.lists import Question, Where
from sigla.stores.sqlite.unit import Reader

_BEHIND_KEY = "key > ?"
_CONTEXTS = Question("SELECT key, name FROM context WHERE listed AND {where} ORDER BY key", _BEHIND_KEY, 1)
_KEKS = Question(f"{stored_keks.KEK} WHERE {{where}} ORDER BY key", _BEHIND_KEY, 1)

_PLACE = "a.name, a.namespace, a.resource, a.kind, a.type"
_ASSOCIATIONS = Question(
    f"{associations.COLUMNS.replace('SELECT ', f'SELECT {_PLACE}, ')} WHERE {{where}} ORDER BY {_PLACE}",
    f"({_PLACE}) > (?, ?, ?, ?, ?)",
    5,
)


_HOLDERS = Question(
    f"SELECT v.holder, v.version, {speakers.HOLDER} WHERE {{where}} ORDER BY v.holder, v.version",
    "(v.holder, v.version) > (?, ?)",
    2,
)


_VERSIONS = Question(
    f"SELECT v.version, {rows.ROW} FROM subject s JOIN version v ON v.subject = s.num WHERE {{where}}"
    " ORDER BY v.version DESC",
    "v.version < ?",
    1,
)


def versions_below(unit: Reader, subject: Subject, version: Version | None) -> Iterator[Row]:
    where = Where().but("s.key = ?", rows.subject_key(subject))
    where = where if version is None else where.but(_VERSIONS.position, version)
    return (rows.row(columns[_VERSIONS.columns :]) for columns in _VERSIONS.pages(unit, where))


def holders_after(unit: Reader, key: BodyKey, subject: Subject | None) -> Iterator[Holder]:
    # The index has the order of subjects among those alike in being deleted.
    where = Where().but("v.context = ? AND v.id = ? AND v.deleted IN (0, 1)", *key)
    where = where if subject is None else where.but("v.holder > ?", rows.subject_key(subject))
    return (speakers.holder(tuple(columns[_HOLDERS.columns :])) for columns in _HOLDERS.pages(unit, where))


def contexts_after(unit: Reader, context: str) -> Iterator[str]:
    return (name for _, name in _CONTEXTS.pages(unit, _behind(context)))


def keks_after(unit: Reader, name: str) -> Iterator[Kek]:
    return map(stored_keks.kek_of, _KEKS.pages(unit, _behind(name)))


def _behind(name: str) -> Where:
    return Where().but(_BEHIND_KEY, utf16(name)) if name else Where()


def associations_after(unit: Reader, place: AssociationPlace | None) -> Iterator[Association]:
    where = Where() if place is None else Where().but(_ASSOCIATIONS.position, *place)
    found = _ASSOCIATIONS.pages(unit, where)
    return (associations.association_of(columns[_ASSOCIATIONS.columns :]) for columns in found)
