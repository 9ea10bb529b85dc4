"""`sigla mirror --cut-over` where no news come of its source any more."""

import os
import signal
import time
from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest

from sigla.cli import main, mirror_ending, mirrored
from sigla.cli.misuse import Refused
from sigla.errors import StoreError
from sigla.journal.replay import State
from sigla.upkeep.mirroring import Mirror
from sigla.upkeep.mirroring.tally import Tally
from tests.unit.cli.answering import behind_a_url, registry
from tests.unit.cli.test_mirror import at_once, data, frozen, source, subjects, url
from tests.unit.exporting.places import AVRO, Place

Captured = pytest.CaptureFixture[str]
Headers = Mapping[str, str]
__all__ = ["at_once", "data", "source", "url"]


@pytest.fixture
def headers(source: Place, monkeypatch: pytest.MonkeyPatch) -> Headers:
    """A follower has them that hears nothing of its primary any more. Silence is found to be one at once."""
    monkeypatch.setattr(mirror_ending, "SILENT_MS", 50)
    since = time.monotonic()

    class Older(dict[str, str]):
        def items(self) -> Any:
            return {"X-Sigla-Behind": str(int((time.monotonic() - since) * 1000) + 90_000)}.items()

    return Older()


def test_a_stopped_source_that_hears_nothing_any_more_is_not_waited_for(
    source: Place, data: str, headers: Headers, capsys: Captured
) -> None:
    """Its primary is dead, and what that wrote last may never come."""
    with behind_a_url(registry(source.registry), headers) as url:
        moving = ["mirror", url, "--data", data, "--cut-over", "--source-stopped", "--every", "0"]
        assert main(moving) == 1
        told = capsys.readouterr()
        assert f"{url} has had no news for " in told.out
        assert "what was written after 20" in told.out
        assert "Nothing was moved over" in told.err
        assert main(["mirror", url, "--data", data, "--once"]) == 0, "it is a mirror still"
        assert main([*moving, "--i-mean-it"]) == 0
        assert "Moved over: 2 subjects, 2 versions." in capsys.readouterr().out


def test_a_stopped_source_that_does_not_answer_any_more_is_not_waited_for(
    source: Place, url: str, data: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Also where the store failed just before: what is known of the source is brought."""
    monkeypatch.setattr(mirror_ending, "SILENT_MS", 50)
    read, whole, asked, turns = mirrored.ApiSource.next, Mirror.turn, count(1), count(1)

    def answered(api: mirrored.ApiSource) -> State | None:
        if next(asked) > 1:
            raise Refused("It does not answer.")
        source.register("trips", AVRO % 3)
        return read(api)

    def turn(mirror: Mirror, state: State) -> Tally:
        if next(turns) == 2:
            raise StoreError("The store does not answer.")
        return whole(mirror, state)

    monkeypatch.setattr(mirrored.ApiSource, "next", answered)
    monkeypatch.setattr(Mirror, "turn", turn)
    moving = ["mirror", url, "--data", data, "--cut-over", "--source-stopped", "--every", "0", "--i-mean-it"]
    assert main(moving) == 0
    told = capsys.readouterr()
    assert "It does not answer. It is tried again." in told.err
    assert f"{url} has had no news for " in told.out
    assert subjects(data) == [":.eu:orders", "orders", "trips"]


def test_a_follower_that_hears_nothing_is_told_and_waited_for_unless_its_registry_is_stopped(
    source: Place, data: str, headers: Headers, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    frozen(source)
    read, ends = mirrored.ApiSource.next, time.monotonic() + 0.1
    looks = count(1)

    def until_told(api: mirrored.ApiSource) -> State | None:
        if time.monotonic() > ends and next(looks) == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return read(api)

    monkeypatch.setattr(mirrored.ApiSource, "next", until_told)
    with behind_a_url(registry(source.registry), headers) as url:
        assert main(["mirror", url, "--data", data, "--cut-over", "--every", "0"]) == 0
    told = capsys.readouterr().out
    assert told.count("has had no news") == 1
    assert "run this again with --source-stopped" in told
    assert "nothing was moved over" in told
