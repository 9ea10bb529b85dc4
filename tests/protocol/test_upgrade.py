"""A request that asks for another protocol is answered in this one, with its body, whatever it is (RFC 9110 §7.8)."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.protocol.clients.attacker import INT, assert_refused, attacked, chunk, request, unharmed
from tests.protocol.clients.server import Server

H2C = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAEAAEAAAAIAAAAB")
WEBSOCKET = (b"Connection: upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Key: dGhlIHNhbXBsZQ==")
TWICE = (b"connection: UPGRADE", b"upgrade: h2c, websocket", b"Upgrade: TLS/1.0")
ALONE = (b"Upgrade: h2c",)
ASKING = {"as Java does": H2C, "a websocket": WEBSOCKET, "twice": TWICE, "without Connection": ALONE}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    yield from attacked()


@pytest.fixture(autouse=True)
def _all_is_well_afterwards(server: Server) -> Iterator[None]:
    yield from unharmed(server)


def framed(framing: str, subject: str, *headers: bytes) -> list[bytes]:
    """A registration of INT in the pieces in which it is sent."""
    target = b"/subjects/%b/versions" % subject.encode()
    if framing == "with a length":
        return [request(b"POST", target, *headers, body=INT)]
    if framing == "its body apart":
        whole = request(b"POST", target, *headers, body=INT)
        return [whole[: -len(INT)], INT]
    if framing == "a byte at a time":
        return [bytes([byte]) for byte in request(b"POST", target, *headers, body=INT)]
    head = request(b"POST", target, *headers, b"Content-Type: application/json", b"Transfer-Encoding: chunked")
    return [head, chunk(INT[:5]), chunk(INT[5:]), b"0\r\nTrailer: x\r\n\r\n"]


FRAMINGS = ("with a length", "its body apart", "a byte at a time", "in chunks")


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("asking", ASKING.values(), ids=ASKING)
def test_a_body_arrives_whatever_protocol_is_asked_for(server: Server, asking: tuple[bytes, ...], framing: str) -> None:
    """Java's own client asks for HTTP/2 with the first request of each connection, and that may be a registration."""
    with server.connected() as wire:
        for piece in framed(framing, "upgraded", *asking):
            wire.send(piece)
            server.ask("GET", "/schemas/types") if len(piece) > 1 else None
        answer = wire.receive()
        assert answer.status == 200, answer
        assert "upgrade" not in answer.headers
        wire.send(request(b"GET", b"/subjects/upgraded/versions"))
        assert wire.receive().json == [1], "the connection goes on as HTTP/1.1"


@pytest.mark.parametrize("asking", ASKING.values(), ids=ASKING)
def test_a_body_is_never_the_next_request(server: Server, asking: tuple[bytes, ...]) -> None:
    """A body that looks like a request would be executed with the rights of whoever's connection a proxy shares."""
    inner = request(b"DELETE", b"/subjects/upgraded")
    with server.connected() as wire:
        wire.send(request(b"POST", b"/subjects/smuggled/versions", *asking, body=inner))
        assert_refused(wire.receive(), 400)
        wire.send(request(b"GET", b"/schemas/types"))
        assert wire.receive().json == ["JSON", "PROTOBUF", "AVRO"]


def test_requests_behind_one_that_asks_for_another_protocol_are_answered(server: Server) -> None:
    """All sent together, some of them asking: each has its answer, in its turn."""
    with server.connected() as wire:
        asked = [
            b"".join(
                framed("in chunks" if number % 2 else "with a length", f"behind{number}", *(H2C * (number % 3 > 0)))
            )
            for number in range(30)
        ]
        wire.send(b"".join(asked), request(b"GET", b"/schemas/types", *H2C))
        for number in range(30):
            assert wire.receive().status == 200, number
        assert wire.receive().json == ["JSON", "PROTOBUF", "AVRO"]
    assert {f"behind{number}" for number in range(30)} <= {*server.ask("GET", "/subjects").json}


@pytest.mark.parametrize("method", [b"GET", b"DELETE", b"PUT", b"OPTIONS", b"HEAD"])
def test_every_method_is_answered_as_if_nothing_had_been_asked(server: Server, method: bytes) -> None:
    plain = server.raw(request(method, b"/subjects"), method=method.decode())
    asked = server.raw(request(method, b"/subjects", *H2C), method=method.decode())
    assert (asked.status, asked.body) == (plain.status, plain.body)


@pytest.mark.parametrize("target", [b"example.com:443", b"127.0.0.1:8081"])
def test_this_is_no_tunnel(server: Server, target: bytes) -> None:
    """What follows a CONNECT is for another server, so nothing of it is read."""
    with server.connected() as wire:
        wire.send(request(b"CONNECT", target) + request(b"DELETE", b"/subjects/upgraded"))
        assert_refused(wire.receive(), 405)
        assert wire.left()


@pytest.mark.parametrize(
    "lines",
    [
        [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
        [b"Content-Length: 5", b"Content-Length: 6"],
        [b"Transfer-Encoding: gzip"],
        [b"Content-Length: x"],
    ],
    ids=repr,
)
def test_a_message_without_a_clear_end_is_refused_also_there(server: Server, lines: list[bytes]) -> None:
    """The header must not lead around a check: two readers of one message must find the same end."""
    with server.connected() as wire:
        wire.send(request(b"POST", b"/subjects/unclear/versions", *H2C, *lines) + b"0\r\n\r\n")
        assert_refused(wire.receive(), 400)
        assert wire.left()


JAVA = r"""
import java.net.URI;
import java.net.http.*;

public class Registers {
    public static void main(String[] args) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (String body : new String[] {"{\"schema\":\"\\\"int\\\"\"}", "{\"schema\":\"\\\"long\\\"\"}"}) {
            URI target = URI.create(args[0] + "/subjects/java" + body.length() + "/versions");
            HttpRequest request = HttpRequest.newBuilder(target)
                .header("Content-Type", "application/vnd.schemaregistry.v1+json")
                .POST(HttpRequest.BodyPublishers.ofString(body)).build();
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            System.out.println(answer.statusCode() + " " + answer.version());
        }
    }
}
"""


def test_the_client_that_java_brings_along_registers_schemas(server: Server, tmp_path: Path) -> None:
    """It prefers HTTP/2 unless it is told otherwise, which users do not do."""
    java = shutil.which("java")
    if java is None:
        pytest.skip("Java is not installed here")
    source = tmp_path / "Registers.java"
    source.write_text(JAVA)
    done = subprocess.run([java, str(source), server.url], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.split("\n")[:2] == ["200 HTTP_1_1", "200 HTTP_1_1"], done.stderr
    assert json.loads(server.ask("GET", "/subjects/java21/versions").body) == [1]
