"""What Spark is asked to do to make a state of changes.

Aliases: `s` is a change, `t` the table's row, `d` what is remembered of a deletion.
"""
# ruff: noqa: S608 - every name is quoted or ours, and no value of a record becomes part of a statement

from collections.abc import Collection
from typing import Final

from sigla_pipelines.land.upsert import DELETE, NOTHING, OP, OP_OF_CHANGE, TRUNCATE, UPSERT, Layout, quoted_name


def newer(one: str, other: str, recreated: Collection[str] = ()) -> str:
    """A condition: the change under the alias `one` is newer than that under the alias `other`.

    Within one partition the offset tells; between two, the time. recreated: topics that were deleted and made anew,
    whose offsets began again: the time tells.
    """
    names = ", ".join(f"'{topic}'" for topic in sorted(recreated))
    same = f"{one}._sr_topic = {other}._sr_topic AND {one}._sr_partition = {other}._sr_partition"
    if names:
        same += f" AND {one}._sr_topic NOT IN ({names})"
    return f"IF({same}, {one}._sr_offset > {other}._sr_offset, {_by_time(one)} > {_by_time(other)})"


def _by_time(alias: str) -> str:
    return f"struct({', '.join(f'{alias}.{name}' for name in _TIME_FIRST)})"


_TIME_FIRST: Final = ("_sr_ts", "_sr_topic", "_sr_partition", "_sr_offset")


def changes(made: Layout, history: str) -> str:
    """Every record as a change. history: the view of its rows."""
    selected = ", ".join(
        f"{expression} AS {quoted_name(name)}" for name, expression in made.select.items() if name != OP
    )
    return (
        f"SELECT {selected}, {OP_OF_CHANGE} AS {OP} FROM (SELECT *, {made.select[OP]} AS {OP_OF_CHANGE} FROM {history})"
    )


def last_changes(made: Layout, changes: str, recreated: Collection[str] = ()) -> str:
    """For each key its newest change; and the newest that truncates, which has no key. changes: a view."""
    key = ", ".join(map(quoted_name, made.key))
    names = ", ".join(map(quoted_name, made.state.names))
    offset = "_sr_offset DESC"
    if recreated:
        again = ", ".join(f"'{topic}'" for topic in sorted(recreated))
        offset = f"IF(_sr_topic IN ({again}), _sr_ts, NULL) DESC, {offset}"
    within = f"row_number() OVER (PARTITION BY {key}, _sr_topic, _sr_partition ORDER BY {offset})"
    across = f"row_number() OVER (PARTITION BY {key} ORDER BY {', '.join(f'{name} DESC' for name in _TIME_FIRST)})"
    return (
        f"SELECT {names} FROM (SELECT *, {across} AS _across FROM (SELECT *, {within} AS _within FROM {changes} "
        f"WHERE {OP} <> '{NOTHING}' AND NOT {made.left_out}) WHERE _within = 1) "
        f"WHERE _across = 1"
    )


def remember_deletes(made: Layout, deleted: str, last: str, recreated: Collection[str] = ()) -> str:
    """Deletions become part of the table `deleted`."""
    names = ", ".join(map(quoted_name, made.deleted.names))
    return (
        f"MERGE INTO {deleted} t USING (SELECT {names} FROM {last} WHERE {OP} <> '{UPSERT}') s ON {_same_key(made)} "
        f"WHEN MATCHED AND {newer('s', 't', recreated)} THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )


def truncate(table: str, deleted: str, recreated: Collection[str] = ()) -> str:
    """What is older than the last truncation goes."""
    return (
        f"DELETE FROM {table} t WHERE EXISTS "
        f"(SELECT 1 FROM {deleted} d WHERE d.{OP} = '{TRUNCATE}' AND {newer('d', 't', recreated)})"
    )


def merge(made: Layout, table: str, last: str, deleted: str | None, recreated: Collection[str] = ()) -> str:
    """The newest changes become part of the state. deleted: None where nothing ever was."""
    source = f"SELECT * FROM {last} WHERE {OP} <> '{TRUNCATE}'"
    if deleted:
        gone = newer("d", "s", recreated)
        source = f"SELECT s.* FROM ({source}) s LEFT ANTI JOIN {deleted} d ON {_same_key(made, 's', 'd')} AND {gone}"
        if made.truncates:
            source += f" WHERE NOT EXISTS (SELECT 1 FROM {deleted} d WHERE d.{OP} = '{TRUNCATE}' AND {gone})"
    is_newer = newer("s", "t", recreated)
    return (
        f"MERGE INTO {table} t USING ({source}) s ON {_same_key(made)} "
        f"WHEN MATCHED AND s.{OP} = '{DELETE}' AND {is_newer} THEN DELETE "
        f"WHEN MATCHED AND {is_newer} THEN UPDATE SET * "
        f"WHEN NOT MATCHED AND s.{OP} = '{UPSERT}' THEN INSERT *"
    )


def _same_key(made: Layout, one: str = "s", other: str = "t") -> str:
    return " AND ".join(f"{one}.{quoted_name(name)} <=> {other}.{quoted_name(name)}" for name in made.key)
