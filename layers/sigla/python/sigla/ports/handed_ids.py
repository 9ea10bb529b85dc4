"""Which ids that an import has brought stand in both regions: the primary marks them in the other one."""

from typing import Protocol

from sigla.model import BodyKey, Guid


class HandedIds(Protocol):
    """The marks of one region, which only the other one sets. Each method raises StoreError.

    over: the nonce of a body here which is a tombstone, or becomes one: the other region has brought the id back since.
    """

    def mark(self, key: BodyKey, guid: Guid, over: str = "") -> None:
        """The other region has this content in its own place, and may register it. Repeated, it changes nothing."""
        ...

    def is_marked(self, key: BodyKey, guid: Guid, over: str = "") -> bool: ...
