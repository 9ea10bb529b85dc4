"""Where an alias leads: its value is read where the request stands (ALIAS-4)."""

from typing import Any

import pytest

from tests.build import a_text
from tests.unit.web.conftest import Client

HERE, THERE, ELSEWHERE = "b", ":.c:b", ":.d:b"


@pytest.fixture
def aliased(client: Client) -> Client:
    """`a` of context `.c` is another name of `b`; a `b` is in three contexts, each with a text of its own."""
    for subject, name in ((HERE, "Here"), (THERE, "There"), (ELSEWHERE, "Elsewhere")):
        assert client("POST", f"/subjects/{subject}/versions", {"schema": a_text(name)}).status == 200
    assert client("PUT", "/config/:.c:a", {"alias": "b"}).status == 200
    return client


@pytest.mark.parametrize(
    "path, found",
    [
        ("/subjects/:.c:a", HERE),
        ("/contexts/.c/subjects/a", THERE),
        ("/contexts/.c/subjects/:.c:a", THERE),
        ("/contexts/.d/subjects/:.c:a", ELSEWHERE),
        ("/contexts/./subjects/:.c:a", HERE),
        ("/contexts/.d/contexts/.c/subjects/a", THERE),
    ],
)
def test_an_alias_leads_into_the_context_of_the_path(aliased: Client, path: str, found: str) -> None:
    """For a subject that is qualified in the path that is the default one, whichever the subject's own is."""
    assert aliased("GET", f"{path}/versions/1").json["subject"] == found


def test_writes_by_two_spellings_of_one_subject_go_to_two(aliased: Client) -> None:
    """As in the reference."""
    body: dict[str, Any] = {"schema": a_text("New")}
    for path in ("/subjects/:.c:a", "/contexts/.c/subjects/a"):
        assert aliased("POST", f"{path}/versions?force=true", body).json["version"] == 2
    found = [aliased("GET", f"/subjects/{each}/versions").json for each in (HERE, THERE, ELSEWHERE)]
    assert found == [[1, 2], [1, 2], [1]]


def test_the_subject_of_an_id_is_read_so_as_well(aliased: Client) -> None:
    """ALIAS-1: every context has an id 1 of its own."""
    below = aliased("GET", "/contexts/.c/schemas/ids/1?subject=a").json
    beside = aliased("GET", "/schemas/ids/1?subject=%3A.c%3Aa").json
    assert (below["subject"], beside["subject"]) == (THERE, HERE)


def test_an_alias_that_names_its_context_leads_there_from_everywhere(aliased: Client) -> None:
    assert aliased("PUT", "/config/:.c:a", {"alias": ELSEWHERE}).status == 200
    for path in ("/subjects/:.c:a", "/contexts/.c/subjects/a", "/contexts/./subjects/:.c:a"):
        assert aliased("GET", f"{path}/versions/1").json["subject"] == ELSEWHERE


def test_an_alias_in_the_default_context_is_what_it_always_was(aliased: Client) -> None:
    assert aliased("PUT", "/config/plain", {"alias": "b"}).status == 200
    assert aliased("GET", "/subjects/plain/versions/1").json["subject"] == HERE
