"""Which subjects an exporter takes, what they are called at the destination, what is secret. Decisions, pure."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from sigla.exporters.nouns import ContextType, Exporter
from sigla.model import DEFAULT_CONTEXT, Search, Subject
from sigla.rules import names

SUBJECT: Final = "${subject}"
KEK: Final = "${kek}"
"""What stands for the name at the source in a format."""

URL: Final = "schema.registry.url"
BASIC_SOURCE: Final = "basic.auth.credentials.source"
BASIC: Final = "basic.auth.user.info"
BEARER_SOURCE: Final = "bearer.auth.credentials.source"
BEARER: Final = "bearer.auth.token"

HIDDEN: Final = "[hidden]"
"""What answers say in the place of a secret setting; a client that sends it back keeps what is stored."""

PLAIN_SETTINGS: Final = frozenset({URL, BASIC_SOURCE, BEARER_SOURCE})
"""Settings without a secret; whatever else a client sends is one."""


# --- which subjects --------------------------------------------------------------------------------------------------


def takes(exporter: Exporter, subject: Subject) -> bool:
    """Whether the exporter writes what happens to this subject."""
    return any(search(pattern).matches(subject) for pattern in exporter.subjects)


@lru_cache(maxsize=1_024)
def search(pattern: str) -> Search:
    """What a pattern means: a name, or with a `*` behind it all that begin so, as `subjectPrefix` is read.

    `*` is the default context, `:.c:*` (or `:.c:`) the context `.c`, `:*:*` (or `:*:`) every context.
    """
    if pattern.endswith("*"):
        return names.search(pattern[:-1])
    found = names.search(pattern)
    if not found.name_prefix:
        return found
    return Search(found.name_prefix, found.context, found.context_prefix, exact=True)


# --- what they are called there --------------------------------------------------------------------------------------


def destination_subject(exporter: Exporter, subject: Subject, source: str) -> Subject:
    """What a subject of the source is called at the destination. source: what the source is called (AUTO)."""
    return Subject(destination_context(exporter, subject.context, source), renamed_subject(exporter, subject))


def destination_context(exporter: Exporter, context: str, source: str) -> str:
    """The context of the destination in which a context of the source is found, as `.name`; `.` is the default one."""
    match exporter.context_type:
        case ContextType.NONE:
            return context
        case ContextType.DEFAULT:
            return DEFAULT_CONTEXT
        case ContextType.CUSTOM:
            return _below(exporter.context, context)
        case ContextType.AUTO:
            return _below(f".{source}", context)


def _below(above: str, context: str) -> str:
    """`.c` below `.a` is `.a.c`: contexts are a flat list, and dots in a name are a manner of writing."""
    if context == DEFAULT_CONTEXT:
        return above
    return context if above == DEFAULT_CONTEXT else above + context


def renamed_subject(exporter: Exporter, subject: Subject) -> str:
    """The name of a subject without its context; that of a context as a whole is empty and stays so.

    A format without `${subject}` is the name of the one subject that is taken, and not of those that it references.
    """
    form, name = exporter.subject_rename_format, subject.name
    if not form or not name or (SUBJECT not in form and not takes(exporter, subject)):
        return name
    return form.replace(SUBJECT, name)


def renamed_kek(exporter: Exporter, kek: str) -> str:
    """What a KEK is called at the destination; KEKs are in no context."""
    form = exporter.kek_rename_format
    return form.replace(KEK, kek) if form else kek


# --- what is secret --------------------------------------------------------------------------------------------------


def is_secret(setting: str) -> bool:
    """Whether a setting is kept apart, and hidden in answers: all are that are not known to tell nothing."""
    return setting not in PLAIN_SETTINGS


def plain(config: Mapping[str, str]) -> dict[str, str]:
    """The settings that may be stored and shown."""
    return {name: said for name, said in config.items() if not is_secret(name)}


def secret(config: Mapping[str, str]) -> dict[str, str]:
    """The settings that are kept apart."""
    return {name: said for name, said in config.items() if is_secret(name)}
