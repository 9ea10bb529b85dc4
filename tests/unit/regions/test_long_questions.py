"""What a follower asks is the target of a request, whose length has an end: what it was told is repeated there."""

from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from sigla import keys
from sigla.errors import InvalidSubject, StoreError
from sigla.model import SchemaId, Subject
from sigla.ports.primary import NextAsked
from sigla.regions import followed
from sigla.regions.followed import PolledFollower
from sigla.regions.refusals import NotFollowed
from sigla.regions.replay import JournalPlace
from sigla.remote.primary import RemotePrimary
from sigla.stores.clock import SystemClock
from sigla.web.local.connection import LONGEST_TARGET
from tests.unit.regions.serving import serving

ASKED = NextAsked("other.example-5c0f3a9d1e2b4f60", JournalPlace(10**9, "0" * 64), 1, 20_000, False, {}, run="0" * 16)


@pytest.mark.parametrize("letter", ['"', "é", "語", "😀", "a"])
def test_ceilings_of_contexts_with_long_names_are_told_a_few_at_a_time(
    letter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the primary would refuse the question as too long, each time that it is asked."""
    monkeypatch.setattr(followed, "PATIENCE_S", 0)
    primary = PolledFollower(SystemClock(), lambda: False)
    primary.asks(ASKED)
    contexts, rounds = {_longest(letter, number) for number in range(5)}, 0
    for context in contexts:
        with pytest.raises(StoreError):
            primary.raise_for(context, 1, None, SchemaId(10**9))
    while primary.wanted:
        asked = ASKED._replace(heard=primary.wanted)
        assert _length_of(asked) <= LONGEST_TARGET
        primary.asks(asked)
        rounds += 1
    assert rounds <= len(contexts)


def _longest(letter: str, number: int) -> str:
    context = f".{number}"
    while True:
        try:
            keys.check_length(Subject(context + letter, ""))
        except InvalidSubject:
            return context
        context += letter


def _length_of(asked: NextAsked) -> int:
    """Characters of the target of that question."""
    lengths = list[int]()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

        def do_GET(self) -> None:
            lengths.append(len(self.path))
            self.send_response(422)
            self.send_header("Content-Length", "0")
            self.end_headers()

    with serving(Handler) as url, pytest.raises(NotFollowed):
        RemotePrimary(url, "", SystemClock()).told(asked)
    return lengths[0]
