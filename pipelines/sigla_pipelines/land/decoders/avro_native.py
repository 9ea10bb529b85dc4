"""Avro's payloads → columns by the extension: the plans that `avro_fill` runs, over Arrow's buffers."""

from typing import Final

import pyarrow as pa

from sigla.decoding.avro_plan import Plan
from sigla.decoding.decoder import Limits
from sigla_pipelines.land.decoders.avro_columns import Struct
from sigla_pipelines.land.decoders.avro_fill import Unfit
from sigla_pipelines.land.decoders.avro_program import Programs
from sigla_pipelines.land.decoders.decoder import Native
from sigla_pipelines.land.decoders.extension import chosen_extension
from sigla_pipelines.land.decoders.instructions import Instruction
from sigla_pipelines.land.decoders.native_columns import NativeColumns, Places


def native_avro(native: Native, columns: Struct, limits: Limits) -> "NativeAvro | None":
    """None where the columns are Python's to fill. Raises NotInstalled."""
    found = chosen_extension(native)
    if found is None:
        return None
    try:
        programs = Programs(columns, depth=limits.depth)
    except Unfit:
        return None
    return NativeAvro(programs, NativeColumns(found, columns.type, limits))


REFUSE_ALL: Final = [Instruction("refuse")]


class NativeAvro:
    """The columns of one reader, and a program for each writer."""

    def __init__(self, programs: Programs, columns: NativeColumns) -> None:
        self._programs = programs
        self._columns = columns

    def add(self, plan: Plan) -> None:
        """Writers are known by their numbers, in the order in which they were added."""
        try:
            program = self._programs.program(plan)
        except Unfit:
            program = REFUSE_ALL
        self._columns.add(program)

    def decode(self, payloads: pa.Array, writers: pa.Array) -> tuple[pa.StructArray, Places, int]:
        """What `NativeColumns.decode` gives."""
        return self._columns.decode(payloads, writers)
