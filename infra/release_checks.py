"""What must be true of a clone before a version is released: a tag that others have fetched cannot be moved."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

UNRELEASED: Final = "Unreleased"
KEPT: Final = Path("tests") / "kept"
"""A folder for each release with what it stored, which later releases are held to."""
NATIVE: Final = {"x86_64": "", "aarch64": " --arm64"}
"""Processors that a release has wheels of the extension for, and how native/build.sh is asked for them."""


class NotReleased(Exception):
    """What a release lacks; the message says what to do."""


def sections_of(changelog: str) -> dict[str, str]:
    """What the changelog says of each version, the newest first."""
    sections = re.split(r"^## \[(.+?)\].*\n", changelog, flags=re.MULTILINE)
    return {name: notes.strip() for name, notes in zip(sections[1::2], sections[2::2], strict=True)}


def check_release(clone: Path, version: str) -> None:
    """Raises NotReleased with all that is still to be done before the version is tagged."""
    lacking = [sentence for look in LOOKS for sentence in look(clone, version)]
    if lacking:
        raise NotReleased("\n".join(lacking))


def tag_of(version: str) -> str:
    return f"v{version}"


def _changelog(clone: Path, version: str) -> Iterator[str]:
    sections = sections_of((clone / "CHANGELOG.md").read_text(encoding="utf-8"))
    if sections.get(UNRELEASED):
        yield f"[{UNRELEASED}] of CHANGELOG.md is not empty: what it tells of is released, so move it to [{version}]."
    newest = next((name for name in sections if name != UNRELEASED), "")
    if newest and newest != version:
        yield f"CHANGELOG.md has [{newest}] on top, and sigla/__init__.py says {version}: change one of them."


def _kept_store(clone: Path, version: str) -> Iterator[str]:
    if not (clone / KEPT / version).is_dir():
        yield f"{KEPT / version} is missing, which later releases are held to: python -m tests.kept.stores writes it."


def _everything_is_committed(clone: Path, _: str) -> Iterator[str]:
    changed = _git(clone, "status", "--porcelain")
    if changed is None:
        yield f"{clone} is not a clone: git says what a release consists of."
    elif changed:
        yield "These files are not as they were committed, and the tag would not have them:\n" + changed


def _native_wheels(clone: Path, version: str) -> Iterator[str]:
    built = "".join(path.name for path in native_wheels(clone, version))
    for processor, option in NATIVE.items():
        if f"_{processor}.whl" not in built:
            yield f"The extension's wheel for {processor} is not in dist/: native/build.sh{option} builds it."


def native_wheels(clone: Path, version: str) -> list[Path]:
    """Those of the extension that fit more than the machine that built them."""
    return sorted((clone / "dist").glob(f"sigla_registry_native-{version}-*manylinux*.whl"))


def _tag(clone: Path, version: str) -> Iterator[str]:
    tagged = _git(clone, "rev-parse", "--verify", "--quiet", f"{tag_of(version)}^{{commit}}")
    if tagged and tagged != _git(clone, "rev-parse", "HEAD"):
        yield f"{tag_of(version)} is the tag of another commit: check it out, or choose the next version."


def _git(clone: Path, *words: str) -> str | None:
    """What git prints; None where it fails."""
    done = subprocess.run(["git", *words], cwd=clone, capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout.rstrip()


LOOKS: Final[tuple[Callable[[Path, str], Iterator[str]], ...]] = (
    _changelog,
    _kept_store,
    _everything_is_committed,
    _native_wheels,
    _tag,
)
"""Each yields a sentence for what is still to be done."""
