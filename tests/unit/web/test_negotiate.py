from collections.abc import Callable

import pytest

from sigla.errors import Refusal
from sigla.web.http.negotiate import _REMEMBERED, answer_type, negotiate, offers_gzip
from sigla.web.http.refusals import NotAcceptable, NotAMediaType, UnsupportedMediaType

V1 = b"application/vnd.schemaregistry.v1+json"
PLAIN = b"application/vnd.schemaregistry+json"
JSON = b"application/json"


@pytest.mark.parametrize(
    "accept, expected",
    [
        (b"", V1),
        (b"  ", V1),
        (b"*/*", V1),
        (b"application/*", V1),
        (JSON, JSON),
        (b"APPLICATION/JSON", JSON),
        (b"application/json; charset=utf-8", b"application/json;charset=utf-8"),
        (b"application/json;q=0.5;charset=utf-8", b"application/json;charset=utf-8"),
        (b"application/json;q=0", JSON),
        (b"application/json;q=high", JSON),
        (b"application/json, application/vnd.schemaregistry+json", PLAIN),
        (b"application/json, application/vnd.schemaregistry+json;q=0.9", JSON),
        (b"application/json, */*;q=0.1", JSON),
        (b"text/html, application/json;q=0.5", JSON),
        (b"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", V1),
        (b"text/plain", None),
        (b"text/*", None),
        (b"garbage", None),
    ],
)
def test_the_answer_has_a_type_the_client_accepts(accept: bytes, expected: bytes | None) -> None:
    """HTTP-1 to HTTP-4, HTTP-7: the client's weight first, then our own preference."""
    assert answer_type(accept) == expected


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b" ",
        V1,
        PLAIN,
        JSON,
        b"application/octet-stream",
        b"Application/JSON; charset=latin-1",
        b"application/json;",
    ],
)
def test_bodies_of_four_types_are_read(said: bytes) -> None:
    """§1.1: parameters are ignored, and a body without a type is JSON."""
    assert negotiate(b"", said, reads_body=True) == V1


@pytest.mark.parametrize(
    "said, reads_body, refusal",
    [
        (b"text/plain", True, UnsupportedMediaType),
        (b"application/x-www-form-urlencoded", True, UnsupportedMediaType),
        (b"text/plain", False, UnsupportedMediaType),
        (b"*/*", True, UnsupportedMediaType),
        (b"application/*", True, UnsupportedMediaType),
        (b"garbage", True, NotAMediaType),
        (b"application/json, text/plain", False, NotAMediaType),
    ],
)
def test_other_bodies_are_refused(said: bytes, reads_body: bool, refusal: type[Refusal]) -> None:
    """HTTP-5: also on a GET that has no body."""
    with pytest.raises(refusal):
        negotiate(b"", said, reads_body=reads_body)


def test_a_wildcard_says_nothing_wrong_where_no_body_is_read() -> None:
    """HTTP-5."""
    assert negotiate(b"", b"*/*", reads_body=False) == V1


@pytest.mark.parametrize("accept, media", [(b"text/html, application/json;q=0.1", JSON), (b"text/html", V1), (b"", V1)])
def test_an_unsupported_body_is_refused_in_a_type_the_client_named(accept: bytes, media: bytes) -> None:
    """HTTP-5: and before it is found that nothing would be acceptable."""
    with pytest.raises(UnsupportedMediaType) as refused:
        negotiate(accept, b"text/plain", reads_body=True)
    assert refused.value.media == media


def test_what_cannot_be_accepted_is_refused() -> None:
    """HTTP-4."""
    with pytest.raises(NotAcceptable):
        negotiate(b"text/plain", b"", reads_body=False)


@pytest.mark.parametrize(
    "offer, taken",
    [
        (b"gzip", True),
        (b"gzip, deflate", True),
        (b"*", True),
        (b"x-gzip;q=0.5", True),
        (b"gzip;q=0", False),
        (b"br", False),
        (b"", False),
    ],
)
def test_gzip_is_used_where_it_is_offered(offer: bytes, taken: bool) -> None:
    """HTTP-10."""
    assert offers_gzip(offer) is taken


def test_a_flood_of_different_headers_is_forgotten() -> None:
    """What is remembered of clients has a bound."""
    for number in range(_REMEMBERED + 10):
        assert answer_type(f"application/json;v={number}".encode())
    assert answer_type(JSON) == JSON


@pytest.mark.parametrize("judge", [answer_type, offers_gzip])
def test_of_a_very_long_header_the_beginning_counts(judge: Callable[[bytes], object]) -> None:
    """One client's list of 30,000 entries must not keep all others waiting, or stay in the memory."""
    for begun in (b"application/json, gzip", b"gzip;q=0.5, application/json"):
        assert judge(begun + b",a" * 30_000) == judge(begun)
    assert not judge(b"a," * 30_000 + b"application/json, gzip")
