"""What is sent back."""

from sigla.model import BodyKey


class Answer:
    """Status and body.

    media: the Content-Type; None for the negotiated one, empty for none at all. etag: empty for none.
    error_code: for the log. headers: further ones. packed: the body in gzip, once a client has asked for it.
    deleted: how many versions were deleted, for the counters. read: the id whose schema it tells, with the subject that
    was named for it and has it, or an empty name. told: what the log is told besides the request. is_absent: whether it
    says that something is not there, as a refusal with 404 does.
    """

    __slots__ = (
        "body",
        "deleted",
        "error_code",
        "etag",
        "headers",
        "is_absent",
        "media",
        "packed",
        "read",
        "status",
        "told",
    )

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
        self.read: tuple[BodyKey, str] | None = None
        self.told: dict[str, object] | None = None
        self.is_absent = False


def fits(body: bytes, limit: int) -> bool:
    """Whether an answer passes a door that wraps it into a JSON string, where quotes and backslashes count twice."""
    if 2 * len(body) <= limit:
        return True
    return len(body) + body.count(b'"') + body.count(b"\\") <= limit
