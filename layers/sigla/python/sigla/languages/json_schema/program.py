"""Patterns as programs: instructions made of the words of a pattern (`java`), to be run by `search`.

Python's own matcher may take years over a pattern and a name that were chosen for it. A program can be run so that each
instruction is counted, and a check that takes too many is given up at the same point on every machine (contract JX-6).

`a(b|c)*d` becomes

    0  LITERAL a
    1  SPLIT +1 +7     into the loop, or behind it
    2  SPLIT +1 +3     the first branch, or the second
    3  LITERAL b
    4  JUMP +2
    5  LITERAL c
    6  JUMP +1         where the branches meet
    7  JUMP -6         once more
    8  LITERAL d
    9  END

A piece is what a quantifier can repeat. Pieces are put together from the inside out, with a list for the groups that
are open, so that no pattern is too deep. Every jump is relative: a piece is moved as it is.

Loops count in registers. Those side by side share theirs, since a loop leaves its own as it found them: a pattern has
as many as loops stand in each other.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from sigla.languages.json_schema.java import PLACES, Translation

if TYPE_CHECKING:
    from regex import Pattern

Instruction: TypeAlias = tuple[int, Any, Any]
Code: TypeAlias = list[Instruction]
Spend: TypeAlias = Callable[[int], None]

LITERAL: Final = 0
"""(text, its length)"""
ONE: Final = 1
"""(whether a character is one of these, _)"""
SPLIT: Final = 2
"""(where to go first, where to go if that fails)"""
JUMP: Final = 3
"""(where to, _)"""
PLACE: Final = 4
"""(whether this is such a place, _)"""
PUT: Final = 5
"""(register, value; None is the position)"""
COUNT: Final = 6
"""(loop, _): into the body, or behind the loop."""
AROUND: Final = 7
"""(loop, _): back to COUNT, or behind the loop where nothing was read."""
GROUP: Final = 8
"""(register, _): what was read since it was put is what the group holds, in the next register."""
SAME: Final = 9
"""(register, whether case is ignored): what the group holds, again."""
GRAPHEME: Final = 10
AHEAD: Final = 11
"""(whether it must be, length): what follows, up to an END."""
BEHIND: Final = 12
"""(whether it must be, (length, least width, largest width)): what ends here."""
ATOMIC: Final = 13
"""(_, length): what follows up to an END, in the first way in which that can be read."""
END: Final = 14

UNSET: Final = -1
"""What registers begin with, and are given back with."""
WIDEST: Final = 1 << 40
CLASSES: Final = 512
"""Classes of characters that are remembered, each with what was found of so many characters."""
CHARACTERS: Final = 1_024
MAX_SETS: Final = 20
"""Sets in one set, for `regex` reads them by recursion."""
MAX_CLASS: Final = 40_000
"""Characters of the words for a class: some thousands of members."""
STEPS_PER_CLASS: Final = 100
STEPS_PER_MEMBER: Final = 2
"""What it costs to learn which characters are meant."""

QUANTIFIER: Final = re.compile(r"(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})([+?]?)", re.ASCII)
FLAGS: Final = re.compile(r"\(\?([imsx]*)(?:-([imsx]*))?([:)])")
AGAIN: Final = re.compile(r"\\g<(\d+)>")
COUNTS: Final = {"*": (0, WIDEST), "+": (1, WIDEST), "?": (0, 1)}
LOOKS: Final = {"(?=": (AHEAD, True), "(?!": (AHEAD, False), "(?<=": (BEHIND, True), "(?<!": (BEHIND, False)}
LINE_ENDS: Final = r"[\n\x0B\f\r\x85\u2028\u2029]"


class UnknownClass(ValueError):
    """A class of characters that `regex` does not know."""


class Loop(NamedTuple):
    """counter, begin: registers; begin is None where every round reads something. most: WIDEST where there is no limit.

    every: rounds that must be are gone through even if they read nothing: a group may hold something else then.
    length: from COUNT to what follows.
    """

    counter: int
    begin: int | None
    least: int
    most: int
    lazy: bool
    every: bool
    length: int


class Piece(NamedTuple):
    """low, high: how many characters it reads. registers: of its loops."""

    code: Code
    low: int
    high: int
    registers: int


class Program(NamedTuple):
    """registers: two for each group that is asked for again, then those of loops."""

    code: Code
    registers: int


class _Group:
    """A group that is open. register: None if nothing asks for what it holds. flags: to go back to."""

    __slots__ = ("branches", "flags", "register", "word")

    def __init__(self, word: str, flags: frozenset[str], register: int | None = None) -> None:
        self.word = word
        self.flags = flags
        self.register = register
        self.branches: list[list[Piece]] = [[]]


def program(pattern: str, spend: Spend) -> Program:
    """The program of a pattern that compiles. spend: takes the steps that making it costs. Raises UnknownClass."""
    return _Maker(Translation(pattern).run(), spend).run()


class _Maker:
    """Reads the words of one pattern."""

    def __init__(self, words: Sequence[str], spend: Spend) -> None:
        self.words = words
        self.spend = spend
        again = sorted({int(match[1]) for word in words if (match := AGAIN.fullmatch(word))})
        self.again = {group: 2 * number for number, group in enumerate(again)}
        # Else only whether it can be read matters, not how: a round that reads nothing leads to no new state.
        self.ordered = bool(again) or any(word == "(?>" or word[-1] == "+" != word for word in words)
        self.groups = 0
        self.flags: frozenset[str] = frozenset()
        self.open = [_Group("(?:", self.flags)]

    def run(self) -> Program:
        self.spend(len(self.words))
        for word in self.words:
            if word[0] == "(" and word not in LOOKING:
                self.opening(word)
            elif word == ")":
                self.closing()
            elif word == "|":
                self.open[-1].branches.append([])
            elif word[0] in "*+?{":
                pieces = self.open[-1].branches[-1]
                pieces.append(self.repeated(pieces.pop(), word))
            else:
                self.open[-1].branches[-1].append(self.piece(word))
        whole = self.either(self.open.pop())
        return Program([*whole.code, (END, None, None)], 2 * len(self.again) + whole.registers)

    # --- groups ---

    def opening(self, word: str) -> None:
        if word == "(" or (word[:3] == "(?<" and word not in LOOKS):
            self.groups += 1
            self.open.append(_Group("(", self.flags, self.again.get(self.groups)))
            return
        flags = FLAGS.fullmatch(word)
        before = self.flags
        if flags is not None:
            self.flags = self.flags.union(flags[1]).difference(flags[2] or "")
            if flags[3] == ")":
                return
        self.open.append(_Group(word, before))

    def closing(self) -> None:
        group = self.open.pop()
        self.flags = group.flags
        piece = self.either(group)
        if group.register is not None:
            code = [(PUT, group.register, None), *piece.code, (GROUP, group.register, None)]
            piece = piece._replace(code=code)
        elif group.word == "(?>":
            piece = atomic(piece)
        elif group.word in LOOKS:
            piece = look(piece, *LOOKS[group.word])
        self.open[-1].branches[-1].append(piece)

    def either(self, group: _Group) -> Piece:
        pieces = [joined(branch) for branch in group.branches]
        if len(pieces) == 1:
            return pieces[0]
        code: Code = []
        left = sum(len(piece.code) + 2 for piece in pieces) - 2
        for piece in pieces[:-1]:
            code.append((SPLIT, 1, len(piece.code) + 2))
            code += piece.code
            left -= len(piece.code) + 2
            code.append((JUMP, left + 1, None))
        code += pieces[-1].code
        code.append((JUMP, 1, None))  # where all branches meet
        low, high = min(piece.low for piece in pieces), max(piece.high for piece in pieces)
        return Piece(code, low, high, max(piece.registers for piece in pieces))

    # --- what is repeated, and what is read ---

    def repeated(self, piece: Piece, word: str) -> Piece:
        match = QUANTIFIER.fullmatch(word)
        assert match is not None, word  # noqa: S101 - the grammar has seen to it
        sign, least, comma, most, mode = match.groups()
        low, high = COUNTS[sign] if sign else (int(least), int(most) if most else WIDEST if comma else int(least))
        whole = self.looped(piece, low, high, lazy=mode == "?")
        return atomic(whole) if mode == "+" else whole

    def looped(self, piece: Piece, least: int, most: int, *, lazy: bool) -> Piece:
        """The piece again and again. A round that reads nothing, and need not be, is the last one."""
        body, registers, length = piece.code, piece.registers, len(piece.code)
        low, high = min(piece.low * least, WIDEST), min(piece.high * most, WIDEST)
        simple = piece.low or not self.ordered
        if (least, most) == (0, 1):
            code = [split(1, length + 2, lazy=lazy), *body, (JUMP, 1, None)]
        elif simple and (least, most) == (0, WIDEST):
            code = [split(1, length + 2, lazy=lazy), *body, (JUMP, -length - 1, None)]
        elif simple and (least, most) == (1, WIDEST):
            code = [*body, split(-length, 1, lazy=lazy)]
        else:
            counter = 2 * len(self.again) + registers
            begin = None if piece.low else counter + 1
            if begin is not None:
                body = [(PUT, begin, None), *body]
            loop = Loop(counter, begin, least, most, lazy, bool(self.again), len(body) + 2)
            code = [(PUT, counter, 0), (COUNT, loop, None), *body, (AROUND, loop, None)]
            registers += 1 if begin is None else 2
        return Piece(code, low, high, registers)

    def piece(self, word: str) -> Piece:
        if word in LOOKING:
            return Piece([(PLACE, LOOKING[word], None)], 0, 0, 0)
        if word in {"^", "$"}:
            place = LINES[word] if "m" in self.flags else TEXTS[word]
            return Piece([(PLACE, place, None)], 0, 0, 0)
        if (again := AGAIN.fullmatch(word)) is not None:
            return Piece([(SAME, self.again[int(again[1])], "i" in self.flags)], 0, WIDEST, 0)
        if word == r"\X":
            return Piece([(GRAPHEME, None, None)], 1, WIDEST, 0)
        if word == r"\R":
            return line_end()
        if "i" not in self.flags and (len(word) == 1 or word[:2] == r"\U") and word != ".":
            return Piece([literally(word if len(word) == 1 else character(word))], 1, 1, 0)
        self.spend(STEPS_PER_CLASS + STEPS_PER_MEMBER * len(word))
        return one(word, self.flags)


def joined(pieces: list[Piece]) -> Piece:
    """One after the other; literals become one."""
    if len(pieces) == 1:
        return pieces[0]
    code: Code = []
    for piece in pieces:
        if len(piece.code) == 1 and code and code[-1][0] == LITERAL == piece.code[0][0]:
            code[-1] = literally(code[-1][1] + piece.code[0][1])
        else:
            code += piece.code
    low, high = sum(piece.low for piece in pieces), sum(piece.high for piece in pieces)
    return Piece(code, min(low, WIDEST), min(high, WIDEST), max((piece.registers for piece in pieces), default=0))


def character(word: str) -> str:
    """The character of a number in hexadecimal."""
    return chr(int(f"0x{word[2:]}", 0))


def literally(text: str) -> Instruction:
    return LITERAL, text, len(text)


def split(into: int, past: int, *, lazy: bool) -> Instruction:
    return (SPLIT, past, into) if lazy else (SPLIT, into, past)


def atomic(piece: Piece) -> Piece:
    code = [(ATOMIC, None, len(piece.code) + 2), *piece.code, (END, None, None)]
    return piece._replace(code=code)


def look(piece: Piece, op: int, wanted: bool) -> Piece:  # noqa: FBT001 - a row of LOOKS
    length = len(piece.code) + 2
    what: Any = length if op == AHEAD else (length, piece.low, piece.high)
    return Piece([(op, wanted, what), *piece.code, (END, None, None)], 0, 0, piece.registers)


def line_end() -> Piece:
    r"""`\R`: never only the first half of `\r\n`."""
    both, single = Piece([literally("\r\n")], 2, 2, 0), one(LINE_ENDS, frozenset())
    code = [(SPLIT, 1, 3), *both.code, (JUMP, 2, None), *single.code, (JUMP, 1, None)]
    return atomic(Piece(code, 1, 2, 0))


def one(word: str, flags: frozenset[str]) -> Piece:
    if word == ".":
        return Piece([(ONE, anything if "s" in flags else within_a_line, None)], 1, 1, 0)
    return Piece([(ONE, characters(word, "i" in flags), None)], 1, 1, 0)


def anything(_character: str) -> bool:
    return True


def within_a_line(character: str) -> bool:
    return character != "\n"


@lru_cache(maxsize=CLASSES)
def characters(word: str, ignoring_case: bool) -> Callable[[str], bool]:  # noqa: FBT001 - a key
    """Whether a character is one of those that a word means."""
    import regex  # noqa: PLC0415 - it takes long to import, and few schemas have patterns

    if len(word) > MAX_CLASS or word.count("[") > MAX_SETS:
        raise UnknownClass(word)
    try:
        is_one = regex.compile(word, regex.VERSION1 | (regex.IGNORECASE if ignoring_case else 0)).fullmatch
    except regex.error:
        raise UnknownClass(word) from None

    @lru_cache(maxsize=CHARACTERS)
    def within(character: str) -> bool:
        return is_one(character) is not None

    return within


@cache
def one_grapheme() -> "Pattern[str]":
    import regex  # noqa: PLC0415 - as above

    return regex.compile(r"\X", regex.VERSION1)


def grapheme(text: str, at: int) -> int:
    """Where the character that begins here ends, with all that belongs to it; here, if nothing follows."""
    match = one_grapheme().match(text, at)
    return at if match is None else match.end()


# --- places ----------------------------------------------------------------------------------------------------------


@cache
def word_end() -> "Pattern[str]":
    import regex  # noqa: PLC0415 - as above

    return regex.compile(r"\b", regex.VERSION1)


def at_word_end(text: str, at: int) -> bool:
    return word_end().match(text, at) is not None


def at_last_line_end(text: str, at: int) -> bool:
    r"""Java's `\Z`: the end, or before the line end with which the text ends."""
    return len(text) - at <= 2 and text[at:] in {"", "\r\n", "\n", "\r", "\x85", "\u2028", "\u2029"}


LOOKING: Final[dict[str, Callable[[str, int], bool]]] = {
    PLACES["A"]: lambda _text, at: at == 0,
    PLACES["G"]: lambda _text, at: at == 0,
    PLACES["z"]: lambda text, at: at == len(text),
    PLACES["Z"]: at_last_line_end,
    PLACES["b"]: at_word_end,
    PLACES["B"]: lambda text, at: not at_word_end(text, at),
}
"""What matches between characters, by its word."""
TEXTS: Final[dict[str, Callable[[str, int], bool]]] = {
    "^": lambda _text, at: at == 0,
    "$": lambda text, at: at == len(text) or (at == len(text) - 1 and text[at] == "\n"),
}
LINES: Final[dict[str, Callable[[str, int], bool]]] = {
    "^": lambda text, at: at == 0 or text[at - 1] == "\n",
    "$": lambda text, at: at == len(text) or text[at] == "\n",
}
FIRST: Final = (TEXTS["^"], LOOKING[PLACES["A"]], LOOKING[PLACES["G"]])
"""Places that are nowhere but at the beginning."""
