"""How the records of a batch say which schema wrote them, by columns.

`sigla.decoding.frames` says what a frame is, of one record; here is the same for a batch. What nearly every record
has, a mark and an id in front of the payload, is read off the Arrow buffers; of all others each distinct mark is read
once, by `frame`, which alone knows what is wrong with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sigla.decoding.frames import (
    BY_GUID,
    BY_ID,
    GUID_END,
    ID_END,
    KEY_HEADER,
    VALUE_HEADER,
    Frame,
    Tombstone,
    Unframed,
    frame,
)
from sigla.decoding.reasons import FINE, NUMBERS

HEADERS: Final = {"value": VALUE_HEADER, "key": KEY_HEADER}
"""The header of a part."""

TOMBSTONE: Final = -1
"""How a null stands in a column of statuses."""

NONE: Final = -1
"""No id, no GUID, no path."""

END: Final = 2**31 - 1
"""Past the end of any payload: a slice without a stop is refused by pyarrow."""

Statuses = npt.NDArray[np.int8]
Ids = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]
Rows = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Framed:
    """A part of a batch's records taken apart; every column is as long as the batch.

    status: FINE, a number of `sigla.decoding.reasons`, or TOMBSTONE; of rows that are not FINE the rest means nothing.
    ids: NONE where a row names none. guid: where in `guids` a row's is; NONE where it names none. path: where in
    `paths` the message indexes of a row are; NONE until they were asked for. payloads: without their frames, of the
    part's own type.
    parts: as they came. marks: what the header says; null where the frame is in front, or nowhere.
    """

    status: Statuses
    ids: Ids
    guid: Places
    guids: tuple[UUID, ...]
    path: Places
    paths: tuple[tuple[int, ...], ...]
    payloads: pa.Array
    parts: pa.Array
    marks: pa.Array


def read_frames(batch: pa.RecordBatch, part: str = "value") -> Framed:
    """A batch of RAW, of which part is `value` or `key`. Its parts may be binary or large_binary."""
    parts = batch.column(part)
    marks = _marks(batch.column("headers"), HEADERS[part])
    inside = _flags(marks.is_null())
    nulls = _flags(parts.is_null())
    status = np.zeros(len(parts), np.int8)
    ids, others, unmarked = _in_front(parts)
    ids[nulls], others[nulls] = NONE, False
    skips = np.full(len(parts), ID_END, np.int64)
    guid, known = np.full(len(parts), NONE, np.int32), dict[UUID, int]()
    if others.any() or not inside.all():
        ids[~inside], skips[~inside] = NONE, 0
        others &= inside
        marked, first = pc.binary_slice(parts, 0, GUID_END), pc.binary_slice(parts, 0, 1)
        distinct = chain(
            _distinct(marks, ~inside), _distinct(marked, others & ~unmarked), _distinct(first, others & unmarked)
        )
        for rows, mark in distinct:
            match frame(mark):
                case Frame(schema=UUID() as schema):
                    status[rows], guid[rows] = FINE, known.setdefault(schema, len(known))
                case Frame(schema=int(id)):
                    status[rows], ids[rows] = FINE, id
                case unread:
                    status[rows] = _status_number(unread)
        skips[others] = GUID_END
    status[nulls] = TOMBSTONE
    path = np.full(len(parts), NONE, np.int32)
    return Framed(status, ids, guid, tuple(known), path, (), _stripped(parts, skips), parts, marks)


def with_indexes(framed: Framed, rows: Rows) -> Framed:
    """The same, with the message indexes of these rows: those whose schema is Protobuf. Once for a row.

    Where they make no sense the row has the status BAD_MSG_INDEX.
    """
    rows = rows & (framed.status == FINE)
    status, path, known = framed.status.copy(), framed.path.copy(), {each: i for i, each in enumerate(framed.paths)}
    inside = _flags(framed.marks.is_null())
    skips = np.zeros(len(rows), np.int64)
    # The first message of a file is nearly all there is, then one of the others at the top.
    starts, lengths, data = _buffers(framed.payloads)
    first, second = (_byte(data, starts + step) for step in range(2))
    here = rows & inside
    only = here & (lengths > 0) & (first == 0)
    near = here & (lengths > 1) & (first == 2) & (second < 0x80) & (second & 1 == 0)
    for selected, width, step in ((only, 1, np.zeros_like(second)), (near, 2, second >> 1)):
        skips[selected] = width
        for each in np.unique(step[selected]):
            path[selected & (step == each)] = known.setdefault((int(each),), len(known))
    for selected, mark in _distinct(framed.marks, rows & ~inside):
        _note(frame(mark, indexed=True), selected, status, path, known)
    for row in np.flatnonzero(here & ~only & ~near):
        part = framed.parts[int(row)].as_py()
        read = frame(part, indexed=True)
        _note(read, np.array([row]), status, path, known)
        if isinstance(read, Frame):
            skips[row] = len(framed.payloads[int(row)].as_py()) - len(read.payload)
    return replace(framed, status=status, path=path, paths=tuple(known), payloads=_stripped(framed.payloads, skips))


def _note(
    read: Frame | Tombstone | Unframed,
    rows: npt.NDArray[np.int64],
    status: Statuses,
    path: Places,
    known: dict[tuple[int, ...], int],
) -> None:
    if isinstance(read, Frame):
        path[rows] = known.setdefault(read.indexes, len(known))
    else:
        status[rows] = _status_number(read)


def _status_number(read: Frame | Tombstone | Unframed) -> int:
    return NUMBERS[read.reason] if isinstance(read, Unframed) else TOMBSTONE


def _marks(headers: pa.Array, name: str) -> pa.Array:
    """What the last header of this name says in each row; null without such a header, or if all are empty."""
    items = headers.flatten()
    if not len(items):
        return pa.nulls(len(headers), pa.binary())
    values = pc.struct_field(items, "value")
    said = pc.and_(pc.equal(pc.struct_field(items, "key"), name), values.is_valid())
    at = np.flatnonzero(_flags(said.fill_null(fill_value=False)))
    last = np.full(len(headers), NONE, np.int64)
    last[pc.list_parent_indices(headers).to_numpy()[at]] = at  # of two for one row the later stays
    return values.take(pa.array(last, mask=last == NONE))


def _in_front(parts: pa.Array) -> tuple[Ids, Rows, Rows]:
    """The ids that stand in front; the rows without one, which are still to be read; those without a mark among them.

    The first byte of a row without a mark is all there is to look at: so a topic without frames is as quick as any.
    """
    starts, lengths, data = _buffers(parts)
    first = _byte(data, starts)
    others = (first != BY_ID) | (lengths < ID_END)
    big_endian = np.stack([_byte(data, starts + step) for step in range(1, ID_END)], axis=1).view(">u4")
    ids = big_endian.astype(np.int64).reshape(-1)
    ids[others] = NONE
    return ids, others, (first != BY_ID) & (first != BY_GUID)


def _buffers(column: pa.Array) -> tuple[Ids, Ids, npt.NDArray[np.uint8]]:
    """Where each value starts, how long it is, and the bytes of all; nulls lie anywhere."""
    _, offsets, data = column.buffers()
    width = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    edges = np.frombuffer(offsets or b"", width)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    bytes_ = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    return edges[:-1], np.diff(edges), bytes_


def _byte(data: npt.NDArray[np.uint8], at: Ids) -> npt.NDArray[np.uint8]:
    """The bytes at these places; of places beyond the end whatever it may be."""
    return data.take(at, mode="clip") if data.size else np.zeros(len(at), np.uint8)


def _distinct(column: pa.Array, rows: Rows) -> Iterator[tuple[npt.NDArray[np.int64], bytes]]:
    """Each value that occurs in these rows, and in which."""
    at = np.flatnonzero(rows)
    if not at.size:
        return iter(())
    encoded = column.take(pa.array(at)).dictionary_encode()
    codes = encoded.indices.to_numpy()
    edges = np.cumsum(np.bincount(codes, minlength=len(encoded.dictionary)))[:-1]
    return zip(np.split(at[np.argsort(codes, kind="stable")], edges), encoded.dictionary.to_pylist(), strict=True)


def _stripped(column: pa.Array, skips: Ids) -> pa.Array:
    """The values without their first bytes, so many of each."""
    if not skips.any():
        return column
    if (skips == skips[0]).all():
        return pc.binary_slice(column, int(skips[0]), END)
    distinct = np.unique(skips)
    groups = [np.flatnonzero(skips == each) for each in distinct]
    cut = [
        pc.binary_slice(column.take(pa.array(at)), int(each), END) for at, each in zip(groups, distinct, strict=True)
    ]
    return pa.concat_arrays(cut).take(pa.array(np.argsort(np.concatenate(groups))))


def _flags(column: pa.Array) -> Rows:
    flags: Rows = column.to_numpy(zero_copy_only=False)
    return flags
