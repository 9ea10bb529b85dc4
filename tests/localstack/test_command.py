"""What `make localstack` refuses before anything is begun, and how it tells what may change in place."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from localstack import up
from localstack.assembly import Assembly, NotDeployed, _stays, outline
from localstack.installation import find_python
from localstack.server import Server
from tests.localstack.conftest import command


def test_an_endpoint_where_nobody_is_is_told(
    port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence instead of a traceback."""
    monkeypatch.setattr(up, "synthesise", lambda *_: Assembly(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda _: "node")
    monkeypatch.setattr(sys, "argv", ["localstack.up"])
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert up.main() == 1
    assert "Could not connect" in capsys.readouterr().err


def a_template(code: str, memory: int = 512) -> dict[str, Any]:
    function = {"Type": "AWS::Lambda::Function", "Properties": {"Code": {"S3Key": code}, "MemorySize": memory}}
    version = {"Type": "AWS::Lambda::Version", "Properties": {"FunctionName": {"Ref": "Function"}}}
    alias = {"Type": "AWS::Lambda::Alias", "Properties": {"FunctionVersion": {"Ref": f"Version{code}"}}}
    return {"Resources": {"Function": function, f"Version{code}": version, "Live": alias}}


def test_a_stack_is_the_same_whatever_the_code_of_its_functions() -> None:
    """Versions are named by their code, and those who refer to them with them."""
    assert outline(a_template("1")) == outline(a_template("2"))
    assert outline(a_template("1")) != outline(a_template("1", memory=1024))


def test_what_a_stack_has_besides_can_come_and_go_and_nothing_else() -> None:
    """A zone is added or removed; one whose code has changed as well is more than LocalStack can do at once."""
    without, with_it = a_template("1"), a_template("1")
    with_it["Resources"]["Subnet"] = {"Type": "AWS::EC2::Subnet"}
    assert _stays(without, with_it)
    assert _stays(with_it, without)
    assert not _stays(a_template("2"), with_it)


def test_zones_are_told_by_their_ids() -> None:
    """Outputs of a template have no hyphens in their names."""
    outputs = {"RestUrl": "rest", "ZoneUrlUse1Az1": "http://one/", "ZoneUrlApne1Az12": "http://twelve/"}
    assert up.zones_of(outputs) == {"use1-az1": "http://one", "apne1-az12": "http://twelve"}


def test_zones_without_a_cache_server_are_refused_before_anything_starts(port: int, tmp_path: Path) -> None:
    """A sentence that says what else could be had."""
    (tmp_path / "node").symlink_to("/bin/true")
    done = command("localstack.up", "--port", str(port), "--zones", "1", PATH=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr == (
        "Zones need a cache server, but valkey-server or redis-server is not on the PATH: "
        "install one, or set -c ring.kind=none\n"
    )
    up.need_caches(up.read(["zones=use1-az1", "ring.kind=none"]))


@pytest.mark.parametrize(
    "setting, sentence",
    [
        ("zones=us-east-1a", "zones is 'us-east-1a'; "),
        ("pipelines.enabled=true", "pipelines.enabled needs EMR Serverless, "),
    ],
)
def test_a_setting_that_cannot_be_is_refused_in_its_own_words(tmp_path: Path, setting: str, sentence: str) -> None:
    """Those that `cdk deploy` would have said, before anything is begun."""
    (tmp_path / "node").symlink_to("/bin/true")
    done = command("localstack.up", "--port", "1", "-c", setting, PATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith(sentence)
    assert len(done.stderr.splitlines()) == 1
    assert not Server.on(1).folder.exists()


def test_without_node_it_says_so_and_starts_nothing(port: int, tmp_path: Path) -> None:
    """A sentence and 2, before anything is begun."""
    done = command("localstack.up", "--port", str(port), PATH=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr == "CDK needs Node.js 20 or newer, but node is not on the PATH: install it\n"


def test_without_python_3_13_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The same for what LocalStack needs."""

    def start(*_: object) -> None:
        find_python([])

    monkeypatch.setattr(up, "start", start)
    monkeypatch.setattr(shutil, "which", lambda _: "node")
    monkeypatch.setattr(sys, "argv", ["localstack.up"])
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    assert up.main() == 2
    assert "needs Python 3.13" in capsys.readouterr().err


def test_a_broken_stack_tells_what_cdk_said(tmp_path: Path) -> None:
    """Whoever works on infra/ reads it there."""
    with pytest.raises(NotDeployed, match="No module named"):
        up.synthesise(tmp_path / "out", {**os.environ, "PYTHONPATH": "", "PYTHONSAFEPATH": "1"})


def test_down_says_so_where_there_is_nothing() -> None:
    """A second time does no harm."""
    done = command("localstack.down", "--port", "1")
    assert (done.returncode, done.stdout) == (0, "Found no LocalStack started by make localstack on port 1.\n")
