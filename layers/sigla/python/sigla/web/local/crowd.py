"""What all connections of one server hold together, and which of them has to leave when that is too much.

Each connection has bounds of its own; a client has as many connections as it likes. So bytes that wait for an answer,
answers that wait for a client, and the connections themselves are counted here, in sum.
"""

import sys
from typing import Protocol

if sys.platform != "win32":
    import resource

MOST_CONNECTIONS = 10_000

SPARE_DESCRIPTORS = 64
"""What is left for files, databases and the libraries when every connection is taken."""

REGISTRY_DESCRIPTORS = 12
"""As many more for each further registry: at rest it has 8, and those that write have up to 4 more."""

ARRIVING_BYTES = 64 * 2**20

SMALL = 16 * 2**10
"""Who holds no more than this is let in for a while when the large ones are not: their share is a quarter more."""

UNTAKEN_BYTES = 32 * 2**20
"""Answers beyond this in sum, and those that no client takes, are given up early."""

PATIENCE_S = 60.0
"""How long a client may take no byte of an answer."""

KEPT_ALIVE_S = 75.0
"""How long an idle connection is kept: longer than common load balancers do, which must be the first to hang up."""

LITTLE_PATIENCE_S = 0.5
"""The same while too many answers wait."""

LAST_PATIENCE_S = 3.0
"""The same once the server stops."""


LAST_WORD_S = 0.5
"""Who asked less than this ago may be about to ask again: once the server stops, such a request is still answered."""


class Member(Protocol):
    """A connection, as the others see it."""

    def untaken(self) -> int:
        """Bytes of answers that the client has not taken yet."""

    def unsent(self) -> int:
        """Those of them that this process holds."""

    def leave_idle(self) -> None:
        """Closes an idle connection."""

    def give_up(self) -> None:
        """Closes it at once, whatever has still to be sent."""


class Crowd:
    """The connections of one server.

    held: bytes of requests that have no answer yet, those on their way included. idle: who has asked nothing since the
    last answer, and since when, the oldest first. ends: whether the server stops.
    """

    def __init__(self, *, arriving_bytes: int = ARRIVING_BYTES, connections: int = MOST_CONNECTIONS) -> None:
        self.connections = connections
        self.held = 0
        self.idle: dict[Member, float] = {}
        self.ends = False
        self._most = arriving_bytes
        self._waiting: dict[Member, tuple[int, float]] = {}

    def is_full_for(self, holds: int) -> bool:
        """Whether a connection that holds so many bytes has to give them up."""
        return self.held > self._most and (holds > SMALL or self.held > self._most + self._most // 4)

    def rests(self, member: Member, now: float) -> None:
        """It has asked nothing from now on. One look at all of them replaces a timer for each answer."""
        self.idle[member] = now

    def make_room(self) -> bool:
        """Has the connection leave that has been idle for the longest time; False if none is."""
        for member in self.idle:
            del self.idle[member]
            member.leave_idle()
            return True
        return False

    def let_go(self, now: float) -> bool:
        """Closes what has been idle for a while; whether there are others, whose requests may be on their way."""
        while self.idle and now - next(iter(self.idle.values())) >= LAST_WORD_S:
            self.make_room()
        return bool(self.idle)

    def waits(self, member: Member, now: float) -> None:
        """An answer waits for its client from now on."""
        self._waiting.setdefault(member, (member.untaken(), now))

    def goes_on(self, member: Member) -> None:
        """No answer waits for this client any more."""
        self._waiting.pop(member, None)

    def look(self, now: float) -> None:
        """Closes what has been idle for too long, and gives up the answers that no client takes."""
        while self.idle and now - next(iter(self.idle.values())) >= KEPT_ALIVE_S:
            self.make_room()
        if not self._waiting:
            return
        many = sum(member.unsent() for member in self._waiting) > UNTAKEN_BYTES
        patience = LITTLE_PATIENCE_S if many else LAST_PATIENCE_S if self.ends else PATIENCE_S
        for member, (before, since) in [*self._waiting.items()]:
            untaken = member.untaken()
            if untaken != before:
                self._waiting[member] = (untaken, now)
            elif now - since >= patience:
                del self._waiting[member]
                member.give_up()


def most_connections(registries: int = 1) -> int:
    """As many as are useful, and as the system gives descriptors for beside what so many registries need."""
    if sys.platform == "win32":
        return MOST_CONNECTIONS
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    spare = SPARE_DESCRIPTORS + REGISTRY_DESCRIPTORS * (registries - 1)
    return max(1, min(MOST_CONNECTIONS, allowed - spare))
