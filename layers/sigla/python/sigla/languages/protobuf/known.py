"""The files that every schema may use without a reference, and even without an import (contract D.2.1, PP-40).

Their texts are modules of `known_files`, and a text is parsed when it is first asked for: most schemas use none or one.
"""

from itertools import groupby
from typing import Final

from sigla.languages.protobuf import parse
from sigla.languages.protobuf.known_files import confluent, descriptor, google_protobuf, google_type
from sigla.languages.protobuf.tree import File

TEXTS: Final = {**descriptor.FILES, **google_protobuf.FILES, **google_type.FILES, **confluent.FILES}


def _package(path: str) -> str:
    """What the folder says, and in these files the package line too."""
    return path.rpartition("/")[0].replace("/", ".")


_PATHS: Final = {package: tuple(paths) for package, paths in groupby(TEXTS, _package)}

ROOTS: Final = tuple({f"{package.partition('.')[0]}.": None for package in _PATHS})
"""What every full name that these files declare starts with."""

_FILES: Final[dict[str, File]] = {}
"""Those that were asked for. Files are not changed once they were read, so all documents share them."""


def file(path: str) -> File | None:
    """The file of this import path; None if it is not among ours."""
    found = _FILES.get(path)
    if found is None and path in TEXTS:
        found = _FILES[path] = parse.read(TEXTS[path])
    return found


def paths_of(package: str) -> tuple[str, ...]:
    """The import paths of the files that declare this package; () if no file does."""
    return _PATHS.get(package, ())
