"""All that is written by commits, as one port: a commit is one change, all of it or nothing."""

from typing import Protocol

from sigla.associations.port import AssociationLists
from sigla.changes import Change
from sigla.exporters.port import ExporterLists
from sigla.keks.port import KeyLists
from sigla.model import BodyKey
from sigla.ports.glances import Glances
from sigla.ports.ids import Ids
from sigla.ports.lists import Lists
from sigla.ports.subjects import Subjects


class Catalog(Subjects, Ids, Lists, Glances, KeyLists, AssociationLists, ExporterLists, Protocol):
    """Every read but a glance sees every commit that has returned (linearizable per subject).

    Take the part that you need.
    """

    @property
    def state(self) -> int | None:
        """A number that stays for as long as every question has the answer that it had.

        None if it is unknown, as where others write, too, and while this thread may have changed something.
        """
        ...

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        """All of the change and its journal row, or nothing. Yields the ids it buried: they lost their last holder.

        One that lost it to a version that overwrites it is not buried, but displaced.

        Raises Conflict if what the change saw is no longer so, Closed if this region takes no writes, OutcomeUnknown if
        it cannot say.
        """
        ...

    def rehearse(self, change: Change) -> None:
        """Writes nothing. Raises Denied where this catalog would not let its caller commit the change."""
        ...
