"""Names of contexts, subjects and versions: read, made normal, refused (NAME-1 to NAME-6)."""

import re
from functools import lru_cache

from sigla import keys
from sigla.contract import INTEGERS
from sigla.errors import InvalidSubject, InvalidVersion
from sigla.model import DEFAULT_CONTEXT, LATEST, REGISTRY_WIDE_CONTEXT, Search, Subject, Version

ANY_CONTEXT = "*"
RESERVED = frozenset({"__GLOBAL", "__EMPTY"})
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_NO_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_INTEGER = re.compile(r"([+-]?)0*(\d{1,10})")
"""No more digits than 32 bits can need, so that a long text takes no long calculation."""
LONGEST_REMEMBERED = 256
_IN_DEFAULT_CONTEXT = re.compile(r"\A(?::\.:)++")


def subject(text: str) -> Subject:
    """`foo`, `:.:foo`, `:.ctx:foo`, `:.ctx:`, `:.ctx`. Only `:.` and `:*:` begin a context.

    A name that the default context is named for is read again, so that it has one meaning however often it is read:
    `:.::.ctx:foo` is `:.ctx:foo`. The name in a named context is not: `:.ctx::.:foo` is called `:.:foo` there.
    """
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else _read_subject(text)


def _read_subject(text: str) -> Subject:
    """As `subject`, however long the text is."""
    said = _without_default_context(text)
    if said.startswith(":."):
        context, _, name = said[1:].partition(":")
        return Subject(context, name, sent=text)
    if said.startswith(":*:"):
        return Subject(ANY_CONTEXT, said[3:], sent=text)
    return Subject(DEFAULT_CONTEXT, said, sent=text)


_remembered = lru_cache(maxsize=4_096)(_read_subject)
"""One object for each spelling, so that whatever is remembered of a subject is found by identity."""


def is_reachable(named: Subject) -> bool:
    """Whether its qualified name is read as this subject. A second name for another one is not (`subject`)."""
    return subject(named.qualified) == named


def reference_target(text: str, context: str) -> Subject:
    """The subject a reference means, declared by a schema of `context`.

    From a named context the default one cannot be reached: `:.:foo` is a name like any other there (REG-15). What leads
    to a named context leads there from everywhere: `:.::.ctx:foo` is `:.ctx:foo`.
    """
    named = subject(text)
    if named.context == DEFAULT_CONTEXT and context != DEFAULT_CONTEXT:
        return Subject(context, text)
    return named


def alias_target(alias: str, under: str) -> Subject:
    """The subject that an alias leads to, for a request below the path of the context `under` (ALIAS-4).

    It is read as a name that stands in that path: the context of the aliased subject plays no part.
    """
    below = under != DEFAULT_CONTEXT and not names_context(alias)
    return subject(f":{under}:{alias}" if below else alias)


def names_context(text: str) -> bool:
    """Whether a subject says its context itself, so that none is put before it (CPATH-2)."""
    return text.startswith((":.", ":*:"))


def search(prefix: str) -> Search:
    """`fo`, `:.ctx:fo`, `:.ct` (every context that begins so), `:*:fo` (every context); read again as `subject` is."""
    prefix = _without_default_context(prefix)
    if prefix.startswith(":*:"):
        return Search(name_prefix=prefix[3:], context=None)
    if prefix.startswith(":.") and ":" not in prefix[1:]:
        return Search(context=None, context_prefix=prefix[1:])
    wanted = subject(prefix)
    return Search(name_prefix=wanted.name, context=wanted.context)


def _without_default_context(text: str) -> str:
    """What stands behind `:.:`, however often that is said: a long text is looked at once."""
    return _IN_DEFAULT_CONTEXT.sub("", text, count=1) if text.startswith(":.:") else text


def version(text: str) -> Version:
    """`latest` in any case, or a 32-bit integer that is -1 (the same) or positive. Raises InvalidVersion."""
    trimmed = text.strip()
    if trimmed.lower() == "latest":
        return LATEST
    number = integer(trimmed)
    if number is None:
        raise InvalidVersion(version=text)
    if number < LATEST or number == 0:
        raise InvalidVersion(version=number)
    return Version(number)


def integer(text: str) -> int | None:
    """A 32-bit integer in decimal, leading zeros and a sign allowed; None for any other text."""
    found = _INTEGER.fullmatch(text)
    if found is None:
        return None  # a range compares what is not an integer with each of its four billion numbers
    number = int(found[1] + found[2])
    return number if number in INTEGERS else None


def delimited(context: str) -> str:
    """How sentences show a context: `:.name:`, and nothing at all for the default one."""
    return "" if context == DEFAULT_CONTEXT else f":{context}:"


def is_text(text: str) -> bool:
    """Whether a name can hold it: no control characters (NAME-1), no halves of surrogate pairs, which have no UTF-8."""
    return _NO_TEXT.search(text) is None


def check_registrable(name: Subject) -> None:
    """Refuses names no schema may be registered under, with InvalidSubject.

    The last two the reference lets through, and then cannot address any more (NAME-4, NAME-6).
    """
    check_configurable(name)
    if name.context in (REGISTRY_WIDE_CONTEXT, ANY_CONTEXT) or (name.in_default_context and not name.name):
        raise InvalidSubject(subject=_as_sent(name))


def check_configurable(name: Subject) -> None:
    """Refuses names that can have no settings, with InvalidSubject (NAME-1, NAME-2)."""
    text = _as_sent(name)
    if _CONTROL.search(text) or name.name in RESERVED:
        raise InvalidSubject(subject=text)
    keys.check_length(name)


def _as_sent(name: Subject) -> str:
    return name.qualified if name.sent is None else name.sent
