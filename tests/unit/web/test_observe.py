import asyncio
import json
from typing import Any

import pytest

from sigla import observe
from sigla.auth.permissions import READ, Principal
from sigla.errors import StoreError
from sigla.observe import Gathered, Seen
from sigla.registry import Registry
from sigla.web import app
from tests.build import FixedClock, Recognises
from tests.unit.web.conftest import Client


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


def test_a_line_tells_the_zone_where_there_are_several() -> None:
    """One log for all zones of a machine."""
    request = Seen("GET", "/", 200, 1, b"id", 2)
    for zone, told in (("local-az1", {"zone": "local-az1"}), ("", {})):
        written: list[bytes] = []
        (line,) = lines(observe.Log(written.append, zone=zone), written, request)
        assert {name: line[name] for name in line if name == "zone"} == told


def test_a_line_names_the_key_that_asked() -> None:
    """Who did that? Its name may be seen; the secret is nowhere."""
    assert observe.request(Seen("GET", "/", 200, 1, b"id", 2, principal="orders"))["principal"] == "orders"
    assert "principal" not in observe.request(Seen("GET", "/", 200, 1, b"id", 2)), "where no key was asked for"


def test_a_line_has_no_character_that_a_terminal_obeys() -> None:
    """Subjects and addresses are what callers say; a log is read where one of them begins a command."""
    facts: observe.Facts = {"subject": "a\x9b31m\x85\x1b[1m\u00a0\u00e9", "event": "request"}
    line = observe.as_line(facts)
    assert json.loads(line) == facts
    assert line.decode() == '{"subject":"a\\u009b31m\\u0085\\u001b[1m\u00a0\u00e9","event":"request"}\n'


def test_a_failure_of_storage_says_its_reason() -> None:
    """Who has to find out why a disk refuses has nothing but this line; it quotes no schema."""
    failed = StoreError("a group was not made durable")
    failed.__cause__ = OSError(28, "No space left on device")
    reasons = [observe.failure(each, request_id="id")["reason"] for each in (failed, StoreError("alone"))]
    assert reasons == ["a group was not made durable: [Errno 28] No space left on device", "alone"]


def test_the_application_tells_who_asked(registry: Registry) -> None:
    """Also that of a principal whose request it denied; without a right key there is no name."""
    told: list[Seen] = []
    looker = Principal("looker", (READ,))
    authenticate = Recognises(lambda shown: looker if shown == b"right" else None)
    options = app.HttpOptions(authenticate=authenticate, watchers=(told.append,))
    client = Client(app.build(registry, options=options))
    for method, target, shown in (
        ("GET", "/subjects", "right"),
        ("PUT", "/config", "right"),
        ("GET", "/subjects", "wrong"),
        ("GET", "/", "right"),
    ):
        client(method, target, None, {"authorization": shown})
    assert [(seen.status, seen.principal) for seen in told] == [(200, "looker"), (403, "looker"), (401, ""), (200, "")]


@pytest.mark.parametrize(
    "method, route, status, is_one",
    [
        ("GET", "/schemas/ids/{id}", 200, True),
        ("GET", "/schemas/ids/{id}/schema", 200, True),
        ("HEAD", "/schemas/ids/{id}", 200, True),
        ("GET", "/schemas/ids/{id}", 304, True),
        ("GET", "/schemas/guids/{guid}", 200, True),
        ("GET", "/schemas/ids/{id}", 404, False),
        ("GET", "/schemas/ids/{id}", 500, False),
        ("POST", "/schemas/ids/{id}", 200, False),
        ("GET", "/schemas", 200, False),
        ("GET", "/subjects/{subject}/versions/{version}", 200, False),
        ("GET", "", 400, False),
    ],
)
def test_a_successful_read_by_id_is_known_by_its_route(method: str, route: str, status: int, *, is_one: bool) -> None:
    """They are so many that a log may leave some out, and nothing else."""
    assert observe.is_read_by_id(Seen(method, route, status, 1, b"id", 2)) is is_one


def test_a_fault_is_told_with_its_place_and_without_its_words() -> None:
    """A message may quote a schema; the frames are enough to find the fault."""
    with pytest.raises(KeyError) as raised:
        dict[str, int]()["a secret schema"]
    told = observe.failure(raised.value, request_id="id")
    assert (told["error"], told["request_id"]) == ("KeyError", "id")
    assert "test_observe.py" in str(told["trace"])
    assert b"secret" not in observe.as_line(told)


def test_lines_go_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Where Lambda and containers look for them."""
    observe.tell({"event": "open"})
    assert capfdbinary.readouterr().out == b'{"event":"open"}\n'


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


# --- what is refused for want of a right -----------------------------------------------------------------------------

DENIED = Seen("DELETE", "/subjects/{subject}", 403, 1, b"id", 2, 40301, principal="ada", writes=True, address="::1")
STRANGE = Seen("GET", "/subjects", 401, 1, b"id", 2, 401, address="192.0.2.9")


def test_where_no_request_has_a_line_a_denied_write_has_one() -> None:
    """Each of them; and of those without a known key the first ones of a minute, or a flood would fill the disk."""
    told: list[Seen] = []
    clock = FixedClock()
    log = observe.DeniedAlone(told.append, clock)
    read = DENIED._replace(method="GET", writes=False)
    for seen in [DENIED] * 50 + [STRANGE] * 50 + [read, DENIED._replace(status=200), STRANGE._replace(status=404)]:
        log(seen)
    assert told == [DENIED] * 50 + [STRANGE] * observe.STRANGERS_LINES
    clock.sleep(60)
    log(STRANGE)
    assert len(told) == 51 + observe.STRANGERS_LINES


def test_a_refusal_says_from_where_it_was_asked(registry: Registry) -> None:
    """What is answered otherwise has no address in the log."""
    told: list[Seen] = []
    reader = Principal("ada", (READ,))
    options = app.HttpOptions(authenticate=Recognises(lambda sent: reader if sent else None), watchers=(told.append,))
    application = app.build(registry, options=options)
    client = Client(lambda scope, *channels: application({**scope, "client": ("192.0.2.1", 1)}, *channels))
    sent = {"authorization": "any"}
    assert client("DELETE", "/subjects/orders", headers=sent).status == 403
    assert client("GET", "/config/orders").status == 401
    assert client("GET", "/subjects", headers=sent).status == 200
    denied, strange, fine = told
    assert (denied.is_denied_write, denied.principal, denied.address) == (True, "ada", "192.0.2.1")
    assert (strange.is_denied_write, strange.address) == (False, "192.0.2.1")
    assert fine.address == ""
    assert observe.request(denied)["address"] == "192.0.2.1"
    assert "address" not in observe.request(fine)
