"""What is published: the same bytes from the same commit, and a list of all that is in it."""

import hashlib
import json
import re
import zipfile
from pathlib import Path

import pytest

from infra import release
from infra.release_checks import NotReleased
from sigla import __version__
from sigla.deployment import packages

EPOCH = 1_760_000_000


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two releases of one commit; without layers, which would have to be fetched, and templates (test_templates.py)."""
    folders = [tmp_path_factory.mktemp("release") / "files" for _ in range(2)]
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("SOURCE_DATE_EPOCH", str(EPOCH))
        for folder in folders:
            environ.setattr(packages, "BUILD", folder.parent)  # else the second would get what the first has compiled
            release.release(folder, preview=True, layers=False, templates=False)
    return folders


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_commit_makes_the_same_bytes(released: list[Path]) -> None:
    """Whoever distrusts what we publish builds it and compares."""
    first, second = map(contents, released)
    assert {name: hashlib.sha256(body).hexdigest() for name, body in first.items()} == {
        name: hashlib.sha256(body).hexdigest() for name, body in second.items()
    }


def test_a_release_has_a_checksum_of_each_file(released: list[Path]) -> None:
    found = contents(released[0])
    sums = dict(line.split("  ")[::-1] for line in found.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(body).hexdigest() for name, body in found.items()}
    assert {Path(name).suffix for name in sums} == {".whl", ".gz", ".zip", ".json", ".md"}


def test_functions_are_released_as_lambda_takes_them(released: list[Path]) -> None:
    with zipfile.ZipFile(released[0] / f"registry-{__version__}.zip") as archive:
        names = archive.namelist()
    assert {"handler.py", "sigla/wiring.py"} <= set(names)
    assert names == sorted(names)


@pytest.mark.parametrize("what, lock", release.BILLS.items())
def test_a_bill_of_materials_names_every_locked_package(released: list[Path], what: str, lock: str) -> None:
    """Tools of security compare it with the advisories of each day."""
    bill = json.loads((released[0] / f"{what}-{__version__}.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["timestamp"].startswith("2025-10-09T")
    named = {part["purl"] for part in bill["components"]}
    wanted = re.findall(r"^([a-z0-9-]+)==(\S+)", (release.LOCKS / lock).read_text(), re.MULTILINE)
    assert wanted
    assert {f"pkg:pypi/{name}@{version}" for name, version in wanted} == {n for n in named if n.startswith("pkg:pypi/")}
    vendored = {name.split("@")[0] for name in named if name.startswith("pkg:npm/")}
    assert vendored == ({"pkg:npm/swagger-ui-dist", "pkg:npm/htm"} if what == "sigla_registry" else set())


def test_a_version_that_the_changelog_does_not_know_is_not_released(tmp_path: Path) -> None:
    with pytest.raises(NotReleased, match=r"CHANGELOG.md has no section \[9\.9\.9\]: "):
        release.notes_of("9.9.9")


def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(NotReleased, match="is not empty"):
        release.release(tmp_path, preview=True)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
