"""One order for keys, whose order has no meaning (contract C.5), and the digest by which equal texts are found."""

from hashlib import sha256

from sigla.languages.json_schema.load import Document
from sigla.languages.json_schema.text import Json, read, written


def normalised(document: Document) -> Document:
    """The schema with the keys of every object by UTF-16 code unit; lists stay as they are. Raises Malformed."""
    value: Json = read(written(document.value, ordered=True))
    return Document(value, document.references)


def digest(canonical: str) -> str:
    """64 hexadecimal digits, equal for equal texts, which are the equivalent ones."""
    return sha256(canonical.encode()).hexdigest()
