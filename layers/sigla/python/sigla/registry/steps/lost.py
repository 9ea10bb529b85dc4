"""Bodies that were lost, put back by who has their content in hand.

A held id without a body is storage that failed. A registration of that very content has all the body was made of: text,
references and what they resolve to; its birth is in the catalog. A body that stands and cannot be believed is not
replaced here: only `sigla scrub` and `sigla import` do that, where an operator asks for it.
"""

from sigla.errors import BodyMissing, Taken
from sigla.model import Body, BodyKey, Record
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import nonce
from sigla.registry.steps.parsed import Offered


def standing(resources: Resources, key: BodyKey, offered: Offered) -> Body:
    """The body of the id that stands for the offered content in the catalog; put back if it is missing.

    Raises BodyDamaged, and BodyMissing where the content is not the one that was lost.
    """
    try:
        return resources.bodies.get(key)
    except BodyMissing:
        return _put_back(resources, key, offered)


def check_standing(resources: Resources, record: Record, offered: Offered) -> None:
    """Has the body of a version that was found put back if it is lost, which takes the very same content."""
    if record.id is not None and record.subject is not None and record.guid == offered.guid:
        standing(resources, BodyKey(record.subject.context, record.id), offered)


def _put_back(resources: Resources, key: BodyKey, offered: Offered) -> Body:
    holders = resources.catalog.holders(key)
    if not holders:
        raise BodyMissing(key)
    first = min(holders, key=lambda holder: (holder.ts, holder.revision))
    row = resources.look(first.subject, versions=(first.version,)).row(first.version)
    if row is None or (row.id, row.guid, row.type) != (key.id, offered.guid, offered.schema.type):
        # Equal content hashes may hide different types (HQ-1); or the version was purged since we asked.
        raise BodyMissing(key).held_by(first.subject, first.version)
    body = Body(
        offered.schema,
        offered.guid,
        # What is referenced keeps its version and its id as long as the version that references it is stored.
        offered.targets,
        first.subject,
        first.version,
        first.ts,
        nonce(),
        compiled=offered.language.compiled(offered.parsed),
    )
    try:
        resources.bodies.put(key, body)
    except Taken as taken:
        # Another registration was faster.
        return taken.standing
    return body
