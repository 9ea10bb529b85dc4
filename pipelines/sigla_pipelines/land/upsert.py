"""The state of a table beside its history: one row for each key, the newest change wins, deletes delete.

The history is the source of truth, and the state is what folding it gives. Which of two changes of a key is the newer
one is told by the two alone (`upsert_sql.newer`), and of a deleted key the deletion is remembered. So merges may be
repeated, and may come in any order: the state is the same. Spark does the merging; here is what a state is made of.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Final

import pyarrow as pa

from sigla_pipelines.land.landed import KEY
from sigla_pipelines.land.sinks.sink import value_columns
from sigla_pipelines.land.targets import SYSTEM


class StateMismatch(Exception):
    """A state cannot be made of its table's columns; the sentence says what to change."""


class Unwrap(Enum):
    """What a value is around the row."""

    NONE = "none"
    DEBEZIUM = "debezium"
    """An envelope: `before`, `after`, `op` and `source`."""


@dataclass(frozen=True, slots=True)
class StateTable:
    """What is kept of a table with history. keys: fields of the value; () for the key of the record.

    bound: whether the keys of records are decoded; else they are bytes.
    """

    history: str
    keys: tuple[str, ...] = ()
    unwrap: Unwrap = Unwrap.NONE
    bound: bool = False

    @property
    def table(self) -> str:
        return f"{self.history}_state"

    @property
    def deleted(self) -> str:
        """The table of deletions: which key, and by which change."""
        return f"{self.history}_state_deleted"


def check_states(tables: Iterable[tuple[str, StateTable | None]]) -> None:
    """tables: of each binding of values, with the state that it wants. Raises ValueError where they disagree."""
    states: dict[str, StateTable | None] = {}
    for table, state in tables:
        if states.setdefault(table, state) != state:
            raise ValueError(
                f"the topics of the table {table} share one state: write the same `mode`, `keys` and `unwrap` for "
                "each, and bind either the keys of all of them or no keys"
            )
    for state in filter(None, states.values()):
        if taken := states.keys() & {state.table, state.deleted}:
            raise ValueError(f"the table {min(taken)} is the state of another table: choose another `table`")


@dataclass(frozen=True, slots=True)
class Followed:
    """What became of a table's changes. changes: rows of the history that were read.

    merged, deleted: keys whose newest change among them sets a row, or deletes it. left_out: changes that do not say
    which row they are about, or what they do.
    """

    table: str
    changes: int
    merged: int
    deleted: int
    left_out: int

    def plus(self, other: "Followed") -> "Followed":
        return Followed(
            self.table,
            self.changes + other.changes,
            self.merged + other.merged,
            self.deleted + other.deleted,
            self.left_out + other.left_out,
        )

    def facts(self) -> dict[str, int]:
        return {name: count for name, count in asdict(self).items() if name != "table"}


POSITION: Final = ("_sr_topic", "_sr_partition", "_sr_offset", "_sr_ts")
OP: Final = "_sr_op"
UPSERT, DELETE, TRUNCATE, NOTHING = "U", "D", "T", "N"
_BOUND_KEY: Final = re.compile(rf"{KEY}(__v\d+)*")
_RAW_KEY: Final = "_sr_key"


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a state and of its deletions, and how rows of the history become changes.

    key: the columns by which a row is known. select: an expression of SQL for each column of `state`, over the
    history's; OP among them, null if it is unknown what a record does. whole_key: no part of a key may be null.
    truncates: one record may delete all rows.
    """

    state: pa.Schema
    deleted: pa.Schema
    key: tuple[str, ...]
    select: dict[str, str]
    whole_key: bool
    truncates: bool

    @property
    def left_out(self) -> str:
        """A condition: what the record does is not known, or to which row."""
        nulls = [f"{quoted_name(name)} IS NULL" for name in self.key]
        keyless = f" {'OR' if self.whole_key else 'AND'} ".join(nulls)
        return f"({OP} IS NULL OR ({OP} IN ('{UPSERT}', '{DELETE}') AND ({keyless})))"


def state_layout(state: StateTable, history: pa.Schema) -> Layout | None:
    """history: all columns of the table as it is now. None before the first value. Raises StateMismatch."""
    bound = [field for field in history if state.bound and _BOUND_KEY.fullmatch(field.name)]
    values = _values(state, history, bound)
    if not values:  # there were tombstones alone, which have nothing to delete yet
        return None
    if missing := [name for name in state.keys if name not in values]:
        raise StateMismatch(
            f"`keys` names the unknown column {missing[0]} of the table {state.history}. Its columns: "
            f"{', '.join(values)}."
        )
    columns = pa.schema(
        [*(pa.field(field.name, field.type, metadata=field.metadata) for field in (*values.values(), *bound, *SYSTEM))]
    )
    key = state.keys or (tuple(field.name for field in bound) if state.bound else (_RAW_KEY,))
    select = {field.name: quoted_name(field.name) for field in columns} | {OP: _op(state)}
    if state.unwrap is Unwrap.DEBEZIUM:
        select |= {name: f"after.{quoted_name(name)}" for name in values}
    members = _members_of_key(bound)
    for name in state.keys:
        elsewhere = _key_of_delete(state, name, columns.field(name).type, history, members)
        select[name] = f"IF({OP_OF_CHANGE} = '{UPSERT}', {select[name]}, {elsewhere})"
    deleted = pa.schema([*(columns.field(name) for name in key), *(columns.field(name) for name in (*POSITION, OP))])
    truncates = state.unwrap is Unwrap.DEBEZIUM
    return Layout(columns, deleted, key, select, whole_key=bool(state.keys), truncates=truncates)


OP_OF_CHANGE: Final = "_sr_change"
"""In what `changes` selects from: what the record does."""


def _values(state: StateTable, history: pa.Schema, bound: Sequence[pa.Field]) -> dict[str, pa.Field]:
    """The columns of a row, by name. Raises StateMismatch."""
    names = {field.name for field in bound}
    fields = [field for field in value_columns(history) if field.name not in names]
    if state.unwrap is not Unwrap.DEBEZIUM:
        return {field.name: field for field in fields}
    by_name = {field.name: field for field in fields}
    if not fields:
        return {}
    after = by_name.get("after")
    if after is None or "op" not in by_name or not pa.types.is_struct(after.type):
        raise StateMismatch(
            f"The table {state.history} lacks the columns `after` (a record) and `op`, so its records are not "
            "envelopes of Debezium: remove `unwrap`."
        )
    rows = {field.name: field for field in after.type}
    if taken := sorted({name.casefold() for name in rows} & {each.casefold() for each in (*names, *SYSTEM.names)}):
        raise StateMismatch(
            f"The rows in the envelopes of {state.history} have a column {taken[0]}, a name that the state itself "
            "uses: rename the column in the source."
        )
    return rows


def _op(state: StateTable) -> str:
    """What a record does: one of UPSERT, DELETE, TRUNCATE and NOTHING, or null."""
    if state.unwrap is not Unwrap.DEBEZIUM:
        return OP
    # Debezium's tombstone comes after the record that has said it all, and need not say the key.
    tombstone = NOTHING if state.keys and not state.bound else DELETE
    return (
        f"CASE WHEN {OP} = '{DELETE}' THEN '{tombstone}' WHEN op = 'd' THEN '{DELETE}' WHEN op = 't' THEN '{TRUNCATE}' "
        f"WHEN op IN ('c', 'r', 'u') AND after IS NOT NULL THEN '{UPSERT}' END"
    )


def _members_of_key(bound: Sequence[pa.Field]) -> dict[str, pa.Field]:
    """What a decoded key says, by the names of its fields."""
    return {member.name: member for field in bound if field.name == KEY for member in field.type}


def _key_of_delete(
    state: StateTable, name: str, kind: pa.DataType, history: pa.Schema, members: dict[str, pa.Field]
) -> str:
    """Where a record without a value says the key: in the row as it was before, or in its own key."""
    found = []
    if state.unwrap is Unwrap.DEBEZIUM and "before" in history.names:
        before = history.field("before").type
        if pa.types.is_struct(before) and before.get_field_index(name) >= 0:
            found.append(f"before.{quoted_name(name)}")
    # A key that is not a record has one field, whatever it is called.
    alone = next(iter(members)) if len(members) == 1 and len(state.keys) == 1 else None
    if member := name if name in members else alone:
        found.append(f"{KEY}.{quoted_name(member)}")
    return f"CAST(coalesce({', '.join(found)}) AS {spark_type(kind)})" if found else "NULL"


def spark_type(kind: pa.DataType) -> str:
    """The name in SQL of a type that a key can have."""
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    return _SPARK_TYPES.get(kind, "STRING")


_SPARK_TYPES: Final = {
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.binary(): "BINARY",
    pa.timestamp("us"): "TIMESTAMP_NTZ",
    pa.timestamp("us", tz="UTC"): "TIMESTAMP",
}


def quoted_name(name: str) -> str:
    """A name as Spark's SQL takes any."""
    return f"`{name.replace('`', '``')}`"
