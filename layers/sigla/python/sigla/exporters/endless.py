"""Whether an exporter that writes to its own source would ever come to an end. Decisions, pure.

What it writes there is registered like all else. Where its patterns take that, too, it is written once more under a
third name, and so on: a chain of names. Each step of it puts a context one level deeper (`.ex.ex.ex`), puts a format
around a name once more, or leaves either as it is. So what stands in front of a name far down a chain is the same thing
again and again, and by that a pattern takes all of them from some step on, or none. A chain whose names stay as they
are has come to its end: what is written is there.
"""

from typing import Final

from sigla.exporters.nouns import ContextType, Exporter
from sigla.exporters.rules import KEK, SUBJECT, destination_context, destination_subject, search, takes
from sigla.model import DEFAULT_CONTEXT, GLOBAL, Search, Subject

SUBJECTS: Final = (
    "{shown} is this registry itself, and the exporter takes what it would write there: it would write each copy once "
    "more, for ever. Name subjects, or another context, so that it takes no copy"
)
KEKS: Final = (
    "{shown} is this registry itself, and the exporter takes each KEK that it would write there: it would rename and "
    "write it once more, for ever. Leave out kekRenameFormat"
)


def endless(exporter: Exporter, source: str) -> str:
    """Why it would not come to an end, with `{shown}` in the place of the destination; empty where it would.

    source: what the source is called (AUTO).
    """
    form, above = exporter.subject_rename_format, destination_context(exporter, DEFAULT_CONTEXT, source)
    moves = above != DEFAULT_CONTEXT or (SUBJECT in form and form != SUBJECT)
    renames_keks = exporter.kek_rename_format not in ("", KEK)
    if not moves and not renames_keks:
        return ""
    goes_on = _takes_copies(exporter, source)
    if moves and goes_on:
        return SUBJECTS
    # KEKs go along with all subjects of the default context, or with a subject that has a key under them.
    return KEKS if renames_keks and (goes_on or takes(exporter, GLOBAL)) else ""


def _takes_copies(exporter: Exporter, source: str) -> bool:
    """Whether there is a chain that it takes for ever, be it of one name."""
    form, above = exporter.subject_rename_format or SUBJECT, destination_context(exporter, DEFAULT_CONTEXT, source)
    if SUBJECT not in form:  # for a single subject
        found = search(exporter.subjects[0])
        taken = Subject(found.context or DEFAULT_CONTEXT, found.name_prefix)
        return destination_subject(exporter, taken, source) == taken
    in_default = exporter.context_type is ContextType.DEFAULT
    return any(
        _is_of_context(found, above, in_default=in_default) and _is_of_name(found, form)
        for found in map(search, exporter.subjects)
    )


def _is_of_context(found: Search, above: str, *, in_default: bool) -> bool:
    """Whether a search finds contexts far down a chain."""
    if above != DEFAULT_CONTEXT:
        return found.context is None and _repeated(above, found.context_prefix)
    return not in_default or found.matches(Subject(DEFAULT_CONTEXT, found.name_prefix))


def _is_of_name(found: Search, form: str) -> bool:
    """Whether a search finds names far down a chain. One that only gets longer at its end may begin with anything."""
    if form == SUBJECT:
        return True
    front = form.partition(SUBJECT)[0]
    return not found.exact and (not front or _repeated(front, found.name_prefix))


def _repeated(text: str, beginning: str) -> bool:
    """Whether a text, written again and again, begins so."""
    return (text * (len(beginning) // len(text) + 1)).startswith(beginning)
