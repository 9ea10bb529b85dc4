"""References between schemas: what a list resolves to, and in which order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sigla.errors import Malformed
from sigla.model import Body, BodyKey, Reference, Resolved, Target

MOST_SUBJECTS = 80
"""Distinct subjects one schema may reference: each takes part in the commit, and a commit has an end."""

MOST_SCHEMAS = 1_000
"""Schemas that may take part in one resolution, indirect ones included."""


@dataclass(frozen=True, slots=True)
class _Met:
    version: int
    subject: tuple[str, str]


def resolve(
    references: Sequence[Reference],
    targets: Sequence[Target],
    body_of: Callable[[BodyKey], Body],
    *,
    strict_versions: bool = False,
) -> tuple[Resolved, ...]:
    """The texts a schema needs, depth first: what a reference uses comes before it; of a name met twice the first wins.

    targets: what each reference resolved to, in the order of `references`. strict_versions: one name with two different
    subject-versions is refused instead. Raises Malformed.
    """
    found: list[Resolved] = []
    met: dict[str, _Met] = {}
    waiting = [iter(zip(references, targets, strict=True))]
    declared: list[Resolved] = []
    while waiting:
        step = next(waiting[-1], None)
        if step is None:
            waiting.pop()
            if declared:
                found.append(declared.pop())
            continue
        reference, target = step
        here = _Met(target.version, (target.context, target.subject))
        first = met.setdefault(reference.name, here)
        if first is not here:
            if strict_versions and first != here:
                raise Malformed(
                    f'Conflicting reference versions for "{reference.name}": '
                    f"version {first.version} and version {here.version}"
                )
            continue
        if len(met) > MOST_SCHEMAS:
            raise Malformed(f"More than {MOST_SCHEMAS} schemas are referenced, directly or indirectly")
        body = body_of(BodyKey(target.context, target.id))
        declared.append(Resolved(reference.name, body.schema.text))
        waiting.append(iter(zip(body.schema.references, body.targets, strict=True)))
    return tuple(found)
