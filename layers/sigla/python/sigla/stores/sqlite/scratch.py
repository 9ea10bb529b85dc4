"""A database that is thrown away: joins of what does not fit into memory."""

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

FILLED_AT_ONCE = 1_000


class ScratchDatabase:
    """relations: names with their columns, as CREATE TABLE wants them. It goes with `close`."""

    def __init__(self, relations: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sigla-scratch-")
        self._database = sqlite3.connect(Path(self._folder.name) / "scratch.sqlite", isolation_level=None)
        self._database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;")
        for name, columns in relations.items():
            self._database.execute(f"CREATE TABLE {name} ({columns})")

    def fill(self, relation: str, rows: Iterable[tuple[Any, ...]]) -> None:
        waiting = iter(rows)
        while some := list(islice(waiting, FILLED_AT_ONCE)):
            places = ", ".join("?" * len(some[0]))
            self._database.execute("BEGIN")
            self._database.executemany(f"INSERT INTO {relation} VALUES ({places})", some)
            self._database.execute("COMMIT")

    def ask(self, query: str) -> Iterator[Mapping[str, Any]]:
        found = self._database.execute(query)
        names = [column for column, *_ in found.description]
        return (dict(zip(names, values, strict=True)) for values in found)

    def close(self) -> None:
        self._database.close()
        self._folder.cleanup()
