"""`/console/api/contexts`, `settings`, `keks`, `associations`: lists in parts, each from the end of the one before."""

from typing import Any
from urllib.parse import quote

import pytest

from sigla.auth.permissions import principal
from sigla.registry import Registry
from tests.build import a_text
from tests.unit.web.conftest import Client
from tests.unit.web.test_console_api import asked_by

JSON = {"content-type": "application/json"}
NAMES = ("a", "B", "é", "\U0001f600", "%2F", "x y")
IN_UTF16 = sorted(NAMES, key=lambda name: name.encode("utf-16-be"))


@pytest.fixture
def filled(client: Client) -> Client:
    def sent(method: str, path: str, body: Any) -> None:
        answer = client(method, path, body, JSON)
        assert answer.status == 200, answer.text

    for name in NAMES:
        context = f":.{name}:"
        sent("POST", f"/subjects/{quote(f'{context}s')}/versions", {"schema": a_text("A")})
        sent("PUT", f"/config/{quote(context)}", {"compatibility": "FULL"})
        sent("PUT", f"/mode/{quote(name, safe='')}", {"mode": "READONLY"})
    sent("PUT", "/config", {"compatibility": "NONE"})
    sent("PUT", "/mode/:.__GLOBAL:", {"mode": "READWRITE"})
    for name in ("a", "b", "c"):
        props = {"access.key.id": "hidden"} if name == "a" else {}
        sent("POST", "/dek-registry/v1/keks", {"name": name, "kmsType": "kms", "kmsKeyId": "id", "kmsProps": props})
    sent("POST", "/subjects/s/versions", {"schema": a_text("A")})
    for at in range(5):
        topic = {
            "resourceName": f"orders-{at}",
            "resourceNamespace": "ns",
            "resourceId": f"{at}",
            "resourceType": "topic",
        }
        subject = {"subject": "s", "associationType": "value", "lifecycle": "WEAK"}
        sent("POST", "/associations", {**topic, "associations": [subject]})
    return client


def in_parts(client: Client, path: str, most: int) -> list[Any]:
    found: list[Any] = []
    after = ""
    while True:
        answer = client("GET", f"/console/api/{path}limit={most}{after}")
        assert answer.status == 200, answer.text
        found.append(answer.json["found"])
        if "after" not in answer.json:
            return found
        after = f"&after={quote(answer.json['after'], safe='')}"


@pytest.mark.parametrize("most", [1, 3, 100])
def test_parts_put_together_are_the_list(filled: Client, most: int) -> None:
    contexts = in_parts(filled, "contexts?", most)
    assert [name for part in contexts for name in part] == filled("GET", "/contexts").json
    assert {len(part) for part in contexts[:-1]} <= {most}
    assert [kek["name"] for part in in_parts(filled, "keks?", most) for kek in part] == ["a", "b", "c"]
    ids = [one["resourceId"] for part in in_parts(filled, "associations?", most) for one in part]
    assert sorted(ids) == ["0", "1", "2", "3", "4"]


def test_an_id_has_the_version_written_last_of_each_subject_in_its_context(filled: Client) -> None:
    """Soft-deleted ones too; by an alias of the context those of another one."""
    for name in ("b", "c", ":.a:t"):
        filled("POST", f"/subjects/{name}/versions", {"schema": a_text("A")}, JSON)
    filled("DELETE", "/subjects/b")
    filled("POST", "/subjects/b/versions", {"schema": a_text("A")}, JSON)
    filled("PUT", "/config/:.led:", {"alias": ":.a:"}, JSON)

    def held(query: str) -> list[tuple[str, int]]:
        found = in_parts(filled, f"ids/1?{query}", 1)
        return [(each["subject"], each["version"]) for part in found for each in part]

    assert held("") == [("b", 2), ("c", 1), ("s", 1)]
    assert held("subject=:.a:&") == held("subject=:.led:&") == [(":.a:s", 1), (":.a:t", 1)]
    assert filled("GET", "/console/api/ids/4711").json["error_code"] == 40403


@pytest.mark.parametrize("most", [1, 3, 100])
def test_versions_of_a_subject_come_from_the_newest_down(filled: Client, most: int) -> None:
    """Soft-deleted ones too; by an alias those of another subject."""
    path = "subjects/v/versions"
    assert filled("GET", f"/console/api/{path}").json["error_code"] == 40401
    for at in range(7):
        filled("POST", "/subjects/v/versions", {"schema": a_text(f"V{at}")}, JSON)
    for gone in (7, 3):
        filled("DELETE", f"/subjects/v/versions/{gone}")
    filled("PUT", "/config/led", {"alias": "v"}, JSON)
    for name in ("v", "led"):
        told = [each for part in in_parts(filled, f"subjects/{name}/versions?", most) for each in part]
        assert told == [{"version": each, "deleted": each in (7, 3)} for each in range(7, 0, -1)]
        assert filled("GET", f"/console/api/subjects/{name}/versions?limit={most}").json["latest"] == 6
    filled("DELETE", "/subjects/v")
    assert "latest" not in filled("GET", f"/console/api/{path}").json


@pytest.mark.parametrize("version, near", [("3", [3, 2]), ("1", [1]), ("4", [4, 2]), ("6", []), ("0", []), ("-1", [])])
def test_a_version_that_is_named_is_told_with_the_one_before_it(filled: Client, version: str, near: list[int]) -> None:
    """As far as they are there."""
    for at in range(5):
        filled("POST", "/subjects/v/versions", {"schema": a_text(f"V{at}")}, JSON)
    if version == "4":
        for permanent in ("", "?permanent=true"):
            filled("DELETE", f"/subjects/v/versions/3{permanent}")
    told = filled("GET", f"/console/api/subjects/v/versions?limit=1&version={version}").json
    assert [each["version"] for each in told["near"]] == near
    assert [each["version"] for each in told["found"]] == [5]


@pytest.mark.parametrize("most", [1, 3, 100])
def test_who_references_a_subject_is_told_by_the_version_that_is(filled: Client, most: int) -> None:
    """Soft-deleted ones too; of one version, or of all; by an alias of another subject."""
    assert filled("GET", "/console/api/subjects/v/referrers").json["error_code"] == 40401
    for at in (1, 2):
        filled("POST", "/subjects/v/versions", {"schema": a_text(f"V{at}")}, JSON)
        for name in ("x/y", "\uff5e", "t"):
            refers = {"name": f"V{at}", "subject": "v", "version": at}
            body = {"schema": '"int"', "references": [refers]}
            assert filled("POST", f"/subjects/{quote(name, safe='')}/versions", body, JSON).status == 200
    filled("DELETE", "/subjects/x%2Fy/versions/2")
    filled("PUT", "/config/led", {"alias": "v"}, JSON)

    def told(query: str) -> list[tuple[int, str, int, bool]]:
        found = [each for part in in_parts(filled, f"subjects/{query}", most) for each in part]
        assert all(each["id"] for each in found)
        return [(each["referenced"], each["subject"], each["version"], each["deleted"]) for each in found]

    both = {(at, name, at, (at, name) == (2, "x/y")) for at in (1, 2) for name in ("x/y", "\uff5e", "t")}
    assert set(told("v/referrers?")) == set(told("led/referrers?")) == both
    assert [each[0] for each in told("v/referrers?")] == [1, 1, 1, 2, 2, 2]
    assert set(told("v/referrers?version=2&")) == {each for each in both if each[0] == 2}
    assert told("v/referrers?version=3&") == []


@pytest.mark.parametrize("said", ["after=x", "after=1/2/3/4/x", "version=latest"])
def test_what_is_no_place_of_a_referrer_is_not_found(filled: Client, said: str) -> None:
    assert filled("GET", f"/console/api/subjects/s/referrers?{said}").status == 404


@pytest.mark.parametrize("most", [1, 3, 100])
def test_usage_is_told_of_the_newest_versions_first(filled: Client, most: int) -> None:
    """As the whole of it is told; by an alias that of another subject."""
    assert filled("GET", "/console/api/subjects/v/usage").json["error_code"] == 40401
    for at in range(4):
        filled("POST", "/subjects/v/versions", {"schema": a_text(f"V{at}")}, JSON)
    filled("DELETE", "/subjects/v/versions/2")
    filled("PUT", "/config/led", {"alias": "v"}, JSON)
    whole = filled("GET", "/subjects/v/usage").json
    for name in ("v", "led"):
        told = [each for part in in_parts(filled, f"subjects/{name}/usage?", most) for each in part]
        assert told == list(reversed(whole["versions"]))
    first = filled("GET", "/console/api/subjects/led/usage").json
    assert first == {name: value for name, value in whole.items() if name != "versions"} | {"found": told}


def test_versions_say_whose_they_are(filled: Client) -> None:
    """An alias leads to another subject; where that is one itself, its name would lead on."""
    filled("POST", "/subjects/v/versions", {"schema": a_text("V")}, JSON)
    filled("PUT", "/config/w", {"alias": "v"}, JSON)
    filled("PUT", "/config/v", {"alias": "s"}, JSON)
    filled("PUT", "/config/x", {"alias": "s"}, JSON)
    answers = [filled("GET", f"/console/api/subjects/{name}/versions").json for name in ("s", "x", "w")]
    told = [(each["subject"], each["name"]) for each in answers]
    assert told == [("s", "s"), ("s", "s"), ("v", "w")]


@pytest.mark.parametrize("said", ["after=x", "version=latest", "version=99999999999"])
def test_what_is_no_number_of_a_version_is_not_found(filled: Client, said: str) -> None:
    assert filled("GET", f"/console/api/subjects/s/versions?{said}").status == 404


@pytest.mark.parametrize("most", [1, 3, 100])
@pytest.mark.parametrize("prefix", ["", ":*:", ":.a:"])
def test_what_holds_for_all_that_is_listed_comes_first_and_once(filled: Client, most: int, prefix: str) -> None:
    said = f"subjectPrefix={quote(prefix)}&"
    found = [each for part in in_parts(filled, f"settings?{said}", most) for each in part]
    assert found == filled("GET", f"/settings?{said}").json
    assert [each["subject"] for each in found[:2]] == [":.__GLOBAL:", ""]


def test_credentials_of_a_kek_are_told_by_the_kek_alone(filled: Client) -> None:
    assert "hidden" in filled("GET", "/dek-registry/v1/keks/a").text
    assert "hidden" not in filled("GET", "/console/api/keks").text


@pytest.mark.parametrize("after", ["a", "a/b/c/d", "a/b/c/d/e/f"])
def test_a_place_that_was_never_told_is_no_place(filled: Client, after: str) -> None:
    assert filled("GET", f"/console/api/associations?after={quote(after, safe='')}").status == 404


def test_a_part_has_what_a_key_may_see_of_the_list(registry: Registry, filled: Client) -> None:
    """The place after it is one of those that the key sees, too."""
    reader = asked_by(registry, principal("ada", "reader", [":.a:", ":.x y:"]))
    assert in_parts(reader, "contexts?", 1) == [["."], [".a"], [".x y"]]
    assert in_parts(reader, "associations?", 1) == in_parts(reader, "keks?", 1) == [[]]
    scopes = [each["subject"] for part in in_parts(reader, "settings?subjectPrefix=:*:&", 1) for each in part]
    assert scopes == [":.__GLOBAL:", "", ":.a:", ":.x y:"]
