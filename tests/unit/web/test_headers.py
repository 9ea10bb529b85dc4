import re

import pytest

from sigla.web.http import headers

UUID4 = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def test_headers_sent_in_several_lines_are_one_list() -> None:
    """A client may spread Accept over lines; a request id sent twice is ignored."""
    sent = [
        (b"accept", b"text/html"),
        (b"accept", b"*/*"),
        (b"x-request-id", b"a"),
        (b"x-request-id", b"b"),
        (b"host", b"h"),
    ]
    assert headers.picked(sent) == {b"accept": b"text/html,*/*", b"host": b"h"}


def test_a_stranger_is_told_by_all_that_he_sends() -> None:
    """If a request had two names of the host, or two origins, none counted: as if a browser had sent neither."""
    sent = [
        (b"host", b"localhost"),
        (b"origin", b"http://localhost"),
        (b"host", b"evil.example"),
        (b"origin", b"x://y"),
    ]
    assert headers.picked(sent) == {b"host": b"localhost,evil.example", b"origin": b"http://localhost,x://y"}


def test_the_clients_request_id_is_kept() -> None:
    """HTTP-9."""
    assert headers.request_id({b"x-request-id": b"my id"}, headers.uuid) == b"my id"


@pytest.mark.parametrize("sent", [{}, {b"x-request-id": b""}, {b"x-request-id": b"  "}, {b"x-request-id": b"a\nb"}])
def test_a_request_without_an_id_gets_a_fresh_one(sent: dict[bytes, bytes]) -> None:
    """HTTP-9: a random UUID; line breaks never reach a header of ours."""
    first, second = headers.request_id(sent, headers.uuid), headers.request_id(sent, headers.uuid)
    assert UUID4.fullmatch(first)
    assert first != second


def test_fresh_ids_that_are_made_together_are_different() -> None:
    """Across the blocks, too."""
    fresh = headers.Uuids()
    made = [fresh() for _ in range(3 * headers.AT_ONCE)]
    assert len(set(made)) == len(made)
    assert all(UUID4.fullmatch(one) for one in made)


@pytest.mark.parametrize(
    "said, named", [(b'"a"', True), (b'"b", "a"', True), (b'W/"a"', True), (b"*", True), (b'"b"', False), (b"", False)]
)
def test_a_client_names_the_answers_it_has(said: bytes, named: bool) -> None:
    """RFC 9110, 13.1.2."""
    assert headers.names(said, b'"a"') is named


def test_a_list_of_tags_may_be_long() -> None:
    """It is searched, not taken apart, unless the tag is in it; one inside another tag is another tag."""
    assert not headers.names(b'"b",' * 20_000, b'"a"')
    assert headers.names(b'"b",' * 20_000 + b'"a"', b'"a"')
    assert not headers.names(b'x"a"', b'"a"')
