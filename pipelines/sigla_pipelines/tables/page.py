"""What is printed of tables: for a person, or as JSON."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sigla_pipelines.tables.columns import column_lines
from sigla_pipelines.tables.facts import TableFacts

UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB")
STEP: Final = 1024


def listing(tables: Sequence[TableFacts]) -> str:
    head = ("topic", "table", "rows", "files", "size", "last batch", "at", "where")
    rows = [
        (
            ",".join(each.topics) or "-",
            each.table,
            f"{each.rows:,}",
            f"{each.file_count:,}",
            _size(each.size),
            f"{each.last.number}" if each.last else "-",
            _moment(each.last.at) if each.last else "-",
            each.location,
        )
        for each in tables
    ]
    return _aligned([head, *rows], right={2, 3, 4, 5})


def one(table: TableFacts) -> str:
    last = f"{table.last.number} of {table.last.query}, {_moment(table.last.at)}" if table.last else "-"
    said = [
        ("table", table.table),
        *([("name", table.name)] if table.name != table.table else []),
        ("topic", ", ".join(table.topics) or "-"),
        ("rows", f"{table.rows:,} in {table.file_count:,} files, {_size(table.size)}"),
        ("last batch", last),
        ("where", table.location),
        ("partitions", ", ".join(table.partitions) or "-"),
    ]
    columns = [(each.name, each.type, each.comment) for each in column_lines(table.schema)]
    return _aligned(said) + "\n\n" + _aligned([("column", "type", "comment"), *columns])


def form(table: TableFacts, *, with_columns: bool) -> dict[str, Any]:
    last = table.last
    facts: dict[str, Any] = {
        "table": table.table,
        "name": table.name,
        "topics": list(table.topics),
        "rows": table.rows,
        "files": table.file_count,
        "bytes": table.size,
        "last_batch": {"query": last.query, "number": last.number, "at": last.at} if last else None,
        "location": table.location,
        "partitions": list(table.partitions),
    }
    if with_columns:
        facts["columns"] = [
            {"name": each.name, "type": each.type, "comment": each.comment} for each in column_lines(table.schema)
        ]
    return facts


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _size(size: float) -> str:
    for unit in UNITS[:-1]:
        if size < STEP:
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= STEP
    return f"{size:,.1f} {UNITS[-1]}"


def _aligned(rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Columns below each other; the last one as long as it is."""
    ends = set(right)
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at in ends else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
