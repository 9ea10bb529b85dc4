"""Lists from a place in them on (`ports.glances`), in the pages of `lists`: each row that is passed by has an index."""

from collections.abc import Iterator

from sigla.associations.nouns import Association
from sigla.keks.nouns import Kek
from sigla.keys import utf16
from sigla.model import DEFAULT_CONTEXT, BodyKey, Holder, Referrer, Row, SchemaId, Subject, Version
from sigla.ports.glances import AssociationPlace, ReferrerPlace
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


_REFERRER = "r.target_version, r.context_key, r.id, r.subject, r.version"
_REFERRERS = Question(
    f"SELECT {_REFERRER}, s.context, s.name, v.deleted FROM reference r"
    " JOIN subject s ON s.num = r.subject JOIN version v ON v.subject = r.subject AND v.version = r.version"
    f" WHERE {{where}} ORDER BY {_REFERRER}",
    f"({_REFERRER}) > (?, ?, ?, ?, ?)",
    5,
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


def referrers_after(
    unit: Reader, subject: Subject, version: Version | None, place: ReferrerPlace | None
) -> Iterator[tuple[Version, Referrer]]:
    where = Where().but("r.target = (SELECT num FROM subject WHERE key = ?)", rows.subject_key(subject))
    where = where if version is None else where.but("r.target_version = ?", version)
    if place is not None:
        referenced, referrer, id, referring = place
        # Behind a subject that is gone meanwhile those with its id are told again.
        number = "COALESCE((SELECT num FROM subject WHERE key = ?), 0)"
        key = rows.subject_key(referrer)
        context = b"" if referrer.context == DEFAULT_CONTEXT else utf16(referrer.context)
        where = where.but(f"({_REFERRER}) > (?, ?, ?, {number}, ?)", referenced, context, id, key, referring)
    return (
        (Version(referenced), Referrer(Subject(context, name), Version(referring), SchemaId(id), bool(deleted)))
        for referenced, _, id, _, referring, context, name, deleted in _REFERRERS.pages(unit, where)
    )


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
