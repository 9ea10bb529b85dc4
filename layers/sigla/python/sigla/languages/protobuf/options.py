"""Options in one order and spelling (contract D.4 PN-7, PN-8)."""

from collections.abc import Iterable, Sequence

from sigla import effort
from sigla.languages.protobuf.canonical import value as printed
from sigla.languages.protobuf.kinds import SCALARS
from sigla.languages.protobuf.names import Extension, Names
from sigla.languages.protobuf.numerals import plain
from sigla.languages.protobuf.tree import (
    Field,
    File,
    Listed,
    MapType,
    Message,
    MessageValue,
    Option,
    Value,
    Word,
)

Scope = Sequence[str]


class Options:
    """Puts the options of a document in order. names: what its extensions are called in full, and what they hold.

    fields: of the messages that were looked into, by identity, the fields by name.
    """

    __slots__ = ("fields", "names")

    def __init__(self, names: Names) -> None:
        self.names = names
        self.fields: dict[int, dict[str, Field]] = {}

    def in_order(self, options: list[Option], scope: Scope) -> list[Option]:
        """Sorted by name. What is said of one known extension in several options becomes one of them."""
        if not options:
            return options
        made: list[Option] = []
        said: dict[str, tuple[Extension, list[Value]]] = {}
        for option in options:
            effort.pulse(2)
            extension = self.names.extension(option.name, scope) if option.extension else None
            if extension and extension.field.label != "repeated":
                value = self.value(nested(option.path, option.value), scope)
                said.setdefault(extension.full, (extension, []))[1].append(value)
            else:
                name, value = extension.full if extension else option.name, self.value(option.value, scope)
                made.append(Option(name, value, extension=option.extension, path=option.path))
        for extension, values in said.values():
            made.append(Option(extension.full, self.together(values, self.held(extension)), extension=True))
        return sorted([option for option in made if not is_empty(option.value)], key=by_name)

    def value(self, value: Value, scope: Scope) -> Value:
        """A value with all keys inside sorted, lists of one unwrapped, empty ones left out."""
        effort.pulse(2)
        if isinstance(value, Word):
            return Word(plain(value.text))
        if isinstance(value, Listed):
            values = [self.value(each, scope) for each in value.values]
            return values[0] if len(values) == 1 else Listed(values)
        if isinstance(value, MessageValue):
            members = [(self.key(key, scope), self.value(each, scope)) for key, each in value.members]
            return MessageValue(sorted([each for each in members if not is_empty(each[1])], key=by_key))
        return value

    def key(self, key: str, scope: Scope) -> str:
        """The full name of an extension in brackets; other keys as they are."""
        if not key.startswith("["):
            return key
        extension = self.names.extension(key[1:-1], scope)
        return f"[{extension.full}]" if extension else key

    def together(self, values: list[Value], type_: "Typed | None") -> Value:
        """What several values of one message say together: the last one counts, or messages up to it are merged."""
        if len(values) == 1 or not isinstance(values[-1], MessageValue):
            return values[-1]
        members: dict[str, list[Value]] = {}
        for value in values:
            if not isinstance(value, MessageValue):
                members = {}
                continue
            for key, each in value.members:
                members.setdefault(key, []).append(each)
        return MessageValue([(key, self.member(key, members[key], type_)) for key in sorted(members)])

    def member(self, key: str, values: list[Value], around: "Typed | None") -> Value:
        """What several values of one member say together: if it is repeated, all of them."""
        field = self.field(key, around)
        if len(values) == 1 or field is None or around is None:
            return values[-1]
        if field.label == "repeated" or isinstance(field.type, MapType):
            return united(*values)
        type_ = self.type_of(field, around)
        return self.together(values, type_) if type_ else values[-1]

    def field(self, name: str, around: "Typed | None") -> Field | None:
        if around is None:
            return None
        fields = self.fields.get(id(around.message))
        if fields is None:
            oneofs = (field for oneof in around.message.oneofs for field in oneof.fields)
            fields = {field.name: field for field in (*around.message.fields, *oneofs)}
            self.fields[id(around.message)] = fields
        return fields.get(name)

    def held(self, extension: Extension) -> "Typed | None":
        """The message that an extension holds."""
        return self.type_of(extension.field, Typed(Message(""), extension.scope, extension.file))

    def type_of(self, field: Field, around: "Typed") -> "Typed | None":
        """The message that a field holds, if it is a known one."""
        if not isinstance(field.type, str) or field.type in SCALARS:
            return None
        found = self.names.find(field.type, around.scope, around.file)
        if found is None or not isinstance(found.definition, Message):
            return None
        return Typed(found.definition, found.local.split("."), found.file)


class Typed:
    """A message and where its own names are looked up."""

    __slots__ = ("file", "message", "scope")

    def __init__(self, message: Message, scope: Scope, file: File) -> None:
        self.message = message
        self.scope = scope
        self.file = file


def by_name(option: Option) -> str:
    return option.name


def by_key(member: tuple[str, Value]) -> str:
    return member[0]


def is_empty(value: Value) -> bool:
    return isinstance(value, Listed) and not value.values


def nested(path: str, value: Value) -> Value:
    """`{a: {b: value}}` for the path `.a.b`. A part in parentheses is an extension, whose key has brackets."""
    for part in reversed(parts(path)):
        value = MessageValue([(part, value)])
    return value


def parts(path: str) -> list[str]:
    """The keys that a path leads through."""
    keys: list[str] = []
    for piece in path.replace("(", "\0(").split("\0"):
        extension, closing, rest = piece.partition(")")
        if closing:
            keys.append(f"[{extension[1:]}]")
        keys += [part for part in (rest if closing else piece).split(".") if part]
    return keys


def united(*values: Value) -> Value:
    """One list of values and lists, each value once."""
    each = {printed(value, ""): value for value in flat(values)}
    found = list(each.values())
    return found[0] if len(found) == 1 else Listed(found)


def flat(values: Iterable[Value]) -> Iterable[Value]:
    for value in values:
        if isinstance(value, Listed):
            yield from value.values
        else:
            yield value
