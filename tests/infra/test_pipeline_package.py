"""The archive of packages for EMR Serverless: for which processors, and with which extension."""

from pathlib import Path
from typing import Any

import pytest

from sigla import __version__
from sigla.deployment import pipeline_package
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.uv import NotInstalled
from tests.infra.conftest import IDENTITY, Synthesise
from tests.infra.reading import only


@pytest.fixture
def dist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where wheels of the extension are, and none is yet."""
    monkeypatch.setattr(pipeline_package, "DIST", tmp_path)
    return tmp_path


def wheel(dist: Path, tags: str, content: bytes = b"wheel") -> Path:
    made = dist / f"sigla_registry_native-{__version__}-cp311-abi3-{tags}.whl"
    made.write_bytes(content)
    return made


@pytest.mark.parametrize("architecture, machine", [("arm64", "aarch64"), ("x86_64", "x86_64")])
def test_the_extension_is_that_of_the_processors(
    architecture: str, machine: str, dist: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed: list[tuple[str, ...]] = []

    def install(_folder: Path, *what: str, python: str, platform: str) -> None:
        assert python == "3.11"
        installed.append((*what, platform))

    monkeypatch.setattr(pipeline_package, "install", install)
    for tags in ("manylinux2014_x86_64", "manylinux2014_aarch64", "linux_x86_64"):
        wheel(dist, tags)
    pipeline_package.packages(architecture, native=True).fill(tmp_path / "filled")
    assert installed[0][0] == "--require-hashes"
    assert installed[1][1] == str(dist / f"sigla_registry_native-{__version__}-cp311-abi3-manylinux2014_{machine}.whl")
    assert {each[-1] for each in installed} == {f"{machine}-manylinux_2_28"}


def test_an_archive_is_another_one_with_the_extension_and_for_other_processors(dist: Path) -> None:
    wheel(dist, "manylinux2014_aarch64")
    one = pipeline_package.packages("arm64", native=True)
    plain = [pipeline_package.packages(each) for each in pipeline_package.PLATFORMS]
    wheel(dist, "manylinux2014_aarch64", b"another")
    assert len({each.digest for each in (one, *plain, pipeline_package.packages("arm64", native=True))}) == 4


@pytest.mark.parametrize("architecture, command", [("arm64", "build.sh --arm64"), ("x86_64", "build.sh")])
def test_an_extension_that_is_not_built_is_asked_for_in_a_sentence(architecture: str, command: str, dist: Path) -> None:
    """One for this machine alone does not count."""
    wheel(dist, "linux_x86_64")
    with pytest.raises(NotInstalled, match=f"for {architecture} is not in .*`native/{command}` builds it"):
        pipeline_package.packages(architecture, native=True)


def test_the_application_has_the_processors_that_are_chosen(synthesise: Synthesise) -> None:
    wanted: tuple[tuple[str, Any], ...] = (("pipelines.enabled", True), ("pipelines.lake_bucket", "the-lake"))
    for architecture, called in (("arm64", "ARM64"), ("x86_64", "X86_64")):
        template = synthesise(IDENTITY, *wanted, ("pipelines.architecture", architecture))
        assert only(template, "AWS::EMRServerless::Application")["Architecture"] == called
    with pytest.raises(InvalidSetting) as refused:
        Settings.read({"pipelines.architecture": "sparc"})
    assert str(refused.value) == "pipelines.architecture is 'sparc'; it must be arm64 or x86_64."
