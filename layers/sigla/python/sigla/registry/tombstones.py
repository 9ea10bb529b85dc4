"""What a body says of its id, and what the catalog says: the catalog decides, a body only tells.

    a commit takes the last holder of an id     then its body gets a tombstone: readers without a catalog are told
    an import, or a scrub, brings the id back   then the tombstone is taken away

Both write the body after the commit, so they may overtake each other: an import finds no tombstone yet, and one is put
a moment later. Therefore whoever wrote a body asks the catalog once more. If two meet, the later one sees both commits,
and what it writes is right.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from sigla.errors import StoreError
from sigla.model import BodyKey
from sigla.ports.bodies import Bodies
from sigla.registry.resources import Resources

TRIES = 8

Says = Callable[[frozenset[BodyKey]], Mapping[BodyKey, bool]]
"""Ids → what the catalog says now: whether each is gone. Bodies of ids that are missing stay as they are."""

Run = Callable[[Callable[[BodyKey], None], Iterable[BodyKey]], Iterable[None]]
"""Calls a function with each id, as `map` does, or side by side."""


def bury_after_commit(resources: Resources, keys: Iterable[BodyKey]) -> None:
    """Puts the tombstones of ids that lost their last holder.

    The commit is done. Where a store does not answer now, whoever follows the journal puts the tombstone.
    """
    for key in keys:
        with suppress(StoreError):
            resources.bodies.bury(key)
            if resources.catalog.holders(key):
                agree(resources.bodies, key, gone=False)


def settle(
    bodies: Bodies, ids: Iterable[BodyKey], says: Says, *, run: Run = map, passed_over: tuple[type[Exception], ...] = ()
) -> None:
    """Bodies say what the catalog says when it returns; what changed meanwhile is done once more. Raises StoreError.

    passed_over: a body that raises one of these is left as it is.
    """

    def agree_on(key: BodyKey) -> None:
        with suppress(*passed_over):
            agree(bodies, key, gone=now[key])

    left = frozenset(ids)
    now = says(left)
    for _ in range(TRIES):
        list(run(agree_on, now))
        then, now = now, says(left)
        left = frozenset(key for key in left if then.get(key) != now.get(key))
        now = {key: now[key] for key in left if key in now}
        if not left:
            return
    raise StoreError(f"ids come and go: {sorted(left)[:3]}")


def agree(bodies: Bodies, key: BodyKey, *, gone: bool) -> None:
    """The body says whether its id is gone. Raises BodyLost."""
    if gone:
        bodies.bury(key)
        return
    standing = bodies.get(key)
    if standing.gone:
        bodies.revive(key, replace(standing, gone=False))
