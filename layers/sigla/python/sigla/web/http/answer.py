"""What is sent back."""


class Answer:
    """Status and body.

    media: the Content-Type; None for the negotiated one, empty for none at all. etag: empty for none.
    error_code: for the log. headers: further ones. packed: the body in gzip, once a client has asked for it.
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
