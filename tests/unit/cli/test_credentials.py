"""With what a command enters another registry: the option, the environment, or what a person types."""

import os
import pty
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sigla.cli import main
from sigla.settings import Settings
from tests.unit.cli.answering import behind_a_url

RECORD = "000000002a0461"


@dataclass
class Door:
    """A registry that writes down with what it is asked, and lets no caller in. data: where it would be imported to."""

    data: Path
    url: str = ""
    shown: set[str] = field(default_factory=set)

    def answer(self, _: str, shown: str) -> tuple[int, str]:
        self.shown.add(shown)
        return 401, ""

    def imported(self, *options: str, url: str = "", environment: Mapping[str, str] | None = None) -> int:
        return self._status(["import", url or self.url, "--data", str(self.data), *options], environment or {})

    def explained(self, *options: str, environment: Mapping[str, str] | None = None) -> int:
        return self._status(["explain", RECORD, "--registry-url", self.url, *options], environment or {})

    @staticmethod
    def _status(command: list[str], environment: Mapping[str, str]) -> int:
        with pytest.MonkeyPatch.context() as patched:
            for name, said in environment.items():
                patched.setenv(name, said)
            return main(command)


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    found = Door(tmp_path)
    with behind_a_url(found.answer) as found.url:
        yield found


def basic(user: str) -> str:
    return f"Basic {b64encode(user.encode()).decode()}" if user else ""


@pytest.mark.parametrize(
    "options, environment, user",
    [
        ([], {}, ""),
        (["--user", "me:typed"], {}, "me:typed"),
        (["--user", "me:typed"], {"SIGLA_USER": "me", "SIGLA_SECRET": "kept"}, "me:typed"),
        (["--user", "me"], {"SIGLA_SECRET": "kept"}, "me:kept"),
        (["--user", "me"], {"SIGLA_USER": "me", "SIGLA_SECRET": "k:e:p:t"}, "me:k:e:p:t"),
        (["--user", "me:"], {"SIGLA_SECRET": "kept"}, "me:"),
        ([], {"SIGLA_USER": "me", "SIGLA_SECRET": "kept"}, "me:kept"),
        ([], {"SIGLA_USER": "me:kept"}, "me:kept"),
        ([], {"SIGLA_SECRET": "without-a-name"}, ""),
    ],
)
def test_a_secret_need_not_stand_on_the_command_line(
    door: Door, options: list[str], environment: dict[str, str], user: str
) -> None:
    """Other users of the machine see that line as long as the command runs, and a shell writes it down."""
    assert door.imported(*options, environment=environment) == 1
    assert door.explained(*options, environment=environment) == 1
    assert door.shown == {basic(user)}


def test_a_url_with_a_user_is_asked_as_that_user(door: Door) -> None:
    """The environment may be about another registry."""
    url = door.url.replace("//", "//me:mine@")
    assert door.imported(url=url, environment={"SIGLA_USER": "other:secret"}) == 1
    assert door.shown == {basic("me:mine")}


@pytest.mark.parametrize("environment", [{}, {"SIGLA_USER": "other", "SIGLA_SECRET": "of-the-other"}])
def test_a_name_without_a_secret_is_told_where_no_person_can_be_asked(
    door: Door, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A timer would wait for ever; and the secret of another name is not tried."""
    assert door.imported("--user", "me", environment=environment) == 2
    assert "The secret of me is missing: set SIGLA_SECRET" in capsys.readouterr().err
    assert not door.shown


@pytest.mark.process
def test_a_person_is_asked_for_the_secret_and_does_not_see_it(door: Door) -> None:
    """On a terminal, as a person has one."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "sigla", "import", door.url, "--user", "me", "--data", str(door.data)]
    with os.fdopen(ours, "r+b", buffering=0) as terminal, os.fdopen(theirs, "rb", buffering=0) as stdin:
        asking = subprocess.Popen(command, stdin=stdin, stderr=subprocess.PIPE, start_new_session=True)
        assert asking.stderr is not None
        asked = b""
        while not asked.endswith(b"Secret of me: "):
            asked += asking.stderr.read(1) or pytest.fail(f"it ended: {asked!r}")
        terminal.write(b"typed\n")
        _, told = asking.communicate(timeout=60)
        os.set_blocking(ours, False)
        shown = terminal.read(1_000) or b""
    assert door.shown == {basic("me:typed")}
    assert b"typed" not in asked + told + shown
    assert asking.returncode == 1


def test_a_registry_takes_no_notice_of_them() -> None:
    """They stand in the environment of a person who starts one as well."""
    assert Settings.read({"SIGLA_USER": "me", "SIGLA_SECRET": "kept"}) == Settings.read({})
