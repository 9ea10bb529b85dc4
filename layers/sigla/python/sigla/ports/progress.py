"""What is told while something takes long."""

from typing import Protocol


class Progress(Protocol):
    def __call__(self, what: str, done: int, total: int = 0, /) -> None:
        """What is being done, how much of it is done, and of how much; total: 0 where that is unknown."""


def unseen(_: str, __: int, ___: int = 0, /) -> None:
    """A `Progress` without a reader."""
