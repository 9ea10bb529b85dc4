"""Schemas that people publish, as the packages bring them that the tests install anyway.

What two other implementations of Avro read is a schema to us, says what it said when it is stored, and is compatible
with itself.
"""

import json
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import avro.schema
import fastavro
import pytest

from sigla.languages.avro import LANGUAGE as AVRO


def in_package(package: str, pattern: str) -> dict[str, str]:
    """The files of an installed package by path."""
    root = Path(str(distribution(package).locate_file("")))
    return {str(path.relative_to(root)): path.read_text("utf-8") for path in sorted(root.glob(pattern))}


def in_jars(package: str, pattern: str) -> dict[str, str]:
    """The schemas in an installed package's jars by jar and path."""
    found: dict[str, str] = {}
    for jar in sorted(Path(str(distribution(package).locate_file(""))).glob(pattern)):
        with ZipFile(jar) as archive:
            names = [name for name in archive.namelist() if name.endswith(".avsc")]
            found |= {f"{jar.name}!{name}": archive.read(name).decode() for name in names}
    return found


PACKAGES: dict[str, Callable[[], dict[str, str]]] = {
    "avro": lambda: in_package("avro", "avro/**/*.avsc"),
    "pyspark": lambda: in_jars("pyspark", "pyspark/jars/avro-*.jar"),
}


@pytest.mark.parametrize("package", PACKAGES)
def test_what_people_publish_is_a_schema_and_stays_what_it_says(package: str) -> None:
    """Stored as text and in normal form, to others as to us."""
    files = PACKAGES[package]()
    assert files
    for text in files.values():
        schema = AVRO.parse(text, (), True)
        AVRO.validate(schema, True)
        normal = AVRO.normalise(schema)
        assert AVRO.normalise(normal).canonical == normal.canonical
        for form in (schema, normal):
            assert AVRO.compare(schema, form) == AVRO.compare(form, schema) == ()
            assert fingerprint(form.canonical) == fingerprint(text)


def fingerprint(text: str) -> tuple[str, str]:
    """The fingerprint of what the others understand."""
    own = avro.schema.parse(text).fingerprint("sha256").hex()
    parsing_form = fastavro.schema.to_parsing_canonical_form(json.loads(text))
    return own, fastavro.schema.fingerprint(parsing_form, "sha256")
