"""A part of records, their values or their keys: whose they are, and what they say."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sigla.decoding.decoder import Unreadable
from sigla.decoding.reasons import FINE, NUMBERS, Reason
from sigla.model import Subject
from sigla_pipelines.land import framing
from sigla_pipelines.land.bindings import Binding, CatalogAnswer, Head, Policy, Strategy
from sigla_pipelines.land.framing import NONE, Framed
from sigla_pipelines.land.plan import Plan
from sigla_pipelines.land.reader_schemas import NoHead
from sigla_pipelines.land.readers import Readers
from sigla_pipelines.land.schemas import Known

Rows = npt.NDArray[np.int64]
"""Places among the records, ascending."""

_PATHS: Final = 1 << 20
"""More message paths than records can have."""


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """Rows that one decoder has read.

    record: the full name that it reads. columns: a StructArray, one for each of `rows`. unchecked: it could not be
    checked whether the schema is the subject's. unnamed: how many properties a row has that the reader does not name,
    by the path of the column that has them; "" of none.
    """

    head: Head
    record: str
    rows: Rows
    columns: pa.Array
    unchecked: npt.NDArray[np.bool_]
    unnamed: Mapping[str, npt.NDArray[np.int64]]


@dataclass(slots=True)
class Part:
    """The values or the keys of records, row by row.

    status: FINE, TOMBSTONE or a reason's number. ids: NONE where a row names no schema, or none of this context.
    details, at: of rows that failed. subjects: of rows that got so far.
    """

    name: str
    framed: Framed
    status: npt.NDArray[np.int8]
    ids: npt.NDArray[np.int64]
    subjects: npt.NDArray[np.object_]
    details: dict[int, str] = field(default_factory=dict)
    at: dict[int, int] = field(default_factory=dict)
    groups: list[RecordGroup] = field(default_factory=list)

    def fail(self, rows: Rows, reason: Reason, detail: str) -> None:
        self.status[rows] = NUMBERS[reason]
        self.details.update(dict.fromkeys(rows.tolist(), detail))


@dataclass(frozen=True, slots=True)
class _Judged:
    """What wrote records: a schema, or a message of one. number: by which the decoder of its record knows it."""

    head: Head
    record: str
    number: int
    unchecked: bool


def decode_part(records: pa.RecordBatch, binding: Binding, plan: Plan, readers: Readers) -> Part:
    """records: of RAW, of one topic. Whatever is wrong with a row is a status; only a store that is silent raises.

    Raises NoHead, too, where the catalog was.
    """
    framed = framing.read_frames(records, binding.part)
    part = Part(binding.part, framed, framed.status, framed.ids.copy(), np.full(len(records), "", object))
    _check_sizes(part, plan.checks.limits.max_bytes)
    schemas = _schemas_by_number(part, plan, readers)
    protobuf = [ref for ref, known in schemas.items() if known.source.type == "PROTOBUF"]
    if protobuf:
        refs = _refs(framed)
        part.framed = framing.with_indexes(framed, np.isin(refs, protobuf) & (part.status == FINE))
        part.status = np.where(part.status == FINE, part.framed.status, part.status)
    _decode_judged(part, _judge_writers(part, schemas, binding, plan, readers), readers)
    return part


def _check_sizes(part: Part, most: int) -> None:
    lengths = pc.binary_length(part.framed.parts).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero((part.status == FINE) & (lengths > most))
    part.fail(rows, Reason.TOO_LARGE, f"more than {most} bytes")


def _refs(framed: Framed) -> npt.NDArray[np.int64]:
    """What a row says wrote it, as one number: an id, or a GUID below NONE."""
    return np.where(framed.guid != NONE, NONE - 1 - framed.guid, framed.ids)


def _distinct(values: npt.NDArray[np.int64], rows: Rows) -> Iterator[tuple[int, Rows]]:
    """Each value that these rows have, and those that have it."""
    if not rows.size:
        return
    order = rows[np.argsort(values[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(values[order], prepend=values[order[0]] - 1))
    for at in np.split(order, starts[1:]):
        yield int(values[at[0]]), at


def _schemas_by_number(part: Part, plan: Plan, readers: Readers) -> Mapping[int, Known]:
    """By their number in `_refs`; rows of others have failed."""
    found: dict[int, Known] = {}
    for ref, rows in _distinct(_refs(part.framed), np.flatnonzero(part.status == FINE)):
        try:
            if ref >= 0:
                found[ref] = readers.schemas.by_id(ref)
            else:
                found[ref] = readers.schemas.by_guid(_guid(part.framed, ref))
                part.ids[rows] = _id(found[ref], plan)
        except Unreadable as unreadable:
            part.fail(rows, unreadable.reason, unreadable.detail)
    return found


def _id(known: Known, plan: Plan) -> int:
    """NONE of a schema of another context: its number is another schema's here."""
    return int(known.key.id) if known.key.context == plan.context else NONE


def _guid(framed: Framed, ref: int) -> UUID:
    return framed.guids[NONE - 1 - ref]


def _judge_writers(
    part: Part, schemas: Mapping[int, Known], binding: Binding, plan: Plan, readers: Readers
) -> list[tuple[Rows, _Judged]]:
    found = []
    combined = _refs(part.framed) * _PATHS + part.framed.path + 1
    for each, rows in _distinct(combined, np.flatnonzero(part.status == FINE)):
        ref, path = each // _PATHS, each % _PATHS - 1
        known, indexes = schemas[ref], part.framed.paths[path] if path != NONE else ()
        try:
            record = "" if binding.strategy is Strategy.TOPIC else readers.record_name(known, indexes)
            subject = Subject(plan.context, binding.subject(record)).qualified
            part.subjects[rows] = subject
            head = _head(subject, record, binding, plan.answer)
            unchecked = _unchecked(known, head, plan)
            read = readers.record(head, known, indexes)
            number = readers.number(head, known, indexes)
            _check_selected(read, binding)
            found.append((rows, _Judged(head, read, number, unchecked)))
        except Unreadable as unreadable:
            part.fail(rows, unreadable.reason, unreadable.detail)
    return found


def _head(subject: str, record: str, binding: Binding, answer: CatalogAnswer) -> Head:
    """Raises Unreadable where the subject has none, and NoHead where it may have got one since the answer."""
    if head := answer.heads[binding].get(subject):
        return head
    if answer.stale and binding.admits(record):
        raise NoHead(
            f"There are records of subject {subject}, the catalog does not answer, and its last answer does not know "
            "this subject: wait, or pin the reader with `reader: {id: …}`."
        )
    what = f"version {binding.reader.number}" if binding.reader.kind == "version" else "versions"
    raise Unreadable(Reason.NOT_IN_SUBJECT, f"subject {subject} has no {what}")


def _unchecked(known: Known, head: Head, plan: Plan) -> bool:
    """Whether it could not be checked that the schema is the subject's. Raises Unreadable where it is not."""
    id = _id(known, plan)
    if id not in head.ids:
        if plan.answer.stale and id != NONE:
            return True
        if plan.checks.membership is Policy.FAIL:
            what = f"the schema, which is one of context {known.key.context}" if id == NONE else f"the id {id}"
            raise Unreadable(Reason.NOT_IN_SUBJECT, f"no version of subject {head.subject} has {what}")
    if id in head.deleted and plan.checks.deleted is Policy.FAIL:
        raise Unreadable(Reason.SCHEMA_DELETED, f"subject {head.subject} has the id {id} in deleted versions only")
    return False


def _check_selected(record: str, binding: Binding) -> None:
    """Raises Unreadable where the binding reads another message."""
    if binding.message not in ("", record):
        raise Unreadable(Reason.INCOMPATIBLE_READER, f"written as {record}, read as {binding.message}")


def _decode_judged(part: Part, judged: list[tuple[Rows, _Judged]], readers: Readers) -> None:
    """Rows of one record go through its decoder together, whichever schemas wrote them."""
    by_record: dict[tuple[str, str], list[tuple[Rows, _Judged]]] = {}
    for rows, each in judged:
        by_record.setdefault((each.head.subject, each.record), []).append((rows, each))
    for (_, record), several in by_record.items():
        head = several[0][1].head
        rows = np.concatenate([rows for rows, _ in several])
        numbers = np.concatenate([np.full(len(rows), each.number, np.int32) for rows, each in several])
        unchecked = np.concatenate([np.full(len(rows), each.unchecked) for rows, each in several])
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        whole = len(rows) == len(part.status)
        payloads = part.framed.payloads if whole else part.framed.payloads.take(pa.array(rows))
        decoded = readers.decoder(head, record).decode(payloads, pa.array(numbers[order], pa.int32()))
        status = decoded.status.to_numpy()
        part.status[rows] = status
        for bad in np.flatnonzero(status != FINE):
            row, detail, at = int(rows[bad]), decoded.detail[bad].as_py(), decoded.at[bad].as_py()
            if detail is not None:
                part.details[row] = detail
            if at is not None:
                part.at[row] = at
        part.groups.append(RecordGroup(head, record, rows, decoded.rows, unchecked[order], decoded.additional))
