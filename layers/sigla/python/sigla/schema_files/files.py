"""A schema in a file, as it is offered to a subject."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from sigla.model import Draft, Metadata, OfferedReference, RuleSet, Subject

TYPES: Final[Mapping[str, str]] = {".avsc": "AVRO", ".json": "JSON", ".proto": "PROTOBUF"}
"""The language of a file, by how its name ends."""


def type_of(name: str) -> str | None:
    """None where the name does not tell."""
    return TYPES.get(PurePath(name).suffix.lower())


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """name: of the file, as people call it. type: of the schema. references: names, subjects and versions."""

    name: str
    subject: Subject
    type: str
    text: str
    references: tuple[OfferedReference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    normalize: bool = False

    @property
    def draft(self) -> Draft:
        return Draft(self.text, self.type, self.references, self.metadata, self.rule_set)
