"""Files to compare, and what is found between them."""

from sigla.languages.language import Budget
from sigla.languages.protobuf.compare import differences
from sigla.languages.protobuf.parse import read
from sigla.languages.protobuf.rules import COMPATIBLE
from sigla.languages.protobuf.tree import Document

PROTO3 = 'syntax = "proto3"; '


def document(text: str, **imported: str) -> Document:
    """A file with the files of its references; proto3 if a text does not say otherwise."""
    files = {f"{name}.proto": read(with_syntax(other)) for name, other in imported.items()}
    return Document(read(with_syntax(text)), files)


def with_syntax(text: str) -> str:
    return text if text.startswith("syntax") else PROTO3 + text


def found(old: Document, new: Document) -> list[str]:
    """All differences as `KIND path`, the new file being the reader."""
    return [f"{finding.rule} {finding.path}" for finding in differences(new, old, Budget())]


def between(old: str, new: str) -> list[str]:
    return found(document(old), document(new))


def breaking(findings: list[str]) -> list[str]:
    return [finding for finding in findings if finding.split()[0] not in COMPATIBLE]
