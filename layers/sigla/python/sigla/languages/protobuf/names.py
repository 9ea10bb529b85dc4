"""What a name means: from its spelling and the place of its use to the declaration (contract D.2, D.2.2: PR-2 to PR-4).

Every file that a document knows is seen, imported or not. A name is looked up in three tables: of the document's own
file, of the files of its references, and of the files that are always available. None is made before it is needed.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from sigla import effort
from sigla.languages.protobuf import known
from sigla.languages.protobuf.tree import Document, Enum, Extend, Field, File, Group, Message

Definition: TypeAlias = Message | Enum
"""What a type name can mean. A group is the message between its braces."""


class FoundType:
    """A type: full and local are its name with and without the package of its file, neither with a leading dot."""

    __slots__ = ("definition", "file", "full", "local")

    def __init__(self, local: str, file: File, definition: Definition) -> None:
        self.local = local
        self.full = f"{file.package}.{local}" if file.package else local
        self.file = file
        self.definition = definition


class Extension:
    """A field that is declared outside of its message. scope: the simple names of the messages around the `extend`."""

    __slots__ = ("field", "file", "full", "scope")

    def __init__(self, field: Field, scope: tuple[str, ...], file: File) -> None:
        self.full = ".".join((*filter(None, (file.package,)), *scope, field.name))
        self.field = field
        self.scope = scope
        self.file = file


class Table:
    """What some files declare, by full name. If two declarations have one name, the last counts, as in comparisons.

    simple: the last parts of the names of types, so that most undeclared names are found out at once. inner: the parts
    of names that may stand behind the name of a message: of types inside messages, and of packages.
    """

    __slots__ = ("extensions", "inner", "simple", "types")

    def __init__(self, files: Iterable[File]) -> None:
        self.types: dict[str, FoundType] = {}
        self.simple: set[str] = set()
        self.inner: set[str] = set()
        self.extensions: dict[str, Extension] = {}
        for file in files:
            self.read(file)

    def read(self, file: File) -> None:
        self.inner.update(file.package.split("."))
        self.enums(file.enums, "", file)
        self.extends(file.extends, "", file)
        for message in file.messages:
            self.message(message, "", file)

    def message(self, message: Message, outer: str, file: File) -> None:
        """outer: the local name of what is around it with a dot, or nothing."""
        effort.pulse(STEPS_OF_A_MESSAGE)
        inner = f"{self.add(message, outer, file)}."
        self.enums(message.enums, inner, file)
        self.extends(message.extends, inner, file)
        for nested in bodies(message):
            self.message(nested, inner, file)

    def enums(self, enums: Iterable[Enum], outer: str, file: File) -> None:
        for enum in enums:
            effort.pulse(STEPS_OF_A_MESSAGE)
            self.add(enum, outer, file)

    def extends(self, extends: Iterable[Extend], outer: str, file: File) -> None:
        scope = tuple(outer.split(".")[:-1])
        for extend in extends:
            effort.pulse(STEPS_OF_A_MESSAGE * (1 + len(extend.fields)))
            for group in extend.groups:
                self.message(group.body, outer, file)
            for field in (*extend.fields, *map(as_field, extend.groups)):
                extension = Extension(field, scope, file)
                self.extensions[extension.full] = extension

    def add(self, definition: Definition, outer: str, file: File) -> str:
        found = FoundType(outer + definition.name, file, definition)
        self.types[found.full] = found
        self.simple.add(definition.name)
        if outer:
            self.inner.add(definition.name)
        return found.local


STEPS_OF_A_MESSAGE: Final = 5
ABSOLUTE: Final = ("",)
ROOTS: Final = frozenset(root.removesuffix(".") for root in known.ROOTS)
"""With what the packages begin that are always available."""
NO_NAMES: Final = Table(())
_KNOWN: Final[dict[str, Table]] = {}
"""The requested packages among those that are always available."""


class Names:
    """The names of one document. top: what names mean at the top of a file, for those that were looked up there."""

    __slots__ = ("document", "imported", "known", "own", "scopes", "top")

    def __init__(self, document: Document) -> None:
        self.document = document
        self.own: Table | None = None
        self.imported: Table | None = None
        self.scopes: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
        self.known: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.top: dict[tuple[str, int], FoundType | None] = {}

    def find(self, name: str, scope: Sequence[str], file: File | None = None) -> FoundType | None:
        """The type that a name means; None if it means none.

        scope: the simple names of the messages around the use, the outermost first. file: where the use stands; the
        document's own if not given.
        """
        own, imported = self.tables(file)
        if scope:
            first = name.partition(".")[0]
            # Nothing of that name is in any message: it means the same as at the top of the file.
            if first and first not in own.inner and first not in imported.inner and scope[0] not in ROOTS:
                package = (file or self.document.file).package
                if not package.startswith(known.ROOTS):
                    key = name, id(file)
                    if key not in self.top:
                        self.top[key] = self.find(name, (), file)
                    return self.top[key]
        own_types, imported_types = own.types, imported.types
        scopes, name = self.around(name, scope, file)
        simple = name.rpartition(".")[2]
        if simple not in own.simple and simple not in imported.simple:
            scopes = self.around_known(scopes)
        for outer in scopes:
            full = outer + name
            found = own_types.get(full) or imported_types.get(full)
            if found is None and full.startswith(known.ROOTS):
                found = next((table.types[full] for table in known_tables(full) if full in table.types), None)
            if found:
                return found
        return None

    def extension(self, name: str, scope: Sequence[str], file: File | None = None) -> Extension | None:
        """The extension that a name means; None if it is not declared."""
        own, imported = self.tables(file)
        scopes, name = self.around(name, scope, file)
        for outer in scopes:
            full = outer + name
            found = own.extensions.get(full) or imported.extensions.get(full)
            if found is None and full.startswith(known.ROOTS):
                found = next((table.extensions[full] for table in known_tables(full) if full in table.extensions), None)
            if found:
                return found
        return None

    def find_extension(self, name: str, scope: Sequence[str], file: File | None = None) -> str | None:
        """The full name of the extension that a name means; None if it is not declared."""
        found = self.extension(name, scope, file)
        return found.full if found else None

    def tables(self, file: File | None) -> tuple[Table, Table]:
        """What a file sees: its own names, if it is the document's, and those of all imported files.

        An imported file cannot mean what the file that imports it declares.
        """
        if self.own is None or self.imported is None:
            self.own = Table((self.document.file,))
            self.imported = Table(self.document.imported.values())
        return (NO_NAMES if file is not None and file is not self.document.file else self.own), self.imported

    def around(self, name: str, scope: Sequence[str], file: File | None) -> tuple[tuple[str, ...], str]:
        """What may stand before a name, and the name: the open scopes, innermost first, with a dot behind (PR-4)."""
        if name.startswith("."):
            return ABSOLUTE, name[1:]
        package, inside = place = (file or self.document.file).package, tuple(scope)
        scopes = self.scopes.get(place)
        if scopes is None:
            parts = (*filter(None, package.split(".")), *inside)
            scopes = tuple("".join(f"{part}." for part in parts[:count]) for count in range(len(parts), -1, -1))
            self.scopes[place] = scopes
        return scopes, name

    def around_known(self, scopes: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the scopes in which a name can be one of a file that is always available."""
        if scopes not in self.known:
            self.known[scopes] = tuple(outer for outer in scopes if not outer or outer.startswith(known.ROOTS))
        return self.known[scopes]


def known_tables(full: str) -> Iterator[Table]:
    """The tables of the packages that are always available and could have this name. Files are parsed at first use."""
    package = full
    while package := package.rpartition(".")[0]:
        paths = known.paths_of(package)
        if paths:
            if package not in _KNOWN:
                _KNOWN[package] = Table(file for path in paths if (file := known.file(path)))
            yield _KNOWN[package]


def bodies(message: Message) -> Iterator[Message]:
    """The messages declared directly inside a message, those of groups included."""
    yield from message.messages
    yield from (group.body for group in groups(message))


def groups(message: Message) -> Iterator[Group]:
    yield from message.groups
    for oneof in message.oneofs:
        yield from oneof.groups


def as_field(group: Group) -> Field:
    """The field that a group is: named after the group, in small letters."""
    return Field(group.label, group.name, group.name.lower(), group.tag, group.options)
