"""Whether every name that a file uses is declared somewhere (contract D.2, PP-37 to PP-45, PR-2 to PR-4).

Values of maps are left out: the reference takes `map<int32, no.Such>`, and what cannot be built is for strict
validation to refuse.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.protobuf.kinds import SCALARS
from sigla.languages.protobuf.limits import too_deep
from sigla.languages.protobuf.names import Names, bodies
from sigla.languages.protobuf.tree import Document, Extend, Field, File, MapType, Message

STEPS_OF_A_MESSAGE: Final = 3
Scope: TypeAlias = tuple[str, ...]


def check(document: Document) -> None:
    """Raises Malformed for the first type of a field or rpc, or extended message, that is not declared."""
    try:
        Resolution(document).file(document.file)
    except RecursionError:
        raise too_deep() from None


class Resolution:
    """The names of one document. known: those that were found, with the scope in which they were used."""

    __slots__ = ("known", "names")

    def __init__(self, document: Document) -> None:
        self.names = Names(document)
        self.known: set[tuple[str, Scope]] = set()

    def file(self, file: File) -> None:
        for message in file.messages:
            self.message(message, ())
        self.extends(file.extends, ())
        for service in file.services:
            for rpc in service.rpcs:
                self.name(rpc.request, (), f"rpc {service.name}.{rpc.name}")
                self.name(rpc.response, (), f"rpc {service.name}.{rpc.name}")

    def message(self, message: Message, outer: Scope) -> None:
        effort.pulse(STEPS_OF_A_MESSAGE + len(message.fields))
        scope = (*outer, message.name)
        self.fields(message.fields, scope)
        for oneof in message.oneofs:
            self.fields(oneof.fields, scope)
        self.extends(message.extends, scope)
        for nested in bodies(message):
            self.message(nested, scope)

    def extends(self, extends: Iterable[Extend], scope: Scope) -> None:
        for extend in extends:
            self.name(extend.extendee, scope, "an extend")
            self.fields(extend.fields, scope)
            for group in extend.groups:
                self.message(group.body, scope)

    def fields(self, fields: Iterable[Field], scope: Scope) -> None:
        for field in fields:
            if not isinstance(field.type, MapType) and field.type not in SCALARS:
                self.name(field.type, scope, f"field {'.'.join((*scope, field.name))}")

    def name(self, name: str, scope: Scope, user: str) -> None:
        if (name, scope) in self.known:
            return
        if self.names.find(name, scope) is None:
            raise Malformed(f"Type {name}, which {user} uses, is not defined")
        self.known.add((name, scope))
