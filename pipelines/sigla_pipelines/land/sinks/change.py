"""Changes of an Iceberg table that know what the table is by now.

A transaction of pyiceberg's asks some forty times in a commit what the table is with its updates so far, and makes that
anew each time, by deep copies: most of what the commit of a small batch takes. Here it is made once for each update.
Whoever is given it reads it, and copies what it makes something else of.
"""

from typing import Any, cast

from pyiceberg.table import CreateTableTransaction, StagedTable, Transaction
from pyiceberg.table.metadata import TableMetadata


class Change(Transaction):
    """A change of a table that is there."""

    _made: tuple[tuple[Any, ...], TableMetadata] | None = None

    @property
    def table_metadata(self) -> TableMetadata:
        if self._made is None or self._made[0] is not self._updates:
            self._made = self._updates, super().table_metadata
        return self._made[1]


class Creation(Change, CreateTableTransaction):
    """A table that is made and changed at once."""

    @classmethod
    def of(cls, begun: CreateTableTransaction) -> "Creation":
        """The same creation. begun: as a catalog begins it, with no updates of its own yet."""
        staged = begun._table  # noqa: SLF001 - catalogs begin no other transaction than pyiceberg's own
        return cls(cast("StagedTable", staged))
