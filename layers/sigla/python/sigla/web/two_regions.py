"""The API of a registry in AWS that has another region: which of the two it is stands in the data, and may change.

    the primary     answers as ever; one that is closed takes no writes, and concludes nothing from absence: the
                    other region may be the primary by now
    the follower    answers reads by what is here. What is not here is asked at the primary: nothing is concluded from
                    absence. What writes goes there, and what is compared with the newest versions
    one that joins  sends everything on: it has a part of what there is
    own writes      who wrote through the follower reads there what was written: the answer waits until it is here, in
                    whichever environment it is read; if that takes too long, the answer is 50003
    silence         50003, and of a write that was sent on and not answered that it is not known whether it was done;
                    but what an id means is known by its body

A request that was sent on is not sent on again. Callers are known by the keys of this region first; the credentials go
along, so that those for writers are keys of both.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from starlette.types import Receive

from sigla.auth.permissions import OPEN, READ
from sigla.errors import Closed, Refusal, StoreError, Unauthorized
from sigla.model import BodyKey, Guid
from sigla.ports.clock import Clock
from sigla.ports.primary import MOVED, Forwarded, Forwards, NotSent
from sigla.regions import moved
from sigla.regions.adoption import AdoptedIds
from sigla.regions.moved import Moved
from sigla.regions.nouns import RegionKind
from sigla.regions.refusals import NotBackYet, NotForwarded, OutcomeNotKnown
from sigla.regions.standing import RegionStanding
from sigla.registry import Registry
from sigla.web.api.call import Call
from sigla.web.api.callers import caller_of
from sigla.web.api.route import Route
from sigla.web.api.unserved import not_forwarded
from sigla.web.app import RouteTable
from sigla.web.http.answer import Answer
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

WRITE_S: Final = 24.0
QUESTION_S: Final = 3.0
"""For so long what is sent on may take: a function is ended after 28 s."""
SILENT_MS: Final = 5_000
"""After a failure nothing is sent on for so long."""


@dataclass
class AskedRegion:
    """there: its API; None where that is not known. silent_until: nothing is sent on before, by `Clock.elapsed`.

    brought_back: whether what a write there has moved can be read here, which it waits for. is_marked: as of
    `ports.handed_ids`, here.
    """

    there: Forwards | None
    standing: RegionStanding
    clock: Clock
    brought_back: Callable[[Moved], bool]
    is_marked: Callable[[BodyKey, Guid, str], bool]
    silent_until: int = field(default=0, init=False)

    def forward(self, call: Call, route: Route, body: bytes) -> Answer:
        """What it answers. Raises NotForwarded, OutcomeNotKnown, NotBackYet."""
        asks = route.access in (READ, OPEN)
        if self.there is None or FORWARD in call.headers or self.clock.elapsed() < self.silent_until:
            raise not_forwarded(route, NotForwarded)
        patience_s = QUESTION_S if asks else WRITE_S
        try:
            found = self.there.forward(call.method, target_of(call), headers_sent_on(call), body, patience_s)
        except StoreError as silence:
            self.silent_until = self.clock.elapsed() + SILENT_MS
            is_known_not_done = asks or isinstance(silence, NotSent)
            raise not_forwarded(route, NotForwarded if is_known_not_done else OutcomeNotKnown) from None
        call.body_read = True
        if not asks and not self._is_back(found):
            raise not_forwarded(route, NotBackYet)
        answer = answer_brought(found)
        if asks and answer.error_code == NotForwarded.code:  # it would have to ask another region itself
            raise not_forwarded(route)
        return answer

    def _is_back(self, found: Forwarded) -> bool:
        """Also where nothing was written, and where an older release has answered."""
        try:
            told = moved.moved_of(found.headers[MOVED])
        except (LookupError, ValueError):
            return True
        return self.brought_back(told)


class TwoRegionsTable(RouteTable):
    """A `RouteTable` of either region."""

    def __init__(self, other: AskedRegion, registry: Registry, *of_table: Any) -> None:
        super().__init__(registry, *of_table)
        meanings = AdoptedIds(registry.catalog, registry.bodies, lambda _: True, is_marked=other.is_marked)
        self._by_bodies = RouteTable(replace(registry, catalog=meanings), *of_table)
        self._other = other
        self._standing = other.standing

    async def _answer(self, call: Call, receive: Receive) -> Answer:
        if FORWARD not in call.headers:
            return await self._answered(call, receive)
        with moved.noted() as notes:
            answer = await self._answered(call, receive)
        if call.found is not None and call.found.route.access not in (READ, OPEN):
            answer.headers = (*answer.headers, (MOVED.encode(), moved.header_of(notes.moved).encode()))
        return answer

    async def _answered(self, call: Call, receive: Receive) -> Answer:
        if call.method == "OPTIONS":
            return await super()._answer(call, receive)
        self._check_wanted(call)
        call.found = self._dispatch.find(call.method, call.raw_path)
        route = call.found.route
        if route.access is OPEN or route.of_server:
            return await super()._answer(call, receive)
        kept = await kept_body(receive, self._options.body_bytes)
        if self._goes_there(route):
            return await self._forwarded(call, route, kept)
        adopted, asks_alone = self._standing.adopts(), _asks_alone(route)
        try:
            answer = await super()._answer(call, kept)
        except (Refusal, StoreError) as problem:
            if not rests_on_absence(problem) and (asks_alone or not self._standing.was_passed_on()):
                raise
            # A role that was remembered is asked anew: it may have changed.
            if not self._standing.concludes_now():
                if route.access is not READ and self._standing.kind() is RegionKind.PRIMARY:
                    raise Closed from None  # what comes of a write in the other region is not brought back here
                return await self._absent_here(call, route, kept)
            if adopted or not self._standing.adopts():
                raise
            kept.again()
            return await super()._answer(call, kept)
        compares = route.access is READ and not asks_alone
        if compares and self._standing.was_passed_on() and not self._standing.concludes_now():
            return await self._forwarded(call, route, kept)
        if (behind_ms := self._standing.behind_ms()) is not None:
            answer.headers = (*answer.headers, (BEHIND, b"%d" % behind_ms))
        return answer

    def _goes_there(self, route: Route) -> bool:
        """Whether nothing of it can be answered here. Raises StoreError."""
        kind, asks = self._standing.kind(), _asks_alone(route)
        if kind is RegionKind.PRIMARY or (kind is RegionKind.FOLLOWER and asks):
            return False
        now = self._standing.kind_now()
        return now is RegionKind.JOINING or (now is RegionKind.FOLLOWER and not asks)

    async def _absent_here(self, call: Call, route: Route, kept: KeptBody) -> Answer:
        """As the primary says; where that is silent, by the body of what an id means, which never changes."""
        try:
            return await self._forwarded(call, route, kept)
        except NotForwarded:
            if route.path not in MEANINGS:
                raise
            kept.again()
            with suppress(Refusal, StoreError):
                return await self._by_bodies._answer(call, kept)  # noqa: SLF001 - a table as this one
            raise

    async def _forwarded(self, call: Call, route: Route, kept: KeptBody) -> Answer:
        """Raises Unauthorized for callers who are not known here: strangers do not concern the other region."""
        if self._authenticate is not None:
            principal = await caller_of(self._authenticate, call.headers.get(b"authorization"))
            if principal is None:
                raise Unauthorized(schemes=self._authenticate.schemes)
            call.principal = principal.name
        return self._other.forward(call, route, kept.body)


def _asks_alone(route: Route) -> bool:
    """Whether it changes nothing, and is compared with the newest versions of nothing."""
    return route.access is READ and not route.path.startswith(COMPARES)
