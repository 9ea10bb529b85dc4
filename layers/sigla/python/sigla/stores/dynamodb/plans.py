"""What a commit is to write, and the conditions that plans share: a subject is as it was seen, and of an earlier time.

`at` is the transaction's hybrid time: later than that of every head and settings row it touches, so that the journal
can be put in order by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sigla.changes import Head, SubjectChange
from sigla.errors import Conflict
from sigla.journal import NO_EFFECTS, Effects
from sigla.model import BodyKey, Subject
from sigla.ports.clock import Clock
from sigla.stores.dynamodb import items
from sigla.stores.dynamodb.actions import Action, Condition, earlier, equals, update
from sigla.stores.dynamodb.fence import Fence
from sigla.stores.dynamodb.ids import NEVER, Ledger, Stamp
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.reading import Life, life
from sigla.stores.dynamodb.table import Table

TELLING = 3
"""Actions of every commit: its journal row, an item in the history of its subject, and what the region is (`fence`)."""


@dataclass(frozen=True, slots=True)
class CommitPlan:
    """What a commit is to write. claims: rows that mean nothing without the transaction and are written before it.

    swept: the subjects whose rows of an older generation are removed afterwards. garbage: rows that no reader believes
    any more once it is done.
    """

    actions: list[Action]
    effects: Effects = NO_EFFECTS
    buried: tuple[BodyKey, ...] = ()
    claims: list[Action] = field(default_factory=list)
    swept: tuple[Subject, ...] = ()
    garbage: list[Action] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Tools:
    table: Table
    places: Places
    fence: Fence
    clock: Clock

    @classmethod
    def of(cls, client: Any, table: str, clock: Clock, registry: str) -> "Tools":
        """Those of one registry in a table. client: a low-level DynamoDB client."""
        tables, places = Table(client, table, clock), Places(registry)
        return cls(tables, places, Fence(tables, places, clock), clock)

    def life(self, head: Head) -> Life:
        """The subject's rows, if it is as it was seen; else Conflict."""
        found = life(self.table, self.places, head.subject)
        if found.state.head.revision != head.revision:
            raise Conflict
        return found

    def ledger(self, context: str, stamp: Stamp = NEVER) -> Ledger:
        """stamp: of the commit, where that brings ids along."""
        return Ledger(self.table, self.places, context, stamp)


def unmoved(head: Head, at: int, *, referred: bool = False) -> Condition:
    """The subject is as it was seen, and its last commit is of an earlier time."""
    seen = equals(revision=head.revision or None)
    if referred:
        # A head without a commit of its own has the count only if something refers to it.
        seen &= equals(referred=head.referred if head.revision else head.referred or None)
    return seen & earlier(at)


def moved(
    tools: Tools, change: SubjectChange, at: int, sets: Mapping[str, Any], *, referred: bool = True, refers: int = 0
) -> Action:
    """The head after a commit. referred: whether it rests on who refers to the subject."""
    head = change.head
    common = items.named_item(head.subject) | {"revision": change.revision, "nonce": change.nonce, "at": at}
    when = unmoved(head, at, referred=referred)
    return update(tools.places.head(head.subject), common | dict(sets), add={"referred": refers}, when=when)
