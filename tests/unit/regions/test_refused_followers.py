"""Why a primary refuses a follower is told to programs beside the sentence: what the follower does rests on it."""

import json
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from sigla.ports.primary import NextAsked
from sigla.regions.refusals import NotFollowed, RefusedAs
from sigla.regions.replay import JournalPlace
from sigla.regions.wire import refused_form
from sigla.remote.primary import RemotePrimary
from sigla.stores.clock import SystemClock
from tests.unit.regions.serving import serving

ASKED = NextAsked("b", JournalPlace(0, ""), 1, 0, all_ceilings=False, heard={})


def refusing(body: bytes) -> AbstractContextManager[str]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

        def do_GET(self) -> None:
            self.send_response(422)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return serving(Handler)


def refused(body: bytes) -> tuple[str, NotFollowed]:
    """With the URL that was asked."""
    with refusing(body) as url, pytest.raises(NotFollowed) as caught:
        RemotePrimary(url, "", SystemClock()).told(ASKED)
    return url, caught.value


@pytest.mark.parametrize("reason", [*RefusedAs, None])
def test_a_follower_hears_why_it_is_refused_and_tells_where(reason: RefusedAs | None) -> None:
    """What "this registry" is at the primary, another one is where it is shown."""
    refusal = NotFollowed(why="a sentence that may be another one tomorrow", reason=reason)
    assert refusal.message == "This registry cannot be followed: a sentence that may be another one tomorrow"
    url, heard = refused(json.dumps(refused_form(refusal)).encode())
    assert heard.message == f"{url} cannot be followed: a sentence that may be another one tomorrow"
    assert heard.reason is reason


@pytest.mark.parametrize(
    "said", [{"reason": "of tomorrow"}, {"reason": 7}, {"reason": ["given_up"]}, {}, [], "given_up"]
)
def test_what_is_not_known_is_a_refusal_like_any_other(said: object) -> None:
    """A newer release may have more reasons, and another product may answer there."""
    url, heard = refused(json.dumps(said).encode())
    assert (heard.reason, heard.message) == (None, f"{url} cannot be followed: it says 422")


def test_a_refusal_nested_without_an_end_is_one_without_words() -> None:
    """At the address of the primary anything may answer by now, and what follows asks again."""
    url, heard = refused(b"[" * 200_000)
    assert heard.message == f"{url} cannot be followed: it says 422"
