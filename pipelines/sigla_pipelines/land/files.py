"""Files of raw records as a source: which there are, which are new, and what a task reads of them.

Tasks read the files themselves. The driver lists them and reads their footers: so it knows how many records there are
without asking those who read them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileType

from sigla_pipelines.land.manifest import Entry, Stopped
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.places import Folder, Place

ROWS: Final = 10_000
"""How many records a batch of Arrow has."""
SHARE: Final = (1 << 20, 128 << 20)
"""Bytes that a task reads, compressed: at least, where there are so many, and at most; a row group is not divided."""
FOOTERS_AT_ONCE: Final = 16
HIDDEN: Final = ("_", ".")
"""Begin the names of what other programs leave beside their data."""

_TEXT: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary)
_BYTES: Final = (pa.types.is_binary, pa.types.is_large_binary)
_TAKEN: Final[Mapping[str, tuple[Callable[[pa.DataType], bool], ...]]] = {
    "topic": _TEXT,
    "partition": (pa.types.is_integer,),
    "offset": (pa.types.is_integer,),
    "timestamp": (pa.types.is_timestamp,),
    "key": (*_BYTES, pa.types.is_null),
    "value": (*_BYTES, pa.types.is_null),
    "headers": (pa.types.is_list, pa.types.is_large_list, pa.types.is_null),
}
"""The types, by column, that programs write for it: an integer is refused for a timestamp, as its unit is unknown."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Row groups of a file: what one task reads of it."""

    path: str
    groups: tuple[int, ...]


Share = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class New:
    """A file that has not been landed. sizes: in bytes, of its row groups."""

    entry: Entry
    sizes: tuple[int, ...]


def new(source: Place, known: Mapping[str, Entry]) -> list[New]:
    """What is not known, in the order of paths. known: what was landed, by place.

    Raises Stopped if the folder does not exist, or if a file changed after it was landed, or does not hold raw records.
    """
    fresh = []
    for found in _listed_files(source):
        entry = known.get(found.place)
        if entry is None:
            fresh.append(found)
        elif (entry.tag, entry.size) != (found.tag, found.size):
            raise Stopped(
                f"{source.uri(found.path)} has changed since it was landed. Files of raw records must not change: put "
                "new records into a new file."
            )
    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as pool:
        return list(pool.map(lambda found: _new_file(source, found), fresh))


def topics(source: Place, files: Sequence[New]) -> frozenset[str]:
    """All that these files have records of: one column of them is read."""
    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as pool:
        return frozenset[str]().union(*pool.map(lambda file: _topics(source, file.entry.path), files))


def _topics(source: Place, path: str) -> set[str]:
    found = set[str]()
    with source.filesystem.open_input_file(source.path(path)) as opened, pq.ParquetFile(opened) as file:
        for batch in file.iter_batches(ROWS, columns=["topic"]):
            found.update(topic for topic in pc.unique(batch["topic"]).to_pylist() if topic is not None)
    return found


def finds(source: Place, folder: Place) -> bool:
    """Whether it would take what is in a folder for raw records."""
    root, below = f"{source.url.rstrip('/')}/", f"{folder.url.rstrip('/')}/"
    return below.startswith(root) and not _is_hidden(below.removeprefix(root))


def batches(files: Sequence[New], most: int) -> Iterator[Sequence[New]]:
    """most: files of a batch."""
    for at in range(0, len(files), most):
        yield files[at : at + most]


def shares(files: Sequence[New], workers: int) -> list[Share]:
    """What each task reads: shares of about one size, in the order of the files."""
    least, most = SHARE
    wanted = min(max(sum(sum(file.sizes) for file in files) // max(workers, 1), least), most)
    done: list[Share] = []
    share: list[Piece] = []
    held = 0
    for file in files:
        groups: list[int] = []
        for group, size in enumerate(file.sizes):
            groups.append(group)
            held += size
            if held >= wanted:
                done.append((*share, Piece(file.entry.path, tuple(groups))))
                share, groups, held = [], [], 0
        if groups:
            share.append(Piece(file.entry.path, tuple(groups)))
    return [*done, tuple(share)] if share else done


def read(source: Place, share: Share) -> Iterator[pa.RecordBatch]:
    """Batches of RAW."""
    for piece in share:
        with source.filesystem.open_input_file(source.path(piece.path)) as opened, pq.ParquetFile(opened) as file:
            columns = [name for name in RAW.names if name in file.schema_arrow.names]
            for batch in file.iter_batches(ROWS, row_groups=list(piece.groups), columns=columns):
                yield _as_raw(batch, source.uri(piece.path))


def _listed_files(source: Place) -> Iterator[Entry]:
    """Every file, in the order of paths; its records are not counted yet."""
    root = source.path("")
    # S3's ETag is in no listing of pyarrow's; when it was written tells a new content as well.
    found = source.filesystem.get_file_info(root)
    if found.type == FileType.File or (found.type == FileType.NotFound and isinstance(source, Folder)):
        raise Stopped(f"Folder not found: {source.url}. Set `source.path` to the folder of the raw records.")
    infos = source.filesystem.get_file_info(FileSelector(root, allow_not_found=True, recursive=True))
    for info in sorted(infos, key=lambda info: str(info.path)):
        path = str(info.path).removeprefix(root).lstrip("/")
        if info.type == FileType.File and not _is_hidden(path):
            yield Entry(path, str(info.mtime_ns), int(info.size), 0, source.url)


def _is_hidden(path: str) -> bool:
    return any(part.startswith(HIDDEN) for part in path.split("/"))


def _new_file(source: Place, found: Entry) -> New:
    path = found.path
    try:
        with source.filesystem.open_input_file(source.path(path)) as opened, pq.ParquetFile(opened) as file:
            schema, footer = file.schema_arrow, file.metadata
    except pa.ArrowInvalid as invalid:
        raise Stopped(f"{source.uri(path)} is not a Parquet file ({invalid}): remove it.") from None
    if missing := {*RAW.names} - {"headers"} - {*schema.names}:
        raise Stopped(
            f"{source.uri(path)} is not a file of raw records: it lacks the column {', '.join(sorted(missing))}."
        )
    for field in RAW:
        kind = schema.field(field.name).type if field.name in schema.names else field.type
        if not any(takes(kind) for takes in _TAKEN[field.name]):
            raise Stopped(f"{source.uri(path)} has a column {field.name} of type {kind}: expected {field.type}.")
    sizes = (footer.row_group(group).total_byte_size for group in range(footer.num_row_groups))
    return New(replace(found, records=footer.num_rows), tuple(sizes))


def _as_raw(batch: pa.RecordBatch, where: str) -> pa.RecordBatch:
    """where: it is from, for the sentence. Raises Stopped."""
    columns = []
    for field in RAW:
        found = batch.column(field.name) if field.name in batch.schema.names else pa.nulls(len(batch), field.type)
        if found.null_count and not field.nullable:
            raise Stopped(f"{where} is not a file of raw records: some of its records lack {field.name}.")
        try:
            columns.append(_cast(found, field.type))
        except pa.ArrowException as problem:
            raise Stopped(f"{where}, column {field.name}: {str(problem).partition(chr(10))[0]}") from None
    return pa.RecordBatch.from_arrays(columns, schema=RAW)


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(kind) and column.type.unit == "ns":
        # Kafka's clock has milliseconds: the digits behind them are dropped.
        column = pc.floor_temporal(column, unit="microsecond")
    return column.cast(kind)
