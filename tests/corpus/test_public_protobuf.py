"""Files that people publish, as the packages bring them that the tests install anyway.

What protoc accepts is a schema, with its imports as references; and the texts that we store mean to protoc what the
file meant.
"""

from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest

from sigla.languages.protobuf import LANGUAGE as PROTOBUF
from sigla.languages.protobuf import parse
from sigla.model import Resolved
from tests.unit.languages.protobuf_files import meant


def in_folder(package: str, root: str = "") -> dict[str, str]:
    """The files of an installed package by import path."""
    folder = Path(str(distribution(package).locate_file(root)))
    listed = [Path(str(file)) for file in distribution(package).files or () if file.suffix == ".proto"]
    return {str(file.relative_to(root)): (folder / file.relative_to(root)).read_text("utf-8") for file in listed}


def in_jar(package: str, jar: str) -> dict[str, str]:
    (path,) = Path(str(distribution(package).locate_file(""))).glob(jar)
    with ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".proto")}


@cache
def published(package: str) -> dict[str, str]:
    return PACKAGES[package]()


PACKAGES: dict[str, Callable[[], dict[str, str]]] = {
    "googleapis-common-protos": lambda: in_folder("googleapis-common-protos"),
    "grpcio-tools": lambda: in_folder("grpcio-tools", "grpc_tools/_proto"),
    "pyspark": lambda: in_jar("pyspark", "pyspark/jars/spark-connect_*.jar"),
}


@pytest.mark.parametrize("package", PACKAGES)
def test_what_people_publish_is_a_schema_and_stays_what_it_means(package: str, tmp_path: Path) -> None:
    """A registry that refuses a file which builds everywhere else is of no use to whoever owns it."""
    files = published(package)
    assert len(files) > 10
    paths = sorted(files)
    for form in ("written", "canonical", "normal"):
        (tmp_path / form).mkdir()
    for path in paths:
        schema = PROTOBUF.parse(files[path], references(path, files), True)
        PROTOBUF.validate(schema, True)
        stored(tmp_path / "written", path, files[path])
        stored(tmp_path / "canonical", path, schema.canonical)
        stored(tmp_path / "normal", path, PROTOBUF.normalise(schema).canonical)
    expected = meant(tmp_path / "written", paths)
    assert meant(tmp_path / "canonical", paths) == expected
    assert meant(tmp_path / "normal", paths) == expected


def stored(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, "utf-8")


def references(path: str, files: dict[str, str]) -> list[Resolved]:
    """The files that it needs, as whoever registers it has to name them."""
    return [Resolved(needed, files[needed]) for needed in dict.fromkeys(imports(path, files))]


def imports(path: str, files: dict[str, str]) -> Iterator[str]:
    """Each file after those that it needs itself. Those of protoc itself need not be there."""
    file = parse.read(files[path])
    for needed in (*file.imports, *file.public):
        if needed in files:
            yield from imports(needed, files)
            yield needed
