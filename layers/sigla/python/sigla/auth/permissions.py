"""May you? A role says which kinds of requests, a reach says about which subjects.

A reach is a list of prefixes in the spelling of `subjectPrefix` (docs/api.md §3.6). Without one a principal reaches
everything, and what is written here costs it nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from sigla.model import DEFAULT_CONTEXT, GLOBAL, REGISTRY_WIDE, Search, Subject
from sigla.rules import names

GENERAL = (GLOBAL, REGISTRY_WIDE)
"""Scopes whose settings bear on everybody: whoever may read may read them, only the unrestricted may change them."""


class Access(Enum):
    """What a request asks for. OPEN asks for nothing, not even a key."""

    OPEN = "open"
    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    ADMIN = "admin"

    @property
    def operation(self) -> str:
        """What refusals call it."""
        return self.value.capitalize()


OPEN, READ, WRITE, DELETE, ADMIN = Access

ROLES: Mapping[str, tuple[Access, ...]] = {
    "reader": (READ,),
    "writer": (READ, WRITE),
    "admin": (READ, WRITE, DELETE, ADMIN),
}
"""What each role may. To add a role, add a row."""

WRITER: Final = "writer"
"""The role that may also delete where a key, or a row of an issuer's map, says so."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The subjects of a principal: those that one of the searches finds."""

    searches: tuple[Search, ...]

    def includes(self, subject: Subject) -> bool:
        """Whether the subject is inside the reach, with all that can be done to it.

        A context (an empty name) must be inside as a whole.
        """
        return subject not in GENERAL and any(search.matches(subject) for search in self.searches)

    def shows(self, scope: Subject) -> bool:
        """Whether the principal may look at it: what is inside the reach, and the settings that may bear on it."""
        return self.includes(scope) or (not scope.name and (scope in GENERAL or self.touches(scope.context)))

    def touches(self, context: str) -> bool:
        """Whether anything of a context can be inside the reach."""
        return any(meet(search, Search(context=context)) for search in self.searches)

    def within(self, search: Search) -> list[Search]:
        """The parts of a search that are inside the reach; they may overlap where prefixes do."""
        return [part for own in self.searches if (part := meet(own, search))]


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller whose credentials were right. reach: None for everything."""

    name: str
    may: tuple[Access, ...]
    reach: Reach | None = None

    @property
    def administers_everything(self) -> bool:
        return ADMIN in self.may and self.reach is None


def principal(name: str, role: str, prefixes: Sequence[str], *, deletes: bool = False) -> Principal:
    """deletes: whether a writer may delete, too; of other roles it says nothing."""
    may = (*ROLES[role], DELETE) if deletes and role == WRITER else ROLES[role]
    return Principal(name, may, reach(prefixes))


def reach(prefixes: Sequence[str]) -> Reach | None:
    """None where there are no prefixes, or one of them is everything."""
    searches = [names.search(prefix) for prefix in prefixes]
    if not searches or any(map(_finds_everything, searches)):
        return None
    distinct = dict.fromkeys(searches)
    return Reach(
        tuple(one for one in distinct if not any(meet(one, other) == one for other in distinct if other != one))
    )


def _finds_everything(search: Search) -> bool:
    """`:*:`, and `:.`, with which every context begins."""
    return search.context is None and not search.name_prefix and search.context_prefix in ("", DEFAULT_CONTEXT)


def meet(one: Search, other: Search) -> Search | None:
    """The search that finds what both find; None if there can be nothing."""
    found = _both(one, other)
    more = {name: getattr(one, name) or getattr(other, name) for name in ("after", "glance", "part")}
    return found and replace(found, **more)


def _both(one: Search, other: Search) -> Search | None:
    longer, shorter = (one, other) if len(one.name_prefix) >= len(other.name_prefix) else (other, one)
    if shorter.exact and shorter.name_prefix != longer.name_prefix:
        return None
    if not longer.name_prefix.startswith(shorter.name_prefix):
        return None
    exact = one.exact or other.exact
    if one.context or other.context:
        context = one.context or other.context
        possible = all(_in_context(search, context or "") for search in (one, other))
        return Search(longer.name_prefix, context, exact=exact) if possible else None
    wide, narrow = sorted((one.context_prefix, other.context_prefix), key=len)
    return Search(longer.name_prefix, None, narrow, exact=exact) if narrow.startswith(wide) else None


def _in_context(search: Search, context: str) -> bool:
    return search.context == context if search.context else context.startswith(search.context_prefix)
