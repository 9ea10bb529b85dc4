"""Who stands behind the tokens by which the journal names its authors."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol


class KeptName(NamedTuple):
    """A principal's name, kept until then. until: milliseconds since the epoch; each change puts it off."""

    name: str
    token: str
    until: int


class Principals(Protocol):
    """Names come with the changes of their principals, and go by themselves, or when they are to be forgotten.

    A token without a name stays what it is, and a principal whose name is gone gets another token with its next change.
    """

    def names(self, now: int) -> Iterator[KeptName]:
        """All that are kept at a time, by name."""
        ...

    def kept(self, name: str, now: int) -> KeptName | None:
        """One of them."""
        ...

    def names_after(self, name: str, now: int, *, glance: int) -> Iterator[KeptName]:
        """Those behind a name, in an order of the store's own, and of a moment ago. glance: so many will do."""
        ...

    def forget(self, name: str) -> bool:
        """Whether it was kept. What has just been asked for it may name its token for five minutes more."""
        ...


class NoPrincipals:
    """A `Principals` where no names are kept."""

    def names(self, now: int) -> Iterator[KeptName]:  # noqa: ARG002 - as `Principals` has it
        return iter(())

    def kept(self, name: str, now: int) -> KeptName | None:  # noqa: ARG002 - as `Principals` has it
        return None

    def names_after(self, name: str, now: int, *, glance: int) -> Iterator[KeptName]:  # noqa: ARG002 - as `Principals` has it
        return iter(())

    def forget(self, name: str) -> bool:  # noqa: ARG002 - as `Principals` has it
        return False
