"""What others run `sigla check` by: an action of GitHub and a hook of pre-commit, in a repository of schemas."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.protocol.clients.server import SIGLA, serving

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
ACTION: Mapping[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
BROKEN = {**ORDER, "fields": [*ORDER["fields"], {"name": "note", "type": "string"}]}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two schemas that are committed."""
    (tmp_path / "sigla.yaml").write_text('schemas:\n  - {files: "*.avsc", subject: "{stem}-value"}\n')
    (tmp_path / "orders.avsc").write_text(json.dumps(ORDER))
    (tmp_path / "more orders.avsc").write_text(json.dumps(ORDER))
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "schemas"]):
        identity = ["-c", "user.name=a team", "-c", "user.email=team@example.com"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True)
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("SIGLA_")}
    return {**own, "PATH": f"{SIGLA.parent}:{own['PATH']}", **more}


def acted(repository: Path, **inputs: str) -> "subprocess.CompletedProcess[str]":
    """The step that checks, as a runner runs it: bash that ends at the first failure, of a pipe as well."""
    assert set(inputs) <= set(ACTION["inputs"])
    given = {name: inputs.get(name, said["default"]) for name, said in ACTION["inputs"].items()}
    _, check = ACTION["runs"]["steps"]

    def said(value: str) -> str:
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: given[found[1]], value)

    said_to = {name: said(value) for name, value in check["env"].items()}
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", check["run"]]
    return subprocess.run(bash, cwd=repository, env=environment(**said_to), capture_output=True, text=True, check=False)


def test_the_action_takes_what_is_accepted_and_annotates_what_is_not(repository: Path) -> None:
    with serving() as server:
        fine = acted(repository, registry=server.url)
        assert (fine.returncode, fine.stderr) == (0, "")
        assert "2 files" in fine.stdout
        for name in ("orders", "more orders"):
            body = {"schema": json.dumps(ORDER)}
            assert server.ask("POST", f"/subjects/{name.replace(' ', '%20')}-value/versions", body).status == 200
        (repository / "more orders.avsc").write_text(json.dumps(BROKEN))
        refused = acted(repository, registry=server.url, output="report.txt")
        assert refused.returncode == 1
        assert "::error file=more orders.avsc,line=1" in refused.stdout
        assert (repository / "report.txt").read_text() == refused.stdout
        one = acted(repository, registry=server.url, paths="orders.avsc\n")
        assert one.returncode == 0
        assert "1 file" in one.stdout


def test_the_action_compares_with_a_revision_where_there_is_no_registry(repository: Path) -> None:
    (repository / "orders.avsc").write_text(json.dumps(BROKEN))
    refused = acted(repository, against="HEAD", format="junit")
    assert refused.returncode == 1
    assert refused.stdout.startswith("<?xml")
    nothing = acted(repository)
    assert nothing.returncode == 2
    assert "Traceback" not in nothing.stderr


def test_the_hook_runs_the_command_with_the_arguments_of_a_repository(repository: Path) -> None:
    def hooked(*arguments: str) -> int:
        words = [*shlex.split(HOOK["entry"]), *arguments]
        return subprocess.run(words, cwd=repository, env=environment(), capture_output=True, check=False).returncode

    assert HOOK["language"] == "python"
    assert not HOOK["pass_filenames"]
    assert hooked("--against", "HEAD") == 0
    (repository / "orders.avsc").write_text(json.dumps(BROKEN))
    assert hooked("--against", "HEAD") == 1
    matches = re.compile(HOOK["files"]).search
    assert all(map(matches, ("a/orders.avsc", "b.proto", "c.json", "sigla.yaml")))
    assert not matches("README.md")
