"""What would registering a schema come to? For people who write one: as a registration, and no version comes of it."""

from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final

from sigla.contract import STRICT
from sigla.errors import Refusal
from sigla.languages import LANGUAGES
from sigla.model import BodyKey, Draft, Record, SchemaId, Subject, Version
from sigla.registry import check
from sigla.registry.register import Decided, judge, number_of
from sigla.registry.resources import Resources
from sigla.registry.steps.ahead import reading_ahead
from sigla.registry.steps.drafts import Expect, Understood
from sigla.rules.compatibility import LEVELS, Against
from sigla.rules.difference import Readability, readings
from sigla.rules.problems import Problem, problems_of
from sigla.rules.settings import origins

_OF_THE_DRAFT: Final = (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)
"""What is refused with another status is refused to the caller, and would be with any other draft."""


@dataclass(frozen=True, slots=True)
class Applied:
    """The rule that a new version is checked by. against: which of those before it. group: only those of one group.

    origin: the scope that has the level; None where it is the server's own.

    newest: the newest of those before it; None for the first. backward, forward: who reads whom between it and the
    draft, also where the level does not ask; None where it cannot be read.
    """

    level: str
    against: Against
    origin: Subject | None = None
    group: str | None = None
    newest: Version | None = None
    backward: Readability | None = None
    forward: Readability | None = None


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """record: the version that it is or would be; None where it is refused. Without an id it would get a new one.

    is_new: whether it would be a new version. problems: why it is refused. applied: None where nothing is compared:
    it is a version already, no schema, or imported.
    """

    record: Record | None = None
    is_new: bool = False
    problems: tuple[Problem, ...] = ()
    applied: Applied | None = None


def verdict(
    resources: Resources, subject: Subject, draft: Draft, *, normalize: bool = False, sees_all: bool = False
) -> DraftVerdict:
    """Raises what a registration raises that is not about the draft. sees_all: whether the caller sees all."""
    with reading_ahead(resources, sees_all=sees_all) as (ahead, expect):
        return _verdict(ahead, subject, draft, expect, normalize=normalize, sees_all=sees_all)


def _verdict(
    resources: Resources, subject: Subject, draft: Draft, expect: Expect, *, normalize: bool, sees_all: bool
) -> DraftVerdict:
    applied = None
    try:
        judged = judge(resources, subject, draft, normalize=normalize, expect=expect)
        if isinstance(judged, Decided):
            return DraftVerdict(judged.record)
        applied = None if judged.view.importing else _applied(resources, judged, draft)
        version = number_of(resources, judged)
    except Refusal as refusal:
        if refusal.status not in _OF_THE_DRAFT:
            raise
        return DraftVerdict(problems=problems_of(draft.text or "", draft.type, refusal), applied=applied)
    schema, guid, subject = judged.offered.schema, judged.offered.guid, judged.view.subject
    id = _kept(judged.id if sees_all else _known(resources, subject, judged.id), draft)
    return DraftVerdict(Record(schema, guid, subject, version, id), is_new=True, applied=applied)


def _applied(resources: Resources, understood: Understood, draft: Draft) -> Applied:
    view = understood.view
    level = check.level_of(resources, view)
    origin = origins(view.chain, view.subject).get("level")
    rule = Applied(level, LEVELS[level].against, origin, view.config.group)
    if view.head.newest is None:
        return rule
    rule = replace(rule, newest=view.head.newest.version)
    # A level that compares with nothing takes a draft also where the newest version cannot be read; else the check says
    # what is wrong with it.
    with suppress(Refusal):
        old = check.newest(resources, view)
        if old is not None:
            policy, new = view.config.policy or STRICT, understood.offered.parsed
            texts = (old.parsed.canonical, draft.text or new.canonical)
            backward, forward = readings(old.parsed, new, LANGUAGES, policy=policy, texts=texts)
            return replace(rule, backward=backward, forward=forward)
    return rule


def _known(resources: Resources, subject: Subject, id: SchemaId | None) -> SchemaId | None:
    """The id of the content, where a subject that the caller sees has it: who only asks learns of no other (PERM-4)."""
    return None if id is None or resources.catalog.speaker(BodyKey(subject.context, id)) is None else id


def _kept(id: SchemaId | None, draft: Draft) -> SchemaId | None:
    """The id that the content has, or that is brought along."""
    return id if id is not None or draft.id is None or draft.id < 0 else SchemaId(draft.id)
