"""Exporters over HTTP: what is accepted, what is refused with a number, and that nothing tells what is secret."""

from collections.abc import Mapping
from typing import Any

import pytest

from sigla.exporters.checks import MOST_EXPORTERS
from sigla.exporters.nouns import Credentials, ExporterProgress, ExporterState, Position
from sigla.ports.secrets import SecretName
from sigla.registry import Registry
from tests.unit.web.conftest import Client

X = "/exporters"
URL, SOURCE, INFO = "schema.registry.url", "basic.auth.credentials.source", "basic.auth.user.info"
THERE = {URL: "https://there:8081"}
WITH_KEY = {**THERE, SOURCE: "USER_INFO", INFO: "orders:secret"}
SHOWN = {**WITH_KEY, INFO: "[hidden]"}
AN_EXPORTER = {"name": "e", "config": THERE}
NOT_PAUSED = (409, 40963, "Exporter 'e' is not paused")


def kept(registry: Registry) -> Mapping[str, str] | None:
    """The credentials of the exporter `e`."""
    exporter = registry.catalog.exporter("e")
    assert exporter is not None
    found = registry.secrets.get(SecretName("e", exporter.credentials))
    return None if found is None else found.settings


def walk(registry: Registry, **more: Any) -> None:
    """As a follower of the journal does."""
    exporter = registry.catalog.exporter("e")
    assert exporter is not None
    registry.catalog.advance(exporter, ExporterProgress(ExporterState.RUNNING, Position(7), **more))


@pytest.fixture
def paused(client: Client) -> Client:
    """With an exporter that has credentials, and is paused."""
    assert client("POST", X, {**AN_EXPORTER, "config": WITH_KEY}).status == 200
    assert client("PUT", f"{X}/e/pause").json == {"name": "e"}
    return client


def test_an_exporter_is_answered_with_what_it_has_and_what_was_left_out(client: Client) -> None:
    """EXP-1: a tool compares what it reads with what it wants."""
    assert client("POST", X, AN_EXPORTER).json == {"name": "e"}
    assert client("GET", X).json == ["e"]
    told = {
        "name": "e",
        "subjects": ["*"],
        "contextType": "AUTO",
        "context": "",
        "subjectRenameFormat": "",
        "kekRenameFormat": "",
        "config": THERE,
    }
    assert client("GET", f"{X}/e").json == told
    assert list(client("GET", f"{X}/e").json) == list(told)
    whole = {
        "name": "f",
        "subjects": ["orders", ":.c:*"],
        "contextType": "CUSTOM",
        "context": "there",
        "subjectRenameFormat": "a-${subject}",
        "kekRenameFormat": "a-${kek}",
        "config": THERE,
        "more": "passed by",
    }
    assert client("POST", X, whole).json == {"name": "f"}
    del whole["more"]
    assert client("GET", f"{X}/f").json == {**whole, "context": ".there"}
    assert client("GET", f"{X}/f/config").json == THERE
    assert client("GET", f"{X}/f/config/clusterlink").json == {}


def test_a_new_exporter_runs_and_its_status_says_how_far_it_is(client: Client, registry: Registry) -> None:
    """EXP-2, EXP-3: a tool waits until it is RUNNING, and fails with its trace."""
    client("POST", X, AN_EXPORTER)
    told = client("GET", f"{X}/e/status").json
    assert (told.pop("ts") > 0, told) == (True, {"name": "e", "state": "STARTING", "offset": 0, "trace": ""})
    walk(registry, ts=5, trace="no answer")
    assert client("GET", f"{X}/e/status").json == {
        "name": "e", "state": "RUNNING", "offset": 7, "ts": 5, "trace": "no answer",
    }  # fmt: skip


def test_what_changes_an_exporter_wants_it_paused(client: Client, registry: Registry) -> None:
    """EXP-3: nothing is under way while it changes."""
    client("POST", X, AN_EXPORTER)
    walk(registry)
    asked: tuple[tuple[str, str, Any], ...] = (
        ("PUT", "", {}),
        ("PUT", "/config", THERE),
        ("PUT", "/reset", None),
        ("DELETE", "", None),
    )
    for method, path, body in asked:
        assert client(method, f"{X}/e{path}", body).refusal == NOT_PAUSED
    for _ in range(2):
        assert client("PUT", f"{X}/e/pause").json == {"name": "e"}
        assert client("GET", f"{X}/e/status").json["state"] == "PAUSED"
    assert client("GET", f"{X}/e/status").json["offset"] == 7
    for method, path, body in asked[:3]:
        assert client(method, f"{X}/e{path}", body).json == {"name": "e"}
        assert client("GET", f"{X}/e/status").json["state"] == "PAUSED"
    assert client("GET", f"{X}/e/status").json["offset"] == 0
    for _ in range(2):
        assert client("PUT", f"{X}/e/resume").json == {"name": "e"}
        assert client("GET", f"{X}/e/status").json["state"] == "STARTING"
    client("PUT", f"{X}/e/pause")
    assert client("DELETE", f"{X}/e").status == 204
    assert client("GET", X).json == []


def test_an_exporter_that_is_not_there_is_not_found_on_any_path(client: Client) -> None:
    """EXP-4: 40450, whatever is asked of it."""
    for method, path, body in (
        *(("GET", path, None) for path in ("", "/config", "/config/clusterlink", "/status")),
        *(("PUT", path, None) for path in ("/pause", "/resume", "/reset")),
        *(("PUT", "", {}), ("PUT", "/config", THERE), ("DELETE", "", None)),
    ):
        assert client(method, f"{X}/e{path}", body).refusal == (404, 40450, "Exporter 'e' not found")


def test_a_name_is_given_once(client: Client) -> None:
    """EXP-4: 40960; what stands stays."""
    client("POST", X, AN_EXPORTER)
    refused = client("POST", X, {**AN_EXPORTER, "subjects": ["other"]})
    assert refused.refusal == (409, 40960, "Exporter 'e' already exists")
    assert client("GET", f"{X}/e").json["subjects"] == ["*"]


def test_there_are_so_many_exporters_and_no_more(client: Client) -> None:
    """EXP-4: each of them follows the whole journal."""
    for number in range(MOST_EXPORTERS):
        client("POST", X, {**AN_EXPORTER, "name": f"e{number}"})
    refused = client("POST", X, AN_EXPORTER)
    assert refused.refusal == (409, 40964, f"Too many exporters: the limit is {MOST_EXPORTERS}")


@pytest.mark.parametrize(
    "sent, number",
    [
        (b"", 422),
        (b"null", 422),
        (b"{", 400),
        ([], 400),
        ("e", 400),
        ({}, 40950),
        ({"name": ""}, 40950),
        *(({"name": name}, 40950) for name in ("a/b", "..", "a b", "é", "x" * 129, "[hidden]")),
        ({"name": {}}, 400),
        ({"config": None}, 40951),
        ({"config": {}}, 40951),
        ({"config": []}, 400),
        ({"config": {URL: None}}, 400),
        ({"config": {URL: {}}}, 400),
        *(
            ({"config": {URL: url}}, 40951)
            for url in (
                "",
                "there:8081",
                "ftp://there",
                "file:///etc/passwd",
                "gopher://there",
                "javascript:alert(1)",
                "http://",
                "http://:80",
                "http://there:port",
                "http://there:0",
                "http://there:99999",
                "http://[::1",
                "http://user:secret@there",
                "http://there,http://elsewhere",
                "http://there?a=b",
                "http://there#a",
                "http://there/ a",
                "http://thére",
                "http://there\\@elsewhere",
                "http://there\r\nhost: x",
                "http://" + "x" * 2**20,
            )
        ),
        ({"config": {**THERE, SOURCE: "SASL_INHERIT"}}, 40951),
        ({"config": {**THERE, INFO: "a:b", "bearer.auth.token": "t"}}, 40951),
        ({"config": {**THERE, "bearer.auth.token": "é"}}, 40951),
        ({"config": SHOWN}, 40951),
        ({"config": {**THERE, "": "x"}}, 40951),
        ({"config": {**THERE, "a\n": "x"}}, 40951),
        ({"config": {**THERE, "a": "x\n"}}, 40951),
        ({"config": {**THERE, "a": "x" * 4_096}}, 40951),
        ({"subjects": []}, 40952),
        ({"subjects": [""]}, 40952),
        ({"subjects": ["a\n"]}, 40952),
        ({"subjects": [None]}, 400),
        ({"subjects": "a"}, 400),
        ({"subjects": ["a"] * 1_001}, 40952),
        ({"subjects": ["a" * 2**17]}, 40952),
        ({"contextType": "custom"}, 400),
        ({"contextType": "CUSTOM"}, 40951),
        *(
            ({"contextType": "CUSTOM", "context": one}, 40951)
            for one in ("", ":", ".a:b", "a\n", ".__GLOBAL", "x" * 800)
        ),
        *(({"subjectRenameFormat": one}, 40952) for one in ("there", "__GLOBAL", ":.c:${subject}", ":*:${subject}")),
        *(({"subjectRenameFormat": one}, 40951) for one in ("a\n${subject}", "${subject}" + "x" * 800)),
        *(({"kekRenameFormat": one}, 40951) for one in ("there", "1${kek}", "a ${kek}", "${kek}" + "x" * 800)),
    ],
)
def test_an_exporter_that_cannot_be_followed_is_refused_with_a_number(client: Client, sent: Any, number: int) -> None:
    """EXP-4; nothing that a client sends is answered with a 5xx."""
    offered = {**AN_EXPORTER, **sent} if isinstance(sent, dict) and sent else sent
    assert client("POST", X, offered).json["error_code"] == number
    assert client("GET", X).json == []


@pytest.mark.parametrize(
    "sent, number",
    [
        (b"", 422),
        (b"null", 422),
        (b"{", 400),
        ([], 400),
        ({}, 40951),
        ({URL: None}, 400),
        ({URL: "ftp://there"}, 40951),
    ],
)
def test_a_config_that_cannot_be_used_is_refused_and_the_old_one_stays(paused: Client, sent: Any, number: int) -> None:
    """The same of an update."""
    assert paused("PUT", f"{X}/e/config", sent).json["error_code"] == number
    assert paused("GET", f"{X}/e/config").json == SHOWN


def test_an_update_keeps_what_it_does_not_name(paused: Client, registry: Registry) -> None:
    """EXP-1: the name is that of the path, and a config is replaced as a whole."""
    before = paused("GET", f"{X}/e").json
    patches: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
        ({}, {}),
        ({"name": "other", "subjects": None, "config": None}, {}),
        ({"subjects": ["a*"]}, {"subjects": ["a*"]}),
        ({"contextType": "CUSTOM", "context": ".c"}, {"contextType": "CUSTOM", "context": ".c"}),
        ({"subjectRenameFormat": "a-${subject}"}, {"subjectRenameFormat": "a-${subject}"}),
        ({"contextType": "NONE"}, {"contextType": "NONE", "context": ""}),
        ({"subjectRenameFormat": ""}, {"subjectRenameFormat": ""}),
    )  # fmt: skip
    for sent, changed in patches:
        assert paused("PUT", f"{X}/e", sent).json == {"name": "e"}
        before |= changed
        assert paused("GET", f"{X}/e").json == before
        assert kept(registry) == {INFO: "orders:secret"}
    paused("PUT", f"{X}/e", {"config": THERE})
    assert paused("GET", f"{X}/e/config").json == THERE


# --- what is secret --------------------------------------------------------------------------------------------------


def test_credentials_are_in_no_answer_and_no_row(paused: Client, registry: Registry) -> None:
    """Whoever may read the registry must not enter another one."""
    assert paused("GET", f"{X}/e/config").json == SHOWN
    assert paused("GET", f"{X}/e").json["config"] == SHOWN
    exporter = registry.catalog.exporter("e")
    assert exporter is not None
    assert exporter.config == {name: WITH_KEY[name] for name in (URL, SOURCE)}
    assert "secret" not in f"{exporter!r} {Credentials(WITH_KEY)!r}"
    assert kept(registry) == {INFO: "orders:secret"}


def test_a_mask_that_is_sent_back_keeps_what_is_stored(paused: Client, registry: Registry) -> None:
    """A tool reads a config, changes a setting and writes all of it back."""
    for sent in (SHOWN, {**SHOWN, "ssl.password": "p"}, {**SHOWN, "ssl.password": "[hidden]", "more": "[hidden]"}):
        assert paused("PUT", f"{X}/e/config", sent).status == 200
    assert kept(registry) == {INFO: "orders:secret", "ssl.password": "p"}
    assert paused("GET", f"{X}/e/config").json == {**SHOWN, "ssl.password": "[hidden]"}
    paused("PUT", f"{X}/e/config", {**SHOWN, INFO: "orders:new"})
    assert kept(registry) == {INFO: "orders:new"}


@pytest.mark.parametrize(
    "url", ["https://elsewhere:8081", "http://there:8081", "https://there:8082", "https://there:8081/x"]
)
@pytest.mark.parametrize("config_alone", [True, False])
def test_stored_credentials_are_never_sent_to_another_address(
    paused: Client, registry: Registry, url: str, config_alone: bool
) -> None:
    """Whoever may write exporters must not have the credentials of others sent to any server."""
    moved = {**SHOWN, URL: url}
    if config_alone:
        assert paused("PUT", f"{X}/e/config", moved).status == 200
    else:
        assert paused("PUT", f"{X}/e", {"config": moved}).status == 200
    assert paused("GET", f"{X}/e/config").json == {URL: url, SOURCE: "USER_INFO"}
    assert kept(registry) is None
    paused("PUT", f"{X}/e/config", SHOWN)
    assert kept(registry) is None, "they are gone for good"


def test_a_change_and_a_delete_leave_no_credentials_behind(paused: Client, registry: Registry) -> None:
    """What nothing names any more would never be deleted."""
    marks = []
    for config in ({**SHOWN, INFO: "orders:new"}, THERE):
        exporter = registry.catalog.exporter("e")
        assert exporter is not None
        marks.append(exporter.credentials)
        paused("PUT", f"{X}/e/config", config)
    paused("PUT", f"{X}/e/config", WITH_KEY)
    exporter = registry.catalog.exporter("e")
    assert exporter is not None
    assert paused("DELETE", f"{X}/e").status == 204
    assert [registry.secrets.get(SecretName("e", mark)) for mark in (*marks, exporter.credentials)] == [None] * 3
