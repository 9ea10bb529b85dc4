"""What is done in one of two regions alone: by the primary. Which one that is stands in the data."""

from typing import Any

from sigla import observe
from sigla.functions.lifecycle import Handler
from sigla.observe import Facts, Teller
from sigla.ports.regions import Roles
from sigla.regions.nouns import RegionKind


class PrimaryAlone:
    """A `Handler` that leaves everything to the region that takes writes. event: of the line that says so.

    That is another one also where this one is a primary that was closed, by a promotion that it was passed over by, or
    that is under way.
    """

    def __init__(self, act: Handler, region: Roles, event: str, *, tell: Teller = observe.tell) -> None:
        self._act = act
        self._region = region
        self._event = event
        self._tell = tell

    def __call__(self, event: Any, context: Any = None) -> dict[str, Any]:
        """What was done. Raises StoreError, and what it raises."""
        role = self._region.role()
        if role is None or role.writes:
            return self._act(event, context)
        told: Facts = {"event": self._event, "closed" if role.kind is RegionKind.PRIMARY else "follows": 1}
        self._tell(told)
        return told
