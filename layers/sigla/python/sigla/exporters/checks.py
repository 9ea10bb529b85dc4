"""What clients send about exporters, judged: an exporter that is stored can be followed. Decisions, pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from sigla import keys
from sigla.errors import InvalidSubject
from sigla.exporters.nouns import ContextType, Exporter, ExporterDraft
from sigla.exporters.refusals import InvalidExporterConfig, InvalidExporterName, InvalidExporterSubjects
from sigla.exporters.rules import BASIC, BASIC_SOURCE, BEARER, BEARER_SOURCE, KEK, SUBJECT, URL, is_secret, search
from sigla.keks.refusals import InvalidKeyField
from sigla.keks.rules import check_kek_name
from sigla.model import DEFAULT_CONTEXT, REGISTRY_WIDE_CONTEXT, Subject
from sigla.rules import names

NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
"""Nothing in a name that a path, a file or a parameter of AWS would mind."""

MOST_EXPORTERS: Final = 100
MOST_SUBJECTS: Final = 1_000
LONGEST_SUBJECTS: Final = 64 * 2**10
"""Bytes of all patterns together."""
LONGEST_CONFIG: Final = 16 * 2**10
"""Bytes of all settings that are shown, with their names."""
LONGEST_CREDENTIALS: Final = 4_096
"""Bytes of all that are hidden, as JSON: what a parameter of AWS holds."""
LONGEST_FORMAT: Final = 700

SOURCES: Final[Mapping[str, str]] = {BASIC_SOURCE: "USER_INFO", BEARER_SOURCE: "STATIC_TOKEN"}
"""Where credentials come from that an exporter can use: from the exporter's own settings, and nowhere else."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_SPACE = re.compile(r"\s")


def check_name(name: str | None) -> str:
    """Raises InvalidExporterName."""
    if not name:
        raise InvalidExporterName(why="the name is missing")
    if not NAME.fullmatch(name):
        raise InvalidExporterName(
            why="expected up to 128 letters, digits, '.', '_' and '-', the first a letter, a digit or '_'"
        )
    return name


def with_description(exporter: Exporter, draft: ExporterDraft) -> Exporter:
    """The exporter with all that a client says of it but its config; what the client does not say stays.

    Raises InvalidExporterSubjects, InvalidExporterConfig.
    """
    said: dict[str, Any] = {
        "subjects": draft.subjects,
        "context_type": draft.context_type,
        "context": draft.context,
        "subject_rename_format": draft.subject_rename_format,
        "kek_rename_format": draft.kek_rename_format,
    }
    wanted = replace(exporter, **{name: value for name, value in said.items() if value is not None})
    _check_subjects(wanted.subjects)
    _check_formats(wanted)
    return replace(wanted, context=_context(wanted.context_type, wanted.context))


# --- which subjects, and what they are called there ------------------------------------------------------------------


def _check_subjects(subjects: Sequence[str]) -> None:
    if not subjects:
        raise InvalidExporterSubjects(why="the list is empty")
    if len(subjects) > MOST_SUBJECTS or sum(len(each.encode()) for each in subjects) > LONGEST_SUBJECTS:
        raise InvalidExporterSubjects(why=f"expected up to {MOST_SUBJECTS} of up to {LONGEST_SUBJECTS} bytes together")
    for each in subjects:
        if not each or not names.is_text(each):
            raise InvalidExporterSubjects(why="a subject is empty, or has control characters in it")


def _check_formats(exporter: Exporter) -> None:
    form = exporter.subject_rename_format
    if form:
        _check_format("subjectRenameFormat", form)
        if SUBJECT not in form and not _is_one_subject(exporter.subjects):
            raise InvalidExporterSubjects(
                why=f"several subjects would get one name: subjectRenameFormat lacks {SUBJECT}"
            )
        there = Subject(DEFAULT_CONTEXT, form.replace(SUBJECT, "s"))
        try:
            names.check_registrable(there)
        except InvalidSubject:
            raise InvalidExporterSubjects(why="subjectRenameFormat makes no name of a subject") from None
        if not names.is_reachable(there):
            raise InvalidExporterSubjects(why="subjectRenameFormat names a context: contextType does")
    form = exporter.kek_rename_format
    if form:
        _check_format("kekRenameFormat", form)
        if KEK not in form:
            raise InvalidExporterConfig(why=f"several KEKs would get one name: kekRenameFormat lacks {KEK}")
        try:
            check_kek_name(form.replace(KEK, "k"))
        except InvalidKeyField:
            raise InvalidExporterConfig(why="kekRenameFormat makes no name of a KEK") from None


def _check_format(name: str, form: str) -> None:
    if len(form.encode()) > LONGEST_FORMAT or _CONTROL.search(form):
        raise InvalidExporterConfig(why=f"{name} is too long, or has control characters in it")


def _is_one_subject(subjects: Sequence[str]) -> bool:
    return len(subjects) == 1 and search(subjects[0]).exact and search(subjects[0]).context is not None


def _context(kind: ContextType, said: str) -> str:
    """The context of CUSTOM as `.name`, from `name`, `.name` or `:.name:` (CPATH-1); nothing for all other types."""
    if kind is not ContextType.CUSTOM:
        return ""
    name = said.strip(":")
    if not name:
        raise InvalidExporterConfig(why="contextType CUSTOM needs a context")
    context = name if name.startswith(".") else f".{name}"
    if ":" in context or context == REGISTRY_WIDE_CONTEXT or not names.is_text(context):
        raise InvalidExporterConfig(why="expected a context as .name, without colons and control characters")
    try:
        keys.check_length(Subject(context, ""))
    except InvalidSubject:
        raise InvalidExporterConfig(why="the context is too long") from None
    return context


# --- settings --------------------------------------------------------------------------------------------------------


def check_config(config: Mapping[str, str]) -> None:
    """Settings by which a destination can be reached, the secret ones among them. Raises InvalidExporterConfig."""
    for name, said in config.items():
        if not name or _CONTROL.search(name) or _CONTROL.search(said):
            raise InvalidExporterConfig(why="a setting has no name, or control characters in it")
    _check_url(config.get(URL))
    _check_sources(config)
    shown = sum(len(text.encode()) for pair in config.items() if not is_secret(pair[0]) for text in pair)
    hidden = len(orjson.dumps({name: said for name, said in config.items() if is_secret(name)}))
    if shown > LONGEST_CONFIG or hidden > LONGEST_CREDENTIALS:
        raise InvalidExporterConfig(
            why=f"expected up to {LONGEST_CONFIG} bytes, and up to {LONGEST_CREDENTIALS} of what is secret"
        )


def _check_url(url: str | None) -> None:
    """One address, of HTTP alone. The credentials that could stand in it would be shown."""
    if not url:
        raise InvalidExporterConfig(why=f"{URL} is missing")
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise InvalidExporterConfig(why=f"{URL} cannot be read as a URL") from None
    if not fits or not url.isascii() or "," in parts.netloc or "\\" in url or _SPACE.search(url):
        raise InvalidExporterConfig(why=f"expected one URL in {URL}, of http or https")
    if "@" in url:
        raise InvalidExporterConfig(why=f"{URL} has an @ in it: put credentials into {BASIC}, and write %40 in a path")
    if parts.query or parts.fragment:
        raise InvalidExporterConfig(why=f"{URL} has a query or a fragment")


def _check_sources(config: Mapping[str, str]) -> None:
    for name, known in SOURCES.items():
        if config.get(name, known) != known:
            raise InvalidExporterConfig(why=f"unknown {name}. Valid: {known}")
    if not config.get(BEARER, "").isascii():
        raise InvalidExporterConfig(why=f"{BEARER} has letters that no header can have")
    if BASIC in config and BEARER in config:
        raise InvalidExporterConfig(why=f"{BASIC} and {BEARER} exclude each other")
