"""From where bodies came, in one process."""

from dataclasses import dataclass, replace


@dataclass(slots=True)
class Counts:
    """Since the beginning; only to be read. Two threads that count in the same instant may count as one.

    memory: bodies that were at hand. ring: those that another instance of the zone had put into its ring. behind: those
    that were read behind it, from S3. waits: how often a read waited for another that had the lease.
    """

    memory: int = 0
    ring: int = 0
    behind: int = 0
    waits: int = 0


class Farthest:
    """Tells, each time it is asked, how far a read had to go for a body since the last time; `s3` is farthest."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._seen = replace(counts)

    def __call__(self) -> dict[str, object]:
        """As in {"tier": "ring"}; nothing if no body was wanted."""
        seen, now = self._seen, self._counts
        if now == seen:
            return {}
        self._seen = replace(now)
        return {"tier": "s3" if now.behind > seen.behind else "ring" if now.ring > seen.ring else "memory"}
