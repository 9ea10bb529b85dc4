"""What is sent back."""

from sigla.errors import Refusal
from sigla.web.wire import answers, text

CHALLENGE = ((b"www-authenticate", b'Basic realm="schema registry"'),)
"""What a 401 asks for."""


class Answer:
    """Status and body.

    media: the Content-Type; None for the negotiated one, empty for none at all. etag: empty for none.
    error_code: for the log. headers: further ones. packed: the body in gzip, once somebody has asked for it.
    deleted: how many versions were deleted, for the counters.
    """

    __slots__ = ("body", "deleted", "error_code", "etag", "headers", "media", "packed", "status")

    def __init__(
        self,
        status: int,
        body: bytes,
        *,
        media: bytes | None = None,
        error_code: int | None = None,
        etag: bytes = b"",
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        self.status = status
        self.body = body
        self.media = media
        self.error_code = error_code
        self.etag = etag
        self.headers = headers
        self.packed: bytes | None = None
        self.deleted = 0


def told(value: object) -> Answer:
    """200 with a JSON body."""
    return Answer(200, text.write(value))


def bare(schema: str) -> Answer:
    """200 with the text of a schema, as it is: not a JSON string, nothing escaped (HTTP-8)."""
    return Answer(200, schema.encode("utf-8", "replace"))


def nothing() -> Answer:
    return Answer(204, b"", media=b"")


def refused(refusal: Refusal) -> Answer:
    """The one place where a refusal becomes an answer."""
    body = text.write(answers.error(refusal.code, refusal.message))
    headers = CHALLENGE if refusal.status == 401 else getattr(refusal, "headers", ())
    return Answer(refusal.status, body, media=getattr(refusal, "media", None), error_code=refusal.code, headers=headers)
