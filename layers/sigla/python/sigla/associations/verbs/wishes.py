"""What a request wants, checked by itself: steps 1, 2 and 4 of the order of checks (docs/api.md, §12.1).

A rule takes a wish and gives it back, completed or as it is, or refuses it. The tables at the end say which rules an
operation has, in their order; the order decides which refusal a client meets first.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sigla.associations.nouns import (
    CREATE,
    DELETE,
    STRONG,
    TOPIC,
    TYPES,
    UPSERT,
    VALUE,
    WEAK,
    Request,
    Resource,
    Wanted,
    default_subject,
)
from sigla.associations.refusals import InvalidAssociation
from sigla.keys import utf16
from sigla.model import Draft
from sigla.rules import names

LONGEST_NAME: Final = 256
"""UTF-16 code units."""
_LETTERS_AND_DIGITS: Final = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd"})

EMPTY = "cannot be null or empty"
WEAK_WITH_SCHEMA = "cannot be WEAK when schema is provided"
TOO_LONG = f"exceeds max length of {LONGEST_NAME}"
SUBJECT_NEEDED = "must be provided for WEAK associations"


@dataclass(frozen=True, slots=True)
class Wish:
    """One association that is wanted, as far as it is understood. type, subject, lifecycle, frozen: sent or implied."""

    wanted: Wanted
    resource: Resource
    type: str = VALUE
    subject: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None

    @property
    def operation(self) -> str:
        return self.wanted.operation

    @property
    def creates(self) -> bool:
        return self.wanted.operation == CREATE

    @property
    def draft(self) -> Draft | None:
        return self.wanted.draft

    @property
    def default_subject(self) -> str:
        return default_subject(self.resource, self.type)


def refused(property: str, detail: str) -> InvalidAssociation:
    """The one refusal of a value (E42212)."""
    return InvalidAssociation(property=property, detail=detail)


# --- step 1: the resource --------------------------------------------------------------------------------------------


def resource_of(request: Request, *, needs_id: bool = True) -> Resource:
    """The resource that a request names. Raises InvalidAssociation."""
    for property, said in (("resourceName", request.name), ("resourceNamespace", request.namespace)):
        if flaw := _flaw_of_name(said):
            raise refused(property, flaw)
    if needs_id and not request.id:
        raise refused("resourceId", EMPTY)
    if flaw := _flaw_of_id(request.id or ""):
        raise refused("resourceId", flaw)
    if request.type not in (None, "", TOPIC):
        raise refused("resourceType", "must be 'topic'")
    if not request.wanted:
        raise refused("associations", EMPTY)
    return Resource(request.name or "", request.namespace or "", request.id or "")


def _flaw_of_name(said: str | None) -> str | None:
    if not said:
        return EMPTY
    if _is_too_long(said):
        return TOO_LONG
    wrong = next((character for character in said if not _is_legal(character)), None)
    return None if wrong is None else f"illegal character '{wrong}'"


def _flaw_of_id(said: str) -> str | None:
    """Any text that a path can say, and that a row has room for."""
    if _is_too_long(said):
        return TOO_LONG
    return None if names.is_text(said) else "must not have control characters"


def _is_too_long(said: str) -> bool:
    return len(utf16(said)) > 2 * LONGEST_NAME


def _is_legal(character: str) -> bool:
    return character in "_-" or unicodedata.category(character) in _LETTERS_AND_DIGITS


# --- step 2: each association by itself ------------------------------------------------------------------------------


def _subject_is_text(wish: Wish) -> Wish:  # 2a
    said = wish.wanted.subject
    if said is not None and not (said and names.is_text(said)):
        raise refused("subject", "must not be empty")
    return replace(wish, subject=said)


def _is_not_weak_with_schema(wish: Wish) -> Wish:  # 2b
    if wish.draft is not None and wish.lifecycle == WEAK:
        raise refused("lifecycle", WEAK_WITH_SCHEMA)
    return wish


def _is_not_thawed_with_schema(wish: Wish) -> Wish:  # 2c
    if wish.draft is not None and wish.frozen is False:
        raise refused("frozen", "cannot be false when a schema is provided")
    return wish


def _with_lifecycle(wish: Wish) -> Wish:
    return replace(wish, lifecycle=STRONG if wish.draft is not None else wish.lifecycle or WEAK)


def check_frozen(lifecycle: str | None, frozen: bool | None) -> None:  # noqa: FBT001 - a value that was sent
    """Whether what was sent agrees with what the lifecycle implies (2d). Raises InvalidAssociation."""
    if frozen is not None and frozen != (lifecycle == STRONG):
        shown = "true" if frozen else "false"
        raise refused("frozen", f"association with lifecycle of {lifecycle} cannot be frozen={shown}")


def _agrees_with_frozen(wish: Wish) -> Wish:  # 2d
    check_frozen(wish.lifecycle, wish.frozen)
    return replace(wish, frozen=wish.lifecycle == STRONG)


def _with_type(wish: Wish) -> Wish:  # 2e
    type = wish.wanted.type or VALUE
    if type not in TYPES:
        raise refused("associationType", "must be either 'key' or 'value'")
    return replace(wish, type=type)


def _is_not_frozen_weak(wish: Wish) -> Wish:  # 2f
    _is_not_weak_with_schema(wish)
    if wish.lifecycle == WEAK and wish.frozen:
        raise refused("frozen", "association with lifecycle of WEAK cannot be frozen")
    return wish


def _has_subject_if_weak(wish: Wish) -> Wish:  # 2g
    if wish.lifecycle == WEAK and wish.subject is None:
        raise refused("subject", SUBJECT_NEEDED)
    return wish


def _with_subject(wish: Wish) -> Wish:
    return wish if wish.subject is not None else replace(wish, subject=wish.default_subject)


def check_default_subject(wish: Wish, subject: str, *, frozen: bool) -> None:
    """A strong association has the default subject, as text (2h, 5e). Raises InvalidAssociation."""
    if frozen and subject != wish.default_subject:
        raise refused("subject", f"frozen associations must use subject '{wish.default_subject}'")


def check_other_subject(wish: Wish, subject: str, lifecycle: str | None) -> None:
    """A weak association has another subject (2i, 5c). Raises InvalidAssociation."""
    if lifecycle == WEAK and subject == wish.default_subject:
        raise refused("subject", f"WEAK associations cannot use subject '{wish.default_subject}'")


def _has_fitting_subject(wish: Wish) -> Wish:  # 2h, 2i
    subject = wish.subject or ""
    check_default_subject(wish, subject, frozen=wish.lifecycle == STRONG)
    check_other_subject(wish, subject, wish.lifecycle)
    return wish


Rule = Callable[[Wish], Wish]

BEFORE_TWICE: Mapping[str, Sequence[Rule]] = {
    CREATE: (
        _subject_is_text,
        _is_not_weak_with_schema,
        _is_not_thawed_with_schema,
        _with_lifecycle,
        _agrees_with_frozen,
        _with_type,
        _is_not_frozen_weak,
        _has_subject_if_weak,
    ),
    UPSERT: (_subject_is_text, _with_type, _is_not_frozen_weak),
    DELETE: (_with_type,),
}
"""Rules 2a to 2g. A batch looks for types that appear twice after them, and goes on with the others."""

AFTER_TWICE: Mapping[str, Sequence[Rule]] = {CREATE: (_with_subject, _has_fitting_subject), UPSERT: (), DELETE: ()}
"""Rules 2h and 2i."""


def understood(wanted: Wanted, resource: Resource) -> Wish:
    """Rules 2a to 2g. Raises InvalidAssociation."""
    wish = Wish(wanted, resource, lifecycle=wanted.lifecycle, frozen=wanted.frozen)
    return _through(BEFORE_TWICE, wish)


def placed(wish: Wish) -> Wish:
    """Rules 2h and 2i. Raises InvalidAssociation."""
    return _through(AFTER_TWICE, wish)


def _through(rules: Mapping[str, Sequence[Rule]], wish: Wish) -> Wish:
    for rule in rules[wish.operation]:
        wish = rule(wish)
    return wish


# --- step 4 ----------------------------------------------------------------------------------------------------------


def check_types_once(wishes: Iterable[Wish]) -> None:
    """Raises InvalidAssociation."""
    met: set[str] = set()
    for wish in wishes:
        if wish.type in met:
            raise refused(
                "associationType", f"may only appear once per request, but '{wish.type}' appears more than once"
            )
        met.add(wish.type)
