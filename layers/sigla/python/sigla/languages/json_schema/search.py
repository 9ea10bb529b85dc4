"""Is a pattern found in a name? Its program is run, and every instruction is counted (contract JX-6).

No verdict depends on a clock: what takes too many instructions here takes as many everywhere. A state is where the
program is, where in the name, and what the registers hold; from one state there is one way on, so none is tried twice.
Without counted loops and groups that are asked for again there are at most as many states as instructions times
characters. What must be known before the program goes on (what follows, what ends here, what is read in the first way
only) is found out in a run of its own, once for each state.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from sigla import effort
from sigla.languages.json_schema.program import (
    AHEAD,
    AROUND,
    ATOMIC,
    BEHIND,
    COUNT,
    END,
    FIRST,
    GRAPHEME,
    GROUP,
    JUMP,
    LITERAL,
    ONE,
    PLACE,
    PUT,
    SAME,
    SPLIT,
    UNSET,
    WIDEST,
    Loop,
    Program,
    grapheme,
)

Registers: TypeAlias = tuple[Any, ...]
State: TypeAlias = tuple[int, int, Registers]
Ended: TypeAlias = tuple[int, Registers] | None
"""Where a run ended, and with which registers; None if it failed."""
Way: TypeAlias = State | None
"""Where an instruction leads; None if it fails."""

CHARACTERS: Final = 64
"""So many are compared, and so many registers are looked at, in the time of an instruction."""


class TooLong(Exception):
    """More instructions than allowed."""


class Run:
    """What one run has yet to try and what it has tried.

    begun: the state that asks for it. entry: of the program. starts: where in the text it may begin, in order. end:
    where it must end; None for anywhere. todo: the likeliest last.
    """

    __slots__ = ("begun", "end", "entry", "starts", "todo", "tried")

    def __init__(self, begun: State, entry: int, starts: Iterable[int], end: int | None = None) -> None:
        self.begun = begun
        self.entry = entry
        self.starts = iter(starts)
        self.end = end
        self.todo: list[State] = []
        self.tried: set[State] = set()


class Search:
    """One search in one text.

    left: how many instructions are still allowed. pause: at how many it is asked whether to go on. weight: what one
    takes. known: what came of inner runs.
    """

    __slots__ = ("code", "known", "left", "pause", "text", "weight")

    def __init__(self, program: Program, text: str, most: int) -> None:
        self.code = program.code
        self.text = text
        self.left = self.pause = most
        self.weight = 1 + program.registers // CHARACTERS
        self.known: dict[State, Ended] = {}

    def found(self, program: Program) -> bool:
        """Whether the program can be run from anywhere in the text to its end. Raises TooLong."""
        whole: State = (-1, 0, (UNSET,) * program.registers)
        runs = [Run(whole, 0, self.beginnings())]
        while runs:
            inner = self.advance(runs[-1])
            if inner is None:
                runs.pop()
            else:
                runs.append(inner)
        return self.known[whole] is not None

    def beginnings(self) -> Iterable[int]:
        """Where it may begin, as far as the first instruction tells."""
        op, a, _ = self.code[0]
        if op == PLACE and a in FIRST:
            return (0,)
        if op == LITERAL:
            self.left -= len(self.text) // CHARACTERS
            return occurrences(a, self.text)
        return range(len(self.text) + 1)

    def advance(self, run: Run) -> Run | None:
        """Goes on with a run: to its end, None then; or to another one that it needs."""
        # One long loop: a call for each instruction would cost as much again.
        code, text, weight, size = self.code, self.text, self.weight, len(self.text)
        todo, tried, known = run.todo, run.tried, self.known
        while True:
            state = todo.pop() if todo else self.next_start(run)
            if state is None:
                known[run.begun] = None
                return None
            pc, at, registers = state
            while True:
                self.left -= weight
                if self.left < self.pause:
                    self.rest()
                op, a, b = code[pc]
                if op == ONE:
                    if at == size or not a(text[at]):
                        break
                    pc, at = pc + 1, at + 1
                elif op == LITERAL:
                    if not text.startswith(a, at):
                        break
                    pc, at = pc + 1, at + b
                elif op in {SPLIT, JUMP}:
                    if (pc, at, registers) in tried:
                        break
                    tried.add((pc, at, registers))
                    if op == SPLIT:
                        todo.append((pc + b, at, registers))
                    pc += a
                elif op == END:
                    if run.end is None or run.end == at:
                        known[run.begun] = at, registers
                        return None
                    break
                elif op in INNER and (pc, at, registers) not in known:
                    todo.append((pc, at, registers))
                    return self.inner((pc, at, registers), op, b)
                else:
                    way = OTHERS[op](self, run, a, b, (pc, at, registers))
                    if way is None:
                        break
                    pc, at, registers = way

    def rest(self) -> None:
        """Raises TooLong once nothing is left."""
        if self.left < 0:
            raise TooLong
        self.pause = max(0, self.left - effort.STEPS_PER_LOOK)
        effort.pulse()

    def next_start(self, run: Run) -> State | None:
        start = next(run.starts, None)
        return None if start is None else (run.entry, start, run.begun[2])

    def inner(self, begun: State, op: int, what: Any) -> Run:
        """The run that must be over before the instruction at a state can be."""
        pc, at, _ = begun
        if op != BEHIND:
            return Run(begun, pc + 1, (at,))
        _, low, high = what
        return Run(begun, pc + 1, range(at - low, max(at - high, 0) - 1, -1), at)

    # --- the other instructions: where each leads ---

    def place(self, _run: Run, a: Any, _b: Any, state: State) -> Way:
        pc, at, registers = state
        return (pc + 1, at, registers) if a(self.text, at) else None

    def put(self, _run: Run, a: int, b: int | None, state: State) -> Way:
        pc, at, registers = state
        return pc + 1, at, changed(registers, a, at if b is None else b)

    def group(self, _run: Run, a: int, _b: Any, state: State) -> Way:
        pc, at, registers = state
        return pc + 1, at, changed(changed(registers, a + 1, (registers[a], at)), a, UNSET)

    def same(self, _run: Run, a: int, b: bool, state: State) -> Way:  # noqa: FBT001 - part of the instruction
        pc, at, registers = state
        held = registers[a + 1]
        if held == UNSET:
            return None
        begin, end = held
        length = end - begin
        self.left -= length // CHARACTERS
        before, here = self.text[begin:end], self.text[at : at + length]
        same = before == here or (b and len(here) == length and before.lower() == here.lower())
        return (pc + 1, at + length, registers) if same else None

    def grapheme(self, _run: Run, _a: Any, _b: Any, state: State) -> Way:
        pc, at, registers = state
        end = grapheme(self.text, at)
        self.left -= end - at
        return (pc + 1, end, registers) if end > at else None

    def count(self, run: Run, loop: Loop, _b: Any, state: State) -> Way:
        pc, at, registers = state
        rounds = registers[loop.counter]
        if state in run.tried:
            return None
        run.tried.add(state)
        out = pc + loop.length, at, changed(registers, loop.counter, UNSET)
        if rounds >= loop.most:
            return out
        # Where there is no limit, it is enough to know that there were rounds enough.
        more = rounds if rounds >= loop.least and loop.most == WIDEST else rounds + 1
        into = pc + 1, at, changed(registers, loop.counter, more)
        if rounds < loop.least:
            return into
        first, second = (out, into) if loop.lazy else (into, out)
        run.todo.append(second)
        return first

    def around(self, _run: Run, loop: Loop, _b: Any, state: State) -> Way:
        pc, at, registers = state
        if loop.begin is None:
            return pc + 1 - loop.length, at, registers
        empty, rounds = registers[loop.begin] == at, registers[loop.counter]
        registers = changed(registers, loop.begin, UNSET)
        if empty and (rounds >= loop.least or not loop.every):
            return pc + 1, at, changed(registers, loop.counter, UNSET)
        return pc + 1 - loop.length, at, registers

    def look(self, _run: Run, wanted: bool, b: Any, state: State) -> Way:  # noqa: FBT001 - part of the instruction
        pc, at, registers = state
        ended = self.known[state]
        if (ended is not None) != wanted:
            return None
        return pc + (b if b.__class__ is int else b[0]), at, registers if ended is None else ended[1]

    def atomic(self, _run: Run, _a: Any, b: int, state: State) -> Way:
        ended = self.known[state]
        return None if ended is None else (state[0] + b, *ended)


def changed(registers: Registers, number: int, value: Any) -> Registers:
    return (*registers[:number], value, *registers[number + 1 :])


def occurrences(literal: str, text: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


INNER: Final = frozenset((AHEAD, BEHIND, ATOMIC))
OTHERS: Final[dict[int, Callable[[Search, Run, Any, Any, State], Way]]] = {
    PLACE: Search.place,
    PUT: Search.put,
    GROUP: Search.group,
    SAME: Search.same,
    GRAPHEME: Search.grapheme,
    COUNT: Search.count,
    AROUND: Search.around,
    AHEAD: Search.look,
    BEHIND: Search.look,
    ATOMIC: Search.atomic,
}
