"""A version is released once: what its tag must name is looked for before, and told in sentences."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from infra.release_checks import NATIVE, NotReleased, check_release, sections_of

VERSION, EXTENSION = "1.2.0", "sigla_registry_native"
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-24\n\n- New.\n\n## [1.1.0]\n\n- Old.\n"

pytestmark = pytest.mark.process


def git(clone: Path, *words: str) -> None:
    ours = ["-c", "user.name=Sigla", "-c", "user.email=sigla@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *ours, *words], cwd=clone, check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """One that can be released."""
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "tests" / "kept" / VERSION).mkdir(parents=True)
    (tmp_path / "tests" / "kept" / VERSION / "export.jsonl").touch()
    (tmp_path / ".gitignore").write_text("dist/\n")
    (tmp_path / "dist").mkdir()
    for processor in NATIVE:
        (tmp_path / "dist" / f"{EXTENSION}-{VERSION}-cp311-abi3-manylinux_2_17_{processor}.whl").touch()
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "All is there.")
    return tmp_path


def changelog(old: str, new: str) -> Callable[[Path], None]:
    def change(clone: Path) -> None:
        (clone / "CHANGELOG.md").write_text(CHANGELOG.replace(old, new))
        git(clone, "commit", "--quiet", "--all", "--message", "Another changelog.")

    return change


def without_its_store(clone: Path) -> None:
    git(clone, "rm", "--quiet", "-r", f"tests/kept/{VERSION}")
    git(clone, "commit", "--quiet", "--message", "Without its store.")


def with_a_change(clone: Path) -> None:
    (clone / "new.py").touch()


def without_a_wheel_for_arm(clone: Path) -> None:
    """What is for any machine, for this one alone, or of another version, does not count."""
    (wheel,) = (clone / "dist").glob("*aarch64.whl")
    wheel.unlink()
    for rest in (
        f"{VERSION}-py3-none-any",
        f"{VERSION}-cp311-abi3-linux_aarch64",
        "1.1.0-cp311-abi3-manylinux_aarch64",
    ):
        (clone / "dist" / f"{EXTENSION}-{rest}.whl").touch()


def tagged_before(clone: Path) -> None:
    git(clone, "tag", f"v{VERSION}")
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "One more.")


def of_no_clone(clone: Path) -> None:
    (clone / ".git").rename(clone / "git")


LACKING: dict[str, tuple[Callable[[Path], None], str]] = {
    "changes that no version has": (changelog("## [1.2.0]", "- Newer.\n\n## [1.2.0]"), "[Unreleased] of CHANGELOG.md"),
    "a changelog of another version": (changelog("1.2.0", "1.3.0"), "CHANGELOG.md has [1.3.0] on top"),
    "no store for later releases": (without_its_store, "python -m tests.kept.stores writes it"),
    "a wheel of the extension": (
        without_a_wheel_for_arm,
        "for aarch64 is not in dist/: native/build.sh --arm64 builds",
    ),
    "something that is not committed": (with_a_change, "?? new.py"),
    "its tag elsewhere": (tagged_before, "v1.2.0 is the tag of another commit"),
    "no history": (of_no_clone, "is not a clone"),
}


def test_a_clone_that_has_everything_is_released_before_and_after_its_tag(clone: Path) -> None:
    """Who doubts a release builds it again from the tag."""
    check_release(clone, VERSION)
    git(clone, "tag", f"v{VERSION}")
    check_release(clone, VERSION)


@pytest.mark.parametrize("spoil, sentence", LACKING.values(), ids=LACKING)
def test_what_is_lacking_is_told_before_anything_is_tagged(
    clone: Path, spoil: Callable[[Path], None], sentence: str
) -> None:
    spoil(clone)
    with pytest.raises(NotReleased) as told:
        check_release(clone, VERSION)
    assert sentence in str(told.value)


def test_all_that_is_lacking_is_told_at_once(clone: Path) -> None:
    without_its_store(clone)
    with_a_change(clone)
    with pytest.raises(NotReleased) as told:
        check_release(clone, VERSION)
    assert len(str(told.value).splitlines()) == 3


def test_the_notes_of_a_version_are_its_section() -> None:
    assert sections_of(CHANGELOG) == {"Unreleased": "", "1.2.0": "- New.", "1.1.0": "- Old."}
