"""Protobuf: a payload → a message of the reader's schema, by the rules of Protobuf itself.

Fields are known by their numbers: what the reader does not know is dropped, what the writer did not write has its
default, and a number under which the two mean different things is read as what the bytes allow. So the writer's schema
says which message it was, by the path in the frame, and the message of that full name in the reader's file reads it.
Google's own runtime does so, with the files that were compiled when the schema was registered.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from typing import Any, Final, cast

from google.protobuf import descriptor_pb2, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message

from sigla.decoding.decoder import Decode, DecodeFailed, Limits, Source, Unreadable
from sigla.decoding.protobuf_fields import fields, there
from sigla.decoding.protobuf_plain import is_map, item, plain
from sigla.decoding.protobuf_walk import diagnosis
from sigla.decoding.reasons import Reason

TYPE: Final = "PROTOBUF"

STANDARD: Final = Limits()

ENDLESS: Final = 2**31
"""As many messages within each other as there are bytes for: of types that lead back to themselves."""

NESTED: Final = 2
"""The fewest bytes that a message within another one takes: its tag and its length."""

Read = Callable[[bytes], Message]
"""A payload → the message. Raises DecodeFailed."""


def decoder(
    writer: Source, reader: Source | None = None, *, indexes: tuple[int, ...] = (), limits: Limits = STANDARD
) -> Decode:
    """Values as `plain` gives them: what JSON can say. Raises Unreadable."""
    name = record_name(writer, indexes)
    if reader is not None:
        path_to(reader, name)
    message = message_class(reader or writer, name)
    read = parser(message, own=reader is None or reader == writer, limits=limits)

    def decode(payload: bytes) -> Any:
        found = read(payload)
        try:
            return plain(found)
        except DecodeFailed as failed:
            raise _fault(payload, message, limits) or failed from None

    return decode


def record_name(source: Source, indexes: tuple[int, ...] = ()) -> str:
    """The full name of the message that a path leads to: `package.Outer.Inner`; () is the first of the file.

    Counted are the messages that the text declares, as Confluent's clients do. Entries of maps, which descriptors nest
    in the message around, come last where the text says `map`; where it is a client's descriptor, as that of Python
    registers it, they are declared, and count where they stand. Those entries do not count as messages themselves.
    Raises Unreadable.
    """
    own = _files(_compiled(source)).file[-1]
    parts, found = [own.package] if own.package else [], own.message_type
    for index in indexes or (0,):
        if not 0 <= index < len(found) or found[index].options.map_entry:
            raise Unreadable(Reason.BAD_MSG_INDEX, f"the schema has no message at {list(indexes or (0,))}")
        parts.append(found[index].name)
        found = found[index].nested_type
    return ".".join(parts)


def path_to(source: Source, name: str) -> tuple[int, ...]:
    """The path of the message of this full name. Raises Unreadable: MESSAGE_GONE where its own file has none."""
    *imported, own = _files(_compiled(source)).file
    for path, full in _messages(own):
        if full == name:
            return path
    raise Unreadable(Reason.MESSAGE_GONE, _gone(name, own, imported))


def message_names(source: Source) -> tuple[str, ...]:
    """The full names of all messages of its own file, nested ones among them. Raises Unreadable."""
    return tuple(full for _, full in _messages(_files(_compiled(source)).file[-1]))


def _messages(file: descriptor_pb2.FileDescriptorProto) -> Iterator[tuple[tuple[int, ...], str]]:
    """The path and the full name of every message of a file, counted as `record_name` does."""
    todo: list[tuple[str, tuple[int, ...], Iterable[Any]]] = [(file.package, (), file.message_type)]
    while todo:
        around, path, messages = todo.pop()
        for index, message in enumerate(messages):
            if message.options.map_entry:
                continue
            full = f"{around}.{message.name}" if around else message.name
            yield (*path, index), full
            todo.append((full, (*path, index), message.nested_type))


MOST_NAMED: Final = 5
"""Messages that a sentence names."""


def _gone(
    name: str, own: descriptor_pb2.FileDescriptorProto, imported: Iterable[descriptor_pb2.FileDescriptorProto]
) -> str:
    """Where a message may have gone to that the reader's file does not have."""
    known = [full for _, full in sorted(_messages(own))]
    moved = [full for full in known if full.rpartition(".")[2] == name.rpartition(".")[2]]
    homes = [file.name for file in imported if any(full == name for _, full in _messages(file))]
    if homes:
        where = f"the message was moved to {homes[0]}, which the reader's file imports"
    elif moved:
        where = f"the message was moved: the reader's file has {moved[0]}"
    elif known:
        more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
        where = f"it was renamed or removed: the reader's file has {', '.join(known[:MOST_NAMED])}{more}"
    else:
        where = "it was removed: the reader's file has no message"
    return f"written as {name}, and the reader's file has no message of this name; {where}"


def message_class(source: Source, name: str) -> type[Message]:
    """The message of this full name in the schema. Raises Unreadable: INCOMPATIBLE_READER where it has none."""
    try:
        descriptor = _pool(_compiled(source)).FindMessageTypeByName(name)
    except KeyError:
        raise Unreadable(Reason.INCOMPATIBLE_READER, f"the reader's schema has no message {name}") from None
    try:
        for inner in _innermost_first(descriptor):
            message_factory.GetMessageClass(inner)
        return message_factory.GetMessageClass(descriptor)
    except RecursionError:
        raise Unreadable(Reason.BAD_SCHEMA, "a thousand messages use each other in a circle") from None


def _innermost_first(root: Descriptor) -> Iterator[Descriptor]:
    """Every message that is needed, after those of its fields: the library makes what is missing by recursion."""
    met = {root.full_name}
    todo = [(root, iter(root.fields))]
    while todo:
        descriptor, fields_left = todo[-1]
        for field in fields_left:
            inner = field.message_type
            if inner is not None and inner.full_name not in met:
                met.add(inner.full_name)
                todo.append((inner, iter(inner.fields)))
                break
        else:
            todo.pop()
            yield descriptor


def _compiled(source: Source) -> bytes:
    if source.type != TYPE:
        raise Unreadable(Reason.TYPE_MISMATCH, f"the schema is {source.type}, not {TYPE}")
    if not source.compiled:
        raise Unreadable(Reason.BAD_SCHEMA, "the schema was stored without its compiled files")
    return source.compiled


def _files(compiled: bytes) -> descriptor_pb2.FileDescriptorSet:
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(compiled)
    except DecodeError as error:
        raise Unreadable(Reason.BAD_SCHEMA, str(error)) from None
    if not files.file:
        raise Unreadable(Reason.BAD_SCHEMA, "the schema has no file")
    return files


@lru_cache(maxsize=256)
def _pool(compiled: bytes) -> DescriptorPool:
    """One for each schema: two schemas may give one name to different messages."""
    pool = DescriptorPool()
    try:
        for file in _files(compiled).file:
            pool.AddSerializedFile(file.SerializePartialToString())
    except (TypeError, KeyError) as error:  # what a pool says of a file that protoc would refuse
        raise Unreadable(Reason.BAD_SCHEMA, str(error)) from None
    return pool


def parser(message: type[Message], *, own: bool = True, limits: Limits = STANDARD) -> Read:
    """Payloads → messages of this class. own: it is also what the writer had.

    A field that is required must be there: the runtime for Python would let its absence pass.
    """
    nesting, required, widest = _traits(cast("Descriptor", message.DESCRIPTOR))
    deep = nesting > limits.depth

    def read(payload: bytes) -> Message:
        if len(payload) > limits.max_bytes:
            raise DecodeFailed(Reason.TOO_LARGE, f"{len(payload)} bytes are more than {limits.max_bytes}")
        # The runtime makes room for all fields of a message at once, and two bytes say that there is one.
        if len(payload) * widest > limits.values:
            fault = _fault(payload, message, limits)
            if fault and fault.reason is Reason.TOO_LARGE:  # all else the runtime tells
                raise fault
        try:
            found = message.FromString(payload)
        except DecodeError as error:
            fault = _fault(payload, message, limits)
            raise fault or DecodeFailed(Reason.DECODE_INVALID, str(error)) from None
        if deep and len(payload) > NESTED * limits.depth and _deeper(found, limits.depth):
            raise _fault(payload, message, limits) or DecodeFailed(Reason.DEPTH, "nested too deep")
        if required and not message.IsInitialized(found):
            reason = Reason.DECODE_INVALID if own else Reason.INCOMPATIBLE_READER
            named = list(islice(_missing(found), MOST_NAMED + 1))
            more = " and more" if len(named) > MOST_NAMED else ""
            raise DecodeFailed(reason, f"without {', '.join(named[:MOST_NAMED])}{more}, which is required")
        return found

    return read


def _missing(message: Any, around: str = "") -> Iterator[str]:
    """The paths of fields that are required and not there, as the runtime's own `FindInitializationErrors` has them.

    That one ends the process where the message is a map's value (protobuf 7.36.2). message: Any; the published
    types do not know what a message can tell of itself.
    """
    for field in fields(cast("Descriptor", type(message).DESCRIPTOR)).values():
        if field.is_required and not there(message, field):
            yield f"{around}{field.name}"
    for field, value in type(message).ListFields(message):
        if field.message_type is None:
            continue
        for at, inner in _messages_of(field, value):
            yield from _missing(inner, f"{around}{field.name}{at}.")


def _messages_of(field: FieldDescriptor, value: Any) -> Iterator[tuple[str, Any]]:
    """Each message that a field has, and what stands behind its name. Keys that are not UTF-8 cannot be looked up."""
    if is_map(field):
        keys = (key for key in value if not isinstance(key, bytes))
        yield from ((f"[{json.dumps(key)}]", value[key]) for key in keys if item(field).message_type)
    elif field.is_repeated:
        yield from ((f"[{at}]", each) for at, each in enumerate(value))
    else:
        yield "", value


def _fault(payload: bytes, message: type[Message], limits: Limits) -> DecodeFailed | None:
    return diagnosis(payload, cast("Descriptor", message.DESCRIPTOR), limits)


def _traits(root: Descriptor) -> tuple[int, bool, int]:
    """How many messages there can be within each other; whether a field of one is required; the most that one has."""
    uses: dict[str, list[str]] = {}
    required, widest = False, 1
    todo = [root]
    while todo:
        descriptor = todo.pop()
        if descriptor.full_name not in uses:
            known = fields(descriptor).values()
            inner = [field.message_type for field in known if field.message_type]
            uses[descriptor.full_name] = [each.full_name for each in inner]
            required |= any(field.is_required for field in known)
            widest = max(widest, len(known))
            todo += inner
    try:
        TopologicalSorter(uses).prepare()
    except CycleError:
        return ENDLESS, required, widest
    return len(uses), required, widest


def _deeper(message: Message, depth: int) -> bool:
    """Whether there are more messages within messages than that, entries of maps among them, as on the wire.

    True as well where the key of a map is not UTF-8, which the runtime for Python cannot look up (proto2).
    """
    todo: list[tuple[Any, int]] = [(message, 0)]
    while todo:
        found, level = todo.pop()
        if level > depth:
            return True
        for field, value in type(found).ListFields(found):
            if field.message_type is None:
                continue
            if is_map(field):
                if any(isinstance(key, bytes) for key in value):
                    return True
                todo += [(value[key], level + 2) for key in value if isinstance(value[key], Message)]
            else:
                todo += [(each, level + 1) for each in (value if field.is_repeated else (value,))]
    return False
