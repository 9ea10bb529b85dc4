"""`sigla mirror` of a registry that is only starting, or holds back its answers, and one that was cut off."""

import os
import signal
from itertools import count
from pathlib import Path
from threading import Event

import pytest

from sigla.cli import main, mirrored
from sigla.errors import StoreError
from sigla.remote import client
from sigla.upkeep.importing import states
from tests.unit.cli.answering import always, behind_a_url, registry
from tests.unit.cli.test_mirror import at_once, data, source, subjects, url
from tests.unit.exporting.places import Place

Captured = pytest.CaptureFixture[str]
__all__ = ["at_once", "data", "source", "url"]

NOT_YET = {
    "a registry that starts": (503, {"error_code": 50301, "message": "Not yet"}, "with status 503"),
    "a page of a proxy": (200, "<html>", "not as a schema registry does"),
    "a proxy that knows no such host": (404, "<html>", "with status 404"),
}


@pytest.mark.parametrize("first", NOT_YET)
def test_a_source_that_is_no_registry_yet_is_waited_for(
    first: str, source: Place, data: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(mirrored, "START_MS", 60_000)
    monkeypatch.setattr(client, "TRIES", 1)
    status, text, said = NOT_YET[first]
    started, not_yet, asked = registry(source.registry), always(status, text), count(1)

    def answered(path: str, user: str) -> tuple[int, str]:
        return (not_yet if next(asked) <= 4 else started)(path, user)

    with behind_a_url(answered) as url:
        assert main(["mirror", url, "--data", data, "--once"]) == 0
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("It is asked again for a minute, as it may be about to start.") == 1
    assert subjects(data) == [":.eu:orders", "orders"]


def test_one_that_refuses_credentials_has_started(data: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(mirrored, "START_MS", 60_000)
    with behind_a_url(always(401, {"error_code": 401, "message": "Unauthorized"})) as url:
        assert main(["mirror", url, "--data", data]) == 1
    told = capsys.readouterr().err
    assert "asks for credentials" in told
    assert "asked again" not in told
    assert not Path(data).exists()


def test_a_signal_ends_the_waiting(data: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(mirrored, "START_MS", 60_000)
    page, asked = always(200, "<html>"), count(1)

    def answered(path: str, user: str) -> tuple[int, str]:
        if next(asked) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return page(path, user)

    with behind_a_url(answered) as url:
        assert main(["mirror", url, "--data", data]) == 130
    assert "Stopped before all was here" in capsys.readouterr().err
    assert not Path(data).exists()


@pytest.mark.parametrize("command", ["mirror", "import"])
@pytest.mark.parametrize("held_back", ["/contexts", "/schemas/ids/"])
def test_ctrl_c_ends_what_waits_for_an_answer(
    command: str, held_back: str, source: Place, data: str, capsys: Captured
) -> None:
    """Whether one question is asked or many side by side: each is waited for half a minute, and asked four times."""
    answered, is_over, were_late, asked = registry(source.registry), Event(), [], count(1)

    def hanging(path: str, user: str) -> tuple[int, str]:
        if path.startswith(held_back) and next(asked) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            if not is_over.wait(5):
                were_late.append(path)
        return answered(path, user)

    with behind_a_url(hanging) as url:
        assert main([command, url, "--data", data]) == 130
        assert capsys.readouterr().err.count("\n") == 1
        is_over.set()
    assert not were_late
    assert not Path(data).exists()


@pytest.mark.parametrize("command", ["mirror", "import"])
def test_what_was_cut_off_among_its_bodies_goes_on_and_is_not_taken_for_a_lost_catalog(
    command: str, url: str, data: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """They come first: there is no version yet, and no id was given."""

    def cut_off(*_: object) -> None:
        raise StoreError("cut off")

    words = [command, url, "--data", data, *(["--once"] if command == "mirror" else [])]
    with monkeypatch.context() as once:
        once.setattr(states._Import, "_write", cut_off)
        assert main(words) == 1
    capsys.readouterr()
    assert main(words) == 0
    told = capsys.readouterr().err
    assert told == "" if command == "mirror" else "If an import was cut off, it goes on when it is run again." in told
    assert subjects(data) == [":.eu:orders", "orders"]
