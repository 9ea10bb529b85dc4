"""Exporters as Terraform and the vendor's command line tool manage them, over HTTP between two registries."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.clients.server import Server, run, serving
from tests.waiting import eventually

pytestmark = pytest.mark.process

SCHEMA = {"schema": '{"type":"record","name":"Order","fields":[]}'}
HIDDEN = "[hidden]"


class Tool:
    """Asks with what such tools send: JSON of the API's own media type, and numbers of refusals read from the body."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._server.ask(method, path, body)
        assert answer.status < 300, (method, path, answer.body)
        return answer.json if answer.body else None

    def forgiving(self, method: str, path: str) -> None:
        """A 409 of a resume is forgiven."""
        assert self._server.ask(method, path).status in (200, 409)


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """The destination, which asks for a key, and that key."""
    data = tmp_path_factory.mktemp("there")
    made = json.loads(run("keys", "create", "exporter", "--role", "admin", "--data", str(data), "--json").stdout)
    with serving(data, "--auth") as server:
        yield server, f"exporter:{made['secret']}"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("here")) as server:
        yield server


def config(there: tuple[Server, str]) -> dict[str, str]:
    return {
        "schema.registry.url": there[0].url,
        "basic.auth.credentials.source": "USER_INFO",
        "basic.auth.user.info": there[1],
    }


def subjects(there: tuple[Server, str]) -> list[str]:
    basic = base64.b64encode(there[1].encode()).decode()
    found: list[str] = there[0].ask("GET", "/subjects", None, {"authorization": f"Basic {basic}"}).json
    return found


def test_terraform_creates_changes_and_destroys_an_exporter(there: tuple[Server, str], here: Server) -> None:
    """Its provider waits for RUNNING, fails where a trace is not empty, and compares what it reads with its state."""
    ask = Tool(here)
    ask("POST", "/subjects/orders/versions", SCHEMA)
    wanted = {"name": "tf", "subjects": ["orders"], "contextType": "CUSTOM", "context": "copy", "config": config(there)}
    assert ask("POST", "/exporters", wanted) == {"name": "tf"}
    eventually(lambda: ask("GET", "/exporters/tf/status")["state"] == "RUNNING")
    eventually(lambda: ":.copy:orders" in subjects(there))

    read = ask("GET", "/exporters/tf"), ask("GET", "/exporters/tf/config"), ask("GET", "/exporters/tf/status")
    assert (read[0]["subjects"], read[0]["contextType"], read[0]["context"]) == (["orders"], "CUSTOM", ".copy")
    assert read[1] == {**config(there), "basic.auth.user.info": HIDDEN}
    assert read[2]["trace"] == ""

    ask("PUT", "/exporters/tf/pause")
    changed = {
        "subjects": ["orders"],
        "contextType": "CUSTOM",
        "context": ".copy",
        "subjectRenameFormat": "my-${subject}",
    }
    assert ask("PUT", "/exporters/tf", {**changed, "config": {**config(there), "basic.auth.user.info": HIDDEN}})
    ask("PUT", "/exporters/tf/reset")
    ask.forgiving("PUT", "/exporters/tf/resume")
    assert ask("GET", "/exporters/tf/status")["trace"] == ""
    eventually(lambda: ":.copy:my-orders" in subjects(there))

    ask("PUT", "/exporters/tf/pause")
    assert ask("DELETE", "/exporters/tf") is None
    assert "tf" not in ask("GET", "/exporters")
    assert here.ask("GET", "/exporters/tf").json["error_code"] == 40450


def test_the_command_line_tool_finds_each_of_its_calls(there: tuple[Server, str], here: Server) -> None:
    """Create, list, describe, get-config, get-status, pause, update, reset, resume, delete: one request each."""
    ask = Tool(here)
    created = {
        "name": "cli",
        "subjects": ["nothing-*"],
        "subjectRenameFormat": "${subject}",
        "contextType": "NONE",
        "context": "",
        "config": config(there),
    }
    assert ask("POST", "/exporters", created) == {"name": "cli"}
    assert ask("GET", "/exporters") == ["cli"]
    assert ask("GET", "/exporters/cli")["subjectRenameFormat"] == "${subject}"
    assert ask("GET", "/exporters/cli/config")["basic.auth.user.info"] == HIDDEN
    assert set(ask("GET", "/exporters/cli/status")) == {"name", "state", "offset", "ts", "trace"}
    for method, path, body in (
        ("PUT", "/pause", None),
        ("PUT", "", {"subjects": ["nothing-more-*"]}),
        ("PUT", "/config", config(there)),
        ("PUT", "/reset", None),
        ("PUT", "/resume", None),
        ("PUT", "/pause", None),
    ):
        assert ask(method, f"/exporters/cli{path}", body) == {"name": "cli"}
    assert ask("GET", "/exporters/cli")["subjects"] == ["nothing-more-*"]
    assert ask("DELETE", "/exporters/cli") is None


def test_no_file_but_its_own_and_no_line_of_the_log_has_the_credentials(tmp_path: Path) -> None:
    """A copy of the data, or a log that is sent elsewhere, must not open another registry."""
    secret = "a-secret-that-is-told-to-nobody-else"
    with serving(tmp_path / "data") as here:
        ask = Tool(here)
        sent = {"schema.registry.url": "http://127.0.0.1:9", "basic.auth.user.info": f"orders:{secret}"}
        ask("POST", "/exporters", {"name": "e", "config": sent})
        eventually(lambda: ask("GET", "/exporters/e/status")["trace"] != "")
        told = [ask("GET", f"/exporters/e{path}") for path in ("", "/config", "/status")]
        assert here.ask("PUT", "/exporters/e/config", {**sent, "schema.registry.url": "ftp://x"}).status == 409
    assert secret not in repr(told) + here.output
    holding = [
        path for path in (tmp_path / "data").rglob("*") if path.is_file() and secret.encode() in path.read_bytes()
    ]
    assert [path.parent.name for path in holding] == ["secrets"]
    assert holding[0].stat().st_mode & 0o077 == 0
