"""Confluent's clients with the URLs of both regions register, evolve and read while these change places."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.clients.server import run, serving
from tests.protocol.rounds import in_javascript, in_python, nobody_is_primary
from tests.waiting import eventually

NOT_REACHED = ("ECONNREFUSED", "ECONNRESET", "ConnectError", "ReadError", "RemoteProtocolError")
"""What a client says of the last URL of its list, where that server is not there."""


@pytest.mark.parametrize("client", [in_python, in_javascript])
def test_a_client_with_both_urls_hears_no_wrong_answer_while_regions_change_places(
    tmp_path: Path, client: Callable[[str], Any]
) -> None:
    """By plan and back, by force while the primary is lost, and while that one rejoins."""
    with (
        serving(tmp_path / "a") as a,
        serving(tmp_path / "b", "--follow", a.url) as b,
        client(f"{b.url},{a.url}") as told,
    ):
        told.goes_on()
        for follower in (b, a, b, a):
            with nobody_is_primary([told]):
                _done("promote", follower.url)
        with nobody_is_primary([told], *NOT_REACHED):
            a.kill()
            _done("promote", b.url, "--force")
        with serving(tmp_path / "a", "--port", str(a.port)) as again:
            told.goes_on()
            ended = run("rejoin", again.url, "--primary", b.url, "--report", str(tmp_path / "report"), "--yes")
            assert ended.returncode in (0, 1), ended.stderr
            eventually(lambda: run("regions", again.url, "--json").stdout.find('"follower"') > 0)
            told.goes_on()
            assert (told.failures, told.stale) == ([], 0)
            for id, schema in told.meaning.copy().items():
                for server in (again, b):
                    assert json.loads(server.ask("GET", f"/schemas/ids/{id}").json["schema"]) == json.loads(schema)


def _done(*words: str) -> None:
    ended = run(*words, "--yes")
    assert ended.returncode == 0, ended.stderr
