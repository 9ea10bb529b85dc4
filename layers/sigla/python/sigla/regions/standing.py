"""Which of two regions this one is, as requests ask: remembered where that does no harm, read where it might."""

from collections.abc import Callable
from typing import Final

from sigla.ports.clock import Clock, Moment
from sigla.regions.nouns import RegionKind, RegionState, Role

REMEMBERED_MS: Final = 60_000
"""For so long a request is begun by what was read before. What it commits, or concludes from absence, asks anew."""


class RegionStanding:
    """look: reads what this region is. follows: what it is without a role: one that waits to be joined.

    url: of the region that the settings name. met: the role as it was read last, with whatever else was asked for. For
    one thread.
    """

    def __init__(
        self,
        look: Callable[[], RegionState],
        clock: Clock,
        *,
        follows: bool,
        url: str = "",
        met: Callable[[], Role | None] = lambda: None,
    ) -> None:
        self._url = url
        self._met = met
        self._look = look
        self._clock = clock
        self._follows = follows
        self._seen: tuple[RegionState, Moment] | None = None

    def kind(self) -> RegionKind:
        """As it was within the last minute. Raises StoreError."""
        if self._seen is None or not self._seen[1].is_younger(REMEMBERED_MS, self._clock):
            return self.kind_now()
        return self._kind_of(self._seen[0])

    def kind_now(self) -> RegionKind:
        """Raises StoreError."""
        since = Moment.of(self._clock)
        self._seen = self._look(), since
        return self._kind_of(self._seen[0])

    def concludes_now(self) -> bool:
        """Whether what is not here is nowhere: a primary that is closed may have a successor. Raises StoreError."""
        kind = self.kind_now()
        role = self._role()
        return kind is RegionKind.PRIMARY if role is None else role.writes

    def was_passed_on(self) -> bool:
        """Whether a role was met by which the newest versions are not this region's any more. Asks nothing."""
        met = self._met()
        return met is not None and not met.writes

    def is_followed(self) -> bool:
        """Whether it is a primary that the region of the settings follows, within the last minute. Raises StoreError.

        A region that was passed over, or given up, does not; nor does any while the settings name another one.
        """
        role = self._role()
        return role is not None and role.writes and role.is_followed and not role.is_elsewhere(self._url)

    def is_followed_now(self) -> bool:
        """Raises StoreError."""
        self.kind_now()
        return self.is_followed()

    def adopts(self) -> bool:
        """Whether it is a primary that was promoted by force, within the last minute. Raises StoreError.

        One that gave writes away and took them back within that minute is known by the role that was met.
        """
        return any(role is not None and role.writes and role.adopts for role in (self._met(), self._role()))

    def pair(self) -> str | None:
        """As of `Role`, within the last minute; None before this region has a role. Raises StoreError."""
        role = self._role()
        return None if role is None else role.pair

    def _role(self) -> Role | None:
        self.kind()
        return self._seen[0].role if self._seen else None

    def behind_ms(self) -> int | None:
        """How old what is here is at most; None where that is unknown, and in a primary."""
        if self._seen is None or self._kind_of(self._seen[0]) is RegionKind.PRIMARY or not self._seen[0].complete_at:
            return None
        return max(0, self._clock.now() - self._seen[0].complete_at)

    def _kind_of(self, state: RegionState) -> RegionKind:
        if state.role is None:
            return RegionKind.JOINING if self._follows else RegionKind.PRIMARY
        return state.role.kind
