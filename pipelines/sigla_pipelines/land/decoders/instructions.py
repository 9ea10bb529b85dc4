"""What a program for `sigla_native` consists of; `program.rs` checks it, and `native/README.md` says what each does.

An instruction is a name, numbers and texts. Its numbers are columns, in the order in which a type is read (the struct
of the whole record is 0); instructions that stand before it; or figures.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

INSTRUCTIONS: Final[Mapping[str, tuple[tuple[str, ...], bool]]] = {
    "null": (("column",), False),
    "boolean": (("column",), False),
    "number": (("column", "figure", "figure", "figure"), False),
    "float": (("column",), False),
    "double": (("column",), False),
    "text": (("column",), False),
    "bytes": (("column",), False),
    "fixed": (("column", "figure"), False),
    "decimal": (("column", "figure", "figure"), False),
    "uuid": (("column",), False),
    "enum": (("column",), True),
    "array": (("column", "step", "figure"), False),
    "map": (("column", "step", "figure"), False),
    "union": (("steps",), False),
    "member": (("column", "figure", "step"), False),
    "record": (("column", "steps"), False),
    "refuse": ((), False),
    "put_boolean": (("column", "figure"), False),
    "put_number": (("column", "figure"), False),
    "put_double": (("column", "figure"), False),
    "put_bytes": (("column",), True),
    "put_decimal": (("column",), True),
    "put_items": (("column", "figure", "steps"), False),
    "message": (("column", "figure", "steps"), False),
    "single": (("figure", "figure", "figure", "step", "step"), False),
    "several": (("column", "figure", "figure", "step"), False),
    "pairs": (("column", "figure", "figure", "step"), False),
    "scalar": (("column", "figure"), False),
    "symbol": (("column", "figures"), True),
    "moment": (("column",), False),
}
"""What the numbers of each one are, and whether it has texts. `native/README.md` says what it does."""

NOWHERE: Final = -1
"""In place of a column: the value is read and not kept. As the size of a decimal: it is written in front."""


class Instruction(NamedTuple):
    name: str
    numbers: tuple[int, ...] = ()
    texts: tuple[bytes | None, ...] = ()


Program: TypeAlias = list[Instruction]


class Programming:
    """A program that grows. An instruction that it has already is not added again."""

    def __init__(self) -> None:
        self.made: Program = []
        self._numbers: dict[Instruction, int] = {}

    def add(self, name: str, numbers: Sequence[int] = (), texts: Sequence[bytes | None] = ()) -> int:
        """The number of the instruction."""
        instruction = Instruction(name, tuple(numbers), tuple(texts))
        if instruction not in self._numbers:
            self._numbers[instruction] = len(self.made)
            self.made.append(instruction)
        return self._numbers[instruction]
