"""What a registry costs that is in two regions, besides its second stack: turns by the clock, and what is told at once.

Calls and units are counted, by tests/infra/test_region_costs.py; milliseconds are assumed, as in infra/usage.py.
"""

from typing import Final

from infra.trips import Trips
from infra.usage import (
    EVENT,
    GIGABYTE,
    INVOCATION,
    OVERHEAD,
    READ_UNIT,
    SECONDS_A_MONTH,
    WRITE_UNIT,
    Bill,
    Work,
    bill,
    journaled,
)

FAR_MS: Final = 70
"""How much longer a question to another region takes."""
TRANSFERRED_BYTE: Final = 0.02 / GIGABYTE
"""The price of a byte on its way to another region."""
TURN_LINE, NAMED_LINE, HEARD_LINE = 225, 95, 150
"""Bytes of a line at most."""
TOLD_BYTES: Final = 3_000
"""A schema of 400 bytes on its way to the other region: its row, its body, and what is said around them."""
LOOKS: Final = 5
"""In how many turns a commit is met: those of three minutes, and two that look back for an hour."""

FOLLOWING = Work(
    Trips((*[("BatchGetItem",)] * 3, *[("Query",)] * 17, ("UpdateItem",), *[("Query",)] * 2, ("BatchGetItem",)), 25, 1),
    own_ms=10 + 17 * FAR_MS,
    lines=TURN_LINE + OVERHEAD,
)
"""A turn of a follower where nothing is missing: whether it follows, and the sixteen parts of the other journal."""
LEADING = Work(Trips((("BatchGetItem",),) * 4, read=5), own_ms=10 + FAR_MS, lines=TURN_LINE + OVERHEAD)
"""A turn of a primary: what the other region is, and how far ids are given."""

NAMING = Work(Trips((("BatchGetItem",), ("PutEvents",)), read=1), own_ms=10 + FAR_MS, lines=NAMED_LINE + OVERHEAD)
"""The primary names a commit to the other region."""
NAMING_NOTHING = Work(Trips((("BatchGetItem",),), read=1), lines=NAMED_LINE + OVERHEAD)
"""The follower's own stream: what it was told stands in its journal, too."""
_BEFORE = (*[("BatchGetItem",)] * 2, ("GetObject",), *[("BatchGetItem",)] * 3, ("GetObject",))
_AFTER = (*[("BatchGetItem",)] * 3, ("TransactWriteItems",), ("BatchGetItem",), ("GetObject",), ("BatchGetItem",))
HEARING = Work(
    Trips((*_BEFORE, *_AFTER, ("Query",)), read=16, write=16),
    own_ms=20 + 2 * FAR_MS,
    lines=HEARD_LINE + OVERHEAD,
)
"""The follower carries out a new version that was named: its row and its body come from the other region."""
HANDING = Work(Trips((("PutObject",) * 2,)), own_ms=FAR_MS, lines=0)
"""What a registration takes besides: its body and the pointer to it are put into the other region's bucket first."""
MARKING = Work(Trips((("PutObject",),)), own_ms=FAR_MS, lines=0)
"""What a schema that is imported with its id takes more than that: a mark behind its body, in the same bucket."""
HANDING_A_KEY = Work(Trips((("BatchGetItem",), ("PutObject",)), read=4, write=2), own_ms=FAR_MS, lines=0)
"""What a change of a KEK or a DEK takes besides: what stands is looked at, and the commit is put there first."""
ASKING_FOR_A_KEY = Work(Trips((), read=1), lines=0)
"""What a question for a KEK or a DEK takes besides: what the region is by now, told with them."""
CHECKED_UNITS: Final = 2
"""What each commit of a primary writes besides: a check of what the region is."""

TURNS: Final = SECONDS_A_MONTH // 60


def telling_bill() -> Bill:
    """The bill of one registration on its way into the other region, alone in its batch."""
    named = bill(NAMING) + Bill(logs=EVENT, gateway=TOLD_BYTES * TRANSFERRED_BYTE)
    handed = bill(HANDING) + Bill(function=-INVOCATION)  # it is a part of the request
    return handed + named + bill(HEARING) + bill(NAMING_NOTHING) + Bill(dynamodb=CHECKED_UNITS * WRITE_UNIT)


def key_bill() -> Bill:
    """What it takes to hand a change of a key over, within the request that asks for it."""
    return bill(HANDING_A_KEY) + Bill(function=-INVOCATION)


def marking_bill() -> Bill:
    """What it takes to mark a body that an import has brought, within the request that imports it."""
    return bill(MARKING) + Bill(function=-INVOCATION)


def meeting_bill() -> Bill:
    """What it takes of the turns that meet it: it is read there, and found here."""
    return Bill(dynamodb=LOOKS * 2 * READ_UNIT)


def in_two_regions(registrations: float) -> float:
    """Dollars that a registration takes in two regions besides what it takes in one. registrations: of a month."""
    return (telling_bill() + meeting_bill() + journaled(registrations)).total
