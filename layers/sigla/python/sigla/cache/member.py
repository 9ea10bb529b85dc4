"""What a ring needs of each of its members: a cache that may forget whatever it likes, whenever it likes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class MemberFailed(Exception):
    """A member did not answer in time, cannot be reached, or answered what makes no sense."""


@dataclass(frozen=True, slots=True)
class Swap:
    """Puts `value` in the place of what stands under `key`, if that is still `expected`."""

    key: str
    expected: bytes
    value: bytes


class Member(Protocol):
    """All raise MemberFailed, and then may have done it. Any thread may use it.

    Keys are text of at most 250 bytes without spaces, values bytes. What is put stands for `lasts_ms` milliseconds, or
    until it is evicted. `tests/contract/test_members.py` holds every adapter to this.
    """

    def claim(self, keys: Sequence[str], value: bytes, *, lasts_ms: int) -> list[bytes | None]:
        """What stands under each key; None where nothing stood: there `value` stands now. One round trip for all."""
        ...

    def swap(self, swaps: Sequence[Swap], *, lasts_ms: int) -> None:
        """Each atomically, and without a word where something else stands. One round trip for all."""
        ...

    def put(self, key: str, value: bytes, *, lasts_ms: int) -> None:
        """Whatever stands there."""
        ...

    def ping(self) -> None:
        """Returns if it answers."""
        ...

    def close(self) -> None:
        """Closes its connections; it opens new ones when it is used again."""
        ...
