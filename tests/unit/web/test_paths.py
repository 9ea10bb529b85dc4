from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.errors import InvalidSubject
from sigla.web.http import paths
from sigla.web.http.refusals import BadRequest, ContextNameWithColon

PRINTABLE = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=[chr(n) for n in (*range(32), 127)]), min_size=1
)


def segments(raw: str) -> tuple[str, ...]:
    return paths.read(raw.encode()).segments


@given(PRINTABLE)
def test_any_subject_arrives_as_it_was_named(subject: str) -> None:
    """A name may hold slashes, percent signs, question marks: encoded once, it is decoded once."""
    assert segments(f"/subjects/{quote(subject, safe='')}/versions") == ("subjects", subject, "versions")


@pytest.mark.parametrize(
    "raw, expected",
    [
        ("/", ()),
        ("/subjects/", ("subjects",)),
        ("/subjects/a/versions/", ("subjects", "a", "versions")),
        ("/subjects/a%2Fb", ("subjects", "a/b")),
        ("/subjects/a%252Fb", ("subjects", "a%2Fb")),
        ("/subjects/a+b", ("subjects", "a+b")),
        ("/subjects/a;x=1/versions;y", ("subjects", "a", "versions")),
        ("/subjects/a%3Bx", ("subjects", "a;x")),
        ("/subjects/..", ("subjects", "..")),
        ("/subjects/%2E%2E", ("subjects", "..")),
        ("/subjects/%5C%22", ("subjects", '\\"')),
        ("/subjects/é", ("subjects", "é")),
    ],
)
def test_a_path_is_read_once(raw: str, expected: tuple[str, ...]) -> None:
    """HTTP-13, HTTP-14: one trailing slash, no matrix parameters, literal dots."""
    assert segments(raw) == expected


@pytest.mark.parametrize(
    "raw", ["//", "/subjects//versions", "/subjects//", "/subjects/;x/versions", "subjects", "*", ""]
)
def test_a_path_with_an_empty_segment_is_refused(raw: str) -> None:
    """HTTP-13."""
    with pytest.raises(BadRequest):
        segments(raw)


@pytest.mark.parametrize(
    "raw", [b"/subjects/%", b"/subjects/%4", b"/subjects/%zz", b"/subjects/%FF", b"/subjects/\xff"]
)
def test_what_is_no_utf8_is_refused(raw: bytes) -> None:
    """HTTP-16."""
    with pytest.raises(BadRequest):
        paths.read(raw)


@pytest.mark.parametrize(
    "raw", ["/subjects/a%0Ab", "/subjects/%00", "/contexts/%7F/subjects/a", "/contexts/a%0A/schemas/types"]
)
def test_control_characters_make_an_invalid_subject(raw: str) -> None:
    """HTTP-16: with its own number, also where only a read is asked."""
    with pytest.raises(InvalidSubject):
        segments(raw)


@pytest.mark.parametrize(
    "raw, expected",
    [
        ("/contexts/c/subjects/a/versions", ("subjects", ":.c:a", "versions")),
        ("/contexts/.c/subjects/a", ("subjects", ":.c:a")),
        ("/contexts/:.c:/subjects/a", ("subjects", ":.c:a")),
        ("/contexts/./subjects/a", ("subjects", ":.:a")),
        ("/contexts/::/subjects/a", ("subjects", ":.:a")),
        ("/contexts/.c/subjects/:.d:a", ("subjects", ":.d:a")),
        ("/contexts/.c/subjects/%3A.d%3Aa", ("subjects", ":.d:a")),
        ("/contexts/.c/subjects/:*:a", ("subjects", ":*:a")),
        ("/contexts/.c/contexts/.d/subjects/a", ("subjects", ":.d:a")),
        ("/contexts/.c/subjects/subjects/versions", ("subjects", ":.c:subjects", "versions")),
        ("/contexts/.c/compatibility/subjects/a/versions", ("compatibility", "subjects", ":.c:a", "versions")),
        ("/contexts/.c/config", ("config", ":.c:")),
        ("/contexts/.c/config/a", ("config", ":.c:a")),
        ("/contexts/./mode", ("mode", ":.:")),
        ("/contexts/.c/schemas/types", ("schemas", "types")),
        ("/contexts/.c/contexts", ("contexts",)),
        ("/contexts/.c", ("contexts", ".c")),
        ("/contexts/.c/", ("contexts", ".c")),
        ("/contexts/%3A.px%3A/subjects/np", ("subjects", ":.:.px::np")),
    ],
)
def test_a_path_below_a_context_stands_for_another(raw: str, expected: tuple[str, ...]) -> None:
    """CPATH-1 to CPATH-3, CPATH-7, CPATH-8."""
    assert segments(raw) == expected


@pytest.mark.parametrize(
    "raw, prefix",
    [
        ("/contexts/.c/schemas/ids/1", ("subject", ":.c:")),
        ("/contexts/.c/schemas/ids/1/versions", ("subject", ":.c:")),
        ("/contexts/./schemas/ids/1", ("subject", ":.:")),
        ("/contexts/.c/schemas", ("subjectPrefix", ":.c:")),
        ("/contexts/.c/subjects", ("subjectPrefix", ":.c:")),
        ("/contexts/.c/settings", ("subjectPrefix", ":.c:")),
        ("/contexts/.c/console/api/subjects", ("subjectPrefix", ":.c:")),
        ("/contexts/.c/console/api/search", ("subjectPrefix", ":.c:")),
        ("/contexts/.c/console/api/settings", ("subjectPrefix", ":.c:")),
        ("/contexts/./subjects", ("subjectPrefix", "")),
        ("/contexts/.c/schemas/guids/x", None),
        ("/contexts/.c/schemas/ids", None),
    ],
)
def test_a_context_in_the_path_goes_before_a_parameter(raw: str, prefix: tuple[str, str] | None) -> None:
    """CPATH-4, CPATH-5: below the default context only its own subjects are listed."""
    assert paths.read(raw.encode()).prefix == prefix


def test_a_colon_in_a_context_is_refused_where_the_context_is_needed() -> None:
    """CPATH-1; a path that no context can change is not judged by it."""
    with pytest.raises(ContextNameWithColon) as refused:
        segments("/contexts/:.a:b:/mode")
    assert refused.value.message == "Context name '.a:b' cannot contain a colon"
    assert segments("/contexts/.a:b/nope") == ("nope",)
