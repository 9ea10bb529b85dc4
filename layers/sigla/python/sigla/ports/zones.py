"""Zones with an endpoint of their own, and how they are."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Zone:
    """An availability zone with an endpoint of its own, as its last heartbeat found it.

    id: equal in every account (use1-az1). name: in the account of the registry (us-east-1a). checked: when, in
    milliseconds since the epoch. reason: what is wrong with it, for everybody's eyes; empty if nothing is.
    """

    id: str
    name: str
    url: str
    healthy: bool
    checked: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Pulse:
    """A member of a zone's ring, asked whether it is there. failure: empty if it is, else a sentence."""

    name: str
    ms: float
    failure: str


class Zones(Protocol):
    """The directory of zones: what their heartbeats said last."""

    def beat(self, zone: Zone) -> None:
        """Replaces what the zone's last heartbeat said, unless that was later than this one."""
        ...

    def list(self) -> tuple[Zone, ...]:
        """Every zone heard of in the last hour, by id; there may be others."""
        ...
