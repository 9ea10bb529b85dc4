"""A place in a text: what the next token is, and what the grammar makes of a single one."""

from typing import Final

from sigla.errors import Malformed
from sigla.languages.protobuf.limits import MAX_DEPTH, MAX_WORD, too_deep, too_long
from sigla.languages.protobuf.tokens import WORD_STARTS, integer, line_and_column, tokens, unquoted

QUOTES: Final = frozenset("\"'")


class Cursor:
    """Reads one text.

    at: the index of the next token. depth, length: of what is open, in levels and in characters of names.
    """

    __slots__ = ("at", "depth", "length", "text", "tokens")

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.at = 0
        self.depth = 0
        self.length = 0

    def wrong(self, expected: str) -> Malformed:
        """That the next token is not what it should be."""
        token = self.tokens[self.at]
        found = f"'{token[:40]}'" if token else "the end"
        return Malformed(f"Syntax error in {line_and_column(self.text, self.at)}: expected {expected}, found {found}")

    def expect(self, sign: str) -> None:
        if self.tokens[self.at] != sign:
            raise self.wrong(f"'{sign}'")
        self.at += 1

    def met(self, sign: str) -> bool:
        """If the sign is next; it is passed then."""
        if self.tokens[self.at] != sign:
            return False
        self.at += 1
        return True

    def word(self, what: str) -> str:
        token = self.tokens[self.at]
        if token[:1] not in WORD_STARTS:
            raise self.wrong(what)
        if len(token) > MAX_WORD:
            raise too_long()
        self.at += 1
        return token

    def path(self, what: str) -> str:
        """A name of several parts; blanks, line breaks and comments are free around each dot of it."""
        token = self.word(what)
        return self.continued(token) if token[-1] == "." or self.tokens[self.at][:1] == "." else token

    def continued(self, path: str) -> str:
        """The path with what stands behind it, or behind its last dot: `a.b`, ` .c`, `. `, `d`."""
        while self.tokens[self.at][:1] == "." or (path[-1] == "." and self.tokens[self.at][:1] in WORD_STARTS):
            path += self.word("a name")
            if len(path) > MAX_WORD:
                raise too_long()
        return path

    def name(self, what: str) -> str:
        """A name of one part. Those of types may be odd, as long as they cannot be taken for two."""
        if "." in self.tokens[self.at]:
            raise self.wrong(what)
        return self.word(what)

    def integer(self) -> int:
        if self.tokens[self.at] == "-":
            self.at += 1
            number = integer(f"-{self.tokens[self.at]}")
        else:
            number = integer(self.tokens[self.at])
        if number is None:
            raise self.wrong("a whole number of 32 bits")
        self.at += 1
        return number

    def string(self, what: str) -> str:
        """A string, joined with those that follow it."""
        if not self.is_string():
            raise self.wrong(what)
        pieces: list[str] = []
        while self.is_string():
            try:
                pieces.append(unquoted(self.tokens[self.at]))
            except Malformed as malformed:
                raise Malformed(f"Syntax error in {line_and_column(self.text, self.at)}: {malformed.reason}") from None
            self.at += 1
        return "".join(pieces)

    def is_string(self) -> bool:
        token = self.tokens[self.at]
        return token[:1] in QUOTES and len(token) > 1  # a quote alone is a string that never ends

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise too_deep()
