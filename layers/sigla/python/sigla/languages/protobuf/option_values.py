"""From the options of a source to those of a descriptor: protobuf's text format does the work.

What cannot be encoded is left out: undeclared options (PP-60), and values that do not fit. A client could do nothing
with them.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from sigla import effort
from sigla.languages.protobuf.names import Names
from sigla.languages.protobuf.to_descriptor import Pending
from sigla.languages.protobuf.tokens import quoted
from sigla.languages.protobuf.tree import File, Listed, Option, Text, Value, Word

if TYPE_CHECKING:
    from google.protobuf import descriptor_pb2 as pb
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import Message

STEPS_OF_AN_OPTION: Final = 50
UNFIT: Final = frozenset(("features", "uninterpreted_option"))
"""Options with which pools refuse a file: those of editions, which no source has, and what protoc leaves unread."""


def fill(pending: Iterable[Pending], names: Names, protos: Iterable["pb.FileDescriptorProto"]) -> None:
    """Encodes options. protos: the files that may declare their extensions, each after those that it needs."""
    filler = _Filler(names, protos)
    for each in pending:
        filler.fill(each)


class _Filler:
    def __init__(self, names: Names, protos: Iterable["pb.FileDescriptorProto"]) -> None:
        self.names = names
        self.protos = protos
        self.pool: DescriptorPool | None = None

    def fill(self, pending: Pending) -> None:
        """Each option by itself, so that one which cannot be encoded takes no other with it."""
        from google.protobuf import text_format  # noqa: PLC0415 - a cold start pays only for what it uses

        options = pending.target.options
        custom = any(option.extension or "(" in option.path for option in pending.options)
        kind = self.extended(options) if custom else type(options)
        for option in pending.options:
            effort.pulse(STEPS_OF_AN_OPTION)
            if not option.extension and (option.name in UNFIT or option.name not in options.DESCRIPTOR.fields_by_name):
                continue
            one = kind()
            try:
                text_format.Merge(self.text(option, pending.scope, pending.file), one)
                options.MergeFromString(one.SerializePartialToString(deterministic=True))
            except (text_format.ParseError, ValueError, TypeError, RecursionError):
                continue

    def extended(self, options: "Message") -> "type[Message]":
        """The same kind of message, with all extensions that the files declare."""
        from google.protobuf.message_factory import GetMessageClass  # noqa: PLC0415 - as above

        if self.pool is None:
            self.pool = _pool(self.protos)
        try:
            return GetMessageClass(self.pool.FindMessageTypeByName(options.DESCRIPTOR.full_name))
        except KeyError:
            return type(options)

    # --- text format ---

    def text(self, option: Option, scope: Sequence[str], file: File) -> str:
        """`(a).b = 1` is `[p.a]: { b: 1 }`."""
        keys = [self.key(f"({option.name})" if option.extension else option.name, scope, file)]
        keys += [self.key(part, scope, file) for part in _parts(option.path)]
        return ": { ".join(keys) + ": " + self.value(option.value, scope, file) + " }" * (len(keys) - 1)

    def key(self, name: str, scope: Sequence[str], file: File) -> str:
        """An extension, in parentheses or brackets, has its full name as key."""
        if name[0] not in "([":
            return name
        inside = name[1:-1]
        return f"[{self.names.find_extension(inside, scope, file) or inside}]"

    def value(self, value: Value, scope: Sequence[str], file: File) -> str:
        if isinstance(value, Word):
            return value.text
        if isinstance(value, Text):
            return quoted(value.text)
        if isinstance(value, Listed):
            return f"[{', '.join(self.value(each, scope, file) for each in value.values)}]"
        members = (f"{self.key(key, scope, file)}: {self.value(each, scope, file)}" for key, each in value.members)
        return f"{{ {' '.join(members)} }}"


def _parts(path: str) -> list[str]:
    """`.a.(p.b).c` has the parts a, (p.b) and c."""
    parts: list[str] = []
    for piece in filter(None, path.split(".")):
        if parts and parts[-1].startswith("(") and not parts[-1].endswith(")"):
            parts[-1] += f".{piece}"
        else:
            parts.append(piece)
    return parts


def _pool(protos: Iterable["pb.FileDescriptorProto"]) -> "DescriptorPool":
    """All files that make sense; what others declare is unknown then."""
    from google.protobuf.descriptor_pool import DescriptorPool  # noqa: PLC0415 - as above

    pool = DescriptorPool()
    for proto in protos:
        try:
            pool.Add(proto)
        except TypeError:
            continue
    return pool
