from typing import Any

import pytest

from sigla.errors import InvalidVersion
from sigla.model import Page, Subject
from sigla.web.api.exchange import Exchange, Service, read_query
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
    """Better than to look for what nobody named."""
    with pytest.raises(BadRequest):
        read_query(query)


@pytest.mark.parametrize("said, expected", [("true", True), ("TRUE", True), ("1", False), ("yes", False), ("", False)])
def test_only_true_is_true(said: str, expected: bool) -> None:
    """§1.2: never an error."""
    assert exchange(f"deleted={said}").flag("deleted") is expected
    assert exchange().flag("deleted") is False


def test_of_a_repeated_parameter_the_first_counts() -> None:
    """§1.2: unless it is a list."""
    asked = exchange("a=1&a=2&deleted=true&deleted=false")
    assert (asked.text("a"), asked.texts("a"), asked.flag("deleted")) == ("1", ["1", "2"], True)


@pytest.mark.parametrize("said, expected", [("7", 7), ("%2B7", 7), ("-1", -1), ("007", 7), ("１", 1), ("", 5)])
def test_numbers_are_read_in_any_script(said: str, expected: int) -> None:
    """§1.2."""
    assert exchange(f"limit={said}").number("limit", 5) == expected


@pytest.mark.parametrize("said", ["x", "1.5", "+7", "%207", "7%20", "2147483648", "-2147483649", "1_0", "9" * 5000])
def test_what_is_no_number_is_not_found(said: str) -> None:
    """§1.2: as if the path were unknown. An unencoded plus is a space."""
    with pytest.raises(NoSuchArgument):
        exchange(f"limit={said}").number("limit", 5)


@pytest.mark.parametrize("said", ["abc", "1.5", "", "99999999999", "+ 1"])
def test_an_id_that_is_no_number_is_not_found(said: str) -> None:
    """§1.2."""
    with pytest.raises(NoSuchArgument):
        exchange(id=said).id  # noqa: B018 - reading it is the test


@pytest.mark.parametrize(
    "query, page",
    [
        ("", Page(0, 9)),
        ("offset=2&limit=3", Page(2, 3)),
        ("limit=0", Page(0, 9)),
        ("limit=-5", Page(0, 9)),
        ("limit=10", Page(0, 9)),
    ],
)
def test_a_limit_out_of_range_is_the_default(query: str, page: Page) -> None:
    """§2.2: also one above the maximum."""
    assert exchange(query).page(9) == page


def test_a_negative_offset_is_not_found() -> None:
    """The reference fails here."""
    with pytest.raises(NoSuchArgument):
        exchange("offset=-1").page(9)


@pytest.mark.parametrize("query", ["lifecycle=", "lifecycle=strong", "lifecycle=STRONG&lifecycle=x"])
def test_words_that_are_not_on_the_list_are_not_found(query: str) -> None:
    """§1.2."""
    with pytest.raises(NoSuchArgument):
        exchange(query).choices("lifecycle", frozenset({"STRONG"}))


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
    assert exchange(query, prefix).id_scope == expected


def test_names_of_the_path_are_parsed() -> None:
    """§3.2, §3.3."""
    asked = exchange(subject=":.c:a", version="Latest")
    assert (asked.subject, asked.version) == (Subject(".c", "a"), -1)
    with pytest.raises(InvalidVersion):
        exchange(version="0").version  # noqa: B018 - reading it is the test
