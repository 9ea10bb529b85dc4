"""Where the ids of a context go on: how far one that is brought along may take them, and how an operator sets it.

There are 2^31 ids and none is ever given out twice, so one import of the last of them would be the end of a context.
"""

from typing import Final

from sigla.changes import NumberingSet
from sigla.contract import HIGHEST
from sigla.errors import IdOutOfReach
from sigla.model import BodyKey, SchemaId, Search, Subject
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce, until_committed

FURTHEST: Final = 1_000_000
"""How far above the highest id of its context one may be that a principal for some subjects brings along."""

SHARED: Final = HIGHEST // 2
"""Above it no such principal brings one along: some thousands of leaps would use up all ids, for everybody."""

CLEAR: Final = 100_000
"""So many ids have to be free where numbering is made to go on."""


class Occupied(Exception):
    """An id that means something stands where numbering should go on."""

    def __init__(self, id: SchemaId) -> None:
        super().__init__(id)
        self.id = id


def check_reach(resources: Resources, subject: Subject, id: SchemaId) -> None:
    """An id that a subject's registration brings along. Raises IdOutOfReach."""
    if resources.furthest is None:
        return
    highest = resources.catalog.max_id(subject.context)
    furthest = min(resources.furthest, max(SHARED - highest, 0))
    if id > highest + furthest:
        raise IdOutOfReach(subject=subject, id=id, highest=highest, furthest=furthest)


def skip(resources: Resources, taken: BodyKey, met: int) -> None:
    """Lets no id be drawn again that was found taken. met: how many taken ones were met before, one after the other.

    A table that was restored behind its bucket has one run of bodies before it: past the last of them there is nothing.
    Where one stands far off, because its id was imported, numbering stays where it is, and leaps ever farther.
    """
    last = resources.bodies.last(taken.context)
    to = last if last - taken.id <= FURTHEST else SchemaId(min(taken.id + 2**met - 1, HIGHEST))
    resources.catalog.raise_counter(taken.context, to)


def continue_after(resources: Resources, context: str, after: SchemaId) -> SchemaId:
    """New ids of the context go on after this one; what is taken later is skipped. Yields where they went on before.

    Raises TimedOut. `check_clear` is to be asked before.
    """

    def attempt() -> SchemaId:
        seen = resources.catalog.max_id(context)
        if seen != after:
            commit(resources, NumberingSet(context, seen, after, resources.clock.now(), nonce()))
        return seen

    return until_committed(resources, "Setting the numbering", attempt)


def check_clear(catalog: Catalog, bodies: Bodies, key: BodyKey) -> None:
    """Whether the ids after this one are free, of bodies in any state and of versions whose body is lost.

    Raises Occupied with the lowest that is not.
    """
    found = {row.id for _, row in catalog.versions(Search(context=key.context), deleted=True, latest_only=False)}
    if (body := bodies.next_above(key)) is not None:
        found.add(body)
    taken = min((id for id in found if key.id < id <= key.id + CLEAR), default=None)
    if taken is not None:
        raise Occupied(taken)
