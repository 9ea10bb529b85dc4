"""What may become of an exporter: it is created, changed, paused, resumed, reset or removed."""

from dataclasses import dataclass

from sigla.changes.kinds import AnyChange, Evidence
from sigla.exporters.nouns import Exporter, ExporterState, Position
from sigla.model import GLOBAL, Subject


@dataclass(frozen=True, slots=True)
class ExporterChanged(AnyChange):
    """An exporter is written with the state that it is in from now on, or removed (None).

    seen: the exporter as it was seen; Conflict if it has another revision by now, or is there though it was not.
    position: where it goes on; None: where it was, and a new one at the start. It is one of this store: the journal
    tells only whether one was given, and a copy takes the start for it.
    What it said of its last failure stays where it is paused, and goes where it starts again.
    """

    name: str
    seen: Exporter | None
    exporter: Exporter | None
    ts: int
    nonce: str
    state: ExporterState = ExporterState.STARTING
    position: Position | None = None

    @property
    def scope(self) -> Subject:
        """Exporters are those of the whole registry."""
        return GLOBAL

    def was_written(self, catalog: Evidence) -> bool:
        """An exporter bears the mark of its last commit."""
        found = catalog.exporter(self.name)
        return found is None if self.exporter is None else found is not None and found.revision == self.nonce
