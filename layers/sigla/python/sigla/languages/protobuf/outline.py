"""What a Protobuf file consists of: declarations by name, fields and values by number (`Outlines`).

Keys of anything but declarations hold a space, a bracket or a quote, which no name does. What a file imports is a part
of it, as it is written; the file itself is in normal form.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Final

from sigla import effort
from sigla.languages.outline import Outlines, Place, SchemaPart, Way
from sigla.languages.protobuf import normalise
from sigla.languages.protobuf.canonical import Printer, assignment, span
from sigla.languages.protobuf.tokens import quoted
from sigla.languages.protobuf.tree import (
    Document,
    Enum,
    Extend,
    Field,
    File,
    Group,
    MapType,
    Message,
    Oneof,
    Option,
    Range,
    Reserved,
    Rpc,
    Service,
)
from sigla.model import Finding

PACKAGE: Final = "(package)"
SAID: Final = {
    "FIELD_KIND_CHANGED": "type",
    "FIELD_SCALAR_KIND_CHANGED": "type",
    "FIELD_NAMED_TYPE_CHANGED": "type",
    "FIELD_NUMERIC_LABEL_CHANGED": "label",
}
"""What of a field a finding is about, which its path does not say."""
STEPS_OF_A_DECLARATION: Final = 4


def outlines(old: Document, new: Document) -> Outlines:
    before, after = document_part(old), document_part(new)
    return Outlines(before, after, partial(way, list(starts(before))), partial(way, list(starts(after))))


def document_part(of: Document) -> SchemaPart:
    part = file_part(normalise.normalised(of))
    for path, imported in of.imported.items():
        text = partial(f"import {quoted(path)}".format)
        part.add(quoted(path), file_part(imported, SchemaPart("imported file", whole=text)))
    return part


def file_part(of: File, part: SchemaPart | None = None) -> SchemaPart:
    part = part or SchemaPart("file")
    part.ordered = True
    part.say("(syntax)", "proto2" if of.syntax == "proto2" else of.syntax or None, "syntax")
    part.say("(edition)", of.edition or None, "edition")
    part.say(PACKAGE, of.package or None, "package")
    for path in of.imports:
        part.say(f"import {quoted(path)}", "", "import")
    for path in of.public:
        part.say(f"import public {quoted(path)}", "", "import")
    say_options(part, of.options)
    declare(part, of)
    for service_ in of.services:
        part.add(service_.name, service_part(service_))
    return part


def declare(part: SchemaPart, around: File | Message) -> None:
    """What stands in a file as in a message."""
    for message_ in around.messages:
        part.add(message_.name, message_part(message_))
    for enum_ in around.enums:
        part.add(enum_.name, enum_part(enum_))
    for extend_ in around.extends:
        part.add(f"extend {extend_.extendee}", extend_part(extend_))


def message_part(of: Message, part: SchemaPart | None = None) -> SchemaPart:
    effort.pulse(STEPS_OF_A_DECLARATION + len(of.fields))
    part = part or SchemaPart("message", "message", whole=partial(shown_message, of))
    part.ordered = True
    say_reserved(part, of.reserved)
    say_options(part, of.options)
    members(part, [(None, of.fields, of.groups), *((each.name, each.fields, each.groups) for each in of.oneofs)])
    for oneof_ in sorted(of.oneofs, key=attrgetter("name")):
        part.add(oneof_.name, oneof_part(oneof_))
    for ranges in of.extensions:
        kept = SchemaPart("extensions", ", ".join(map(span, ranges.ranges)))
        say_options(kept, ranges.options)
        part.add(f"extensions {kept.text}", kept)
    declare(part, of)
    return part


def members(part: SchemaPart, lists: Iterable[tuple[str | None, list[Field], list[Group]]]) -> None:
    """Fields, and groups, which are fields too, by their numbers. lists: with the oneof in which they are."""
    known: list[tuple[str | None, Field | Group]] = []
    for oneof_, fields, groups in lists:
        known += [(oneof_, field) for field in fields]
        known += [(oneof_, group) for group in groups]
    for oneof_, member in sorted(known, key=lambda each: each[1].tag):
        part.add(
            str(member.tag), field_part(member, oneof_) if isinstance(member, Field) else group_part(member, oneof_)
        )


def field_part(of: Field, oneof_: str | None) -> SchemaPart:
    part = SchemaPart("field", "field", name=of.name, whole=partial(shown_field, of))
    part.say("name", of.name)
    part.say("type", type_text(of.type))
    part.say("label", of.label or None)
    part.say("oneof", oneof_)
    say_options(part, of.options)
    return part


def type_text(of: str | MapType) -> str:
    return f"map<{of.key}, {of.value}>" if isinstance(of, MapType) else of


def group_part(of: Group, oneof_: str | None) -> SchemaPart:
    part = SchemaPart("group", "group", name=of.name, whole=partial(shown_group, of))
    part.say("name", of.name)
    part.say("label", of.label or None)
    part.say("oneof", oneof_)
    say_options(part, of.options)
    part.add("body", message_part(of.body, SchemaPart("body")))
    return part


def oneof_part(of: Oneof) -> SchemaPart:
    names = ", ".join([field_.name for field_ in of.fields] + [group_.name for group_ in of.groups])
    part = SchemaPart("oneof", "oneof", whole=lambda: names)
    say_options(part, of.options)
    return part


def extend_part(of: Extend) -> SchemaPart:
    part = SchemaPart("extension", "extend", ordered=True)
    members(part, [(None, of.fields, of.groups)])
    return part


def enum_part(of: Enum) -> SchemaPart:
    effort.pulse(STEPS_OF_A_DECLARATION + len(of.constants))
    part = SchemaPart("enum", "enum", whole=lambda: ", ".join(f"{each.name} = {each.number}" for each in of.constants))
    say_reserved(part, of.reserved)
    say_options(part, of.options)
    for constant in of.constants:
        value = SchemaPart("value", constant.name, name=constant.name)
        say_options(value, constant.options)
        part.add(str(constant.number), value)
    return part


def service_part(of: Service) -> SchemaPart:
    part = SchemaPart("service", "service", whole=lambda: ", ".join(rpc_.name for rpc_ in of.rpcs), ordered=True)
    say_options(part, of.options)
    for rpc_ in of.rpcs:
        part.add(rpc_.name, rpc_part(rpc_))
    return part


def rpc_part(of: Rpc) -> SchemaPart:
    request = f"stream {of.request}" if of.request_streams else of.request
    response = f"stream {of.response}" if of.response_streams else of.response
    part = SchemaPart("rpc", "rpc", whole=lambda: f"({request}) returns ({response})")
    part.say("request", request)
    part.say("response", response)
    say_options(part, of.options)
    return part


def say_reserved(part: SchemaPart, statements: Iterable[Reserved]) -> None:
    for statement in statements:
        for entry in statement:
            text = span(entry) if isinstance(entry, Range) else quoted(entry)
            part.say(f"reserved {text}", text, "reserved")


def say_options(part: SchemaPart, options: Iterable[Option]) -> None:
    for option in options:
        name, _, value = assignment(option, "").partition(" = ")
        part.say(f"option {name}", value, "option")


def shown_field(of: Field) -> str:
    printer = Printer()
    printer.fields([of], "")
    return "\n".join(printer.lines).removesuffix(";")


def shown_group(of: Group) -> str:
    return f"group {of.name} = {of.tag}"


def shown_message(of: Message) -> str:
    """Its fields, in a line."""
    fields = [*of.fields, *(field_ for oneof_ in of.oneofs for field_ in oneof_.fields)]
    return ", ".join(f"{type_text(field_.type)} {field_.name} = {field_.tag}" for field_ in fields)


def way(tops: Sequence[tuple[SchemaPart, Place]], finding: Finding) -> Way:
    """Where a finding is (D.5): from the top of the file, or of the first imported file that has what it names."""
    if finding.rule == "PACKAGE_CHANGED":
        return [[(PACKAGE,)]]
    segments = finding.path.removeprefix("#/").split("/")
    part, place = next((top for top in tops if segments[0] in top[0].parts), tops[0])
    places: Way = [[place]]
    around = part
    for segment in segments:
        if segment not in part.parts and segment in around.parts:  # a member of a oneof is a field of the message
            part, place = around, place[:-1]
        if segment not in part.parts:
            places.append([(*(place[:-1] if part.noun == "oneof" else place), segment)])
            break
        around, part, place = part, part.parts[segment], (*place, segment)
        places.append([place])
    if part.noun in ("field", "group") and (said := SAID.get(finding.rule)):
        places.append([(*place, said)])
    return places


def starts(root: SchemaPart) -> Iterator[tuple[SchemaPart, Place]]:
    """The file itself, and those that it imports."""
    yield root, ()
    for key, part in root.parts.items():
        if part.noun == "imported file":
            yield part, (key,)
