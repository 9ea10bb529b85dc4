import asyncio
import io
import json
from types import SimpleNamespace
from typing import Any

import pytest

from sigla import observe
from sigla.errors import StoreError
from sigla.observe import Gathered, Metrics, Seen
from tests.build import FixedClock


def lines(log: observe.Log, written: list[bytes], *requests: Seen) -> list[dict[str, Any]]:
    for request in requests:
        log(request)
    return [json.loads(line) for line in written]


def test_a_request_is_one_line_of_facts() -> None:
    """To be queried, not read."""
    written: list[bytes] = []
    request = Seen("GET", "/subjects/{subject}", 404, 1_234_567, b"id", 12, 40401, {"subject": "orders"})
    another = Seen("GET", "/", 200, 1000, b"id", 2, params={"id": "7", "version": "1"})
    told = lines(observe.Log(written.append, release="1.0"), written, request, another)
    assert told[0] == {
        "event": "request",
        "route": "GET /subjects/{subject}",
        "status": 404,
        "took_ms": 1.234,
        "bytes": 12,
        "request_id": "id",
        "error_code": 40401,
        "subject": "orders",
        "cold": True,
        "release": "1.0",
    }
    assert "cold" not in told[1]
    assert told[1]["id"] == "7"
    assert "version" not in told[1]
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in written)


def test_a_line_is_dated_where_nobody_else_dates_it() -> None:
    """Milliseconds, by the clock it was given."""
    written: list[bytes] = []
    (told,) = lines(observe.Log(written.append, clock=FixedClock(7)), written, Seen("GET", "/", 200, 1, b"id", 2))
    assert told["ts"] == 7


def test_a_failure_of_storage_says_its_reason() -> None:
    """Who has to find out why a disk refuses has nothing but this line; it quotes no schema."""
    written: list[bytes] = []
    failed = StoreError("a group was not made durable")
    failed.__cause__ = OSError(28, "No space left on device")
    observe.failure(failed, request_id="id", write=written.append)
    observe.failure(StoreError("alone"), request_id="id", write=written.append)
    reasons = [json.loads(line)["reason"] for line in written]
    assert reasons == ["a group was not made durable: [Errno 28] No space left on device", "alone"]


def test_a_line_can_be_a_metric() -> None:
    """CloudWatch reads it from the log: no call is made for it."""
    written: list[bytes] = []
    log = observe.Log(written.append, metrics=Metrics("Sigla", FixedClock(1500)))
    [told] = lines(log, written, Seen("GET", "/", 200, 1000, b"id", 2))
    assert told["_aws"]["Timestamp"] == 1500
    directive = told["_aws"]["CloudWatchMetrics"][0]
    assert directive["Namespace"] == "Sigla"
    assert all(metric["Name"] in told for metric in directive["Metrics"])
    assert all(name in told for names in directive["Dimensions"] for name in names)


def test_a_fault_is_told_with_its_place_and_without_its_words() -> None:
    """A message may quote a schema; the frames are enough to find the fault."""
    written: list[bytes] = []
    with pytest.raises(KeyError) as raised:
        dict[str, int]()["a secret schema"]
    observe.failure(raised.value, request_id="id", write=written.append)
    told = json.loads(written[0])
    assert told["error"] == "KeyError"
    assert "test_observe.py" in told["trace"][-1]
    assert b"secret" not in written[0]


def test_lines_go_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Where Lambda and containers look for them."""
    observe.to_stdout(b"line\n")
    assert capfdbinary.readouterr().out == b"line\n"


def test_a_busy_server_writes_many_lines_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One system call for all of a moment, and none is forgotten."""
    flushed: list[bytes] = []
    written = asyncio.Event()

    class Out(io.BytesIO):
        def flush(self) -> None:
            flushed.append(self.getvalue())
            written.set()

    monkeypatch.setattr("sigla.observe.sys.stdout", SimpleNamespace(buffer=Out()))
    write = observe.Buffered(delay_s=0)

    async def serve() -> None:
        for _ in range(2):
            write(b"a\n")
            write(b"b\n")
            await written.wait()
            written.clear()

    asyncio.run(serve())
    assert flushed == [b"a\nb\n", b"a\nb\na\nb\n"]


def test_a_busy_server_tells_of_many_requests_at_once() -> None:
    """In their order, a moment later or when they are many; none is forgotten."""
    told: list[int] = []
    later = asyncio.Event()

    def watcher(seen: Seen) -> None:
        told.append(seen.status)
        later.set()

    async def serve() -> None:
        gathered = Gathered((watcher,), delay_s=0, most=3)
        for status in range(4):
            gathered(Seen("GET", "/", status, 1000, b"id", 2))
        assert told == [0, 1, 2]
        later.clear()
        await later.wait()
        assert told == [0, 1, 2, 3]
        gathered.tell()
        assert told == [0, 1, 2, 3]

    asyncio.run(serve())
