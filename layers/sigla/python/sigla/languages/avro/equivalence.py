"""When two schemas are the same (contract B.4): when they have the same structure, however they are spelled."""

from hashlib import sha256

from sigla.languages.avro.canonical import structure
from sigla.languages.avro.tree import Document


def equivalent(a: Document, b: Document) -> bool:
    return structure(a.root) == structure(b.root)


def digest(document: Document) -> str:
    """64 hexadecimal digits, equal for equivalent schemas."""
    return sha256(structure(document.root).encode()).hexdigest()
