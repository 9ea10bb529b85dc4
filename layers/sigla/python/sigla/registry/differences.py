"""What is between two versions of a subject. Nothing is written (DIFF-1 to DIFF-7)."""

from dataclasses import dataclass

from sigla.contract import STRICT
from sigla.errors import CheckAbandoned, InvalidSchema, VersionNotFound
from sigla.languages import LANGUAGES
from sigla.model import BodyKey, Row, Subject, Version
from sigla.registry import lookup
from sigla.registry.resources import Resources, View
from sigla.registry.steps import parsing
from sigla.rules.difference import Difference, difference


@dataclass(frozen=True, slots=True)
class Compared:
    """subject: where both were found. old, new: as they are stored."""

    subject: Subject
    old: Row
    new: Row
    told: Difference


def compare_versions(
    resources: Resources, subject: Subject, old: Version, new: Version, *, deleted: bool = False
) -> Compared:
    """Raises SubjectNotFound, VersionNotFound, and InvalidSchema where the two cannot be compared."""

    def visible(view: View, number: Version) -> Row | None:
        row = view.row(number)
        return row if row is not None and (deleted or not row.deleted) else None

    view, before = lookup.locate(resources, subject, (old, new), lambda view: visible(view, old), deleted=deleted)
    after = visible(view, new)
    if after is None:
        raise VersionNotFound(version=new)
    old_body, new_body = resources.bodies_of([(view.subject, before), (view.subject, after)])
    parsing.read_together(resources, (*old_body.targets, *new_body.targets))
    old_parsed, new_parsed = (
        parsing.stored(resources, BodyKey(view.subject.context, row.id), body)
        for row, body in ((before, old_body), (after, new_body))
    )
    with parsing.explained(new_parsed.language):
        try:
            told = difference(
                old_parsed,
                new_parsed,
                LANGUAGES,
                policy=view.config.policy or STRICT,
                versions=(old_body.schema, new_body.schema),
                texts=(old_body.schema.text, new_body.schema.text),
            )
        except CheckAbandoned as abandoned:
            raise InvalidSchema(reason=abandoned.message) from abandoned
    return Compared(view.subject, before, after, told)
