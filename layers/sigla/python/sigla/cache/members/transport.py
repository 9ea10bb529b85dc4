"""What every member's connections have in common: how long they may take, and whom they trust."""

import ssl
import time
from dataclasses import dataclass
from functools import cache
from random import SystemRandom

OPERATION_S = 0.1
"""For each wait on an open connection; a healthy member answers within 1 ms."""

CONNECT_S = 2.0
"""For all of opening one: TCP, TLS, and who we are. A small node shakes 700 hands with TLS in a second, so that in a
herd most of it is the queue (docs/scale.md). Each time up to a fifth less, so that those who came too soon do not come
again together.
"""

_draw = SystemRandom().random


@dataclass(frozen=True, slots=True)
class Endpoint:
    """tls: None for none."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None

    @property
    def name(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@cache
def trusting(ca: str = "") -> ssl.SSLContext:
    """ca: a file of certificates to trust instead of the system's, which take 30 ms to read. Raises OSError."""
    return ssl.create_default_context(cafile=ca or None)


def to_connect(most_s: float = CONNECT_S) -> float:
    """The seconds that opening one connection may take."""
    return most_s * (1 - _draw() / 5)


class Deadline:
    """One time for several waits."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """What is left, in seconds.

        It is at least a millisecond when the time is over: a caller that waits no longer hears it from what it waits
        for.
        """
        return max(self._at - time.monotonic(), 0.001)
