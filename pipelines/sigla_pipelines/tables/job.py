"""Lists the tables of a lake, shows the columns of one, or prints how an engine reads them.

    sigla tables CONFIG [TABLE] [--json | --ddl spark|trino|athena|duckdb]

No Spark is started, and no data is read.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from sigla.terminal.statuses import MISUSED
from sigla_pipelines.exit_status import exit_status_of
from sigla_pipelines.land.driver import Driver, driver, read_settings
from sigla_pipelines.land.exit_status import OWN
from sigla_pipelines.land.sinks.parquet import Parquet
from sigla_pipelines.land.sinks.sink import Sink
from sigla_pipelines.tables import catalogs, page
from sigla_pipelines.tables.catalogs import CannotAttach, IcebergCatalog
from sigla_pipelines.tables.ddl import ENGINES, statements
from sigla_pipelines.tables.facts import TableFacts, table_facts

if TYPE_CHECKING:
    from sigla_pipelines.land.sinks.iceberg import Iceberg


UNHEARD: Final = 141
"""As a shell has it of a command whose output nothing reads any more: 128 and the signal."""


class UnknownTable(Exception):
    """The lake has no such table; the sentence says which ones it has."""


def main(argv: Sequence[str]) -> int:
    """0: printed. 1: a store does not answer. 2: the table does not exist, or the way is unknown."""
    asked = _parser().parse_args(argv)
    own = {**OWN, UnknownTable: MISUSED, CannotAttach: MISUSED}
    return exit_status_of(
        lambda: _print_or_unheard(lambda: _printed(asked)), own, again="Start the job again when it does."
    )


def _print_or_unheard(printed: Callable[[], int]) -> int:
    """The status; UNHEARD where the reader of the output has gone, as `head` does."""
    try:
        status = printed()
        sys.stdout.flush()
    except BrokenPipeError:
        # At its end the interpreter would try once more to write what is left, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNHEARD
    return status


def _printed(asked: argparse.Namespace) -> int:
    with ExitStack() as stack:
        opened = driver(read_settings(asked.config))
        stack.callback(opened.close)
        asked.table = asked.table and opened.names.name(asked.table)
        iceberg = _iceberg(opened.sink)
        return _print_tables(asked, table_facts(opened), _attached(opened, iceberg) if iceberg else None)


def _print_tables(asked: argparse.Namespace, found: Sequence[TableFacts], catalog: IcebergCatalog | None) -> int:
    chosen = [_table_called(found, asked.table)] if asked.table else found
    if asked.ddl:
        print("\n\n".join(statements(asked.ddl, table, catalog) for table in chosen))
    elif asked.json:
        forms = [page.form(table, with_columns=bool(asked.table)) for table in chosen]
        print(json.dumps(forms[0] if asked.table else forms, indent=2, ensure_ascii=False))
    elif asked.table:
        print(page.one(chosen[0]))
    elif chosen:
        print(page.listing(chosen))
    else:
        print("Found no tables: nothing has been landed yet.", file=sys.stderr)
    return 0


def _table_called(found: Sequence[TableFacts], called: str) -> TableFacts:
    """By its name in reports, or in the catalog. Raises UnknownTable."""
    for each in found:
        if called == each.table:
            return each
    for each in found:
        if called == each.name:
            return each
    known = ", ".join(each.table for each in found) or "none yet, nothing has been landed"
    raise UnknownTable(f"Unknown table {called}. Tables: {known}.")


def _iceberg(sink: Sink) -> "Iceberg | None":
    if isinstance(sink, Parquet):
        return None
    from sigla_pipelines.land.sinks.iceberg import Iceberg  # noqa: PLC0415 - to import pyiceberg takes 0.6 s

    return sink if isinstance(sink, Iceberg) else None


def _attached(opened: Driver, iceberg: "Iceberg") -> IcebergCatalog:
    return catalogs.opened(iceberg.catalog, iceberg.namespace, opened.lake)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sigla tables",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", metavar="CONFIG", help="land.yaml, or an s3:// URL of one")
    parser.add_argument("table", metavar="TABLE", nargs="?", default="", help="one table; all of them if it is missing")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="the same for a program")
    how.add_argument("--ddl", choices=ENGINES, help="the statements with which this engine reads the table")
    return parser
