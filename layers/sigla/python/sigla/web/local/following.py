"""The API of a registry that follows another region: it answers what it knows, and sends on what it does not.

    reads      are answered here, unless they rest on something that is not here: nothing is concluded from absence
    the rest   goes to the primary: what writes, and what is compared with the newest versions
    silence    50003, and of what was sent on and not answered that it is not known whether it was carried out

Who has written through this registry reads here what was written: an answer waits until it has come back.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

import orjson
from starlette.types import Message, Receive

from sigla.auth.credentials import Slow
from sigla.auth.permissions import OPEN, READ
from sigla.errors import Closed, Refusal, StoreError, Unauthorized
from sigla.ports.clock import Clock
from sigla.ports.primary import FOLLOWER
from sigla.regions.refusals import NotForwarded, OutcomeNotKnown
from sigla.web.api.call import Call
from sigla.web.api.routes import Route
from sigla.web.app import RouteTable, not_forwarded
from sigla.web.http.answer import Answer
from sigla.web.http.refusals import BodyTooLarge

AT_ONCE: Final = 32
"""Requests that are on their way to the primary; others wait."""
SILENT_MS: Final = 5_000
"""After a primary could not be reached, nothing is sent to it for so long."""
COMES_BACK_S: Final = 2.0
"""For so long the answer to a write waits until what was written is here."""

COMPARES: Final = "/compatibility/"
"""Paths whose answers rest on the newest versions."""
FORWARDED: Final = b"x-forward"
MOVED: Final = "x-sigla-moved"
"""How far the primary's journal reached when it answered. It is told to the region that follows, and to no client.

Who has a key for some subjects would count the commits about all others by it.
"""
BEHIND: Final = b"x-sigla-behind"
"""Milliseconds, on each answer that was found here: how old what is known here is at most."""

_SENT_ON: Final = (b"authorization", b"accept", b"content-type", b"if-match", b"x-forwarded-for", b"user-agent")
_BROUGHT: Final = ("www-authenticate", "retry-after", "cache-control", "allow")


class Answered(Protocol):
    """What the primary answered."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def body(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Following:
    """What a follower's API rests on.

    forward: sends a request to the primary: its method, target, headers and body. Raises `not_sent` where nothing can
    have been executed, StoreError where that is not known. behind_ms: how old what is known here is at most; None where
    that is unknown. wait_for: whether a row of the primary's journal comes in time.
    """

    forward: Callable[[str, str, Mapping[str, str], bytes], Answered]
    not_sent: type[Exception]
    behind_ms: Callable[[], int | None]
    wait_for: Callable[[int, float], bool]
    clock: Clock


class FollowingTable(RouteTable):
    """A `RouteTable` of a follower."""

    def __init__(self, following: Following, *of_table: Any) -> None:
        super().__init__(*of_table)
        self._following = following
        self._forwarding = asyncio.Semaphore(AT_ONCE)
        self._silent_until = 0
        self._ahead = 0
        self.forwarded = 0
        self.failed = 0

    async def _answer(self, call: Call, receive: Receive) -> Answer:
        if FORWARDED in call.headers:
            return await super()._answer(call, receive)
        self._check_wanted(call)
        kept = await _kept(receive, self._options.body_bytes)
        route = self._dispatch.find(call.method, call.raw_path).route if call.method != "OPTIONS" else None
        local = route is None or (route.access in (READ, OPEN) and not route.path.startswith(COMPARES))
        if not local:
            return await self._forwarded(call, route, kept)
        behind = self._following.behind_ms()
        if route is not None and route.access is READ:
            lacks_own = bool(self._ahead) and not self._following.wait_for(self._ahead, 0)
            # Since the start it may not have heard what was written through it before.
            if lacks_own or behind is None:
                try:
                    return await self._forwarded(call, route, kept)
                except NotForwarded:
                    if lacks_own:
                        raise
                    kept.again()
        try:
            answer = await super()._answer(call, kept)
        except (Refusal, StoreError) as problem:
            if route is None or not _rests_on_absence(problem):
                raise
            return await self._forwarded(call, route, kept, instead=problem)
        if behind is not None and route is not None and route.access is READ:
            answer.headers = (*answer.headers, (BEHIND, b"%d" % behind))
        return answer

    async def _forwarded(
        self, call: Call, route: Route | None, kept: "_KeptBody", instead: Exception | None = None
    ) -> Answer:
        """What the primary answers. instead: what is raised here where it is silent and the caller is not known."""
        refusal = not_forwarded(route)
        now = self._following.clock.elapsed()
        if now < self._silent_until:
            raise _silence(refusal, instead)
        sent_on = {name.decode(): call.headers[name].decode("latin-1") for name in _SENT_ON if name in call.headers}
        sent_on |= {"X-Request-ID": call.request_id.decode("latin-1"), "X-Forward": "true"}
        query = call.query.decode("latin-1")
        target = call.raw_path.decode("latin-1") + (f"?{query}" if query else "")
        self.forwarded += 1
        async with self._forwarding:
            try:
                found = await asyncio.to_thread(self._following.forward, call.method, target, sent_on, kept.body)
            except self._following.not_sent:
                self.failed += 1
                self._silent_until = self._following.clock.elapsed() + SILENT_MS
                raise _silence(refusal, instead) from None
            except StoreError:
                self.failed += 1
                if route is not None and route.access in (READ, OPEN):
                    raise _silence(refusal, instead) from None
                raise not_forwarded(route, OutcomeNotKnown) from None
        call.body_read = True
        moved = found.headers.get(MOVED, "")
        if moved.isdecimal():
            self._ahead = max(self._ahead, int(moved))
            await asyncio.to_thread(self._following.wait_for, int(moved), COMES_BACK_S)
        return Answer(
            found.status,
            found.body,
            media=found.headers.get("content-type", "").encode("latin-1"),
            error_code=_error_code(found),
            etag=found.headers.get("etag", "").encode("latin-1"),
            headers=tuple(
                (name.encode(), found.headers[name].encode("latin-1")) for name in _BROUGHT if name in found.headers
            ),
        )


class LeadingTable(RouteTable):
    """A `RouteTable` of a registry that another one may follow. end: how far its journal reaches."""

    def __init__(self, end: Callable[[], int], *of_table: Any) -> None:
        super().__init__(*of_table)
        self._end = end

    async def _answer(self, call: Call, receive: Receive) -> Answer:
        answer = await super()._answer(call, receive)
        writes = call.found is not None and call.found.route.access not in (READ, OPEN)
        if FORWARDED in call.headers and writes and self._is_sent_on(call):
            answer.headers = (*answer.headers, (MOVED.encode(), b"%d" % self._end()))
        return answer

    def _is_sent_on(self, call: Call) -> bool:
        """Whether the region that follows sends it, as its own credentials say. It is carried out already."""
        if self._authenticate is None:
            return True
        try:
            principal = self._authenticate(call.headers.get(FOLLOWER.encode()))
        except (StoreError, Slow):
            return False
        return principal is not None and principal.administers_everything


class _KeptBody:
    """A body that can be read twice. It is a `Receive`."""

    def __init__(self, receive: Receive, messages: list[Message]) -> None:
        self._receive = receive
        self._all = messages
        self._messages = list(messages)
        self.body = b"".join(message.get("body", b"") for message in messages)

    def again(self) -> None:
        self._messages = list(self._all)

    async def __call__(self) -> Message:
        return self._messages.pop(0) if self._messages else await self._receive()


async def _kept(receive: Receive, limit: int) -> _KeptBody:
    """Raises BodyTooLarge."""
    messages, size, more = list[Message](), 0, True
    while more:
        message = await receive()
        messages.append(message)
        if message["type"] != "http.request":
            break
        size += len(message.get("body", b""))
        if size > limit:
            raise BodyTooLarge(limit=limit)
        more = message.get("more_body", False)
    return _KeptBody(receive, messages)


def _rests_on_absence(problem: Exception) -> bool:
    """Whether it says that something is not there, which the primary knows better."""
    if isinstance(problem, Refusal):
        return problem.status == 404 or isinstance(problem, Unauthorized | NotForwarded)
    return isinstance(problem, Closed)


def _silence(refusal: NotForwarded, instead: Exception | None) -> Exception:
    return instead if isinstance(instead, Unauthorized) else refusal


def _error_code(found: Answered) -> int | None:
    """For the log."""
    if found.status < 400:
        return None
    with suppress(ValueError, LookupError, TypeError):
        return int(orjson.loads(found.body)["error_code"])
    return found.status
