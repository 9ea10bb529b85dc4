"""The console: pages that a browser makes of what the API tells it. Here are its files.

A page's address is read by the page itself (`ui/main.js`), so each is the same text: which files it is made of, below
a digest of all of them. A file's address says what is in it, so that a browser keeps it for good; the page is asked
for anew. What a page links to is relative: a door may put the registry below a path.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from gzip import compress
from hashlib import sha256
from html import escape
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from starlette.types import Receive, Scope, Send

from sigla.web.console.door import CONSOLE, Login
from sigla.web.http.headers import names, picked
from sigla.web.http.negotiate import offers_gzip

FILES: Final = "s/"

MEDIA: Final[Mapping[str, bytes]] = {
    "js": b"text/javascript; charset=utf-8",
    "css": b"text/css; charset=utf-8",
    "svg": b"image/svg+xml",
}
"""By the end of a name; what ends otherwise (licences, sums) is not served."""

POLICY: Final = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
"""Scripts, styles, pictures and requests of this server alone; no script or style within a page."""

_SAFE: Final = (
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
_FOR_GOOD: Final = b"public, max-age=31536000, immutable"
_ANEW: Final = b"no-cache"

Headers = Sequence[tuple[bytes, bytes]]


class ServedFile(NamedTuple):
    """A file as it is sent: its bytes, the same in gzip, and the digest that stands in its ETag."""

    media: bytes
    plain: bytes
    packed: bytes
    etag: bytes

    @classmethod
    def of(cls, media: bytes, plain: bytes) -> "ServedFile":
        return cls(media, plain, compress(plain, 9, mtime=0), b'"%s"' % sha256(plain).hexdigest()[:32].encode())


class ConsoleFiles(NamedTuple):
    """digest: of all files, with their names. served: by name below it. page: the text of every page."""

    digest: str
    served: Mapping[str, ServedFile]
    page: str


@cache
def files() -> ConsoleFiles:
    """Read, packed and hashed once in a process."""
    found = dict(sorted(_below(resources.files("sigla.web.console").joinpath("ui"))))
    page = found.pop("index.html")
    digest = sha256(b"".join(b"%s\0%d\0%s" % (name.encode(), len(each), each) for name, each in found.items()))
    ends = {name: name.rpartition(".")[2] for name in found}
    served = {name: ServedFile.of(MEDIA[ends[name]], each) for name, each in found.items() if ends[name] in MEDIA}
    return ConsoleFiles(digest.hexdigest()[:16], served, page.decode())


def _below(folder: Traversable, name: str = "") -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for each in folder.iterdir():
        full = f"{name}{each.name}"
        found += _below(each, f"{full}/") if each.is_dir() else [(full, each.read_bytes())]
    return found


@cache
def policy_of(logins: Sequence[Login]) -> bytes:
    """The page itself asks the issuers where people sign in, and nothing else."""
    origins = dict.fromkeys("https://" + urlsplit(login.issuer).netloc for login in logins)
    return f"{POLICY}; connect-src 'self' {' '.join(origins)}".encode() if origins else POLICY.encode()


@cache
def _page(depth: int, logins: Sequence[Login]) -> ServedFile:
    """The page as it stands so many segments below the console."""
    made = files()
    text = made.page.replace("@FILES@", f"{'../' * depth}{FILES}{made.digest}")
    text = text.replace("@LOGINS@", escape(json.dumps([login._asdict() for login in logins])))
    return ServedFile.of(b"text/html; charset=utf-8", text.encode())


DEEPEST: Final = 8
"""Segments of the deepest page's address, and a few more: what is beyond has no page."""


async def answer(
    scope: Scope,
    receive: Receive,  # noqa: ARG001 - ASGI's
    send: Send,
    *,
    gzip: bool,
    logins: Sequence[Login],
) -> None:
    """What `door.show` hands over."""
    path = scope["raw_path"].decode("latin-1")
    sent = picked(scope["headers"])
    status, headers, file = _chosen(path, logins)
    if file is None:
        await _send(send, scope, status, headers, b"")
        return
    safe = [(b"content-security-policy", policy_of(logins)), *_SAFE]
    headers = [*headers, *safe, (b"content-type", file.media), (b"etag", file.etag), (b"vary", b"accept-encoding")]
    if names(sent.get(b"if-none-match", b""), file.etag):
        await _send(send, scope, 304, headers, b"")
    elif gzip and offers_gzip(sent.get(b"accept-encoding", b"")):
        await _send(send, scope, status, [*headers, (b"content-encoding", b"gzip")], file.packed)
    else:
        await _send(send, scope, status, headers, file.plain)


def _chosen(path: str, logins: Sequence[Login]) -> tuple[int, Headers, ServedFile | None]:
    rest = path.removeprefix(CONSOLE)
    if not rest:
        return 308, [(b"location", f"{CONSOLE[1:]}/".encode())], None
    rest = rest[1:]
    if rest.startswith(FILES):
        digest, _, name = rest.removeprefix(FILES).partition("/")
        found = files().served.get(name) if digest == files().digest else None
        return (200, [(b"cache-control", _FOR_GOOD)], found) if found else (404, [(b"cache-control", _ANEW)], None)
    depth = rest.count("/")
    return (200, [(b"cache-control", _ANEW)], _page(depth, logins)) if depth <= DEEPEST else (404, [], None)


async def _send(send: Send, scope: Scope, status: int, headers: Headers, body: bytes) -> None:
    length = (b"content-length", b"%d" % len(body))
    told = [*headers] if status == 304 else [*headers, length]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
