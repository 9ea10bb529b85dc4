"""Whose data a store holds, and whose journal the function of a deployment writes."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class Mark(Protocol):
    """The identity of a deployment, borne by a store of its data: written by a person, read by everybody.

    kind, name: of the store, as people call it: the table orders.
    """

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...

    def read(self) -> str:
        """Empty if it is missing, `errors.GARBLED` if it is invalid. Sees every write that has returned."""
        ...

    def write(self, identity: str, seen: str) -> bool:
        """Puts it in the place of what was seen, which may be nothing; False if something else is there by now.

        Also False where our own answer was lost: whoever reads again finds it written.
        """
        ...


class Marks(NamedTuple):
    """Those of the two stores that have to be of one deployment."""

    catalog: Mark
    bodies: Mark


class Served(Protocol):
    """Other registries whose journal the function of this one's deployment writes: said by a person, as identities are.

    Each stands there with its identity.
    """

    def list(self) -> Mapping[str, str]:
        """Gives them by name. Sees every `add` that has returned."""
        ...

    def add(self, name: str, identity: str) -> None:
        """The registry is served, under this identity and no other, when it returns."""
        ...
