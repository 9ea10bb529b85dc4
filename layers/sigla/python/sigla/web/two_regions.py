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

A request that was sent on is not sent on again. None is before this region has a role, and with it the pair by which
the other one is known: at the address in the settings another registry may answer. Callers are known by the keys of
this region first; the credentials go along, so that those for writers are keys of both.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum, auto
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

WRITE_S: Final = 24.0
QUESTION_S: Final = 3.0
"""For so long what is sent on may take: a function is ended after 28 s."""
SILENT_MS: Final = 5_000
"""After a failure nothing is sent on for so long."""


@dataclass
class AskedRegion:
    """there: its API, by the pair of this registry; None where that is not known.

    silent_until: nothing is sent on before, by `Clock.elapsed`. brought_back: whether what a write there has moved can
    be read here, which it waits for. is_marked: as of `ports.handed_ids`, here.
    """

    there: Callable[[str], Forwards] | None
    standing: RegionStanding
    clock: Clock
    brought_back: Callable[[Moved], bool]
    is_marked: Callable[[BodyKey, Guid, str], bool]
    silent_until: int = field(default=0, init=False)

    def forward(self, call: Call, route: Route, body: bytes) -> Answer:
        """What it answers. Raises NotForwarded, OutcomeNotKnown, NotBackYet."""
        asks = route.access in (READ, OPEN)
        pair, is_silent = self.standing.pair(), self.clock.elapsed() < self.silent_until
        if self.there is None or pair is None or FORWARD in call.headers or is_silent:
            raise not_forwarded(route, NotForwarded)
        patience_s = QUESTION_S if asks else WRITE_S
        try:
            found = self.there(pair).forward(call.method, target_of(call), headers_sent_on(call), body, patience_s)
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


class _Asks(Enum):
    """What a request asks for: what is here, what is compared with the newest versions, or a change."""

    WHAT_IS_HERE = auto()
    COMPARISON = auto()
    CHANGE = auto()


class _Came(Enum):
    """What came of it here: an answer, that something is not there, or another refusal or failure."""

    ANSWER = auto()
    ABSENCE = auto()
    PROBLEM = auto()


class _Doubted(Enum):
    """Whether the role is read anew before that is told: where one was met with it by which it is not this region's."""

    NEVER = auto()
    WHERE_PASSED_ON = auto()
    ALWAYS = auto()


class _Then(Enum):
    """What follows. AGAIN: where it was promoted by force meanwhile it is answered once more, and else told."""

    TOLD = auto()
    AGAIN = auto()
    ASKED_THERE = auto()
    REFUSED = auto()


_FOLLOWS: Final[Mapping[tuple[_Asks, _Came], tuple[_Doubted, _Then, _Then, _Then]]] = {
    # what it asks for, what came of it: when that is doubted; what follows where this region takes writes then,
    # where it is a primary that is closed, and where it follows or joins
    (_Asks.WHAT_IS_HERE, _Came.ANSWER): (_Doubted.NEVER, _Then.TOLD, _Then.TOLD, _Then.TOLD),
    (_Asks.WHAT_IS_HERE, _Came.PROBLEM): (_Doubted.NEVER, _Then.TOLD, _Then.TOLD, _Then.TOLD),
    (_Asks.WHAT_IS_HERE, _Came.ABSENCE): (_Doubted.ALWAYS, _Then.AGAIN, _Then.ASKED_THERE, _Then.ASKED_THERE),
    (_Asks.COMPARISON, _Came.ANSWER): (_Doubted.WHERE_PASSED_ON, _Then.TOLD, _Then.ASKED_THERE, _Then.ASKED_THERE),
    (_Asks.COMPARISON, _Came.PROBLEM): (_Doubted.WHERE_PASSED_ON, _Then.AGAIN, _Then.ASKED_THERE, _Then.ASKED_THERE),
    (_Asks.COMPARISON, _Came.ABSENCE): (_Doubted.ALWAYS, _Then.AGAIN, _Then.ASKED_THERE, _Then.ASKED_THERE),
    # Its transaction has checked the role; and what comes of a change in the other region is not brought back here.
    (_Asks.CHANGE, _Came.ANSWER): (_Doubted.NEVER, _Then.TOLD, _Then.TOLD, _Then.TOLD),
    (_Asks.CHANGE, _Came.PROBLEM): (_Doubted.WHERE_PASSED_ON, _Then.AGAIN, _Then.REFUSED, _Then.ASKED_THERE),
    (_Asks.CHANGE, _Came.ABSENCE): (_Doubted.ALWAYS, _Then.AGAIN, _Then.REFUSED, _Then.ASKED_THERE),
}
"""What follows from what came of a request here."""


class TwoRegionsTable(PairedTable):
    """A `RouteTable` of either region. is_own: as of `PairedTable`."""

    def __init__(self, other: AskedRegion, is_own: Callable[[str], bool], registry: Registry, *of_table: Any) -> None:
        super().__init__(is_own, registry, *of_table)
        meanings = AdoptedIds(registry.catalog, registry.bodies, lambda _: True, is_marked=other.is_marked)
        self._by_bodies = RouteTable(replace(registry, catalog=meanings), *of_table)
        self._other = other
        self._standing = other.standing

    async def _answered(self, call: Call, receive: Receive) -> Answer:
        if FORWARD not in call.headers:
            return await self._here_or_there(call, receive)
        with moved.noted() as notes:
            answer = await self._here_or_there(call, receive)
        if call.found is not None and call.found.route.access not in (READ, OPEN):
            answer.headers = (*answer.headers, (MOVED.encode(), moved.header_of(notes.moved).encode()))
        return answer

    async def _here_or_there(self, call: Call, receive: Receive) -> Answer:
        if call.method == "OPTIONS":
            return await super()._answered(call, receive)
        self._check_wanted(call)
        call.found = self._dispatch.find(call.method, call.raw_path)
        route = call.found.route
        if route.access is OPEN or route.of_server:
            return await super()._answered(call, receive)
        kept = await kept_body(receive, self._options.body_bytes)
        if self._goes_there(route):
            return await self._forwarded(call, route, kept)
        adopted = self._standing.adopts()
        answer = await self._tried(call, kept)
        match self._then(route, answer):
            case _Then.AGAIN if not adopted and self._standing.adopts():
                kept.again()
                return await super()._answered(call, kept)
            case _Then.ASKED_THERE:
                return await self._absent_here(call, route, kept)
            case _Then.REFUSED:
                raise Closed
        if not isinstance(answer, Answer):
            raise answer
        if (behind_ms := self._standing.behind_ms()) is not None:
            answer.headers = (*answer.headers, (BEHIND, b"%d" % behind_ms))
        return answer

    async def _tried(self, call: Call, kept: KeptBody) -> Answer | Refusal | StoreError:
        try:
            return await super()._answered(call, kept)
        except (Refusal, StoreError) as problem:
            return problem

    def _then(self, route: Route, answer: Answer | Refusal | StoreError) -> _Then:
        """Raises StoreError."""
        doubted, takes_writes, is_closed, follows = _FOLLOWS[_asks_for(route), _came(answer)]
        if doubted is _Doubted.NEVER or (doubted is _Doubted.WHERE_PASSED_ON and not self._standing.was_passed_on()):
            return _Then.TOLD
        # A role that was remembered is asked anew: it may have changed.
        if self._standing.concludes_now():
            return takes_writes
        return is_closed if self._standing.kind() is RegionKind.PRIMARY else follows

    def _goes_there(self, route: Route) -> bool:
        """Whether nothing of it can be answered here. Raises StoreError."""
        kind, is_here = self._standing.kind(), _asks_for(route) is _Asks.WHAT_IS_HERE
        if kind is RegionKind.PRIMARY or (kind is RegionKind.FOLLOWER and is_here):
            return False
        now = self._standing.kind_now()
        return now is RegionKind.JOINING or (now is RegionKind.FOLLOWER and not is_here)

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


def _asks_for(route: Route) -> _Asks:
    if route.access is not READ:
        return _Asks.CHANGE
    return _Asks.COMPARISON if route.path.startswith(COMPARES) else _Asks.WHAT_IS_HERE


def _came(answer: Answer | Refusal | StoreError) -> _Came:
    if isinstance(answer, Answer):
        return _Came.ABSENCE if answer.is_absent else _Came.ANSWER
    return _Came.ABSENCE if rests_on_absence(answer) else _Came.PROBLEM
