"""What the catalog knows of ids: which content has which, who uses them, and how far they are given out."""

from collections.abc import Callable, Collection
from typing import Protocol

from sigla.model import BodyKey, Guid, Holder, SchemaId, Subject


class Ids(Protocol):
    """The ids of every context. Every read sees every commit that has returned, but where `speaker` says less."""

    def id_of(self, context: str, guid: Guid) -> SchemaId | None:
        """The id that stands for this content in a context: the one last written, of those held or displaced."""
        ...

    def ids_of(self, context: str, guids: Collection[Guid]) -> dict[Guid, SchemaId]:
        """`id_of` for many contents at once: those that are known."""
        ...

    def standing(self, guid: Guid) -> SchemaId | None:
        """`id_of` in the default context, for who can find the content by its bodies, too.

        None also where the catalog does not answer, and soon.
        """
        ...

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        """Who answers for an id; None if the id has no holder. Costs the same for one holder and for thousands.

        The smallest subject in which the id is active, or else the smallest; of it the version written last. An id
        without a holder has what `displaced` says, and never `deleted`.
        by: only this subject may answer. None then says that it does not hold the id, or that it is only another name:
        its config has an alias, and who answers is to be found out in another way.

        What it tells may be a minute old, and where nothing else is to be had, the first registrant of the body: a
        holder that is not `catalogued`.
        """
        ...

    def holders(self, key: BodyKey, by: Subject | None = None) -> tuple[Holder, ...]:
        """Every stored version that carries an id, or those of one subject.

        Ordered by subject (UTF-16 code units of its name), then version.
        """
        ...

    def displaced(self, key: BodyKey) -> Holder | None:
        """The version that was the last to hold the id, until an import wrote another one over it.

        `deleted` says whether what stands in its place now is. None where a version holds the id, and where nothing
        stands in that place any more: then the id is gone for good.
        """
        ...

    def check_absent(self, key: BodyKey | None, knows: Callable[[BodyKey], bool] = lambda _: True) -> None:
        """To be asked before an id is told to mean nothing, or nothing to a subject; None: any, as for a content.

        Nothing to a registry that has passed over no region. Else raises MayBeElsewhere where that may have given it,
        but for one that was deleted for good. knows: whether the caller may be told that; asked only where it matters.
        """
        ...

    def next_id(self, context: str) -> SchemaId:
        """The number after `max_id`, never given out before but where a change set that lower; the first is 1.

        With a second region, one that it does not give (`regions.giving`). Raises errors.IdsExhausted past 2^31 - 1;
        Closed where this region takes no writes, NoBlock where the other one is to be told and does not answer.
        """
        ...

    def raise_counter(self, context: str, to: SchemaId) -> None:
        """Numbers up to `to` are not given out any more. Raises Closed and NoBlock, as `next_id`."""
        ...

    def admit(self, key: BodyKey, guid: Guid) -> None:
        """To be asked before the body of an id is put that is brought along, with its content.

        Nothing to a registry without a second region. Else the other region does not give the id: raises IdMayBeGiven
        where it may have, and Closed and NoBlock, as `next_id`.
        """
        ...

    def max_id(self, context: str) -> SchemaId:
        """The highest number given out or raised to, or where numbering was made to go on since; 0 if none."""
        ...
