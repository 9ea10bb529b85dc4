"""A request as it arrived, and an answer as it goes out to it."""

from collections.abc import Callable, Mapping
from time import perf_counter_ns

from starlette.types import Scope

from sigla import observe
from sigla.auth.permissions import OPEN, READ
from sigla.changes import Author
from sigla.changes.kinds import DAY_MS
from sigla.model import BodyKey
from sigla.registry import Options
from sigla.web.api.dispatch import Found
from sigla.web.http.answer import Answer
from sigla.web.http.headers import Header, names, picked, request_id, uuid
from sigla.web.http.negotiate import V1, answer_type, offers_gzip
from sigla.web.http.packing import LONG, pack

NONE = b""
CLOSE: Header = (b"connection", b"close")
ENCODING_VARIES: Header = (b"vary", b"Accept-Encoding")
PACKED: Header = (b"content-encoding", b"gzip")
LOOPBACK = frozenset({"127.0.0.1", "::1"})
DRAINED = 64 * 2**20
"""A refused body up to this size is read to its end by the server, so that the connection can go on."""


LONGEST_TOLD = 128
"""So much of a request's id, and of its address, goes into the journal."""


class Call:
    """A request as it arrived.

    client: the address that it came from. found, principal: where it leads and the name of the caller, once that is
    known. family: the class of a path that leads nowhere. media: what to answer in, once that is negotiated. relayed:
    whether another region, which has shown who it is, sends it on: it keeps wrong secrets waiting itself. pair: what
    its answer says of the registry that it is for; empty where it names none.
    """

    __slots__ = (
        "body_read",
        "client",
        "family",
        "found",
        "headers",
        "media",
        "method",
        "pair",
        "principal",
        "query",
        "raw_path",
        "relayed",
        "request_id",
        "started",
    )

    def __init__(self, scope: Scope, fresh_id: Callable[[], bytes] = uuid) -> None:
        self.started = perf_counter_ns()
        self.method: str = scope["method"]
        self.raw_path: bytes = scope["raw_path"]
        self.query: bytes = scope["query_string"]
        self.headers: Mapping[bytes, bytes] = picked(scope["headers"])
        self.request_id = request_id(self.headers, fresh_id)
        self.found: Found | None = None
        self.family = ""
        self.client: tuple[str, int] | None = scope.get("client")
        self.principal = ""
        self.pair = NONE
        self.body_read = False
        self.media: bytes | None = None
        self.relayed = False

    @property
    def asker(self) -> str:
        """Whose requests take turns with those of others: the principal's, or else the address's."""
        return self.principal or self.address

    def author(self, options: Options) -> Author:
        """The author of what the request changes."""
        request = self.request_id[:LONGEST_TOLD].decode("latin-1")
        return Author(self.principal, "api", request, self.address[:LONGEST_TOLD], options.names_days * DAY_MS)

    @property
    def address(self) -> str:
        """Where the request came from; empty if that is unknown.

        A proxy on this machine is believed when it says for whom it asks, and so is a region that has shown who it is:
        the last address is the one it has seen.
        """
        if self.client is None:
            return ""
        address = self.client[0]
        forwarded = self.headers.get(b"x-forwarded-for") if address in LOOPBACK or self.relayed else None
        return address if forwarded is None else forwarded.rpartition(b",")[2].strip().decode("latin-1")

    def seen(
        self,
        status: int,
        sent: int,
        error_code: int | None,
        deleted: int = 0,
        read: tuple[BodyKey, str] | None = None,
    ) -> observe.Seen:
        found, took_ns = self.found, perf_counter_ns() - self.started
        if found is None:
            return observe.Seen(self.method, self.family, status, took_ns, self.request_id, sent, error_code)
        is_refused = status in (observe.UNKNOWN_KEY, observe.DENIED)
        return observe.Seen(
            self.method,
            found.route.path,
            status,
            took_ns,
            self.request_id,
            sent,
            error_code,
            found.params,
            self.principal,
            deleted,
            found.route.access not in (OPEN, READ),
            self.address[:LONGEST_TOLD] if is_refused else "",
            None if self._is_of_own_page() else read,
        )

    def _is_of_own_page(self) -> bool:
        """The console, or the description of the API: who looks a schema up there does not depend on it."""
        return self.headers.get(b"sec-fetch-site") == b"same-origin"

    def prepared(self, answer: Answer, *, gzip: bool) -> tuple[int, list[Header], bytes]:
        """Status, headers and body as they go out: packed, or not repeated to a client that has them."""
        body, tag = answer.body, answer.etag
        headers: list[Header] = [(b"x-request-id", self.request_id), *answer.headers]
        if self._must_close():
            headers.append(CLOSE)
        packable = gzip and self.method in ("GET", "POST")
        if packable:
            headers.append(ENCODING_VARIES)
        packs = packable and body and self._reads_gzip()
        if tag:
            tag = tag[:-1] + b'-gzip"' if packs else tag
            headers.append((b"etag", tag))
            known = self.headers.get(b"if-none-match")
            if known and names(known, tag):
                return 304, headers, NONE
        if packs:
            body = pack(answer)
            headers.append(PACKED)
        media = self.media or self._wished() if answer.media is None else answer.media
        if media:
            headers.append((b"content-type", media))
        if answer.status != 204:
            headers.append((b"content-length", b"%d" % len(body)))
        return answer.status, headers, NONE if self.method == "HEAD" else body

    def packs_long(self, answer: Answer) -> bool:
        """Whether `prepared` would take long, because it has to pack."""
        return (
            len(answer.body) >= LONG and answer.packed is None and self.method in ("GET", "POST") and self._reads_gzip()
        )

    def _reads_gzip(self) -> bool:
        return offers_gzip(self.headers.get(b"accept-encoding", NONE))

    def _wished(self) -> bytes:
        """What the client would have liked, where nothing was negotiated."""
        return answer_type(self.headers.get(b"accept", NONE)) or V1.encode()

    def _must_close(self) -> bool:
        """Whether a body that was not read would be taken for the next request, or would never end."""
        if self.body_read:
            return False
        length = self.headers.get(b"content-length", NONE)
        endless = b"transfer-encoding" in self.headers or (length.isdigit() and int(length) > DRAINED)
        return endless or b"expect" in self.headers
