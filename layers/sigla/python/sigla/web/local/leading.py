"""What a registry of one machine answers to the region that follows it: `/regions/journal` and `/regions/copy`.

Beside the API, for administrators who reach everything; open where the registry is.
"""

import asyncio
import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from sigla.auth.credentials import Authenticator
from sigla.auth.guesses import Guesses
from sigla.auth.permissions import ADMIN
from sigla.errors import DeniedEverywhere, Refusal, StoreError, Unauthorized
from sigla.model import SchemaId
from sigla.ports.clock import Clock
from sigla.ports.primary import NextAsked
from sigla.regions import wire
from sigla.regions.followed import Followed
from sigla.regions.nouns import Role, is_region_url
from sigla.regions.refusals import NotFollowed
from sigla.regions.replay import JournalPlace
from sigla.remote.urls import is_url
from sigla.web.api.beside import response_of
from sigla.web.api.callers import caller_of
from sigla.web.api.waiting import keep_waiting
from sigla.web.http.guard import in_authority
from sigla.web.http.headers import picked
from sigla.web.http.refusals import BadRequest
from sigla.web.local.news import News

LONGEST_WAIT_MS: Final = 60_000
LONGEST_RUN: Final = 64
_DIGITS: Final = re.compile("[0-9]{1,18}")
_URL: Final = re.compile("[!-~]{1,1024}")
_NAME: Final = re.compile(r"[^\s\x00-\x1f\x7f-\x9f](?:[^\x00-\x1f\x7f-\x9f]{0,1022}[^\s\x00-\x1f\x7f-\x9f])?")

Copy = Callable[[Path], None]
"""Fills a file with a backup."""


class Leading:
    """followed: the registry, as another region follows it. copy: makes a backup.

    authenticate, guesses: of the API, so that wrong secrets wait here as there.
    """

    def __init__(
        self,
        followed: Followed,
        copy: Copy,
        authenticate: Authenticator | None,
        guesses: Guesses | None,
        clock: Clock,
    ) -> None:
        self._followed = followed
        self._clock = clock
        self._copy = copy
        self._authenticate = authenticate
        self._guesses = guesses
        self._news = News()
        self._over = False
        self._roles = 0
        """How often the role has changed."""
        self.wake = self._news.tell
        followed.follower.wake = self.wake

    def hear(self, role: Role) -> None:  # noqa: ARG002 - what it is now the next question finds
        """The role has changed: whoever waits asks again, and is told what that means for it."""
        self._roles += 1
        self.wake()

    def close(self) -> None:
        """Answers who waits: the server ends."""
        self._over = True
        self.wake()

    def routes(self) -> list[Route]:
        return [
            Route("/regions/journal", self._journal),
            Route("/regions/copy", self._copied),
            Route("/regions/rows", self._rows),
            Route("/regions/place", self._place),
        ]

    async def _journal(self, request: Request) -> Response:
        since, roles = self._clock.elapsed(), self._roles
        try:
            await self._check_admin(request)
            asked = _asked(request.query_params)
            asked = asked._replace(served=_reached(asked.served, request))
            await asyncio.to_thread(self._followed.check, asked)
            self._followed.follower.asks(asked)
            if not asked.all_ceilings:
                await self._wait(asked, roles)
            told = await asyncio.to_thread(self._followed.tell, asked, since)
            return Response(wire.told_bytes(told), media_type="application/json")
        except (Refusal, StoreError) as problem:
            return _refused(problem)

    async def _rows(self, request: Request) -> Response:
        """What comes after a row, told to any administrator: this region may have been passed over."""
        try:
            await self._check_admin(request)
            after = _bounded_number("after", request.query_params.get("after", "0"))
            asked = NextAsked("", JournalPlace(after, ""), 0, wait_ms=0, all_ceilings=False, heard={})
            told = await asyncio.to_thread(self._followed.tell, asked, self._clock.elapsed())
            return Response(wire.told_bytes(told), media_type="application/json")
        except (Refusal, StoreError) as problem:
            return _refused(problem)

    async def _place(self, request: Request) -> Response:
        """Where a row stands, by which two journals are compared."""
        try:
            await self._check_admin(request)
            at = _bounded_number("at", request.query_params.get("at", "0"))
            place = await asyncio.to_thread(self._followed.place, at)
            return JSONResponse({"position": at, "hash": place.hash if place else ""})
        except (Refusal, StoreError) as problem:
            return _refused(problem)

    async def _copied(self, request: Request) -> Response:
        try:
            await self._check_admin(request)
            if "look" in request.query_params:
                await asyncio.to_thread(self._followed.check_begin)
                return JSONResponse({})
            await asyncio.to_thread(self._followed.begin)
            file = await asyncio.to_thread(self._made)
        except (Refusal, StoreError, OSError) as problem:
            return _refused(problem)
        return _SentOnce(file)

    def _made(self) -> Path:
        handle, name = tempfile.mkstemp(prefix="sigla-copy-")
        os.close(handle)
        try:
            self._copy(Path(name))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return Path(name)

    async def _wait(self, asked: NextAsked, roles: int) -> None:
        """Until there is something to tell, or the time is over. roles: of these changes it knows."""
        patience_s = min(asked.wait_ms, LONGEST_WAIT_MS) / 1000
        has_news = self._followed.has_news
        await self._news.wait_for(lambda: self._over or self._roles > roles or has_news(asked), patience_s)

    async def _check_admin(self, request: Request) -> None:
        """Raises Unauthorized, DeniedEverywhere."""
        sent = picked(request.scope["headers"])
        if b"sec-fetch-site" in sent:  # a browser, perhaps with the page of another site: no registry asks like that
            raise DeniedEverywhere(operation=ADMIN.operation)
        if self._authenticate is None:
            return
        principal = await caller_of(self._authenticate, sent.get(b"authorization"))
        if principal is None:
            await keep_waiting(self._guesses, sent)
            raise Unauthorized(self._authenticate.schemes)
        if not principal.administers_everything:
            raise DeniedEverywhere(operation=ADMIN.operation)


class _SentOnce(FileResponse):
    """A file that is removed afterwards, also if the client leaves, or asks for a part that does not exist."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._remove()

    def _remove(self) -> None:
        Path(self.path).unlink(missing_ok=True)


def _asked(said: Mapping[str, str]) -> NextAsked:
    """said: a query. Raises BadRequest."""
    after, epoch, wait_ms, kept, apart = (
        _bounded_number(name, said.get(name, "0")) for name in ("after", "epoch", "wait", "kept", "apart")
    )
    return NextAsked(
        _follower(said),
        JournalPlace(after, said.get("hash", "")),
        epoch,
        wait_ms,
        said.get("ceilings") == "all",
        _heard(said.get("heard") or "{}"),
        said.get("served", ""),
        said.get("token", ""),
        kept,
        apart,
        said.get("run", "")[:LONGEST_RUN],
    )


def _reached(served: str, request: Request) -> str:
    """The URL of the follower, as it says; where it does not know its own host, that from which it asks."""
    scheme, nowhere, number = served.partition("://:")
    if nowhere and request.client is not None:
        served = f"{scheme}://{in_authority(request.client.host)}:{number}"
    return served if _URL.fullmatch(served) and is_url(served) else ""


def _follower(said: Mapping[str, str]) -> str:
    """Its name, which is not a URL. Raises BadRequest."""
    name = said.get("follower", "")
    if not _NAME.fullmatch(name) or is_region_url(name):
        raise BadRequest(reason="follower: the name of a registry is expected")
    return name


def _heard(said: str) -> dict[str, SchemaId]:
    """Raises BadRequest."""
    with suppress(ValueError, RecursionError):
        heard: object = json.loads(said)
        if isinstance(heard, dict):
            return {context: SchemaId(_bounded_number("heard", ceiling)) for context, ceiling in heard.items()}
    raise BadRequest(reason="heard: a JSON object of numbers is expected")


def _bounded_number(name: str, said: object) -> int:
    """One that a table can hold. Raises BadRequest."""
    if not _DIGITS.fullmatch(str(said)):
        raise BadRequest(reason=f"{name}: a number is expected")
    return int(str(said))


def _refused(problem: Exception) -> Response:
    if isinstance(problem, NotFollowed):
        return JSONResponse(wire.refused_form(problem), problem.status)
    if isinstance(problem, Refusal):
        return response_of(problem)
    return JSONResponse({"error_code": 50001, "message": "The registry cannot be read now"}, 500)
