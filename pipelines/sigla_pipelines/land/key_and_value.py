"""A part of records, their values or their keys: whose they are, and what they say."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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
from sigla_pipelines.land.readers import PROTOBUF, Path, Readers
from sigla_pipelines.land.schemas import Known

Rows = npt.NDArray[np.int64]
"""Places among the records, ascending."""

_PATHS: Final = 1 << 20
"""More message paths than records can have."""


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """Rows that one decoder has read.

    record: the full name that it reads. columns: a StructArray, one for each of `rows`. versions: of the subject, that
    the ids are; 0 without one. unchecked: it could not be checked whether the schema is the subject's. unnamed:
    how many properties a row has that the reader does not name, by the path of the column that has them; "" of none.
    """

    head: Head
    record: str
    rows: Rows
    columns: pa.Array
    versions: npt.NDArray[np.int64]
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
class _Judgment:
    """What becomes of the records of a writer: a schema, or a message of one.

    subject: "" where it is unknown. decoder: where in `Judge.decoders` its record's is; NONE where `failure` says why.
    number: by which that decoder knows it. by_message: Protobuf's, of which each message is judged by itself.
    """

    subject: str = ""
    decoder: int = NONE
    number: int = NONE
    version: int = 0
    unchecked: bool = False
    failure: Unreadable | None = None
    by_message: bool = False


class Judge:
    """Which writers of one binding are read, and as what: asked once for each in a task's share of a batch.

    Thousands of schemas may have written the records of one topic: what is known of them is looked up all at once.
    `decoders` has the head and the record of each decoder.
    """

    def __init__(self, binding: Binding, plan: Plan, readers: Readers) -> None:
        self.binding = binding
        self.plan = plan
        self.readers = readers
        self.decoders: list[tuple[Head, str]] = []
        self.judgments: list[_Judgment] = []
        self._places: dict[tuple[int | UUID, Path | None], int] = {}
        self._ids, self._of_ids = np.empty(0, np.int64), np.empty(0, np.int64)
        # The first is for rows that nothing is judged of.
        self._table = _columns_of([_Judgment()])
        self._subjects = np.array([""], object)

    def schema(self, ref: int | UUID) -> Known:
        """Raises Unreadable, and what stores raise."""
        schemas = self.readers.schemas
        return schemas.by_guid(ref) if isinstance(ref, UUID) else schemas.by_id(ref)

    def places(self, refs: Sequence[int | UUID]) -> npt.NDArray[np.int64]:
        """Where in `judgments` each of them is. Raises NoHead, and what stores raise."""
        return np.array([self.place(ref) for ref in refs], np.int64)

    def places_of_ids(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The same of ids alone, most of which are known."""
        at = np.searchsorted(self._ids, ids).clip(max=max(len(self._ids) - 1, 0))
        known = self._ids[at] == ids if len(self._ids) else np.zeros(len(ids), bool)
        if not known.all():
            new = ids[~known]
            places = np.concatenate([self._of_ids, self.places(new.tolist())])
            together = np.concatenate([self._ids, new])
            order = np.argsort(together)
            self._ids, self._of_ids = together[order], places[order]
            at = np.searchsorted(self._ids, ids)
        found: npt.NDArray[np.int64] = self._of_ids[at]
        return found

    def place(self, ref: int | UUID, message: Path | None = None) -> int:
        """message: of Protobuf. Raises NoHead, and what stores raise."""
        key = ref, message
        if key not in self._places:
            self.judgments.append(self._judge(ref, message))
            self._places[key] = len(self.judgments) - 1
        return self._places[key]

    def of_rows(self, places: npt.NDArray[np.int64]) -> "_OfRows":
        """places: NONE of rows that nothing is judged of."""
        new = self.judgments[len(self._table) - 1 :]
        if new:
            self._table = np.concatenate([self._table, _columns_of(new)])
            self._subjects = np.concatenate([self._subjects, np.array([each.subject for each in new], object)])
        return _OfRows(self._subjects[places + 1], *self._table[places + 1].T)

    def _judge(self, ref: int | UUID, message: Path | None) -> _Judgment:
        binding, readers, subject, path = self.binding, self.readers, "", message or ()
        try:
            known = self.schema(ref)
            if message is None and known.source.type == PROTOBUF:
                return _Judgment(by_message=True)
            record = "" if binding.strategy is Strategy.TOPIC else readers.record_name(known, path)
            subject = Subject(self.plan.context, binding.subject(record)).qualified
            head = _head(subject, record, binding, self.plan.answer)
            unchecked = _unchecked(known, head, self.plan)
            read = readers.record(head, known, path)
            number = readers.number(head, known, path)
            _check_selected(read, binding)
        except Unreadable as unreadable:
            return _Judgment(subject, failure=unreadable.with_traceback(None))
        if (head, read) not in self.decoders:
            self.decoders.append((head, read))
        version = head.ids.get(_id(known, self.plan), 0)
        return _Judgment(subject, self.decoders.index((head, read)), number, version, unchecked)


def _columns_of(judgments: Sequence[_Judgment]) -> npt.NDArray[np.int64]:
    """What `_OfRows` has of each but its subject."""
    rows = [(e.decoder, e.number, e.version, e.unchecked, e.failure is not None, e.by_message) for e in judgments]
    return np.array(rows, np.int64)


@dataclass(frozen=True, slots=True)
class _OfRows:
    """The judgments of rows, a column for each of what they say."""

    subjects: npt.NDArray[np.object_]
    decoders: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    versions: npt.NDArray[np.int64]
    unchecked: npt.NDArray[np.int64]
    failed: npt.NDArray[np.int64]
    by_message: npt.NDArray[np.int64]


def decode_part(records: pa.RecordBatch, judge: Judge) -> Part:
    """records: of RAW, of one topic. Whatever is wrong with a row is a status; only a store that is silent raises.

    Raises NoHead, too, where the catalog was.
    """
    name = judge.binding.part
    framed = framing.read_frames(records, name)
    part = Part(name, framed, framed.status, framed.ids.copy(), np.full(len(records), "", object))
    _check_sizes(part, judge.plan.checks.limits.max_bytes)
    refs = _refs(framed)
    rows = np.flatnonzero(part.status == FINE)
    places = np.full(len(refs), NONE, np.int64)
    for of, selected in ((judge.places_of_ids, rows[refs[rows] >= 0]), (_by_guid(judge, part), rows[refs[rows] < 0])):
        _spread(places, refs, selected, of)
    judged = judge.of_rows(places)
    if judged.by_message.any():
        part.framed = framing.with_indexes(framed, judged.by_message.astype(bool))
        part.status = np.where(part.status == FINE, part.framed.status, part.status)
        rows = np.flatnonzero(judged.by_message & (part.status == FINE))
        places[judged.by_message.astype(bool)] = NONE
        messages = refs * _PATHS + part.framed.path + 1
        _spread(places, messages, rows, _by_message(judge, part.framed))
        judged = judge.of_rows(places)
    part.subjects = judged.subjects
    for place in np.unique(places[judged.failed.astype(bool)]).tolist():
        failure = judge.judgments[place].failure
        if failure:
            part.fail(np.flatnonzero(places == place), failure.reason, failure.detail)
    _decode_judged(part, judge, judged)
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


def _spread(
    places: npt.NDArray[np.int64],
    values: npt.NDArray[np.int64],
    rows: Rows,
    of_values: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]],
) -> None:
    """Gives these rows the places of their values, each of which is looked up once."""
    if rows.size:
        coded = pa.array(values if len(rows) == len(values) else values[rows]).dictionary_encode()
        places[rows] = of_values(coded.dictionary.to_numpy())[coded.indices.to_numpy()]


def _by_guid(judge: Judge, part: Part) -> Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
    """The places of GUIDs. Rows get the ids that these have here."""

    def places(refs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        guids = [part.framed.guids[NONE - 1 - ref] for ref in refs.tolist()]
        for ref, guid in zip(refs.tolist(), guids, strict=True):
            with suppress(Unreadable):
                part.ids[(part.framed.guid == NONE - 1 - ref) & (part.status == FINE)] = _id(
                    judge.schema(guid), judge.plan
                )
        return judge.places(guids)

    return places


def _by_message(judge: Judge, framed: Framed) -> Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
    """The places of messages: of references times `_PATHS`, with a path."""

    def places(messages: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        found = []
        for ref, path in (divmod(each, _PATHS) for each in messages.tolist()):
            named = ref if ref >= 0 else framed.guids[NONE - 1 - ref]
            found.append(judge.place(named, framed.paths[path - 1] if path else ()))
        return np.array(found, np.int64)

    return places


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


def _decode_judged(part: Part, judge: Judge, judged: _OfRows) -> None:
    """Rows of one record go through its decoder together, whichever schemas wrote them."""
    for at, (head, record) in enumerate(judge.decoders):
        rows = np.flatnonzero(judged.decoders == at)
        if not rows.size:
            continue
        whole = len(rows) == len(part.status)
        payloads = part.framed.payloads if whole else part.framed.payloads.take(pa.array(rows))
        numbers = pa.array(judged.numbers[rows], pa.int32())
        decoded = judge.readers.decoder(head, record).decode(payloads, numbers)
        status = decoded.status.to_numpy()
        part.status[rows] = status
        for bad in np.flatnonzero(status != FINE):
            row, detail, at_byte = int(rows[bad]), decoded.detail[bad].as_py(), decoded.at[bad].as_py()
            if detail is not None:
                part.details[row] = detail
            if at_byte is not None:
                part.at[row] = at_byte
        versions, unchecked = judged.versions[rows], judged.unchecked[rows].astype(bool)
        part.groups.append(RecordGroup(head, record, rows, decoded.rows, versions, unchecked, decoded.additional))
