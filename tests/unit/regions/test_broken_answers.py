"""Another region whose answer breaks off, or has no end: it counts as one that does not answer."""

from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from sigla.errors import StoreError
from sigla.ports.primary import NextTold
from sigla.ports.replaying import Shipment
from sigla.regions import wire
from sigla.remote import region
from sigla.remote.primary import RemotePrimary
from sigla.remote.region import RemoteRegion
from sigla.stores.clock import SystemClock
from tests.unit.cli.answering import always, behind_a_url
from tests.unit.regions.serving import serving

PACKED = b"\x1f\x8b"


def answering(body: bytes, *, length: int | None = None) -> AbstractContextManager[str]:
    """The URL of a server that sends this and hangs up. length: so many bytes it says that it sends."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

        def do_GET(self) -> None:
            self.send_response(200)
            if length is not None:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

    return serving(Handler)


@pytest.mark.parametrize("sent", [b"", PACKED, PACKED + bytes(100)])
def test_a_copy_that_breaks_off_is_asked_for_again(sent: bytes) -> None:
    """A region that begins anew waits for a primary that died meanwhile, and does not end over half a backup."""
    with answering(sent, length=1000) as url, pytest.raises(StoreError, match="breaks off"):
        RemotePrimary(url, "", SystemClock()).copy(lambda _: None)


def test_a_whole_copy_is_written_as_it_came() -> None:
    whole, written = PACKED + bytes(100), bytearray()
    with answering(whole, length=len(whole)) as url:
        RemotePrimary(url, "", SystemClock()).copy(written.extend)
    assert written == whole


def test_of_an_answer_without_an_end_so_much_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the address of the other region anything may answer by now."""
    monkeypatch.setattr(region, "MOST_BYTES", 1000)
    with answering(b'"' + b"x" * 2000 + b'"') as url, pytest.raises(StoreError, match="more than"):
        RemoteRegion(url, "", SystemClock()).report()


def test_commits_that_are_many_bytes_are_told_to_who_brings_them_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """One commit may have eight large schemas: the follower would take them."""
    monkeypatch.setattr(region, "MOST_BYTES", 1000)
    commit = Shipment(1, b'"' + b"x" * 2000 + b'"', {})

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

        def do_GET(self) -> None:
            told = wire.told_bytes(NextTold([commit] if self.path.endswith("after=0") else [], 1, 0, {}))
            self.send_response(200)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

    with serving(Handler) as url:
        assert [*RemoteRegion(url, "", SystemClock()).rows(0)] == [commit]


def test_an_answer_nested_without_an_end_is_of_no_registry() -> None:
    with answering(b"[" * 200_000) as url, pytest.raises(StoreError, match="not a registry of Sigla"):
        RemoteRegion(url, "", SystemClock()).report()


def test_a_store_that_fails_at_the_other_region_is_told_with_its_url() -> None:
    """Else it seems to be the store of the region that was asked for."""
    failed = {"error_code": 50001, "message": "Put a role failed while talking to the store"}
    with behind_a_url(always(500, failed)) as url, pytest.raises(StoreError) as told:
        RemoteRegion(url, "", SystemClock()).report()
    assert str(told.value) == f"{url} says: Put a role failed while talking to the store"
