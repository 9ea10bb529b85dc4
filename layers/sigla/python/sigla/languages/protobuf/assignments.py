"""Reading options: their names, and values of every kind."""

from collections.abc import Mapping
from typing import Final

from sigla import effort
from sigla.languages.protobuf.cursor import Cursor
from sigla.languages.protobuf.tokens import WORD_STARTS
from sigla.languages.protobuf.tree import Listed, MessageValue, Option, Text, Value, Word

CLOSING: Final[Mapping[str, str]] = {"{": "}", "<": ">"}
"""What message literals stand between."""


class Assignments(Cursor):
    """What options say."""

    __slots__ = ()

    def options(self) -> list[Option]:
        self.expect("[")
        options = [self.assignment()]
        while self.met(","):
            options.append(self.assignment())
        self.expect("]")
        return options

    def assignment(self) -> Option:
        extension = self.met("(")
        name = self.path("the name of an option")
        parts = ""
        if extension:
            self.expect(")")
        elif name[-1] == ".":  # features.(pb.go).x
            name, parts = name[:-1], "."
        path = self.parts(parts)
        self.expect("=")
        return Option(name, self.value(), extension=extension, path=path)

    def parts(self, parts: str) -> str:
        """What follows the first part of an option's name, after the dot that was met with it."""
        while parts[-1:] == "." or self.tokens[self.at][:1] == ".":
            in_parentheses = parts[-1:] == "." and self.tokens[self.at] == "("
            parts += self.parenthesised("(", ")") if in_parentheses else self.path("a name")
        return parts

    def parenthesised(self, opening: str, closing: str) -> str:
        self.expect(opening)
        name = self.path("the name of an extension")
        if opening == "[":
            while self.met("/"):  # the type in an Any: [type.googleapis.com/p.M]
                name += f"/{self.path('the name of a type')}"
        self.expect(closing)
        return f"{opening}{name}{closing}"

    def value(self) -> Value:
        effort.pulse(2)
        following = self.tokens[self.at]
        if following == "-":
            self.at += 1
            return Word(f"-{self.word('a number')}")
        if following[:1] in WORD_STARTS:
            self.at += 1
            return Word(following)
        if following == "[":
            return self.listed()
        if following in CLOSING:
            return self.message_value(CLOSING[following])
        return Text(self.string("a value"))

    def listed(self) -> Listed:
        """A comma may follow the last value."""
        self.deeper()
        self.at += 1
        values: list[Value] = []
        while not self.met("]"):
            values.append(self.value())
            if self.tokens[self.at] != "]":
                self.expect(",")
        self.depth -= 1
        return Listed(values)

    def message_value(self, closing: str) -> MessageValue:
        """Members with or without commas between them. Values of a key that is repeated become one list."""
        self.deeper()
        self.at += 1
        members: dict[str, Value] = {}
        while not self.met(closing):
            key = self.parenthesised("[", "]") if self.tokens[self.at] == "[" else self.word("a key")
            if self.tokens[self.at] not in CLOSING:
                self.expect(":")
            add(members, key, self.value())
            if self.tokens[self.at] in {",", ";"}:
                self.at += 1
        self.depth -= 1
        return MessageValue(list(members.items()))


def add(members: dict[str, Value], key: str, value: Value) -> None:
    before = members.get(key)
    if before is None:
        members[key] = value
        return
    more = value.values if isinstance(value, Listed) else [value]
    if isinstance(before, Listed):
        before.values += more
    else:
        members[key] = Listed([before, *more])
