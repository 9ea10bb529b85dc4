"""The time of this machine."""

import time


class SystemClock:
    """A `ports.Clock`."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def elapsed(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
