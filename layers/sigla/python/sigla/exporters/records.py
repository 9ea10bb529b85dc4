"""Exporters as JSON: as they are stored, and as the journal tells of them, never with what is secret."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sigla.exporters.nouns import ContextType, Exporter, ExporterProgress, ExporterState, Position
from sigla.records import Json
from sigla.shapes import fits

EXPORTER: Final = "EXPORTER"

_POSITION: Final = (int, tuple[str, ...], str, tuple[str, ...])


def exporter_key(name: str) -> Json:
    return {"keytype": EXPORTER, "name": name, "magic": 0}


def exporter_value(exporter: Exporter) -> Json:
    """The members of an answer, in its order; its config lacks what is secret."""
    return {
        "name": exporter.name,
        "subjects": list(exporter.subjects),
        "contextType": exporter.context_type.value,
        "context": exporter.context,
        "subjectRenameFormat": exporter.subject_rename_format,
        "kekRenameFormat": exporter.kek_rename_format,
        "config": dict(exporter.config),
    }


# --- as they are stored ----------------------------------------------------------------------------------------------


def exporter_json(exporter: Exporter) -> Json:
    more = {"hidden": list(exporter.hidden), "credentials": exporter.credentials}
    return exporter_value(exporter) | more | {"ts": exporter.ts, "revision": exporter.revision}


def exporter(form: Mapping[str, Any]) -> Exporter:
    """Reads one that the journal tells of, too, which has the members of an answer alone.

    Raises ValueError, LookupError, TypeError where the form is that of no exporter.
    """
    found = Exporter(
        name=form["name"],
        subjects=tuple(form["subjects"]),
        context_type=ContextType(form["contextType"]),
        context=form["context"],
        subject_rename_format=form["subjectRenameFormat"],
        kek_rename_format=form["kekRenameFormat"],
        config=form["config"],
        hidden=tuple(form.get("hidden", ())),
        credentials=form.get("credentials", ""),
        ts=form.get("ts", 0),
        revision=form.get("revision", ""),
    )
    if not fits(found, Exporter):
        raise TypeError(EXPORTER)
    return found


def progress_json(progress: ExporterProgress) -> list[Any]:
    return [progress.state.value, *progress.position, progress.ts, progress.trace]


def progress(form: Sequence[Any]) -> ExporterProgress:
    """Raises ValueError, TypeError where the form is that of no progress."""
    state, *place, ts, trace = form
    if not (fits(ts, int) and fits(trace, str)):
        raise TypeError(EXPORTER)
    return ExporterProgress(ExporterState(state), position(place), ts, trace)


def position(form: Sequence[Any]) -> Position:
    """Raises ValueError, TypeError where the form is that of no position."""
    offset, seen, walked, waiting = form
    found = Position(offset, tuple(seen), walked, tuple(waiting))
    if not all(map(fits, found, _POSITION)):
        raise TypeError(EXPORTER)
    return found
