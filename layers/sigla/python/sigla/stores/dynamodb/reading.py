"""What several questions begin with: heads, and one subject's rows as they stand."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sigla import keys
from sigla.model import Row, Settings, Subject
from sigla.stores.dynamodb import items
from sigla.stores.dynamodb.actions import Condition
from sigla.stores.dynamodb.items import Stored, SubjectState
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.table import Table


@dataclass(frozen=True, slots=True)
class Life:
    """One subject: its state, its settings, its versions ascending, and those that a purge has left behind."""

    state: SubjectState
    settings: Settings
    stored: tuple[Stored, ...]
    left: tuple[tuple[int, Stored], ...] = ()
    """With the generation each belongs to."""

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(self.state.shown(stored.row) for stored in self.stored)


def life(table: Table, places: Places, subject: Subject, *, consistent: bool = True) -> Life:
    """One query: the sort keys of a head, of settings and of versions follow each other."""
    pk, first = places.head(subject)
    found = {
        item["sk"]: item for item in table.query(pk, Condition("#sk >= :sk", {"sk": first}), consistent=consistent)
    }
    state = items.state(subject, found.get(keys.HEAD))
    versions = [(_generation(sk), items.version(item)) for sk, item in found.items() if sk.startswith("V#")]
    here = state.head.generation
    return Life(
        state,
        items.settings(found.get(keys.SETTINGS)),
        tuple(stored for generation, stored in versions if generation == here),
        tuple((generation, stored) for generation, stored in versions if generation < here),
    )


def states(
    table: Table, places: Places, subjects: Iterable[Subject], *, consistent: bool = True
) -> Mapping[Subject, SubjectState]:
    """The state of each subject, also of those never heard of."""
    distinct = list(dict.fromkeys(subjects))
    found = table.get_many([places.head(subject) for subject in distinct], consistent=consistent)
    return {subject: items.state(subject, found.get(places.head(subject))) for subject in distinct}


def _generation(sk: str) -> int:
    return int(sk.split("#")[1])


def newest(rows: Iterable[Row]) -> Row | None:
    """The highest active one."""
    return max((row for row in rows if not row.deleted), key=lambda row: row.version, default=None)
