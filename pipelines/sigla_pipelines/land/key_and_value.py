"""A part of records, their values or their keys: whose they are, and what they say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final
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
from sigla_pipelines.land.readers import PROTOBUF, Path, Readers
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


@dataclass(frozen=True, slots=True)
class _Judgment:
    """What becomes of records of one writer. subject: "" where it is unknown. read: None where `failure` says why."""

    subject: str
    read: _Judged | None = None
    failure: Unreadable | None = None


class Judge:
    """Which writers of one binding are read, and as what: asked once for each in a task's share of a batch.

    Thousands of schemas may have written the records of one topic: what is known of one is looked up, and no more.
    """

    def __init__(self, binding: Binding, plan: Plan, readers: Readers) -> None:
        self.binding = binding
        self.plan = plan
        self.readers = readers
        self._schemas: dict[int | UUID, Known | Unreadable] = {}
        self._verdicts: dict[tuple[int | UUID, Path], _Judgment] = {}

    def schema(self, ref: int | UUID) -> Known | Unreadable:
        """Raises what stores raise."""
        if ref not in self._schemas:
            known = self.readers.schemas
            try:
                self._schemas[ref] = known.by_guid(ref) if isinstance(ref, UUID) else known.by_id(ref)
            except Unreadable as unreadable:
                self._schemas[ref] = unreadable.with_traceback(None)
        return self._schemas[ref]

    def verdict(self, ref: int | UUID, path: Path) -> _Judgment:
        """path: of a Protobuf message. Raises NoHead, and what stores raise."""
        key = ref, path
        if key not in self._verdicts:
            known = self.schema(ref)
            self._verdicts[key] = (
                _Judgment("", failure=known) if isinstance(known, Unreadable) else self._judge(known, path)
            )
        return self._verdicts[key]

    def _judge(self, known: Known, path: Path) -> _Judgment:
        binding, readers, subject = self.binding, self.readers, ""
        try:
            record = "" if binding.strategy is Strategy.TOPIC else readers.record_name(known, path)
            subject = Subject(self.plan.context, binding.subject(record)).qualified
            head = _head(subject, record, binding, self.plan.answer)
            unchecked = _unchecked(known, head, self.plan)
            read = readers.record(head, known, path)
            number = readers.number(head, known, path)
            _check_selected(read, binding)
        except Unreadable as unreadable:
            return _Judgment(subject, failure=unreadable.with_traceback(None))
        return _Judgment(subject, _Judged(head, read, number, unchecked))


class _Coded:
    """Rows by the few values that they have. codes: of each row where in `values` its value is; NONE of other rows."""

    def __init__(self, values: npt.NDArray[np.int64], selected: npt.NDArray[np.bool_]) -> None:
        encoded = pa.array(values, mask=None if selected.all() else ~selected).dictionary_encode()
        self.values: list[int] = encoded.dictionary.to_pylist()
        self.codes = encoded.indices.fill_null(NONE).to_numpy().astype(np.int64)

    @cached_property
    def rows(self) -> list[Rows]:
        """Those of each value."""
        edges = np.cumsum(np.bincount(self.codes + 1, minlength=len(self.values) + 1))[:-1]
        return np.split(np.argsort(self.codes, kind="stable"), edges)[1:]

    def spread(self, of_values: Sequence[Any], missing: Any, kind: type) -> npt.NDArray[Any]:
        """What is said of each value, for each row. missing: of other rows."""
        said: npt.NDArray[Any] = np.empty(len(of_values) + 1, kind)
        said[:-1], said[-1] = of_values, missing
        spread: npt.NDArray[Any] = said[self.codes]
        return spread


def decode_part(records: pa.RecordBatch, judge: Judge) -> Part:
    """records: of RAW, of one topic. Whatever is wrong with a row is a status; only a store that is silent raises.

    Raises NoHead, too, where the catalog was.
    """
    name, plan = judge.binding.part, judge.plan
    framed = framing.read_frames(records, name)
    part = Part(name, framed, framed.status, framed.ids.copy(), np.full(len(records), "", object))
    _check_sizes(part, plan.checks.limits.max_bytes)
    coded = _Coded(_refs(framed), part.status == FINE)
    refs = [each if each >= 0 else _guid(framed, each) for each in coded.values]
    schemas = [judge.schema(ref) for ref in refs]
    for code, known in enumerate(schemas):
        if isinstance(refs[code], UUID) and isinstance(known, Known):
            part.ids[coded.rows[code]] = _id(known, plan)
    writers: list[tuple[int | UUID, Path]] = [(ref, ()) for ref in refs]
    protobuf = [isinstance(each, Known) and each.source.type == PROTOBUF for each in schemas]
    if any(protobuf):
        part.framed = framed = framing.with_indexes(framed, coded.spread(protobuf, missing=False, kind=bool))
        part.status = np.where(part.status == FINE, framed.status, part.status)
        coded = _Coded(coded.codes * _PATHS + framed.path + 1, part.status == FINE)
        of_messages = [divmod(each, _PATHS) for each in coded.values]
        writers = [(refs[code], framed.paths[path - 1] if path else ()) for code, path in of_messages]
    _decode_judged(part, coded, [judge.verdict(*each) for each in writers], judge.readers)
    return part


def _check_sizes(part: Part, most: int) -> None:
    lengths = pc.binary_length(part.framed.parts).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero((part.status == FINE) & (lengths > most))
    part.fail(rows, Reason.TOO_LARGE, f"more than {most} bytes")


def _refs(framed: Framed) -> npt.NDArray[np.int64]:
    """What a row says wrote it, as one number: an id, or a GUID below NONE."""
    return np.where(framed.guid != NONE, NONE - 1 - framed.guid, framed.ids)


def _id(known: Known, plan: Plan) -> int:
    """NONE of a schema of another context: its number is another schema's here."""
    return int(known.key.id) if known.key.context == plan.context else NONE


def _guid(framed: Framed, ref: int) -> UUID:
    return framed.guids[NONE - 1 - ref]


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


def _decode_judged(part: Part, coded: _Coded, verdicts: Sequence[_Judgment], readers: Readers) -> None:
    """Rows of one record go through its decoder together, whichever schemas wrote them."""
    part.subjects = coded.spread([each.subject for each in verdicts], missing="", kind=object)
    decoders: dict[tuple[str, str], int] = {}
    heads: list[_Judged] = []
    which = []
    for code, each in enumerate(verdicts):
        if each.failure:
            part.fail(coded.rows[code], each.failure.reason, each.failure.detail)
        read = each.read
        number = decoders.setdefault((each.subject, read.record), len(decoders)) if read else NONE
        if read and number == len(heads):
            heads.append(read)
        which.append((number, read.number, read.unchecked) if read else (NONE, NONE, False))
    of_codes = np.array([*which, (NONE, NONE, False)], np.int32)
    decoder_of, numbers, unchecked = (of_codes[:, at][coded.codes] for at in range(3))
    for at, judged in enumerate(heads):
        rows = np.flatnonzero(decoder_of == at)
        whole = len(rows) == len(part.status)
        payloads = part.framed.payloads if whole else part.framed.payloads.take(pa.array(rows))
        decoded = readers.decoder(judged.head, judged.record).decode(payloads, pa.array(numbers[rows]))
        status = decoded.status.to_numpy()
        part.status[rows] = status
        for bad in np.flatnonzero(status != FINE):
            row, detail, at_byte = int(rows[bad]), decoded.detail[bad].as_py(), decoded.at[bad].as_py()
            if detail is not None:
                part.details[row] = detail
            if at_byte is not None:
                part.at[row] = at_byte
        group = RecordGroup(
            judged.head, judged.record, rows, decoded.rows, unchecked[rows].astype(bool), decoded.additional
        )
        part.groups.append(group)
