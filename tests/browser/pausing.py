"""One call of a page, held and answered by a test.

Playwright holds all requests of a page where it routes one, and lets the page keep no file: it takes a third longer.
"""

import base64
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from playwright.sync_api import APIResponse, CDPSession, Error, Page


class Held:
    """A request that waits. Where it has ended meanwhile, as its page was left, nothing is done with it any more."""

    def __init__(self, page: Page, session: CDPSession, told: dict[str, Any]) -> None:
        self._page = page
        self._session = session
        self._told = told

    def continue_(self) -> None:
        self._end("continueRequest")

    def abort(self) -> None:
        self._end("failRequest", errorReason="Failed")

    def fulfill(self, *, status: int, body: str) -> None:
        self._end("fulfillRequest", responseCode=status, body=base64.b64encode(body.encode()).decode())

    def fetch(self) -> APIResponse:
        """The registry's own answer."""
        asked = self._told["request"]
        return self._page.request.fetch(
            asked["url"], method=asked["method"], headers=asked["headers"], data=asked.get("postData")
        )

    def _end(self, how: str, **more: Any) -> None:
        with suppress(Error):
            self._session.send(f"Fetch.{how}", {"requestId": self._told["requestId"], **more})


class Pausing:
    """Holds the requests of a page to one address at a time."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.on("Fetch.requestPaused", lambda told: self._meet(Held(page, self._session, told)))
        self._meet: Callable[[Held], None] = Held.continue_

    def hold(self, url: str, meet: Callable[[Held], None]) -> None:
        self._meet = meet
        plain = url.replace("\\", "\\\\").replace("*", "\\*").replace("?", "\\?")
        self._session.send("Fetch.enable", {"patterns": [{"urlPattern": plain}]})

    def let_through(self) -> None:
        self._meet = Held.continue_
        self._session.send("Fetch.disable")
