"""Which requests are for the console; what answers them is imported with the first."""

from typing import Final, NamedTuple

from starlette.types import Receive, Scope, Send

CONSOLE: Final = "/console"
_PAGES, _QUESTIONS = f"{CONSOLE}/", f"{CONSOLE}/api/"


class Login(NamedTuple):
    """An issuer where people sign in to the console. client: the public id of the console. scope: words in one text."""

    issuer: str
    client: str
    scope: str


def is_page(path: str) -> bool:
    """Whether it is a page of the console, or a file: what its pages ask is answered by the table of routes."""
    return path == CONSOLE or (path.startswith(_PAGES) and not path.startswith(_QUESTIONS))


async def show(scope: Scope, receive: Receive, send: Send, *, gzip: bool, logins: tuple[Login, ...] = ()) -> None:
    """An ASGI application of GET and HEAD. gzip: whether the front door lets other bytes than text through."""
    from sigla.web.console import pages  # noqa: PLC0415 - no other request needs it

    await pages.answer(scope, receive, send, gzip=gzip, logins=logins)
