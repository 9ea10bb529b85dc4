"""Two regions of which one has no room on its disk: commands say which, and no region is closed for nothing."""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.protocol.clients.server import Server, run, serving
from tests.waiting import eventually

LONG_TEXT = json.dumps({"type": "record", "name": "R", "doc": "x" * 200_000, "fields": []})


@contextmanager
def full(server: Server) -> Iterator[None]:
    """Its disk has no room, as the first write finds out."""
    unlimited = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    yield
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, unlimited)


@pytest.mark.parametrize("which", [0, 1], ids=["the primary", "the follower"])
def test_a_region_whose_disk_is_full_is_named_before_anything_is_changed(tmp_path: Path, which: int) -> None:
    with serving(tmp_path / "a") as a, serving(tmp_path / "b", "--follow", a.url) as b:
        eventually(lambda: a.ask("GET", "/regions").json["role"]["peer"])
        before = [each.ask("GET", "/regions").json["role"] for each in (a, b)]
        with full((a, b)[which]):
            registered = a.ask("POST", "/subjects/long/versions", {"schema": LONG_TEXT}).status
            eventually(lambda: (a, b)[which].ask("GET", "/health/ready").status == 503)
            refused = run("promote", b.url, "--yes")
            assert (registered, refused.returncode) == ((500, 200)[which], 2), refused.stderr
            wanted = ("The primary says: its disk takes no writes", "The disk of this region takes no writes")[which]
            assert f"Nothing was changed. {wanted}" in refused.stderr
            shown = run("regions", a.url).stdout
            assert ("  stopped  its disk takes no writes" in shown) == (which == 0)
        assert [each.ask("GET", "/regions").json["role"] for each in (a, b)] == before
        eventually(lambda: a.ask("GET", "/health/ready").status == 200)
        eventually(lambda: b.ask("GET", "/health/ready").status == 200)
        promoted = run("promote", b.url, "--yes")
        assert promoted.returncode == 0, promoted.stderr
