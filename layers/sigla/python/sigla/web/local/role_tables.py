"""What answers for a registry of two regions at this moment: the table of a primary, or that of a follower."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from starlette.types import ASGIApp, Receive, Scope, Send

from sigla.model import BodyKey
from sigla.regions.absence import NothingConcluded
from sigla.regions.adoption import AdoptedIds, given_before, out_since
from sigla.regions.nouns import RegionSeen
from sigla.registry import Registry
from sigla.web.app import HttpOptions
from sigla.web.local.following import Following, FollowingTable, LeadingTable
from sigla.web.threads.workers import Workers


class RoleTables:
    """Any thread may change it: the next request is answered by what stands then.

    end: of the journal. look, buried: as of `regions.adoption`.
    """

    def __init__(
        self,
        end: Callable[[], int],
        look: Callable[[str], RegionSeen],
        buried: Callable[[Iterable[BodyKey]], Collection[BodyKey]],
    ) -> None:
        self._end = end
        self._is_adopted, self._is_out, self._buried = given_before(look), out_since(look), buried
        self._adopts = False
        self._pair = ""
        self._made: Callable[[Following], FollowingTable] | None = None
        self._following: Following | None = None

    def table(
        self, registry: Registry, workers: Workers | None, options: HttpOptions, beside: Collection[str] = ()
    ) -> ASGIApp:
        """Makes what answers, as `web.app.build` has it made."""
        concluding_nothing = replace(registry, catalog=NothingConcluded(registry.catalog))

        ids = AdoptedIds(registry.catalog, registry.bodies, self._is_adopted, is_out=self._is_out, buried=self._buried)
        adopting = replace(registry, catalog=ids)

        def following(following: Following) -> FollowingTable:
            return FollowingTable(following, concluding_nothing, workers, options, beside)

        def leading() -> LeadingTable:
            leads = adopting if self._adopts else registry
            return LeadingTable(self._end, self._pair, leads, workers, options, beside)

        self._leading = leading
        self._current: ASGIApp = leading()
        self._made = following
        self._choose()
        return self._answer

    def lead(self, *, adopts: bool, pair: str) -> None:
        """adopts, pair: as of `regions.nouns.Role`."""
        self._adopts, self._pair = adopts, pair
        self._stand(None)

    def follow(self, following: Following) -> None:
        """A primary that takes no writes answers so, too."""
        self._stand(following)

    def _stand(self, following: Following | None) -> None:
        before, self._following = self._following, following
        self._choose()
        if before is not None:
            before.forwarding.close()

    def _choose(self) -> None:
        if self._made is not None:  # else there was no request yet
            self._current = self._leading() if self._following is None else self._made(self._following)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._current(scope, receive, send)
