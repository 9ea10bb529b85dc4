"""Files of `_schemas` records: dumps, exports, segments of the journal in S3, what Kafka's tools print.

Lines that come twice count once.
"""

import gzip
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, cast

import orjson

from sigla.backups.scratch import scratch_folder
from sigla.cli.misuse import Misuse
from sigla.errors import FormTooNew
from sigla.journal.replay import FORM, WITH_KEYS, Line, NoKey, NotARecord, Place, TopicRecord, read_line

STANDARD_INPUT = "standard input"

ONE_TOPIC = "Import dumps of several topics one after the other. Nothing was imported."
NEEDED = f"{FORM}; where there are several files, every line needs its offset, which tells their order"

_GZIP = b"\x1f\x8b"

_PUBLIC, _PRIVATE = 0o666, 0o600
"""Who may read and write a new file, as far as the umask lets them."""


def read(path: Path | None) -> list[TopicRecord]:
    """The records of a file, or of all `.jsonl` and `.jsonl.gz` below a directory, in their order. Raises Misuse.

    path: None for standard input. Any of them is opened once: a pipe gives what it has to its first reader.
    """
    files = _files(path)
    first: dict[Place, tuple[TopicRecord, str]] = {}
    for file in files:
        for place, record, where in _lines(file, alone=len(files) == 1):
            standing, there = first.setdefault(place, (record, where))
            if len(place) == 1 and standing != record:  # in a segment the nonce says that they are one
                raise Misuse(f"Two different records have the same offset: {there} and {where}. {ONE_TOPIC}")
    if len({len(place) for place in first}) > 1:
        raise Misuse(
            f"{path} mixes lines of a topic, which have an offset, with segments of a journal: import them one after "
            "the other."
        )
    in_order = ((place, first[place][0]) for place in sorted(first))
    return [record if len(place) == 1 else record._replace(offset=n) for n, (place, record) in enumerate(in_order)]


def write(records: Iterable[TopicRecord], file: Path | None, *, secret: bool = False) -> int:
    """As lines, into a file that is whole when it appears under its name, or to standard output; how many.

    file: packed if its name says so. A link is followed; a pipe or a device is written into, and stays what it is.
    secret: only its owner may read the file.
    Raises Misuse, BrokenPipeError, and what the records raise.
    """
    with (
        _naming_the_output(file),
        _packed(file, _PRIVATE if secret else _PUBLIC) if file else nullcontext(sys.stdout.buffer) as out,
    ):
        number = 0
        for record in records:
            line = {
                "offset": record.offset,
                "timestamp": record.ts,
                "key": _as_text(record.key),
                "value": None if record.value is None else _as_text(record.value),
            }
            out.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            number += 1
        out.flush()
    return number


@contextmanager
def _naming_the_output(file: Path | None) -> Iterator[None]:
    """Stores raise errors of their own: whatever the system says here, it says of the output. Raises Misuse."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise Misuse(f"{file or 'The output'} cannot be used ({failure.strerror}).") from None


@contextmanager
def _packed(file: Path, mode: int) -> Iterator[IO[bytes]]:
    with file.open("wb") if file.exists() and not file.is_file() else _new(file.resolve(), mode) as out:
        if file.suffix == ".gz":
            with gzip.GzipFile(file.name, "wb", compresslevel=6, fileobj=out) as packed:
                yield cast("IO[bytes]", packed)
        else:
            yield out


@contextmanager
def _new(file: Path, mode: int) -> Iterator[IO[bytes]]:
    """Begun in a folder of its own: another export to the same name, or one that was killed, does not touch it."""
    with scratch_folder(file.parent) as folder:
        begun = folder / "begun"
        with os.fdopen(os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        begun.replace(file)


def _as_text(part: str | bytes) -> str:
    return part if isinstance(part, str) else part.decode()


def _files(path: Path | None) -> Sequence[Path | None]:
    if path is None or not path.is_dir():
        return [path]
    files = sorted(each for each in path.rglob("*") if each.name.endswith((".jsonl", ".jsonl.gz")))
    if not files:
        raise Misuse(f"Found no files *.jsonl or *.jsonl.gz in {path}.")
    return files


def _lines(file: Path | None, *, alone: bool) -> Iterator[tuple[Place, TopicRecord, str]]:
    """With where each stands. alone: a line without an offset has its number as its place."""
    name = str(file or STANDARD_INPUT)
    try:
        with file.open("rb") if file else open(0, "rb", closefd=False) as opened:
            packed = opened.peek(len(_GZIP)).startswith(_GZIP)
            lines = gzip.GzipFile(fileobj=opened) if packed else opened
            for number, line in enumerate(lines, 1):
                if line.strip():
                    where = f"line {number} of {name}"
                    yield *_line(line, where, number - 1 if alone else None), where
    except (EOFError, zlib.error, gzip.BadGzipFile) as broken:
        raise Misuse(f"{name} is damaged or cut off ({broken}); nothing was imported.") from None
    except OSError as failure:
        raise Misuse(f"{name} cannot be read ({failure.strerror or failure}).") from None


def _line(line: bytes, where: str, offset: int | None) -> Line:
    try:
        return read_line(line, offset)
    except FormTooNew as newer:
        raise Misuse(f"L{where[1:]} {newer.why}. Nothing was imported.") from None
    except NoKey:
        raise Misuse(f"L{where[1:]} has no key: {WITH_KEYS}. Nothing was imported.") from None
    except NotARecord:
        form = NEEDED if offset is None else FORM
        raise Misuse(f"L{where[1:]} is not a record: {form}. Nothing was imported.") from None
