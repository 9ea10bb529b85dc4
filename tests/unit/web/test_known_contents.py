"""`GET /schemas/guids`: which contents a context knows, by which ids."""

from typing import Any
from urllib.parse import quote

from sigla.contract import MOST_CONTENTS
from tests.unit.web.conftest import Client

STRANGER = "00000000-0000-0000-0000-000000000000"
JSON = {"content-type": "application/json"}


def register(client: Client, subject: str, schema: str, **more: Any) -> str:
    """The GUID of the schema."""
    answer = client("POST", f"/subjects/{quote(subject, safe='')}/versions", {"schema": schema, **more}, JSON)
    assert answer.status == 200, answer.text
    guid: str = answer.json["guid"]
    return guid


def known(client: Client, *guids: str, scope: str = "") -> Any:
    return client("GET", f"/schemas/guids?guids={','.join(guids)}&subject={quote(scope)}").json


def test_contents_are_known_by_context(client: Client) -> None:
    """In the order of the question; what is unknown, and an invalid GUID, are left out."""
    one, two = register(client, "a", '"int"'), register(client, "b", '"long"')
    register(client, ":.eu:c", '"int"')
    a, b = (
        {"guid": one, "id": 1, "subject": "a", "version": 1},
        {"guid": two, "id": 2, "subject": "b", "version": 1},
    )
    assert known(client, two, "none", STRANGER, one.upper(), one) == [b, a]
    assert known(client, one, two, scope=":.eu:") == [{**a, "subject": ":.eu:c"}]
    assert client("GET", f"/contexts/.eu/schemas/guids?guids={one}").json == [{**a, "subject": ":.eu:c"}]
    assert client("GET", "/schemas/guids").json == []


def test_what_an_import_has_written_over_says_so(client: Client) -> None:
    """A registration of it finds it all the same, which no list of versions tells."""
    assert client("PUT", "/mode/a", {"mode": "IMPORT"}, JSON).status == 200
    old = register(client, "a", '"int"', id=7, version=3)
    new = register(client, "a", '"long"', id=9, version=3)
    place = {"subject": "a", "version": 3}
    assert known(client, old, new) == [
        {"guid": old, "id": 7, **place, "displaced": True},
        {"guid": new, "id": 9, **place},
    ]
    assert client("DELETE", "/subjects/a").status == 200
    assert [each["deleted"] for each in known(client, old, new)] == [True, True]


def test_only_so_many_are_told_at_once(client: Client) -> None:
    """The rest of a longer question is left unanswered, as the rest of a longer list is."""
    guid = register(client, "a", '"int"')
    assert known(client, *[STRANGER] * (MOST_CONTENTS - 1), guid) != []
    assert known(client, *[STRANGER] * MOST_CONTENTS, guid) == []
