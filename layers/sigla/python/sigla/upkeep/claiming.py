"""How a table and a bucket come to bear an identity: by a person's act, `sigla init`, and never by a function's.

What bears none is not given one as a matter of course. A new table beside an old bucket looks like one that was just
made, and would count ids from 1 again. So both have to be new, or both have to be in use, and then what the table says
of its ids has to be what stands under them in the bucket.

The bucket is written first: if the act is cut off before the table, ids are read on, and to say it again is enough.
"""

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from sigla.errors import GARBLED, BodyLost, borne
from sigla.model import BodyKey, Row, Search, Subject
from sigla.ports.marks import Mark, Marks
from sigla.ports.store import Store

LOOKED_AT: Final = 16
"""Subjects of which the newest version is compared with its body."""

Found = tuple[Mark, str]
"""A mark, and what it bears."""


class NotClaimed(Exception):
    """Why nothing was written, in a sentence; whoever means it may insist."""


class InTheWay(Exception):
    """Another writer wrote another identity at this moment."""


def claim(held: Store, identity: str, *, meant: bool = False) -> bool:
    """Writes the identity to both stores of a registry in AWS; whether it was missing in one of them.

    Raises NotClaimed, InTheWay. meant: also where they bear another one, or do not seem to belong together.
    """
    found = [(mark, mark.read()) for mark in (held.marks.bodies, held.marks.catalog)] if held.marks else []
    if not meant and (doubt := _doubt(held, found, identity)):
        raise NotClaimed(doubt)
    wrong = [(mark, seen) for mark, seen in found if seen != identity]
    for mark, seen in wrong:
        if not mark.write(identity, seen) and mark.read() != identity:
            raise InTheWay(f"Another caller is giving the {mark.kind} {mark.name} another identity at this moment.")
    return bool(wrong)


def has_lost_its_catalog(store: Store) -> bool:
    """Whether there are bodies beside a catalog that knows nothing: each was given its id by one that did.

    A mirror that was cut off has its mode already, and an import nothing yet: it puts bodies first.
    """
    body = next(store.inventory.bodies(), None)
    if body is None or store.catalog.max_id(body.context):
        return False
    everything = Search(context=None)
    if next(store.catalog.settings(everything), None) is not None:
        return False
    return next(store.catalog.versions(everything, deleted=True, latest_only=True), None) is None


def differing(marks: Marks) -> str:
    """Why they cannot be of one deployment, in a sentence; empty if they may be."""
    catalog, bodies = ((mark, mark.read()) for mark in marks)
    if not catalog[1] or not bodies[1] or catalog[1] == bodies[1]:
        return ""
    return f"{_borne([catalog, bodies])}: they are of different deployments."


def _doubt(held: Store, found: Sequence[Found], identity: str) -> str:
    """What speaks against it, in a sentence; empty if nothing does."""
    others = [each for each in found if each[1] not in ("", identity)]
    bare = [mark for mark, seen in found if not seen]
    if garbled := [each for each in others if each[1] == GARBLED]:
        return f"{_borne(garbled)}: what it belongs to cannot be told."
    if others:
        return f"{_borne(others)}, and not {identity}: what is there belongs to another deployment."
    apart = _apart(held) if bare else ""
    if apart and len(bare) == 1:
        (old,) = (each for each in found if each[1])
        return f"{_borne([old])} already, and the {bare[0].kind} {bare[0].name} has none. {apart}"
    return apart


def _apart(held: Store) -> str:
    """Why catalog and bodies do not seem to be of one registry, in a sentence; empty if they do."""
    bodies = list(islice(held.inventory.bodies(), LOOKED_AT))
    newest = held.catalog.versions(Search(context=None), deleted=True, latest_only=True)
    versions = list(islice(newest, LOOKED_AT))
    if not bodies and not versions:
        return ""
    if not bodies:
        return "There are versions, and not one body of theirs: the bodies may be elsewhere."
    if versions:
        return _contradicting(held, versions)
    if has_lost_its_catalog(held):
        return "There are bodies, and the catalog knows nothing of this registry: it may be a new one, or another's."
    if not held.inventory.buried(bodies):
        return "There are bodies, and the catalog never had a version of theirs: it may be another registry's."
    return ""


def _contradicting(held: Store, versions: Sequence[tuple[Subject, Row]]) -> str:
    """Why the bodies of these versions are not theirs. One that was lost says nothing, if another one is there."""
    alike = 0
    for subject, row in versions:
        with suppress(BodyLost):
            if held.bodies.get(BodyKey(subject.context, row.id)).guid != row.guid:
                return (
                    f"Version {row.version} of {subject} has id {row.id}, and the body of that id is another schema: "
                    "they are of different registries."
                )
            alike += 1
    if not alike:
        return (
            "There are bodies, and none of the newest versions has its own among them: they may be another registry's."
        )
    return ""


def _borne(found: Sequence[Found]) -> str:
    text = " and ".join(f"the {mark.kind} {mark.name} has {borne(seen)}" for mark, seen in found)
    return text[:1].upper() + text[1:]
