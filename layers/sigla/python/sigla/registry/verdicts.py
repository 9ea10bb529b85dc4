"""What would registering a schema come to? For people who write one: as a registration, and no version comes of it."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from sigla.errors import Refusal
from sigla.model import BodyKey, Draft, Record, SchemaId, Subject
from sigla.registry.register import Decided, judge
from sigla.registry.resources import Resources
from sigla.rules.problems import Problem, problems_of

_OF_THE_DRAFT: Final = (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)
"""What is refused with another status is refused to the caller, and would be with any other draft."""


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """record: the version that it is or would be; None where it is refused. Without an id it would get a new one.

    is_new: whether it would be a new version. problems: why it is refused.
    """

    record: Record | None = None
    is_new: bool = False
    problems: tuple[Problem, ...] = ()


def verdict(resources: Resources, subject: Subject, draft: Draft, *, normalize: bool = False) -> DraftVerdict:
    """Raises what a registration raises that is not about the draft."""
    try:
        judged = judge(resources, subject, draft, normalize=normalize)
    except Refusal as refusal:
        if refusal.status not in _OF_THE_DRAFT:
            raise
        return DraftVerdict(problems=problems_of(draft.text or "", draft.type, refusal))
    if isinstance(judged, Decided):
        return DraftVerdict(judged.record)
    understood, version = judged
    schema, guid, subject = understood.offered.schema, understood.offered.guid, understood.view.subject
    id = _kept(_known(resources, subject, understood.id), draft)
    return DraftVerdict(Record(schema, guid, subject, version, id), is_new=True)


def _known(resources: Resources, subject: Subject, id: SchemaId | None) -> SchemaId | None:
    """The id of the content, where a subject that the caller sees has it: who only asks learns of no other (PERM-4)."""
    return None if id is None or resources.catalog.speaker(BodyKey(subject.context, id)) is None else id


def _kept(id: SchemaId | None, draft: Draft) -> SchemaId | None:
    """The id that the content has, or that is brought along."""
    return id if id is not None or draft.id is None or draft.id < 0 else SchemaId(draft.id)
