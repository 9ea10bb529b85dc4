"""HTTP as bytes, where there is no request yet, or no application that could answer it."""

import asyncio
import re
import sys
from urllib.parse import quote_from_bytes

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from sigla.web.api.replies import refused
from sigla.web.http.negotiate import V1
from sigla.web.http.refusals import HttpRefusal

if sys.platform == "linux":
    from fcntl import ioctl
    from termios import TIOCOUTQ

NO_HTTP = "Invalid HTTP request received."

_REQUEST_LINE = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+ [^ \r\n]+ HTTP/1\.[01]\r?\n")
_BEGINNING = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?: [^ \r\n]*(?: [HTP/1.0]*\r?)?)?\Z")
_ASCII = bytes(range(128))


def is_request_line(data: bytes) -> bool:
    """Whether it begins as a request does, of whatever method."""
    return _REQUEST_LINE.match(data) is not None


def begins_as_request(data: bytes) -> bool:
    """Whether it may become the first line of a request, of whatever method."""
    return _BEGINNING.match(data) is not None


def escaped(data: bytes) -> bytes:
    """A request whose target holds raw bytes beyond ASCII, as clients should write it: the parser refuses them."""
    line, newline, rest = data.partition(b"\n")
    method, space, target = line.partition(b" ")
    if not newline or target.isascii():
        return data
    return b"".join((method, space, quote_from_bytes(target, _ASCII).encode(), newline, rest))


def refusal_bytes(refusal: HttpRefusal) -> bytes:
    """A whole answer, after which the connection closes."""
    answer = refused(refusal)
    lines = [STATUS_LINE[answer.status][:-2], b"connection: close", b"content-length: %d" % len(answer.body)]
    media = V1.encode() if answer.media is None else answer.media
    if media:
        lines.append(b"content-type: " + media)
    lines += [b"%b: %b" % header for header in answer.headers]
    return b"\r\n".join([*lines, b"", answer.body])


def in_the_system(transport: asyncio.Transport) -> int:
    """Bytes of answers that this machine has taken and the client's has not; 0 where the system does not say."""
    connection = transport.get_extra_info("socket")
    if connection is None or sys.platform != "linux":
        return 0
    return int.from_bytes(ioctl(connection.fileno(), TIOCOUTQ, bytes(4)), sys.byteorder)
