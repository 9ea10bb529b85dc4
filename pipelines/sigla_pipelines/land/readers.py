"""Compiled decoders: one for each reader, kept as long as the process that decodes."""

from typing import Final

from sigla.decoding import protobuf
from sigla.decoding.decoder import Limits, Unreadable, record_language
from sigla.decoding.reasons import Reason
from sigla.model import BodyKey
from sigla_pipelines.land.bindings import Head
from sigla_pipelines.land.decoders.by_language import DECODERS
from sigla_pipelines.land.decoders.decoder import Additional, Decoder, Native, Writer
from sigla_pipelines.land.decoders.times import PLAIN, Times
from sigla_pipelines.land.schemas import Known, Schemas

Path = tuple[int, ...]

PROTOBUF: Final = "PROTOBUF"


class Readers:
    """Which decoder reads what as what. One thread at a time."""

    def __init__(
        self,
        schemas: Schemas,
        limits: Limits,
        additional: Additional = Additional.KEEP,
        times: Times = PLAIN,
        *,
        native: Native = Native.AUTO,
    ) -> None:
        self.schemas = schemas
        self.limits = limits
        self.additional = additional
        self.times = times
        self.native = native
        self._decoders: dict[tuple[BodyKey, str], Decoder] = {}
        self._numbers: dict[tuple[BodyKey, str, BodyKey, Path], int | Unreadable] = {}
        self._names: dict[tuple[BodyKey, Path], str] = {}
        self._paths: dict[tuple[BodyKey, str], Path] = {}

    def decoder(self, head: Head, record: str) -> Decoder:
        """The decoder of the reader's message of this full name; other languages have one record.

        Raises Unreadable: MESSAGE_GONE where the reader has no such message, else where its own schema is. Raises
        NotInstalled.
        """
        key = head.reader, record
        if key not in self._decoders:
            known = self.schemas.by_id(head.reader.id)
            path = self.path(head, record) if record and known.source.type == PROTOBUF else ()
            make = DECODERS[known.source.type]
            self._decoders[key] = make(
                Writer(known.source, path, known.tags, self.times),
                limits=self.limits,
                additional=self.additional,
                native=self.native,
            )
        return self._decoders[key]

    def path(self, head: Head, message: str) -> Path:
        """Where the reader's file has a Protobuf message. Raises Unreadable."""
        key = head.reader, message
        if key not in self._paths:
            self._paths[key] = protobuf.path_to(self.schemas.by_id(head.reader.id).source, message)
        return self._paths[key]

    def messages(self, head: Head) -> tuple[str, ...]:
        """The full names of all Protobuf messages in the reader's file. Raises Unreadable."""
        return protobuf.message_names(self.schemas.by_id(head.reader.id).source)

    def record(self, head: Head, known: Known, path: Path) -> str:
        """The full name by which a decoder of the head reads what was written. Raises Unreadable."""
        return self.record_name(known, path) if known.source.type == PROTOBUF else head.record

    def number(self, head: Head, known: Known, path: Path) -> int:
        """By which the decoder of its record knows a writer. Raises Unreadable."""
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
        return self.decoder(head, self.record(head, known, path)).add(Writer(known.source, path))

    def record_name(self, known: Known, path: Path) -> str:
        """The name of the record or message that was written. Raises Unreadable."""
        key = known.key, path
        if key not in self._names:
            self._names[key] = record_language(known.source.type).record_name(known.source, path)
        return self._names[key]
