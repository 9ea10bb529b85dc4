"""Compiled decoders: one for each reader, kept as long as the process that decodes."""

from pipelines.land.decoders.by_language import DECODERS, record_name
from pipelines.land.decoders.decoder import Decoder, Writer
from pipelines.land.plan import Head
from pipelines.land.schemas import Known, Schemas
from sigla.decoding import protobuf
from sigla.decoding.decoder import Limits, Unreadable
from sigla.decoding.reasons import Reason
from sigla.model import BodyKey

Path = tuple[int, ...]


class Readers:
    """Which decoder reads what as what. One thread at a time."""

    def __init__(self, schemas: Schemas, limits: Limits) -> None:
        self.schemas = schemas
        self.limits = limits
        self._decoders: dict[tuple[BodyKey, str], Decoder] = {}
        self._numbers: dict[tuple[BodyKey, str, BodyKey, Path], int | Unreadable] = {}
        self._names: dict[tuple[BodyKey, Path], str] = {}

    def decoder(self, head: Head) -> Decoder:
        """Raises Unreadable where the reader's own schema is."""
        key = head.reader, head.record
        if key not in self._decoders:
            known = self.schemas.by_id(head.reader.id)
            named = head.record and known.source.type == "PROTOBUF"
            path = protobuf.path_to(known.source, head.record) if named else ()
            self._decoders[key] = DECODERS[known.source.type](Writer(known.source, path), limits=self.limits)
        return self._decoders[key]

    def number(self, head: Head, known: Known, path: Path) -> int:
        """By which the head's decoder knows a writer. Raises Unreadable."""
        key = head.reader, head.record, known.key, path
        if key not in self._numbers:
            try:
                self._numbers[key] = self._added(head, known, path)
            except Unreadable as unreadable:
                self._numbers[key] = unreadable
        found = self._numbers[key]
        if isinstance(found, Unreadable):
            raise Unreadable(found.reason, found.detail)
        return found

    def _added(self, head: Head, known: Known, path: Path) -> int:
        reader = self.schemas.by_id(head.reader.id).source
        if known.source.type != reader.type:
            raise Unreadable(Reason.TYPE_MISMATCH, f"written as {known.source.type}, read as {reader.type}")
        return self.decoder(head).add(Writer(known.source, path))

    def record_name(self, known: Known, path: Path) -> str:
        """Of the record or message that was written. Raises Unreadable."""
        key = known.key, path
        if key not in self._names:
            self._names[key] = record_name(known.source, path)
        return self._names[key]
