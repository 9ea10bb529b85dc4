"""Verbs' results and refusals as answers: JSON, the bare text of a schema, or nothing."""

from sigla.errors import QuotaReached, Refusal, Unauthorized
from sigla.web.api.wire import answers, text
from sigla.web.http.answer import Answer

NO_STORE = ((b"cache-control", b"no-store"),)
"""What an answer with a secret says to the caches on its way."""


def json_answer(value: object, status: int = 200) -> Answer:
    """A JSON body."""
    return Answer(status, text.write(value))


def secret_answer(value: object) -> Answer:
    """A JSON body that no cache on its way may keep."""
    return Answer(200, text.write(value), headers=NO_STORE)


def bare(schema: str) -> Answer:
    """200 with the text of a schema, as it is: not a JSON string, nothing escaped (HTTP-8)."""
    return Answer(200, schema.encode("utf-8", "replace"))


def nothing() -> Answer:
    return Answer(204, b"", media=b"")


def refused(refusal: Refusal) -> Answer:
    """The one place where a refusal becomes an answer."""
    body = text.write(answers.error(refusal.code, refusal.message))
    return Answer(
        refusal.status,
        body,
        media=getattr(refusal, "media", None),
        error_code=refusal.code,
        headers=_headers(refusal),
    )


def _headers(refusal: Refusal) -> tuple[tuple[bytes, bytes], ...]:
    match refusal:
        case Unauthorized():
            return _challenge(refusal)
        case QuotaReached():
            return ((b"retry-after", str(refusal.facts["again_s"]).encode()),)
        case _:
            return getattr(refusal, "headers", ())


def _challenge(refusal: Unauthorized) -> tuple[tuple[bytes, bytes], ...]:
    """What a 401 asks for. All in one header: the doors of AWS have each name once."""
    schemes = ", ".join(f'{scheme} realm="schema registry"' for scheme in refusal.schemes)
    return ((b"www-authenticate", schemes.encode()),)
