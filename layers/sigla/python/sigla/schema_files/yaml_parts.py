"""Parts of `sigla.yaml`, each with its place: what is wrong is told with the line, and what would be right."""

from collections.abc import Collection, Iterator
from typing import Any, Final, NoReturn

from sigla.strict_yaml import Document

Step = str | int

_FLAGS: Final = {"true": True, "false": False}
"""The strict reading leaves them as texts."""


class InvalidDeclaration(Exception):
    """What is wrong with `sigla.yaml`, in one sentence that begins with the file and the line. why: as it ends."""

    def __init__(self, name: str, line: int, why: str) -> None:
        super().__init__(f"{name}:{line}: {why}.")
        self.name = name
        self.line = line
        self.why = why


class YamlPart:
    """A value of the document, and the way to it."""

    def __init__(self, name: str, document: Document, path: tuple[Step, ...] = (), value: Any = None) -> None:
        self.name = name
        self._document = document
        self._path = path
        self.value = value if path else document.value

    @property
    def line(self) -> int:
        return self._document.line(*self._path)

    def refuse(self, why: str) -> NoReturn:
        """Raises InvalidDeclaration. why: a sentence without its end."""
        shown = ".".join(map(str, self._path))
        raise InvalidDeclaration(self.name, self.line, f"{f'`{shown}`: ' if shown else ''}{why}")

    def members(self, known: Collection[str] | None = None) -> "dict[str, YamlPart]":
        """What a mapping has, without what is null. known: the keys that there may be; None: any text.

        Raises InvalidDeclaration.
        """
        if not isinstance(self.value, dict):
            self.refuse("expected a mapping, as in {name: value}")
        for key in self.value:
            if not isinstance(key, str):
                self._below(key).refuse("expected a text: put it in quotes")
            if known is not None and key not in known:
                self._below(key).refuse(f"unknown key. Valid keys: {', '.join(known)}")
        return {key: self._below(key) for key, value in self.value.items() if value is not None}

    def elements(self) -> "Iterator[YamlPart]":
        """Raises InvalidDeclaration."""
        if not isinstance(self.value, list):
            self.refuse("expected a list")
        yield from map(self._below, range(len(self.value)))

    def text(self) -> str:
        """Raises InvalidDeclaration."""
        if not isinstance(self.value, str) or not self.value:
            self.refuse("expected a text: put it in quotes, so that YAML does not read it as something else")
        return self.value

    def word(self, known: Collection[str]) -> str:
        """One of these, in capitals. Raises InvalidDeclaration."""
        found = self.text().upper()
        if found not in known:
            self.refuse(f"expected one of {', '.join(known)}")
        return found

    def flag(self) -> bool:
        """Raises InvalidDeclaration."""
        if self.value not in _FLAGS:
            self.refuse("expected true or false")
        return _FLAGS[self.value]

    def number(self) -> int:
        """A number from 1. Raises InvalidDeclaration."""
        if type(self.value) is not int or self.value < 1:
            self.refuse("expected a number from 1")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """One text, or a list of them. Raises InvalidDeclaration."""
        if isinstance(self.value, str):
            return (self.text(),)
        found = tuple(each.text() for each in self.elements())
        if not found:
            self.refuse("is empty")
        return found

    def _below(self, step: Step) -> "YamlPart":
        return YamlPart(self.name, self._document, (*self._path, step), self.value[step])
