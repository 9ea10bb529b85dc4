"""The API of a registry that follows another region: it answers what it knows, and sends on what it does not.

    reads      are answered here, unless they rest on something that is not here: nothing is concluded from absence
    the rest   goes to the primary: what writes, and what is compared with the newest versions
    strangers  whose key is not known here may have one at the primary: all that they ask is asked there, beside what
               others ask; whoever has none there either waits here, as at a primary
    silence    50003, and of what was sent on and not answered that it is not known whether it was carried out; another
               registry at the address of the primary is told nothing, and what it says is not passed on
    ids        of a region that was passed over mean what they did, though the primary does not know them yet
    sent on    by another region, or by who says so: answered by what is here, and never sent on again: 50003

Who has written through this registry reads here what was written: an answer waits until it has come back.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import eq
from typing import Any, Final

from starlette.types import Receive

from sigla.auth.permissions import OPEN, READ
from sigla.errors import Refusal, StoreError, Unauthorized
from sigla.observe import UNKNOWN_KEY
from sigla.ports.clock import Clock
from sigla.ports.primary import FOLLOWER, MOVED, NotSent
from sigla.regions.adoption import AdoptedIds
from sigla.regions.refusals import NotForwarded, OutcomeNotKnown
from sigla.registry import Registry
from sigla.web.api.call import Call
from sigla.web.api.callers import caller_of
from sigla.web.api.route import Route
from sigla.web.api.unserved import not_forwarded
from sigla.web.api.waiting import keep_waiting
from sigla.web.app import RouteTable
from sigla.web.http.answer import Answer
from sigla.web.local.forwarding import Sends
from sigla.web.local.news import News
from sigla.web.paired import PairedTable
from sigla.web.relaying import (
    BEHIND,
    COMPARES,
    FORWARD,
    MEANINGS,
    KeptBody,
    answer_brought,
    headers_sent_on,
    kept_body,
    rests_on_absence,
    target_of,
)

NOWHERE: Final = 404

COMES_BACK_S: Final = 2.0
"""For so long the answer to a write waits until what was written is here."""


@dataclass(frozen=True, slots=True)
class Following:
    """What a follower's API rests on.

    complete_at: at what time all was here that the primary had then; None where that is unknown. reaches: whether a row
    of the primary's journal is here. news: told when more of them are. has_alone: whether it was passed over, and may
    have what the primary lacks. comes_back: whether what is written elsewhere comes here by itself. pair: as of `Role`.
    """

    forwarding: Sends
    complete_at: Callable[[], int | None]
    reaches: Callable[[int], bool]
    news: News
    clock: Clock
    has_alone: bool = False
    comes_back: Callable[[], bool] = lambda: True
    pair: str = ""


class FollowingTable(PairedTable):
    """A `RouteTable` of a follower."""

    def __init__(self, following: Following, registry: Registry, *of_table: Any) -> None:
        super().__init__(partial(eq, following.pair), registry, *of_table)
        self._following = following
        meanings = AdoptedIds(registry.catalog, registry.bodies, lambda _: True)
        self._by_bodies = RouteTable(replace(registry, catalog=meanings), *of_table)
        self._ahead = 0

    async def _answered(self, call: Call, receive: Receive) -> Answer:
        if call.method == "OPTIONS":
            return await super()._answered(call, receive)
        self._check_wanted(call)
        call.found = self._dispatch.find(call.method, call.raw_path)
        route = call.found.route
        if route.of_server:
            return await super()._answered(call, receive)
        if await self._is_stranger(call, route):
            return await self._asked_of_primary(call, route, await kept_body(receive, self._options.body_bytes))
        kept = await kept_body(receive, self._options.body_bytes)
        if route.access not in (READ, OPEN) or route.path.startswith(COMPARES):
            return await self._forwarded(call, route, kept)
        return await self._answered_here(call, route, kept)

    async def _is_stranger(self, call: Call, route: Route) -> bool:
        """Whether credentials come that are not known here. Raises Unauthorized where none come."""
        if self._authenticate is None or route.access is OPEN:
            return False
        sent = call.headers.get(b"authorization")
        principal = await caller_of(self._authenticate, sent)
        if principal is not None:
            call.principal = principal.name
            return False
        if sent is None:
            raise Unauthorized(schemes=self._authenticate.schemes)
        return True

    async def _asked_of_primary(self, call: Call, route: Route, kept: KeptBody) -> Answer:
        """What a stranger is told."""
        try:
            answer = await self._forwarded(call, route, kept, is_known=False)
        except NotForwarded:
            await keep_waiting(self._options.guesses, call.headers)
            raise
        if answer.status == UNKNOWN_KEY:
            await keep_waiting(self._options.guesses, call.headers)
        return answer

    async def _answered_here(self, call: Call, route: Route, kept: KeptBody) -> Answer:
        complete_at = self._following.complete_at()
        if route.access is READ:
            lacks_own = not self._following.reaches(self._ahead)
            # Since the start it may not have heard what was written through it before.
            if lacks_own or complete_at is None:
                try:
                    return await self._asked_there(call, route, kept)
                except NotForwarded:
                    if lacks_own:
                        raise
                    kept.again()
        try:
            answer = await super()._answered(call, kept)
        except (Refusal, StoreError) as problem:
            if route.access is OPEN or not rests_on_absence(problem):
                raise
            return await self._asked_there(call, route, kept, absent=True)
        if answer.is_absent:
            return await self._asked_there(call, route, kept, absent=True)
        if complete_at is not None and route.access is READ:
            behind_ms = self._following.clock.elapsed() - complete_at
            answer.headers = (*answer.headers, (BEHIND, b"%d" % behind_ms))
        return answer

    async def _asked_there(self, call: Call, route: Route, kept: KeptBody, *, absent: bool = False) -> Answer:
        """As the primary says. What an id means is known here, too, while it is silent, and by a region passed over.

        absent: whether it was not found here. Raises NotForwarded.
        """
        has_alone, asks_meaning = self._following.has_alone, route.path in MEANINGS
        try:
            answer = await self._forwarded(call, route, kept)
        except NotForwarded:
            found = await self._meaning(call, kept) if asks_meaning and (has_alone or absent) else None
            if found is None:
                raise
            return found
        found = await self._meaning(call, kept) if asks_meaning and has_alone and answer.status == NOWHERE else None
        return found or answer

    async def _meaning(self, call: Call, kept: KeptBody) -> Answer | None:
        """By its body, if no version is here that has the id."""
        kept.again()
        try:
            return await self._by_bodies._answer(call, kept)  # noqa: SLF001 - a table as this one
        except (Refusal, StoreError):
            return None

    async def _forwarded(self, call: Call, route: Route, kept: KeptBody, *, is_known: bool = True) -> Answer:
        """What the primary answers. Raises NotForwarded, also for what another region has sent on."""
        if FORWARD in call.headers:
            raise not_forwarded(route)
        asks = route.access in (READ, OPEN)
        try:
            found = await self._following.forwarding.send(
                call.method, target_of(call), headers_sent_on(call), kept.body, is_known=is_known, asks=asks
            )
        except StoreError as silence:
            is_known_not_done = asks or isinstance(silence, NotSent)
            raise not_forwarded(route, NotForwarded if is_known_not_done else OutcomeNotKnown) from None
        call.body_read = True
        moved = found.headers.get(MOVED, "")
        if moved.isdecimal():
            await self._comes_back(int(moved))
        answer = answer_brought(found)
        if asks and answer.error_code == NotForwarded.code:  # it would have to ask another region itself
            raise not_forwarded(route)
        return answer

    async def _comes_back(self, position: int) -> None:
        """A row of the primary's journal, in time, or all reads go to the primary until it has."""
        self._ahead = max(self._ahead, position)
        if not self._following.comes_back():
            return
        await self._following.news.wait_for(lambda: self._following.reaches(position), COMES_BACK_S)


class LeadingTable(PairedTable):
    """A `RouteTable` of a registry that another one may follow. end: how far its journal reaches. pair: as of `Role`.

    The end is told to the region that follows, and to no client: who has a key for some subjects would count the
    commits about all others by it.
    """

    def __init__(self, end: Callable[[], int], pair: str, *of_table: Any) -> None:
        super().__init__(partial(eq, pair), *of_table)
        self._end = end

    async def _answered(self, call: Call, receive: Receive) -> Answer:
        if FORWARD in call.headers:
            call.relayed = await self._is_from_follower(call)
        answer = await super()._answered(call, receive)
        writes = call.found is not None and call.found.route.access not in (READ, OPEN)
        if FORWARD in call.headers and writes and (call.relayed or self._authenticate is None):
            answer.headers = (*answer.headers, (MOVED.encode(), b"%d" % self._end()))
        return answer

    async def _is_from_follower(self, call: Call) -> bool:
        """Whether the region that follows sends it, as its own credentials say. Wrong ones wait as all do."""
        shown = call.headers.get(FOLLOWER.encode())
        if self._authenticate is None or not shown:
            return False
        try:
            principal = await caller_of(self._authenticate, shown)
        except (StoreError, Refusal):
            return False
        if principal is None:
            await keep_waiting(self._options.guesses, {b"authorization": shown})
        return principal is not None and principal.administers_everything
