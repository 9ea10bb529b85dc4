"""What HTTP itself refuses, before a verb is asked: rows like those of `sigla.errors`, in the same envelope."""

from sigla.errors import Denied, QuotaReached, Refusal, SchemaTooLarge, Unauthorized


class HttpRefusal(Refusal):
    """`media` is the Content-Type of the answer: None for the negotiated one, empty for none at all (HTTP-15)."""

    media: bytes | None = None


class BadRequest(HttpRefusal):
    code, text = 400, "{reason}"


class ContextNameWithColon(BadRequest):
    text = "Context name '{name}' cannot contain a colon"


class NotAMediaType(BadRequest):
    text, media = "Bad Request", b"application/json"


class ForeignHost(HttpRefusal):
    code, text = 403, "The registry is not known as '{host}': name that host in SIGLA_HOSTS"


class ForeignOrigin(ForeignHost):
    text = "Pages of '{origin}' may not write here: name that origin in SIGLA_CORS_ORIGINS"


class NoRegistryNamed(Unauthorized):
    # It begins as clients know it.
    text = "Unauthorized: name the registry behind the user, as NAME@REGISTRY, or ask by its host name"


class SeveralRegistries(Denied):
    text = "The token is good for several registries: name one in the header target-sr-cluster, or ask by its host name"


class NoRegistryHere(HttpRefusal):
    code, text = 404, "Several registries are served here: ask for one by its host name"


class NoSuchPath(HttpRefusal):
    code, text, media = 404, "HTTP 404 Not Found", b""


class NoSuchArgument(HttpRefusal):
    """An invalid number, or a word that is not on the list: to clients the same as an unknown path."""

    code, text = 404, "HTTP 404 Not Found"


class MethodNotAllowed(HttpRefusal):
    code, text, media = 405, "HTTP 405 Method Not Allowed", b""


class NotAcceptable(HttpRefusal):
    code, text, media = 406, "HTTP 406 Not Acceptable", b""


class RequestTooSlow(HttpRefusal):
    code, text = 408, "The request did not arrive in time"


class BodyTooLarge(HttpRefusal):
    code, text = 413, "The request body is larger than {limit} bytes"


class TargetTooLong(HttpRefusal):
    code, text = 414, "HTTP 414 URI Too Long"


class UnsupportedMediaType(HttpRefusal):
    code, text = 415, "HTTP 415 Unsupported Media Type"


class MissingBody(HttpRefusal):
    code, text = 422, "{operation}.request must not be null (was null)"


class TooManyRequests(QuotaReached):
    text = "The registry answers {most:g} requests a second, and more have come: try again"


class HeadTooLarge(HttpRefusal):
    code, text = 431, "The head of the request is too large"


class TrailersTooLarge(HeadTooLarge):
    text = "The trailers of the request are too large"


class AnswerTooLarge(SchemaTooLarge):
    text = (
        "The answer is larger than the {limit} bytes that fit through here; ask for it in pages, with limit and offset"
    )


class Unexpected(HttpRefusal):
    code, text = 500, "Internal Server Error"


class TooMuchArrives(HttpRefusal):
    """The same request may be answered a few seconds later."""

    code, text = 503, "Too many request bodies arrive at once, try again later"
    headers = ((b"retry-after", b"5"),)


class NoConnectionFree(TooMuchArrives):
    text = "Too many clients are connected, try again later"
