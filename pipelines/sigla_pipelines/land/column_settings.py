"""The part `columns` of `land.yaml`."""

from typing import Self

from pydantic import model_validator

from sigla_pipelines.land.moments import Unit
from sigla_pipelines.land.protection import HEADERS, KEY_BYTES, ColumnRule, Do
from sigla_pipelines.land.setting_values import Part


class ColumnPart(Part):
    """tag, column: which columns, by one of the two. table: of which table; of each if it is missing.

    unit: of a number that becomes a timestamp.
    """

    do: Do
    tag: str = ""
    column: str = ""
    table: str = ""
    unit: Unit | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.do is Do.TIMESTAMP) != (self.unit is not None):
            units = ", ".join(unit.value for unit in Unit)
            raise ValueError(f"`do: timestamp` takes a `unit`, and nothing else does. Valid units: {units}")
        if self.do is Do.TIMESTAMP and self.column == KEY_BYTES:
            raise ValueError(f"{KEY_BYTES} holds bytes, of which no timestamp is made")
        if bool(self.tag) == bool(self.column):
            raise ValueError("set either `tag` or `column`")
        if self.column == HEADERS and self.do is not Do.DROP:
            raise ValueError(f"{HEADERS} can only be dropped")
        if self.column.startswith("_sr_") and self.column not in (HEADERS, KEY_BYTES):
            raise ValueError(f"the job uses the column {self.column} itself; {KEY_BYTES} and {HEADERS} can be named")
        return self

    @property
    def rule(self) -> ColumnRule:
        return ColumnRule(self.do, self.tag, self.column, self.table, self.unit)
