"""HTTP as people write it on a socket: an invalid request is refused in JSON, and no other client notices.

Memory is counted in bytes of the server process, generously; nothing here looks at a clock.
"""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from string import ascii_letters

import pytest

from tests.protocol.clients.attacker import (
    A_LOT_OF_MEMORY,
    INT,
    JSON,
    LARGE,
    assert_refused,
    attacked,
    chunk,
    request,
    unharmed,
)
from tests.protocol.clients.server import Server
from tests.waiting import eventually

POST = b"POST /subjects/hostile/versions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    yield from attacked()


@pytest.fixture(autouse=True)
def _all_is_well_afterwards(server: Server) -> Iterator[None]:
    yield from unharmed(server)


# --- paths and heads -------------------------------------------------------------------------------------------------


CONTROLS = [*range(0x20), 0x7F]


@pytest.mark.parametrize("code", CONTROLS, ids=lambda code: f"%{code:02X}")
def test_an_encoded_control_character_is_in_no_name(server: Server, code: int) -> None:
    for method, path, body in (
        ("GET", f"/subjects/a%{code:02X}b/versions", None),
        ("POST", f"/subjects/a%{code:02X}b/versions", INT),
        ("DELETE", f"/subjects/%{code:02x}", None),
        ("PUT", f"/config/a%{code:02X}", b"{}"),
        ("PUT", f"/mode/a%{code:02X}", b'{"mode":"READONLY"}'),
        ("GET", f"/contexts/%{code:02X}/subjects", None),
    ):
        assert_refused(server.ask(method, path, body, JSON if body else None), 42208)


TARGETS = {
    "a bare percent sign": b"/subjects/%/versions",
    "half an escape": b"/subjects/a%2/versions",
    "no hexadecimal escape": b"/subjects/%zz/versions",
    "an escape of another kind": b"/subjects/%u0041/versions",
    "bytes that are no UTF-8": b"/subjects/%FF/versions",
    "an overlong encoding": b"/subjects/%C0%AF/versions",
    "an encoded surrogate": b"/subjects/%ED%A0%80/versions",
    "beyond Unicode": b"/subjects/%F4%90%80%80/versions",
    "an empty segment": b"/subjects//versions",
    "two slashes": b"//",
    "two slashes in front": b"//subjects",
    "two slashes behind": b"/subjects//",
    "only a matrix parameter": b"/subjects/;x/versions",
    "a query that is no UTF-8": b"/subjects?subjectPrefix=%FF",
    "a query with a bare percent sign": b"/subjects?subjectPrefix=100%",
    "a context with a colon": b"/contexts/:a:b:/subjects",
    "a raw control character": b"/subjects/a\x01b/versions",
    "a raw DEL": b"/subjects/a\x7fb/versions",
    "a raw tab": b"/subjects/a\tb/versions",
    "a raw zero": b"/subjects/a\x00b/versions",
    "raw Latin-1": b"/subjects/\xe4/versions",
    "half a character of raw UTF-8": b"/subjects/\xc3/versions",
    "no slash": b"subjects",
    "an asterisk": b"*",
    "two steps up": b"/subjects/../../etc/passwd",
    "a step up in front": b"/../subjects/x/versions",
    "a line of 8 KB": b"/subjects/" + b"a" * 8_200,
    "a line of 64 KB": b"/subjects/" + b"a" * 65_600,
    "a line of 1 MB": b"/subjects/" + b"a" * 1_000_000,
    "a query of 64 KB": b"/subjects?" + b"a=b&" * 16_400,
    "4,000 segments": b"/a" * 4_000,
    "nested contexts": b"/contexts/a" * 700 + b"/nowhere",
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_path_that_is_none_is_refused_in_json(server: Server, target: bytes) -> None:
    assert_refused(server.raw(request(b"GET", target)))


@pytest.mark.parametrize("character", list('"<>^{|}[]`\\'))
def test_characters_that_other_servers_refuse_are_ordinary(server: Server, character: str) -> None:
    """Raw or encoded they are part of the name, and a client that can send them gets what it asked for."""
    encoded = f"odd%{ord(character):02X}"
    assert server.ask("POST", f"/subjects/{encoded}/versions", INT, JSON).status == 200
    assert f"odd{character}" in server.ask("GET", "/subjects").json
    for target in (f"/subjects/odd{character}/versions", f"/subjects/{encoded}/versions"):
        assert server.raw(request(b"GET", target.encode())).json == [1]


def test_raw_utf_8_in_a_path_is_what_its_escapes_are(server: Server) -> None:
    """Many a client writes a subject's name into a URL as it is."""
    name = "Größe-\N{SNOWMAN}"
    for _ in range(2):
        raw = request(b"POST", f"/subjects/{name}/versions?normalize=true&x=ü".encode(), body=INT)
        assert server.raw(raw).json["version"] == 1
    assert server.ask("GET", "/subjects/Gr%C3%B6%C3%9Fe-%E2%98%83/versions").json == [1]
    assert name in server.ask("GET", "/subjects").json


@pytest.mark.parametrize("length", [8_300, 70_000, 1_000_000])
def test_a_target_that_is_too_long_is_told_so(server: Server, length: int) -> None:
    """414 says what to shorten, 431 would have people look at their headers."""
    assert_refused(server.raw(request(b"GET", b"/subjects?x=" + b"a" * length)), 414)


HEADS = {
    "a header of 1 MB": [b"X: " + b"x" * 1_000_000],
    "50,000 headers": [b"X: y"] * 50_000,
    "600 headers": [b"X: y"] * 600,
    "a header without a colon": [b"nonsense"],
    "a header without a name": [b": x"],
    "a zero in a header": [b"X: \x00"],
    "a zero in a header's name": [b"X\x00: x"],
    "a header that goes on in the next line": [b"X: x", b" y"],
    "two lengths": [b"Content-Length: 0", b"Content-Length: 5"],
    "a length and chunks": [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
    "a negative length": [b"Content-Length: -1"],
    "a length that is no number": [b"Content-Length: 1e3"],
    "a length beyond 64 bits": [b"Content-Length: 99999999999999999999999"],
    "an unknown encoding": [b"Transfer-Encoding: gzip"],
    "a media type that is none": [b"Content-Type: \xff"],
    "a media type we do not read": [b"Content-Type: text/xml"],
    "nothing that is acceptable": [b"Accept: text/html"],
    "10,000 unacceptable types": [b"Accept: " + b"a/b," * 10_000],
    "an empty list of types": [b"Accept: ;;,,;q="],
}


@pytest.mark.parametrize("lines", HEADS.values(), ids=HEADS)
def test_a_head_that_is_none_is_refused_in_json(server: Server, lines: list[bytes]) -> None:
    assert_refused(server.raw(request(b"GET", b"/subjects", *lines)))


@pytest.mark.parametrize(
    "lines",
    [
        [b"X-Request-ID: \xff\xfe"],
        [b"X-Request-ID: " + b"x" * 30_000],
        [b"X-Request-ID: a", b"X-Request-ID: b"],
        [b'If-None-Match: \xff", ,W/, "'],
        [b"Accept-Encoding: gzip;q=\xff, *;q=x"],
        [b"Accept: application/json;q=x"],
        [b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Key: x"],
        [b"Upgrade: h2c", b"Connection: Upgrade, HTTP2-Settings", b"HTTP2-Settings: AAMAAABk"],
        [b"Expect: a miracle"],
        [b"Authorization: Basic \xff"],
        [b"Forwarded: for=\xff", b"X-Forwarded-For: \xff", b"X-Forwarded-Proto: gopher"],
    ],
    ids=lambda lines: repr(lines[0])[:40],
)
def test_odd_headers_harm_nobody(server: Server, lines: list[bytes]) -> None:
    answer = server.raw(request(b"GET", b"/schemas/types", *lines))
    assert answer.status == 200
    assert answer.headers["x-request-id"]


@pytest.mark.parametrize("method", ["TRACE", "PATCH", "PROPFIND", "CONNECT", "get", "BREW", "M" * 5_000, "G\xffT", ""])
def test_methods_nobody_knows_are_refused(server: Server, method: str) -> None:
    assert_refused(server.raw(request(method.encode("latin-1"), b"/subjects")), 400, 405, 431)


@pytest.mark.parametrize("method", ["BREW", "get", "LIST", "X-RAY"])
def test_a_method_that_no_path_has_is_refused_as_such(server: Server, method: str) -> None:
    assert_refused(server.raw(request(method.encode(), b"/subjects")), 405)


NO_REQUESTS = {
    "a TLS greeting": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/9.9": b"GET / HTTP/9.9\r\n\r\n",
    "a method alone": b"GET\r\n\r\n",
    "zeros": b"\x00" * 10_000,
    "a word without end": b"x" * 1_000_000,
    "a header without end": b"GET / HTTP/1.1\r\nX: " + b"x" * 1_000_000,
}


@pytest.mark.parametrize("data", NO_REQUESTS.values(), ids=NO_REQUESTS)
def test_what_is_no_http_is_refused_in_json(server: Server, data: bytes) -> None:
    assert_refused(server.raw(data), 400, 431)


# --- bodies on the wire ----------------------------------------------------------------------------------------------


def pieces(size: int) -> list[bytes]:
    whole = b'{"schema":"' + b"a" * size + b'"}'
    return [chunk(whole[start : start + 65_536]) for start in range(0, len(whole), 65_536)]


LARGE_BODIES: dict[str, Callable[[], list[bytes]]] = {
    "with its length": lambda: [POST + b"Content-Length: %d\r\n\r\n" % LARGE, b"a" * LARGE],
    "in one chunk": lambda: [CHUNKED, chunk(b"a" * LARGE), b"0\r\n\r\n"],
    "in many chunks": lambda: [CHUNKED, *pieces(LARGE), b"0\r\n\r\n"],
    "of 100 MB": lambda: [POST + b"Content-Length: %d\r\n\r\n" % (10 * LARGE), *[b"a" * LARGE] * 10],
    "that is announced only": lambda: [POST + b"Content-Length: %d\r\n\r\n" % 10**15],
    "after a question": lambda: [POST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % LARGE],
}


@pytest.mark.parametrize("parts", LARGE_BODIES.values(), ids=LARGE_BODIES)
def test_a_body_of_10_mb_is_too_large(server: Server, parts: Callable[[], list[bytes]]) -> None:
    """The client gets to read why, however it sends the body."""
    assert_refused(server.raw(*parts()), 413)


@pytest.mark.parametrize("target", [b"/nowhere", b"/subjects", b"/subjects/x/versions"])
def test_a_large_body_that_nobody_asked_for_harms_nobody(server: Server, target: bytes) -> None:
    head = request(b"DELETE", target, b"Content-Length: %d" % LARGE)
    assert_refused(server.raw(head, b"a" * LARGE), 404, 405, 40401)


def test_a_body_longer_than_its_length_is_another_request(server: Server) -> None:
    """What follows the body is read as HTTP, which it is not; the first answer stands."""
    with server.connected() as wire:
        wire.send(POST + b"Content-Length: %d\r\n\r\n" % len(INT) + INT)
        assert wire.receive().status == 200
        wire.send(INT + b"\r\n\r\n")
        assert_refused(wire.receive(), 400)


@pytest.mark.parametrize(
    "body",
    [b"zz\r\n", b"-5\r\nabcde\r\n0\r\n\r\n", b"F" * 18 + b"\r\n", b"5\r\nabcdefgh\r\n0\r\n\r\n"],
    ids=repr,
)
def test_chunks_that_are_none_are_refused(server: Server, body: bytes) -> None:
    assert_refused(server.raw(CHUNKED + body), 400)


@pytest.mark.parametrize(
    "head, body",
    [
        (POST + b"Content-Length: 1000\r\n\r\n", INT),
        (CHUNKED, chunk(INT)),
        (CHUNKED, b"FFFFFF\r\n" + INT),
        (POST + b"Content-Le", b""),
    ],
    ids=["in a body", "between chunks", "in a chunk", "in a head"],
)
def test_a_client_that_leaves_in_the_middle_has_asked_for_nothing(server: Server, head: bytes, body: bytes) -> None:
    """What is there would be a whole schema; but the client had not finished saying so."""
    head = head.replace(b"/hostile/", b"/unfinished/")
    with server.connected() as wire:
        wire.send(head, body)
        wire.ends()
        assert wire.left()
    assert_refused(server.ask("GET", "/subjects/unfinished/versions"), 40401)


@pytest.mark.parametrize("field", [b"A: b\r\n", b"b" * 100], ids=["many", "one"])
def test_trailers_without_end_do_not_fill_the_memory(server: Server, field: bytes) -> None:
    """HTTP allows fields like those of a head after a chunked body; clients do not use them, so they are not kept."""
    before = server.memory
    with server.connected() as wire:
        start = b"" if field.endswith(b"\n") else b"A: "
        wire.send(CHUNKED + chunk(INT) + b"0\r\n" + start, *[field * (1_000_000 // len(field))] * 20)
        assert server.memory < before + A_LOT_OF_MEMORY
        with suppress(ConnectionError):  # what it did not read may take the answer along
            assert_refused(wire.receive(), 431)


def test_chunks_of_one_byte_are_a_body_like_any_other(server: Server) -> None:
    """Sizes of chunks are more than the body then; they do not count as trailers."""
    text = json.dumps({"schema": '"int"', "x": "y" * 30_000}).encode()
    with server.connected() as wire:
        wire.send(
            CHUNKED.replace(b"/hostile/", b"/drop-by-drop/"),
            *(b"1;x=y\r\n%c\r\n" % byte for byte in text),
            b"0\r\n\r\n",
        )
        assert wire.receive().json["version"] == 1


# --- many at once ----------------------------------------------------------------------------------------------------


def test_requests_sent_together_are_answered_in_order(server: Server) -> None:
    asked = [request(b"GET", b"/subjects/p%d/versions" % number) for number in range(50)]
    with server.connected() as wire:
        wire.send(b"".join(asked))
        for number in range(50):
            assert wire.receive().json["message"] == f"Subject 'p{number}' not found."


def test_garbage_behind_a_good_request_does_not_take_its_answer(server: Server) -> None:
    with server.connected() as wire:
        wire.send(request(b"GET", b"/schemas/types") * 3 + b"garbage\r\n\r\n")
        for _ in range(3):
            assert wire.receive().status == 200
        assert_refused(wire.receive(), 400)


@pytest.mark.parametrize("cut", [5, 40, 120])
def test_a_head_may_arrive_in_pieces(server: Server, cut: int) -> None:
    """Networks cut where they like: the rest of a head and a large body in one packet do not make a large head."""
    body = json.dumps({"schema": '"int"', "nobody reads": "x" * 200_000}).encode()
    whole = request(b"POST", b"/subjects/pieces/versions", body=body)
    with server.connected() as wire:
        wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wire.send(whole[:cut])
        # An answer elsewhere means that the server has seen the first piece: it reads what has come, in order.
        for _ in range(3):
            server.ask("GET", "/schemas/types")
        wire.send(whole[cut:])
        assert wire.receive().status == 200


def test_http_1_0_is_spoken(server: Server) -> None:
    with server.connected() as wire:
        wire.send(b"GET /schemas/types HTTP/1.0\r\n\r\n")
        assert wire.receive().status == 200
        assert wire.left(), "without keep-alive the server hangs up"


def test_those_who_never_finish_a_request_hold_up_nobody(server: Server) -> None:
    """Half a head, half a body, a question whether to go on: hundreds of them, and everybody else is served."""
    halves = [
        b"GET /subj",
        b"GET /subjects HTTP/1.1\r\nHost: local",
        POST + b"Content-Length: 100\r\n\r\n{",
        CHUNKED + b"5\r\nab",
    ]
    with ExitStack() as open_wires:
        for number in range(200):
            wire = open_wires.enter_context(server.connected())
            wire.send(halves[number % len(halves)])
        assert server.ask("GET", "/schemas/types").status == 200
        assert server.ask("POST", "/subjects/patient/versions", INT, JSON).status == 200


def test_those_who_read_no_answers_hold_up_nobody(server: Server) -> None:
    """Answers that no client takes wait in one place: the server reads no more requests from there."""
    tree = {"type": "record", "name": "Long", "doc": "d" * 900_000, "fields": []}
    number = server.ask("POST", "/subjects/unread/versions", {"schema": json.dumps(tree)}).json["id"]
    before = server.memory
    with server.connected() as wire:
        wire.socket.settimeout(1)
        with pytest.raises(TimeoutError):
            wire.socket.sendall(request(b"GET", b"/schemas/ids/%d" % number) * 500_000)
        assert server.ask("GET", "/schemas/types").status == 200
        assert server.memory < before + A_LOT_OF_MEMORY


def test_thousands_of_different_questions_are_not_all_remembered(server: Server) -> None:
    """Caches have a bound in bytes: long paths, long queries, many header values, none of them twice."""
    before = server.memory
    with server.connected() as wire:
        for number in range(3_000):
            tail = b"%d" % number + b"x" * 4_000
            target = b"/subjects/" + tail + b"/versions?key=" + tail[:3_000]
            wire.send(request(b"GET", target, b"Accept: */*;a=" + tail))
            wire.receive()
    eventually(lambda: server.memory < before + 50_000_000)


def test_many_long_questions_of_many_parts_are_not_all_remembered(server: Server) -> None:
    """What they are taken apart into is a hundred times as large as they are."""
    before = server.memory
    letters = [first + second for first in ascii_letters for second in ascii_letters][:2_600]
    with server.connected() as wire:
        for number in range(300):
            turned = "&".join(letters[number:] + letters[:number])
            wire.send(request(b"GET", b"/schemas/ids/1?" + turned.encode()))
            wire.receive()
            wire.send(request(b"GET", b"/subjects", b"Accept: */*;a=%d" % number + b"x" * 50_000))
            wire.receive()
    eventually(lambda: server.memory < before + 50_000_000)


@pytest.mark.parametrize("path", [b"/metrics", b"/health", b"/health/ready", b"/docs", b"/openapi.json"])
def test_what_is_only_read_is_refused_to_those_who_write(server: Server, path: bytes) -> None:
    """HTTP-15: nothing a client sends is answered with a 5xx, there neither."""
    for method in (b"POST", b"DELETE", b"PATCH"):
        assert_refused(server.raw(request(method, path)), 405)
    answer = server.raw(request(b"OPTIONS", path))
    assert (answer.status, answer.headers["allow"]) == (200, "GET, HEAD, OPTIONS")
