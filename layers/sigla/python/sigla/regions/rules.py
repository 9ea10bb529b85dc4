"""The rules by which two regions give no id twice, pure: docs/decisions/2026-11-24-ids-in-two-regions.md says why."""

from sigla.contract import HIGHEST
from sigla.model import SchemaId
from sigla.regions.nouns import Counter

BLOCK = 100_000
"""Ids that each epoch has of each context, without a word to the other region."""

TRIES = 100
"""In how many steps a block whose half is used is asked for once more, where the other region did not answer."""

KNOWN_MS = 20 * 60_000
"""A role is known to every writer so long after the first one was written: no follower is promoted before.

Whoever has found no role believes that for a minute (`stores.dynamodb.fence`), and what it then asks of the
table is refused there a quarter of an hour after it was signed.
"""


def granted(epoch: int) -> SchemaId:
    """What the other region takes for granted: up to this id, an epoch gives them without having said so."""
    return SchemaId(min(epoch * BLOCK, HIGHEST))


def ceiling_of(counter: Counter | None, epoch: int) -> SchemaId:
    """How far ids of a context may have been given in this epoch, as its counter tells."""
    return counter.ceiling if counter else granted(epoch)


def begun(counter: Counter | None, epoch: int) -> Counter:
    """The counter as the first draw of an epoch writes it: above all that was given in the epochs before.

    It ends where the other region takes for granted that it does: for more it has to be told.
    """
    before = max(ceiling_of(counter, epoch - 1), granted(epoch - 1))
    first = SchemaId(before + 1) if epoch > 1 else SchemaId(1)
    return Counter(before, max(before, granted(epoch)), epoch, first)


def as_of(counter: Counter | None, epoch: int) -> Counter:
    """The counter in this epoch, which has written it, or would with its first draw."""
    return counter if counter and counter.epoch >= epoch else begun(counter, epoch)


def raised(wanted: int, seen: Counter | None, epoch: int) -> SchemaId:
    """The ceiling to be written where `seen` stands: no less than what stands there."""
    return SchemaId(max(min(wanted, HIGHEST), ceiling_of(seen, epoch)))


def is_told(seen: Counter | None, epoch: int, ceiling: int) -> bool:
    """Whether the other region knows of this ceiling, by its counter."""
    return seen is not None and seen.epoch == epoch and seen.ceiling >= ceiling


def is_heard_of(counter: Counter, id: SchemaId) -> bool:
    """Whether the other region begins above this id, which is not above the counter's ceiling.

    The ceiling with which an epoch begins was told to this region, and perhaps never heard of by the one that told it.
    """
    return id <= granted(counter.epoch) or counter.ceiling >= counter.first


def is_used_up(counter: Counter, epoch: int) -> bool:
    """Whether no id is given in this epoch before the other region was told of more."""
    own = as_of(counter, epoch)
    return own.next >= own.ceiling < HIGHEST


def is_due(counter: Counter) -> bool:
    """Whether it is time to raise the ceiling, though ids are left: at half of a block, and now and then after it."""
    left = counter.ceiling - counter.next
    step = max(BLOCK // TRIES, 1)
    return left <= BLOCK // 2 and left % step == 0 and counter.ceiling < HIGHEST
