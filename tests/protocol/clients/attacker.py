"""What those need who attack a server: how to say anything at all, and what a clear no looks like."""

from collections.abc import Iterator

from tests.protocol.clients.server import Answer, Server, serving

JSON = {"Content-Type": "application/json"}
INT = b'{"schema":"\\"int\\""}'
LARGE = 10_000_000
A_LOT_OF_MEMORY = 150_000_000
"""Far more than one request may cost, far less than what an attack that works would take."""


def attacked() -> Iterator[Server]:
    """A registry for a whole file of attacks; in the end it must have had no fault of its own."""
    with serving(None) as server:
        yield server
        assert not [line for line in server.lines if '"event":"failure"' in line], "a fault was answered for"


def unharmed(server: Server) -> Iterator[None]:
    """Whatever a test does meanwhile: the next client is served, and the memory is still there."""
    before = server.memory
    yield
    assert server.ask("GET", "/subjects").status == 200
    assert server.memory < before + A_LOT_OF_MEMORY


def assert_refused(answer: Answer, *numbers: int) -> None:
    """A clear no: 4xx, the envelope with both fields, and one of the numbers if any are given."""
    assert 400 <= answer.status < 500, (answer.status, answer.body[:500])
    told = answer.json
    assert set(told) == {"error_code", "message"}
    assert isinstance(told["message"], str)
    assert told["message"].strip()
    assert str(told["error_code"])[:3] == str(answer.status)
    assert not numbers or told["error_code"] in numbers, told


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def request(method: bytes, target: bytes, *headers: bytes, body: bytes = b"") -> bytes:
    lines = [method + b" " + target + b" HTTP/1.1", b"Host: localhost", *headers]
    if body:
        lines += [b"Content-Type: application/json", b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*lines, b"", body])
