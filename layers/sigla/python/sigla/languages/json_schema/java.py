r"""The grammar of Java's regular expressions (java.util.regex.Pattern), and what it is in the words of `regex`.

A pattern is read once, without recursion: what Java does not compile is refused, and the rest comes out word by word,
in those of `regex`, version 1, whose sets nest and intersect like Java's. `program` makes instructions of the words;
`regex` itself is asked about single characters only.
"""

import re
from typing import Final

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.json_schema.limits import MAX_PATTERN, MAX_REPETITIONS

# \d, \w and \s are ASCII in Java; \v is a class; the others `regex` has not.
CLASSES: Final = {
    "d": "0-9",
    "w": "a-zA-Z_0-9",
    "s": r" \t\n\x0B\f\r",
    "h": r" \t\xA0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000",
    "v": r"\n\x0B\f\r\x85\u2028\u2029",
}
POSIX: Final = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7F",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-\~",
    "Graph": r"!-\~",
    "Print": r" -\~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1F\x7F",
    "XDigit": "0-9a-fA-F",
    "Space": CLASSES["s"],
    "L1": r"\x00-\xFF",
    "all": r"\x00-\U0010FFFF",
    "LC": r"\p{Lu}\p{Ll}\p{Lt}",
    "javaLowerCase": r"\p{Lowercase}",
    "javaUpperCase": r"\p{Uppercase}",
    "javaAlphabetic": r"\p{Alphabetic}",
    "javaLetter": r"\p{L}",
    "javaDigit": r"\p{Nd}",
    "javaLetterOrDigit": r"\p{L}\p{Nd}",
    "javaTitleCase": r"\p{Lt}",
    "javaWhitespace": r"\s\x1C-\x1F",
    "javaSpaceChar": r"\p{Z}",
}
CATEGORY: Final = re.compile(
    "L[ulmot]?|M[nec]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfson]?"
    "|(?:Is|In|java|(?:script|sc|block|blk|general_category|gc)=)[A-Za-z0-9_ -]+"
)
PROPERTY: Final = re.compile(r"\{([^{}]+)\}|([A-Z])")
REPETITION: Final = re.compile(r"\{(\d{1,9})(?:,(\d{0,9}))?\}", re.ASCII)
OPENING: Final = re.compile(r"\?(?:<([a-zA-Z][a-zA-Z0-9]*)>|(?:<[=!]|[:=!>])|([idmsuxU]*)(?:-([idmsuxU]*))?([:)]))")
CODE: Final = re.compile(r"x\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|0([0-3]?[0-7]{1,2})")
NAMED: Final = re.compile("k<([a-zA-Z][a-zA-Z0-9]*)>")
QUOTED: Final = re.compile(r"Q(.*?)(?:\\E|\Z)", re.DOTALL)
RANGE: Final = re.compile(r"-(?![\]\[])(?!\Z)")
CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
PLACES: Final = {
    **{character: f"\\{character}" for character in "bBAGRX"},
    "z": r"\Z",
    "Z": r"(?=(?:\r\n|[\n\r\x85\u2028\u2029])?\Z)",
}
UNKNOWN_FLAGS: Final = str.maketrans("", "", "duU")


class Translation:
    """One reading of a pattern.

    sets: how many are open. sizes: of the groups that are open, and of the whole pattern, with repetitions written
    out; last: of what stands before, and so of what a quantifier repeats. loose: whether that may still be repeated.
    fresh: a set has just been opened, so that `]` is a character like others. groups: how many were opened so far;
    names: the numbers of those that have one. out: the words so far, a whole set being one; begin: where the set that
    is open begins.
    """

    __slots__ = ("at", "begin", "fresh", "groups", "last", "loose", "names", "out", "sets", "sizes", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.sizes = [0]
        self.last = 0
        self.sets = 0
        self.loose = False
        self.fresh = False
        self.begin = 0
        self.groups = 0
        self.names: dict[str, int] = {}
        self.out: list[str] = []

    def run(self) -> list[str]:
        """The pattern in the words of `regex`. Raises Malformed."""
        if len(self.text) > MAX_PATTERN:
            raise Malformed(f"A pattern is longer than {MAX_PATTERN} characters")
        effort.pulse(2 * len(self.text))
        while self.at < len(self.text):
            if self.sets:
                self.step_in_set()
            else:
                self.step()
        if len(self.sizes) > 1 or self.sets:
            raise self.wrong("a group or a set is not closed")
        return self.out

    def wrong(self, why: str) -> Malformed:
        return Malformed(f"The pattern {self.text[:100]} does not compile: {why}")

    def emit(self, piece: str, *, loose: bool = True) -> None:
        self.out.append(piece)
        self.loose = loose
        self.grow(1)

    def grow(self, size: int) -> None:
        self.last = size
        self.sizes[-1] += size
        if self.sizes[-1] > MAX_REPETITIONS:
            raise Malformed(f"The pattern {self.text[:100]} repeats too much")

    def next(self) -> str:
        """The character here, which is passed; nothing at the end."""
        self.at += 1
        return self.text[self.at - 1 : self.at]

    def taken(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        """What the expression matches here, which is passed."""
        match = expression.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def step(self) -> None:
        character = self.next()
        if character == "\\":
            self.escape()
        elif character == "[":
            self.open_set()
        elif character == "(":
            self.open_group()
        elif character == ")":
            self.close_group()
        elif character in "*+?{":
            self.repeat(character)
        elif character in "^$|.":
            self.emit(character, loose=character != "|")
        else:
            self.emit(escaped(character))

    def open_group(self) -> None:
        opening = self.taken(OPENING)
        if opening is None and self.text.startswith("?", self.at):
            raise self.wrong("a group begins as none does")
        name, on, off, end = opening.groups() if opening is not None else (None, None, None, None)
        if name in self.names:
            raise self.wrong(f"two groups are called {name}")
        self.groups += opening is None or name is not None
        if name is not None:
            self.names[name] = self.groups
        written = "" if opening is None else opening[0] if end is None else flags(on or "", off or "", end)
        self.emit(f"({written}", loose=False)
        if end != ")":
            self.sizes.append(0)

    def close_group(self) -> None:
        if len(self.sizes) == 1:
            raise self.wrong("a group is closed that was not opened")
        self.emit(")")
        self.grow(self.sizes.pop())

    def repeat(self, character: str) -> None:
        """A quantifier: greedy, reluctant (`?`) or possessive (`+`)."""
        if character == "{":
            self.at -= 1
            counted = self.taken(REPETITION)
            if counted is None or (counted[2] and int(counted[2]) < int(counted[1])):
                raise self.wrong("invalid repetition")
            character = counted[0]
            # Only what must be there is written out when `regex` compiles it.
            self.grow(self.last * max(int(counted[1]) - 1, 0))
        elif not self.loose:
            raise self.wrong(f"there is nothing for {character} to repeat")
        mode = self.next() if self.text[self.at : self.at + 1] in {"?", "+"} else ""
        # Where there is nothing, Java lets it be repeated if it is by counting.
        if self.loose:
            self.emit(character + mode, loose=False)

    def escape(self) -> None:
        """Behind a backslash, outside sets."""
        character = self.text[self.at : self.at + 1]
        if character in PLACES:
            self.emit(PLACES[self.next()])
        elif (named := self.taken(NAMED)) is not None:
            if named[1] not in self.names:
                raise self.wrong(f"unknown group {named[1]}")
            self.emit(rf"\g<{self.names[named[1]]}>")
        elif character and character in "123456789":
            self.emit(rf"\g<{self.number()}>")
        elif (quoted := self.taken(QUOTED)) is not None:
            for each in quoted[1]:
                self.emit(escaped(each))
        else:
            one = self.character()
            self.emit(escaped(one) if len(one) == 1 else f"[{one}]")

    def number(self) -> int:
        """The number of a group, which has more than one digit only if there are so many groups already."""
        number = int(self.next())
        while (digit := self.text[self.at : self.at + 1]) and digit in "0123456789":
            if number * 10 + int(digit) > self.groups:
                break
            number = number * 10 + int(self.next())
        return number

    def character(self) -> str:
        """What an escape stands for: one character, or what a set contains that is made of it (two or more)."""
        if (code := self.taken(CODE)) is not None:
            value = int(code[4], 8) if code[4] else int(code[1] or code[2] or code[3], 16)
            if value > 0x10FFFF:
                raise self.wrong("a character is beyond Unicode")
            return chr(value)
        character = self.next()
        kind = character.lower()
        if kind in CLASSES:
            return within(CLASSES[kind], negative=character != kind)
        if kind == "p":
            return self.property(negative=character == "P")
        if character == "c" and self.at < len(self.text):
            return chr(ord(self.next()) ^ 64)
        if character in CONTROLS:
            return CONTROLS[character]
        if not character or (character.isascii() and character.isalnum()):
            raise self.wrong(f"unknown escape \\{character}")
        return character

    def property(self, *, negative: bool) -> str:
        found = self.taken(PROPERTY)
        name = (found[1] or found[2]) if found is not None else ""
        if name in POSIX:
            return within(POSIX[name], negative=negative)
        if CATEGORY.fullmatch(name) is None:
            raise self.wrong(f"unknown property {name[:100]}")
        return rf"\{'P' if negative else 'p'}{{{name.removeprefix('Is')}}}"

    def open_set(self) -> None:
        negative = self.text.startswith("^", self.at)
        self.at += negative
        if not self.sets:
            self.begin = len(self.out)
        self.sets += 1
        self.fresh = True
        self.emit("[^" if negative else "[")

    def step_in_set(self) -> None:
        fresh, self.fresh = self.fresh, False
        if self.text.startswith("[", self.at):
            self.at += 1
            self.open_set()
        elif self.text.startswith("]", self.at) and not fresh:
            self.at += 1
            self.sets -= 1
            self.emit("]")
            if not self.sets:
                self.out[self.begin :] = ["".join(self.out[self.begin :])]
        elif self.text.startswith("&&", self.at):
            self.at += 2
            self.emit("&&")
        elif self.text.startswith("\\Q", self.at):
            self.at += 1
            quoted = self.taken(QUOTED)
            self.emit("".join(map(escaped, quoted[1] if quoted is not None else "")))
        else:
            self.member()

    def member(self) -> None:
        """A character, a class, or a range of characters."""
        low = self.one()
        if len(low) > 1:
            self.emit(low)
            return
        last = RANGE.match(self.text, self.at)
        if last is None:
            self.emit(escaped(low))
            return
        self.at += 1
        high = self.one()
        if len(high) > 1 or high < low:
            raise self.wrong("invalid range of characters")
        self.emit(f"{escaped(low)}-{escaped(high)}")

    def one(self) -> str:
        character = self.next()
        return self.character() if character == "\\" else character


def within(characters: str, *, negative: bool) -> str:
    return f"[^{characters}]" if negative else characters


def escaped(character: str) -> str:
    """The character as itself, in or outside a set."""
    if character.isalnum() or character == "_":
        return character
    return f"\\U{ord(character):08x}"


def flags(on: str, off: str, end: str) -> str:
    """Those that `regex` knows. Java's others are about Unicode, which is always on here, and about line ends."""
    on, off = (word.translate(UNKNOWN_FLAGS) for word in (on, off))
    return f"?{on}{'-' if off else ''}{off}{end}"
