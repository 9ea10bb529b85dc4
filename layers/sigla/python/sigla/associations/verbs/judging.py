"""What a request wants against what its resource has: steps 5 and 6 of the order of checks (docs/api.md, §12.1).

Pure: what has to be known of a subject is asked through `Case.facts` when a rule comes that needs it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sigla.associations.nouns import STRONG, TYPES, WEAK, Association, Associations, Resource
from sigla.associations.refusals import AssociationExists
from sigla.associations.verbs.wishes import (
    SUBJECT_NEEDED,
    WEAK_WITH_SCHEMA,
    Wish,
    check_default_subject,
    check_frozen,
    check_other_subject,
    refused,
)
from sigla.model import Subject
from sigla.rules import names


class Facts(Protocol):
    """One subject as it is. importing: its mode is IMPORT. newest: its highest active version."""

    @property
    def importing(self) -> bool: ...
    @property
    def newest(self) -> int | None: ...
    def has_schema(self) -> bool:
        """Whether the schema of the wish is an active version of it."""
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """A wish beside what there is of its type. subject: once it is known. look: asks for a subject's facts."""

    wish: Wish
    old: Association | None
    subject: Subject | None
    look: Callable[[Subject, Wish], Facts]

    @property
    def where(self) -> Subject:
        if self.subject is None:
            raise TypeError
        return self.subject

    @property
    def facts(self) -> Facts:
        return self.look(self.where, self.wish)

    @property
    def lifecycle(self) -> str | None:
        """As sent, else the one that there is."""
        return self.wish.lifecycle or (self.old.lifecycle if self.old else None)

    @property
    def frozen(self) -> bool:
        if self.wish.frozen is not None:
            return self.wish.frozen
        return self.old is not None and self.old.strong

    @property
    def is_new(self) -> bool:
        return self.old is None

    @property
    def is_equal(self) -> bool:
        """Whether the wish is what there is, as far as it says anything."""
        old, wish = self.old, self.wish
        return (
            old is not None
            and old.subject == self.subject
            and wish.lifecycle in (None, old.lifecycle)
            and wish.frozen in (None, old.strong)
        )


def _without_schema_later(case: Case) -> Case:  # 5a
    if case.wish.creates or not case.is_new:
        return case
    if case.wish.draft is not None:
        detail = (
            "cannot be provided when adding an association to an existing topic; "
            "an association with a schema must be created with the topic"
        )
        raise refused("schema", detail)
    lifecycle = case.wish.lifecycle or WEAK
    check_frozen(lifecycle, case.wish.frozen)
    return replace(case, wish=replace(case.wish, lifecycle=lifecycle, frozen=lifecycle == STRONG))


def _with_subject(case: Case) -> Case:  # 5b
    if case.subject is not None:
        return case
    if case.old is not None:
        return replace(case, subject=case.old.subject)
    if case.lifecycle != STRONG:
        raise refused("subject", SUBJECT_NEEDED)
    return replace(case, subject=names.subject(case.wish.default_subject))


def _weak_is_plain(case: Case) -> Case:  # 5c
    if case.lifecycle == WEAK and case.wish.draft is not None:
        raise refused("lifecycle", WEAK_WITH_SCHEMA)
    check_other_subject(case.wish, case.where.qualified, case.lifecycle)
    return case


def _frozen_as_lifecycle(case: Case) -> Case:  # 5d
    check_frozen(case.lifecycle, case.frozen)
    return case


def _frozen_has_default_subject(case: Case) -> Case:  # 5e
    """Where there is an association, it decides, and not what was sent."""
    frozen = case.old.strong if case.old else case.frozen
    check_default_subject(case.wish, case.where.qualified, frozen=frozen)
    return case


def _strong_begins_with_topic(case: Case) -> Case:  # 5f, 5g, 5h
    if not case.is_new or case.lifecycle != STRONG or case.facts.importing:
        return case
    if not case.wish.creates:
        detail = "cannot be STRONG when creating an association; STRONG associations must be created with the topic"
        raise refused("lifecycle", detail)
    if case.wish.draft is None:
        raise refused("schema", "schema must be provided when creating a frozen association")
    if case.facts.newest is not None and not (case.facts.newest == 1 and case.facts.has_schema()):
        detail = "cannot create a frozen association when schemas already exist in the subject"
        raise refused("frozen", detail)
    return case


def _created_only_once(case: Case) -> Case:  # 5i, 5j
    if case.old is None or not case.wish.creates:
        return case
    if not case.is_equal or (case.wish.draft is not None and not case.facts.has_schema()):
        raise AssociationExists(type=case.wish.type, resource=case.old.resource.name)
    return case


def _never_changed(case: Case) -> Case:  # 5k, 5l, 5m
    if case.old is None or case.wish.creates:
        return case
    if case.is_equal:
        return case
    if case.wish.lifecycle is None and case.wish.draft is None:
        raise refused("lifecycle", "at least lifecycle or schema must be provided for update")
    if case.old.subject != case.subject:
        detail = f"subject of association cannot be changed from '{case.old.subject}' to '{case.subject}'"
        raise refused("subject", detail)
    raise refused("frozen", "frozen attribute of association cannot be changed")


RULES: Sequence[Callable[[Case], Case]] = (
    _without_schema_later,
    _with_subject,
    _weak_is_plain,
    _frozen_as_lifecycle,
    _frozen_has_default_subject,
    _strong_begins_with_topic,
    _created_only_once,
    _never_changed,
)
"""Step 5, in its order."""


def judged(case: Case) -> Case:
    """Step 5. Raises InvalidAssociation, AssociationExists."""
    for rule in RULES:
        case = rule(case)
    return case


def check_resource_name(stored: Iterable[Association], resource: Resource) -> None:
    """An id belongs to one topic, which never changes its name. The reference does not look (ASC-13).

    It is looked at last, so that clients meet Confluent's refusals first. The other name is not told: the topic may be
    one that the principal does not see. Raises InvalidAssociation.
    """
    for one in stored:
        named = one.resource
        if (named.name, named.namespace) != (resource.name, resource.namespace):
            detail = f"resource ID '{named.id}' belongs to a resource of another name or namespace"
            raise refused("resourceName", detail)


def check_lifecycles(stored: Associations, cases: Iterable[Case]) -> None:
    """All associations of a resource share one lifecycle (step 6). Raises InvalidAssociation."""
    found = {one.type: one.lifecycle for one in sorted(stored, key=lambda one: TYPES.index(one.type))}
    found |= {case.wish.type: case.lifecycle or WEAK for case in cases}
    if len(set(found.values())) > 1:
        shown = ", ".join(f"{type}={lifecycle}" for type, lifecycle in found.items())
        detail = f"all associations for a resource must have the same lifecycle, but got {shown}"
        raise refused("lifecycle", detail)
