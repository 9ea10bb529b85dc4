from typing import Any

import pytest

from sigla.errors import InvalidVersion
from sigla.model import Subject
from sigla.web.api.exchange import Exchange, Service, read_query
from sigla.web.api.parameters import ID_SCOPE
from sigla.web.http.refusals import BadRequest, NoSuchArgument


def exchange(query: str = "", prefix: tuple[str, str] | None = None, **params: str) -> Exchange:
    nothing: Any = None
    return Exchange(params, query.encode(), nothing, Service(), prefix)


@pytest.mark.parametrize(
    "query, expected",
    [
        ("a=1&b=2&a=3", {"a": ["1", "3"], "b": ["2"]}),
        ("a=x+y%2Bz", {"a": ["x y+z"]}),
        ("a&b=", {"a": [""], "b": [""]}),
        ("&a=1&", {"a": ["1"]}),
        ("a=%CE%BB", {"a": ["λ"]}),
        ("a=b=c", {"a": ["b=c"]}),
    ],
)
def test_a_query_is_read_as_it_was_sent(query: str, expected: dict[str, list[str]]) -> None:
    """Every value, in order; a plus is a space here."""
    assert read_query(query.encode()) == expected


def test_raw_text_in_a_query_is_read() -> None:
    """Some clients do not encode at all."""
    assert read_query("a=λ".encode()) == {"a": ["λ"]}
    assert read_query(b"a=\xff") == {"a": ["ÿ"]}


@pytest.mark.parametrize("query", [b"a=%", b"a=%zz", b"%ff=1"])
def test_a_query_that_cannot_be_decoded_is_refused(query: bytes) -> None:
    """Better than to look for what was not named."""
    with pytest.raises(BadRequest):
        read_query(query)


@pytest.mark.parametrize("said", ["abc", "1.5", "", "99999999999", "+ 1"])
def test_an_id_that_is_no_number_is_not_found(said: str) -> None:
    """§1.2."""
    with pytest.raises(NoSuchArgument):
        exchange(id=said).id  # noqa: B018 - reading it is the test


@pytest.mark.parametrize(
    "query, prefix, expected",
    [
        ("subject=a", ("subject", ":.c:"), Subject(".c", "a")),
        ("", ("subject", ":.c:"), Subject(".c", "")),
        ("subject=:.d:a", ("subject", ":.c:"), Subject(".d", "a")),
        ("subject=", None, None),
        ("subject=a", None, Subject(".", "a")),
    ],
)
def test_a_context_in_the_path_qualifies_the_parameter(
    query: str, prefix: tuple[str, str] | None, expected: Subject | None
) -> None:
    """CPATH-4."""
    asked = exchange(query, prefix)
    assert asked.scope(ID_SCOPE.read(asked.query)) == expected


def test_names_of_the_path_are_parsed() -> None:
    """§3.2, §3.3."""
    asked = exchange(subject=":.c:a", version="Latest")
    assert (asked.subject, asked.version) == (Subject(".c", "a"), -1)
    with pytest.raises(InvalidVersion):
        exchange(version="0").version  # noqa: B018 - reading it is the test
