"""What a follower asks of the region that it follows, and what it sends on to it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from sigla.errors import StoreError
from sigla.model import SchemaId
from sigla.ports.replaying import Shipment
from sigla.regions.replay import JournalPlace

MOVED: Final = "x-sigla-moved"
"""Beside the answer to a write that was sent on: what it has moved, told to the region that has sent it."""
FOLLOWER: Final = "x-sigla-follower"
"""Beside a request that is sent on: the credentials of the follower itself, with which it asks for the journal."""
PAIR: Final = "x-sigla-pair"
"""Beside a request that is sent on, and beside its answer: which registry it is of, as of `Role.pair`.

At the address of the other region another registry may answer by now.
"""
ANOTHER: Final = "another"
"""What a registry says that was asked for another one."""


class NextAsked(NamedTuple):
    """What a follower says when it asks for what comes next.

    follower: its name: there is one, and another one is refused. end: of its journal. epoch: of its role. wait_ms: how
    long the answer may take where there is nothing to tell. all_ceilings: it does not know them yet. heard: ceilings
    that it was told and keeps. served: the URL where it is served itself; without a host where it listens to every
    address of its machine; empty where that is not known. token: of its role, as `told_token` has it. kept, apart: the
    number of the offer that it has kept, and of one that it has not, because something else stands there; 0: of none.
    run: drawn when it began to ask, by which two that are served from copies of one directory are told apart; empty for
    a question beside.
    """

    follower: str
    end: JournalPlace
    epoch: int
    wait_ms: int
    all_ceilings: bool
    heard: Mapping[str, SchemaId]
    served: str = ""
    token: str = ""
    kept: int = 0
    apart: int = 0
    run: str = ""


class Offer(NamedTuple):
    """Commits that are not made before the follower has kept the bodies of their ids.

    number: by which the follower says so; never 0.
    """

    number: int
    shipments: Sequence[Shipment]


class NextTold(NamedTuple):
    """What it is told.

    shipments: commits in the order of the journal. end: the position of the last one at the primary. waited_ms: how
    long after the question had come it looked for that: so it was the last one at some moment after that time, whatever
    the way of the answer takes. ceilings: how far ids of contexts may be given. lost: names of regions that the primary
    has given up and that may have what it lacks, as of `Role`; None where it is reconciled. offer: one that waits for
    the follower.
    """

    shipments: Sequence[Shipment]
    end: int
    waited_ms: int
    ceilings: Mapping[str, SchemaId]
    lost: Sequence[str] | None = None
    offer: Offer | None = None


class Primary(Protocol):
    """The region that is followed. All raise NotFollowed for what a person has to put right, StoreError for silence."""

    def told(self, asked: NextAsked) -> NextTold:
        """What comes next. It answers as soon as there is something, or when the time is over."""
        ...

    def copy(self, write: Callable[[bytes], object]) -> None:
        """Writes a backup of the registry, made after it has got its role, piece by piece."""
        ...

    def interrupt(self) -> None:
        """By another thread, for good: ends what this one waits for."""
        ...


class Forwarded(NamedTuple):
    """What the primary answers to a request that was sent on. headers: by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NotSent(StoreError):
    """Nothing was carried out: the request did not get as far as that."""


class Forwards(Protocol):
    """Where requests are sent on to."""

    def forward(self, method: str, target: str, headers: Mapping[str, str], body: bytes, whole_s: float) -> Forwarded:
        """Sends a request, once. whole_s: for so long it may take.

        Raises NotSent, StoreError where it is not known what became of it.
        """
        ...

    def answers(self) -> bool:
        """Whether it does, within some seconds."""
        ...
