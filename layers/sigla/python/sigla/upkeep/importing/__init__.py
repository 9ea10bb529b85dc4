"""What another registry had, written as it had it: ids, numbers, times and deletes kept.

Bodies first, what is referenced before what refers; then versions, several of a subject in one commit; then ids whose
last version was written over; then settings and contexts; last the counters. Nothing that stands here is ever
overwritten: what is equal is identical, what is not is a conflict and told. So an import may be repeated, cut off
anywhere and begun again.

`import_state` is all of it for a state that fits into memory. The steps are apart, for who has more and many machines.
"""

from sigla.upkeep.importing.report import CONFLICTING, IDENTICAL, IMPORTED, SKIPPED, Cases, Outcome, Report
from sigla.upkeep.importing.settings import count, list_context, settle
from sigla.upkeep.importing.states import import_state, rehearsal
from sigla.upkeep.importing.units import AT_ONCE, SIDE_BY_SIDE, Group, carry_out
from sigla.upkeep.importing.versions import (
    NOWHERE,
    Placed,
    TargetOf,
    batches,
    bury,
    compare,
    displace,
    place_body,
    targets_of,
    write,
)

__all__ = [
    "AT_ONCE",
    "CONFLICTING",
    "IDENTICAL",
    "IMPORTED",
    "NOWHERE",
    "SIDE_BY_SIDE",
    "SKIPPED",
    "Cases",
    "Group",
    "Outcome",
    "Placed",
    "Report",
    "TargetOf",
    "batches",
    "bury",
    "carry_out",
    "compare",
    "count",
    "displace",
    "import_state",
    "list_context",
    "place_body",
    "rehearsal",
    "settle",
    "targets_of",
    "write",
]
