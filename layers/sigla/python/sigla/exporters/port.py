"""What the catalog knows of exporters. Every read sees every commit that has returned."""

from collections.abc import Iterator
from typing import Protocol

from sigla.exporters.nouns import Exporter, ExporterProgress


class ExporterLists(Protocol):
    """Exporters are those of the whole registry. Each question is one question to the store."""

    def exporter(self, name: str) -> Exporter | None: ...

    def exporters(self) -> Iterator[Exporter]:
        """All of them, by the UTF-16 code units of their names."""
        ...

    def progress(self, name: str) -> ExporterProgress | None:
        """None if there is no such exporter."""
        ...

    def advance(self, exporter: Exporter, progress: ExporterProgress) -> None:
        """Replaces what is known of an exporter's progress; it is not journaled, and nothing else is changed.

        Conflict if the exporter has another revision by now, because it was changed, paused, resumed, reset or
        removed: whoever follows the journal for it begins anew with what `exporter` and `progress` say. StoreError
        leaves open whether it was written; the same may be written again.
        """
        ...
