"""Everything that differs between two files: a walk over pairs of scopes, messages and fields (contract D.5).

The walk lists, `rules` judges: most of what is found here is harmless. A message is met once by its place in the files,
and again wherever a field uses it from another file than these two (D.5.4). Such uses can form chains as long as there
are messages, so the walk of a message is a generator that asks for them, and `Comparison.answered` keeps those that
wait for an answer.
"""

from collections.abc import Generator, Iterable, Sequence
from typing import Final, TypeAlias, TypeVar, cast

from sigla import effort
from sigla.languages.java_order import in_java_order
from sigla.languages.language import Budget, abandoned
from sigla.languages.protobuf.kinds import MAP, MESSAGE, SCALARS, TEXTUAL, Kind, Type, is_map_entry, kind_of
from sigla.languages.protobuf.names import FoundType, Names
from sigla.languages.protobuf.oneofs import Members, completely_deleted, regrouped
from sigla.languages.protobuf.rules import COMPATIBLE
from sigla.languages.protobuf.tree import Document, Enum, Field, File, MapType, Message
from sigla.model import Finding

NO_KINDS: Final[frozenset[str]] = frozenset()
PER_STEP: Final = 8
"""So many characters of a finding are written in one step."""
MAX_REPEATED: Final = 1_000
"""So many findings are listed once more because another field uses their message: each tells nothing new, and where
messages use each other they multiply."""
STEPS_OF_A_DECLARATION: Final = 4
"""For finding the counterpart of a message or an enum, and looking into both."""
RESOLVING: Final = 2
"""The steps that it takes to look a name up, for each scope in which it may stand."""

Findings: TypeAlias = tuple[Finding, ...]
Use: TypeAlias = tuple[FoundType, FoundType]
"""The reader's and the writer's message that a field uses."""
Walk: TypeAlias = Generator[Use, bool, None]
"""Asks of messages that fields use, whether something is found in them that matters."""
Place: TypeAlias = tuple[str | int, ...]
Declared = TypeVar("Declared", Message, Enum)


def differences(reader: Document, writer: Document, budget: Budget) -> Findings:
    """All differences, compatible ones too, in the order in which they are met. Raises CheckAbandoned."""
    return report(reader, writer, budget, NO_KINDS)


def incompatibilities(reader: Document, writer: Document, budget: Budget) -> Findings:
    """Those of the differences that matter; others are not spelt out. Raises CheckAbandoned."""
    return report(reader, writer, budget, COMPATIBLE)


def report(reader: Document, writer: Document, budget: Budget, left_out: frozenset[str]) -> Findings:
    try:
        return Comparison(reader, writer, budget, left_out).files()
    except RecursionError:
        raise abandoned("the schemas are nested too deeply to be compared") from None


class Scope:
    """A pair of scopes of one name: the names of the messages around, and the files in which they stand."""

    __slots__ = ("names", "reader", "writer")

    def __init__(self, names: tuple[str, ...], reader: File, writer: File) -> None:
        self.names = names
        self.reader = reader
        self.writer = writer

    def inner(self, name: str) -> "Scope":
        return Scope((*self.names, name), self.reader, self.writer)


class Comparison:
    """One comparison of two documents.

    found: all differences but those of the kinds that are left out. breaking: those of them that matter.
    open: the writer's messages that are being compared; to compare one of them again does nothing.
    known: of two messages that a field uses, where in `breaking` begins and ends what was found in them. Where messages
    of other files use each other in a circle, those that were met inside of it lack what was found further out: lists
    may be shorter for it, the verdict is the same.
    """

    __slots__ = ("breaking", "found", "known", "left_out", "open", "reader", "repeated", "spend", "writer")

    def __init__(self, reader: Document, writer: Document, budget: Budget, left_out: frozenset[str]) -> None:
        self.left_out = left_out
        self.reader = Names(reader)
        self.writer = Names(writer)
        self.spend = budget.spend
        self.found: list[Finding] = []
        self.breaking: list[Finding] = []
        self.open: set[int] = set()
        self.known: dict[Use, tuple[int, int]] = {}
        self.repeated = 0

    def files(self) -> Findings:
        reader, writer = self.reader.document.file, self.writer.document.file
        scope = Scope((), reader, writer)
        if reader.package != writer.package:
            self.add("PACKAGE_CHANGED", scope)
        self.answered(self.declared(reader, writer, scope))
        return tuple(self.found)

    def answered(self, walk: Walk) -> None:
        """Takes a walk to its end. waiting: the walks that asked, what each is about, and how much was found before."""
        waiting: list[tuple[Walk, Use | None, int]] = [(walk, None, 0)]
        answer: bool | None = None
        while waiting:
            walk, about, before = waiting[-1]
            try:
                use = walk.send(cast("bool", answer))  # None is what starts a generator
            except StopIteration:
                waiting.pop()
                answer = len(self.breaking) > before
                if about:
                    self.known[about] = (before, len(self.breaking))
            else:
                answer = self.answer(use)
                if answer is None:
                    waiting.append((self.using(*use), use, len(self.breaking)))

    def answer(self, use: Use) -> bool | None:
        """Whether something that matters was found in two messages; None if they are still to be compared."""
        self.spend(1)
        if id(use[1].definition) in self.open:
            return False
        if use not in self.known:
            return None
        start, end = self.known[use]
        again = self.breaking[start : min(end, start + MAX_REPEATED - self.repeated)]
        self.repeated += len(again)
        self.found += again
        self.breaking += again
        return end > start

    def using(self, reader: FoundType, writer: FoundType) -> Walk:
        """The walk of two messages that a field uses; paths start anew at their name."""
        inside = Scope(tuple(reader.local.split(".")), reader.file, writer.file)
        # Messages both: a field that uses an enum holds a scalar.
        return self.bodies(cast("Message", reader.definition), cast("Message", writer.definition), inside)

    def declared(self, reader: File | Message, writer: File | Message, scope: Scope) -> Walk:
        """The messages and enums of two scopes (D.5.1)."""
        if reader.messages or writer.messages:
            yield from self.messages(reader.messages, writer.messages, scope)
        if reader.enums or writer.enums:
            self.enums(by_name(reader.enums), by_name(writer.enums), scope)

    def messages(self, readers: list[Message], writers: list[Message], scope: Scope) -> Walk:
        self.spend(STEPS_OF_A_DECLARATION * (len(readers) + len(writers)))
        new, old = by_name(readers), by_name(writers)
        new_index, old_index = indexes(readers), indexes(writers)
        for name in in_java_order(old, new):
            if name not in new:
                self.add_message("MESSAGE_REMOVED", old[name], scope)
            elif name not in old:
                self.add_message("MESSAGE_ADDED", new[name], scope)
            else:
                yield from self.bodies(new[name], old[name], scope.inner(name))
                if new_index[name] != old_index[name]:
                    self.add("MESSAGE_MOVED", scope, name)

    def add_message(self, kind: str, message: Message, scope: Scope) -> None:
        """The entry of a map comes and goes with its field."""
        if not is_map_entry(message):
            self.add(kind, scope, message.name)

    def enums(self, readers: dict[str, Enum], writers: dict[str, Enum], scope: Scope) -> None:
        self.spend(STEPS_OF_A_DECLARATION * (len(readers) + len(writers)))
        for name in in_java_order(writers, readers):
            if name not in readers:
                self.add("ENUM_REMOVED", scope, name)
            elif name not in writers:
                self.add("ENUM_ADDED", scope, name)
            else:
                self.constants(readers[name], writers[name], scope)

    def constants(self, reader: Enum, writer: Enum, scope: Scope) -> None:
        self.spend(len(reader.constants) + len(writer.constants))
        new = {constant.number: constant.name for constant in reader.constants}
        old = {constant.number: constant.name for constant in writer.constants}
        for number in sorted(new.keys() | old.keys()):
            if number not in new:
                self.add("ENUM_CONST_REMOVED", scope, reader.name, number)
            elif number not in old:
                self.add("ENUM_CONST_ADDED", scope, reader.name, number)
            elif new[number] != old[number]:
                self.add("ENUM_CONST_CHANGED", scope, reader.name, number)

    def bodies(self, reader: Message, writer: Message, scope: Scope) -> Walk:
        """What two messages of one name contain (D.5.2); scope is their inside."""
        if id(writer) in self.open:
            return
        self.open.add(id(writer))
        new, old = Members(reader), Members(writer)
        self.spend(1 + len(new.by_tag) + len(old.by_tag) + len(new.oneofs) + len(old.oneofs))
        if new.oneofs or old.oneofs:
            self.oneofs(reader, new, old, scope)
        deleted = completely_deleted(new, old)
        # One generator for each message: fields have none of their own.
        for tag in effort.paced(sorted(new.by_tag.keys() | old.by_tag.keys())):
            for use, at in self.tagged(tag, new, old, scope, deleted):
                if (yield use):
                    self.add("FIELD_NAMED_TYPE_CHANGED", scope, *at)
        if reader.messages or reader.enums or writer.messages or writer.enums:
            yield from self.declared(reader, writer, scope)
        self.open.remove(id(writer))

    def oneofs(self, message: Message, reader: Members, writer: Members, scope: Scope) -> None:
        for name, kind in regrouped(message, writer):
            self.add(kind, scope, name)
        for name in sorted(reader.oneofs.keys() ^ writer.oneofs.keys()):
            self.add("ONEOF_ADDED" if name in reader.oneofs else "ONEOF_REMOVED", scope, name)

    def tagged(
        self, tag: int, reader: Members, writer: Members, scope: Scope, deleted: set[str]
    ) -> Sequence[tuple[Use, Place]]:
        """What became of a tag. Returns the messages that are to be compared for it, and where they are used."""
        new, old = reader.by_tag.get(tag), writer.by_tag.get(tag)
        now, before = reader.oneof_of.get(tag), writer.oneof_of.get(tag)
        if new and old:
            if before is not None and now is None:
                self.add("ONEOF_FIELD_MOVED_TO_TOP_LEVEL", scope, tag)
            at = field_path(now, tag)
            uses = self.field(new, old, scope, at)
            return [(use, at) for use in uses] if uses else ()
        if new:
            self.add(coming(new, now), scope, *field_path(now, tag))
        elif old and before not in deleted:
            self.add(going(old, before), scope, *field_path(before, tag))
        return ()

    def field(self, reader: Field, writer: Field, scope: Scope, at: Place) -> tuple[Use, ...]:
        """Two fields of one tag (D.5.3). Returns the messages that are to be compared for them."""
        if reader.name != writer.name:
            self.add("FIELD_NAME_CHANGED", scope, *at)
        relabelled = "" not in (reader.label, writer.label) and reader.label != writer.label
        if not relabelled and reader.type == writer.type and reader.type in SCALARS:
            return ()
        return self.types(reader.type, writer.type, scope, at, relabelled=relabelled)

    def types(
        self, reader: Type, writer: Type, scope: Scope, at: Place, *, relabelled: bool = False
    ) -> tuple[Use, ...]:
        new = self.meaning(reader, self.reader, scope.reader, scope)
        old = self.meaning(writer, self.writer, scope.writer, scope)
        if new.category != old.category:
            self.add("FIELD_KIND_CHANGED", scope, *at)
        elif new.category == MESSAGE:
            if not are_namesakes(new.content, old.content, spelled_alike=reader == writer):
                self.add("FIELD_NAMED_TYPE_CHANGED", scope, *at)
            elif isinstance(new.content, FoundType) and isinstance(old.content, FoundType):
                return () if self.are_local(new.content, old.content) else ((new.content, old.content),)
        elif isinstance(new.content, MapType) and isinstance(old.content, MapType):
            keys = self.types(new.content.key, old.content.key, scope, at)
            return keys + self.types(new.content.value, old.content.value, scope, at)
        elif new.content != old.content:
            self.add("FIELD_SCALAR_KIND_CHANGED", scope, *at)
        elif relabelled:
            textual = new.content == TEXTUAL
            self.add("FIELD_STRING_OR_BYTES_LABEL_CHANGED" if textual else "FIELD_NUMERIC_LABEL_CHANGED", scope, *at)
        return ()

    def meaning(self, written: Type, names: Names, file: File, scope: Scope) -> Kind:
        if isinstance(written, MapType):
            return Kind(MAP, written)
        scalar = SCALARS.get(written)
        if scalar:
            return scalar
        self.spend(RESOLVING * (1 + len(scope.names)))
        return kind_of(names.find(written, scope.names, file))

    def are_local(self, reader: FoundType, writer: FoundType) -> bool:
        """The walk meets these where they stand."""
        return reader.file is self.reader.document.file and writer.file is self.writer.document.file

    def add(self, kind: str, scope: Scope, *at: str | int) -> None:
        """A difference at a place in a scope."""
        if kind in self.left_out:
            self.spend(1)
            return
        path = "#/" + "/".join(map(str, (*scope.names, *at)))
        self.spend(1 + len(path) // PER_STEP)
        finding = Finding(kind, path, "")
        self.found.append(finding)
        if kind not in COMPATIBLE:
            self.breaking.append(finding)


def by_name(declared: Iterable[Declared]) -> dict[str, Declared]:
    return {item.name: item for item in declared}


def indexes(messages: Iterable[Message]) -> dict[str, int]:
    return {message.name: index for index, message in enumerate(messages)}


def are_namesakes(reader: object, writer: object, *, spelled_alike: bool) -> bool:
    """Do two names of messages stand for the same, without the packages? As written, if one is unknown (D.5.4)."""
    if isinstance(reader, FoundType) and isinstance(writer, FoundType):
        return reader.local == writer.local
    return spelled_alike


def field_path(oneof: str | None, tag: int) -> Place:
    """Where a field is inside its message."""
    return (tag,) if oneof is None else (oneof, tag)


def coming(field: Field, oneof: str | None) -> str:
    """What it means that a field is new."""
    if oneof is not None:
        return "ONEOF_FIELD_ADDED"
    return "REQUIRED_FIELD_ADDED" if field.label == "required" else "FIELD_ADDED"


def going(field: Field, oneof: str | None) -> str:
    """What it means that a field is gone; not asked if its whole oneof is."""
    if oneof is not None:
        return "ONEOF_FIELD_REMOVED"
    return "REQUIRED_FIELD_REMOVED" if field.label == "required" else "FIELD_REMOVED"
