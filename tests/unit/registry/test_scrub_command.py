"""`sigla scrub` as a person calls it: what it prints, what it leaves alone, what its status says."""

import json
import sys
from pathlib import Path

import pytest

from sigla.cli import main
from sigla.model import DEFAULT_CONTEXT
from tests.build import NOW, Terminal
from tests.unit.registry.scrubbing import an_orphan, in_a_directory, of_id


def test_a_healthy_registry_is_said_to_be_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with in_a_directory(tmp_path / "data"):
        pass
    assert main(["scrub", "--settle", "0", "--data", str(tmp_path / "data")]) == 0
    assert capsys.readouterr().out == "Bodies, catalog and journal agree.\n"


def test_on_a_terminal_it_tells_what_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with in_a_directory(tmp_path / "data"):
        pass
    assert main(["scrub", "--settle", "0", "--data", str(tmp_path / "data")]) == 0
    shown = terminal.getvalue().split("\r\033[K")
    assert {line.rpartition(" ")[0] for line in shown} >= {"bodies", "guids", "versions", "versions in the journal"}


def test_it_runs_beside_a_registry_that_is_open(tmp_path: Path) -> None:
    with in_a_directory(tmp_path / "data"):
        assert main(["scrub", "--settle", "0", "--data", str(tmp_path / "data")]) == 0


def test_nothing_is_changed_unless_it_is_asked_for_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Told twice, then put right, then told no more; what cannot be put right stays."""
    with in_a_directory(tmp_path / "data") as broken:
        broken.remove_pointer(of_id(4), broken.store.bodies.get(of_id(4)).guid)
        broken.remove_object(of_id(2))
    command = ["scrub", "--settle", "0", "--data", str(tmp_path / "data"), "--json"]
    expected = ["META_NO_OBJECT", "POINTER_MISSING"]
    for asked, kinds in (([], expected), (["--fix", "POINTER_MISSING"], expected), ([], expected[:1])):
        assert main([*command, *asked]) == 1
        assert [json.loads(line)["kind"] for line in capsys.readouterr().out.splitlines()] == kinds


def test_beside_a_running_registry_it_tells_what_it_may_not_put_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["scrub", "--settle", "0", "--data", str(tmp_path / "data"), "--fix", "POINTER_MISSING"]
    with in_a_directory(tmp_path / "data") as broken:
        broken.remove_pointer(of_id(4), broken.store.bodies.get(of_id(4)).guid)
        for form in ([], ["--json"]):
            assert main([*command, *form]) == 2
            printed = capsys.readouterr()
            assert "The body of id 4 in context . cannot be found by its guid." in printed.out
            assert "Fixed" not in printed.out
            assert "Another process is using the data" in printed.err


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "1e306", "soon"])
def test_a_grace_is_a_number_of_seconds(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["scrub", "--data", str(tmp_path), f"--grace={text}"])
    assert refused.value.code == 2
    assert f"invalid number of seconds {text!r}" in capsys.readouterr().err


def test_when_all_was_put_right_the_status_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with in_a_directory(tmp_path / "data") as broken:
        broken.remove_pointer(of_id(4), broken.store.bodies.get(of_id(4)).guid)
    assert main(["scrub", "--settle", "0", "--data", str(tmp_path / "data"), "--fix", "POINTER_MISSING"]) == 0
    assert "cannot be found by its guid.  Fixed." in capsys.readouterr().out


def test_what_is_harmless_is_told_and_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with in_a_directory(tmp_path / "data") as broken:
        orphan = an_orphan(broken, ts=NOW)
    assert main(["scrub", "--settle", "0", "--data", str(tmp_path / "data")]) == 0
    assert f"The body of id {orphan.id} in context {DEFAULT_CONTEXT} belongs" in capsys.readouterr().out


def test_where_there_is_no_registry_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scrub", "--data", str(tmp_path / "nothing")]) == 2
    assert "Found no registry in" in capsys.readouterr().err


def test_half_an_address_in_aws_is_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scrub", "--bucket", "b"]) == 2
    assert "--table" in capsys.readouterr().err
