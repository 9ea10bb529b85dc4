"""Requests that are sent on to another region: what goes with them, what comes back, and when they are."""

from contextlib import suppress
from typing import Final

import orjson
from starlette.types import Message, Receive

from sigla.errors import Closed, Refusal
from sigla.ports.primary import Forwarded
from sigla.regions.refusals import NotForwarded
from sigla.web.api.call import Call
from sigla.web.app import Gone
from sigla.web.http.answer import Answer
from sigla.web.http.refusals import BodyTooLarge

FORWARD: Final = b"x-forward"
COMPARES: Final = ("/compatibility/", "/console/api/subjects/{subject}/verdict")
"""Paths whose answers rest on the newest versions."""

MEANINGS: Final = ("/schemas/ids/{id}", "/schemas/ids/{id}/schema", "/schemas/guids/{guid}")
"""Paths that ask what an id means, which never changes."""

BEHIND: Final = b"x-sigla-behind"
"""Milliseconds, on each answer that was found here: how old what is known here is at most."""

_SENT_ON: Final = (b"authorization", b"accept", b"content-type", b"if-match", b"user-agent")
_BROUGHT: Final = ("www-authenticate", "retry-after", "cache-control", "allow")


def target_of(call: Call) -> str:
    """Path and query, as the client sent them."""
    query = call.query.decode("latin-1")
    return call.raw_path.decode("latin-1") + (f"?{query}" if query else "")


def headers_sent_on(call: Call) -> dict[str, str]:
    """The client's credentials among them, and not what it says of its own address."""
    sent_on = {name.decode(): call.headers[name].decode("latin-1") for name in _SENT_ON if name in call.headers}
    sent_on |= {"X-Request-ID": call.request_id.decode("latin-1"), FORWARD.decode(): "true"}
    return sent_on | ({"X-Forwarded-For": call.address} if call.address else {})


def answer_brought(found: Forwarded) -> Answer:
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


class KeptBody:
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


async def kept_body(receive: Receive, limit: int) -> KeptBody:
    """Raises BodyTooLarge, Gone."""
    messages, size, more = list[Message](), 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise Gone
        messages.append(message)
        size += len(message.get("body", b""))
        if size > limit:
            raise BodyTooLarge(limit=limit)
        more = message.get("more_body", False)
    return KeptBody(receive, messages)


def rests_on_absence(problem: Exception) -> bool:
    """Whether it says that something is not there, which the primary knows better."""
    if isinstance(problem, Refusal):
        return problem.status == 404 or isinstance(problem, NotForwarded)
    return isinstance(problem, Closed)


def _error_code(found: Forwarded) -> int | None:
    """For the log."""
    if found.status < 400:
        return None
    with suppress(ValueError, LookupError, TypeError):
        return int(orjson.loads(found.body)["error_code"])
    return found.status
