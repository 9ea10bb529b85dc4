"""Everything that a release consists of, in one folder, byte for byte the same from the same commit.

    make release                     dist/VERSION/: wheels, sdist, zips of Lambda, bills of materials, notes, checksums
                                     (the wheel has the templates of `sigla deploy`; those of the extension, which
                                     native/build.sh has built, lie beside it, so that --find-links finds them)
    make release ARGS=--preview      the same of a clone as it is, for a look at it

Times within the files are those of the commit (SOURCE_DATE_EPOCH, if it is set). The notes are the version's section in
CHANGELOG.md. A release is refused until all is there that its tag will name (release_checks.py): the tag comes last,
and the last line says the command. `SHA256SUMS` lists all files; `sha256sum --check SHA256SUMS` checks them.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from infra import release_checks
from infra.release_checks import UNRELEASED, NotReleased, sections_of, tag_of
from sigla import __version__
from sigla.deployment import packages
from sigla.deployment.packages import PLATFORMS, Package
from sigla.deployment.sources import SIGLA, TEMPLATES
from sigla.deployment.uv import NotInstalled

ROOT: Final = Path(__file__).parents[1]
CHANGELOG: Final = ROOT / "CHANGELOG.md"
LOCKS: Final = ROOT / "requirements"

CONSOLE: Final = SIGLA / "web" / "console"
VENDORED: Final = {
    "swagger-ui-dist": CONSOLE / "swagger_ui" / "SHA256SUMS",
    "htm": CONSOLE / "ui" / "vendor" / "SHA256SUMS",
}
"""What the wheel ships of npm's packages, all under our own licence, and where its version stands."""
"""Says in its first line of which version the page `/docs` is made."""

FUNCTIONS: Final = ("registry", "journal", "heartbeat")
BILLS: Final[Mapping[str, str]] = {"sigla_registry": "runtime.txt", "layer": "aws.txt"}
"""What has a bill of materials of its own, and the lock that says what is in it."""

LOCKED: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^ \\;]+)", re.MULTILINE)

NAME: Final = "sigla-registry"
LICENCE: Final = "Apache-2.0"


def release(folder: Path, *, preview: bool = False, layers: bool = True, templates: bool = True) -> list[Path]:
    """Fills an empty folder; the files, by name. Raises NotReleased, NotInstalled.

    preview: with notes of what is not released. layers: with the third-party layers, which have to be fetched.
    templates: with those that CDK makes, which takes minutes; else with those that were made before.
    """
    if folder.exists() and any(folder.iterdir()):
        raise NotReleased(f"{folder} is not empty: remove it, or choose another --directory.")
    notes = notes_of(UNRELEASED if preview else __version__)
    epoch = _epoch()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "NOTES.md").write_text(notes, encoding="utf-8")
    if templates:
        make_templates()
    _python_packages(folder, epoch)
    for wheel in release_checks.native_wheels(ROOT, __version__):
        shutil.copy(wheel, folder)
    for package in _archives(layers=layers):
        _zip(packages.built(package), folder / f"{package.name}-{__version__}.zip", epoch)
    for what, lock in BILLS.items():
        bill = bill_of_materials(what, (LOCKS / lock).read_text(encoding="utf-8"), epoch)
        (folder / f"{what}-{__version__}.cdx.json").write_text(bill, encoding="utf-8")
    files = sorted(folder.iterdir())
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")
    return sorted(folder.iterdir())


def make_templates() -> None:
    """Puts those that the wheel brings where it finds them. Raises NotReleased."""
    shutil.rmtree(TEMPLATES, ignore_errors=True)
    command = [sys.executable, "-m", "infra.templates", str(TEMPLATES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotReleased(f"A template cannot be released: {done.stderr.strip().splitlines()[-1]}")


def notes_of(version: str) -> str:
    """What the changelog says of a version. Raises NotReleased where it has no such section, or an empty one."""
    notes = sections_of(CHANGELOG.read_text(encoding="utf-8")).get(version)
    if not notes:
        raise NotReleased(
            f"CHANGELOG.md has no section [{version}]: rename [{UNRELEASED}], or make a preview with ARGS=--preview."
        )
    return f"# Sigla {version}\n\n{notes}\n"


def bill_of_materials(what: str, lock: str, epoch: int) -> str:
    """CycloneDX 1.6 as JSON: the packages of a lock as components of `what`, and what the wheel ships of others."""
    subject = Component(
        name=NAME if what == "sigla_registry" else f"sigla-{what}",
        version=__version__,
        type=ComponentType.APPLICATION,
        bom_ref=f"{what}@{__version__}",
        licenses=[DisjunctiveLicense(id=LICENCE)],
    )
    content = hashlib.sha256(lock.encode()).hexdigest()
    bill = Bom(serial_number=uuid5(NAMESPACE_URL, f"{NAME}/{__version__}/{what}/{content}"))
    bill.metadata.component = subject
    bill.metadata.timestamp = datetime.fromtimestamp(epoch, UTC)
    parts = [_locked(name, version) for name, version in LOCKED.findall(lock)]
    if what == "sigla_registry":
        parts += [_vendored(name, sums) for name, sums in VENDORED.items()]
    for part in parts:
        bill.components.add(part)
    bill.register_dependency(subject, parts)
    return JsonV1Dot6(bill).output_as_string(indent=2) + "\n"


def _locked(name: str, version: str) -> Component:
    url = PackageURL(type="pypi", name=name.lower(), version=version)
    return Component(name=name, version=version, type=ComponentType.LIBRARY, purl=url, bom_ref=str(url))


def _vendored(name: str, sums: Path) -> Component:
    (version,) = re.findall(rf"the package {name} ([0-9.]+) ", sums.read_text(encoding="utf-8"))
    url = PackageURL(type="npm", name=name, version=version)
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        purl=url,
        bom_ref=str(url),
        licenses=[DisjunctiveLicense(id=LICENCE)],
    )


def _python_packages(folder: Path, epoch: int) -> None:
    """Wheel and sdist of sigla-registry, and the wheel of the extension for machines that none fits."""
    environ = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}
    for project, kinds in ((ROOT, ()), (ROOT / "native" / "none", ("--target", "wheel"))):
        command = [sys.executable, "-m", "hatchling", "build", *kinds, "--directory", str(folder)]
        done = subprocess.run(command, cwd=project, env=environ, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotReleased(f"hatchling could not build {project}: {done.stderr.strip().splitlines()[-1]}")
    (folder / ".gitignore").unlink(missing_ok=True)


def _archives(*, layers: bool) -> Iterator[Package]:
    yield from map(packages.code, FUNCTIONS)
    if layers:
        yield from map(packages.layer, PLATFORMS)


def _zip(content: Path, archive: Path, epoch: int) -> None:
    """A zip whose bytes depend on content and time alone: names are sorted, modes are the same for all files."""
    moment = datetime.fromtimestamp(epoch, UTC).timetuple()[:6]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as into:
        for path in sorted(path for path in content.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(content).as_posix(), moment)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            into.writestr(entry, path.read_bytes())


def _epoch() -> int:
    """Seconds since 1970 that all files bear as their time. Raises NotReleased outside of a clone without any."""
    if said := os.environ.get("SOURCE_DATE_EPOCH"):
        if not said.isdecimal():
            raise NotReleased(f"Invalid SOURCE_DATE_EPOCH '{said}': expected seconds since 1970.")
        return int(said)
    asked = ["git", "log", "-1", "--format=%ct"]
    told = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    if not told:
        raise NotReleased("Found no commit to take the time from: set SOURCE_DATE_EPOCH to seconds since 1970.")
    return int(told)


def main() -> int:
    """The command: 0, 1 if something cannot be fetched, 2 if the caller has to change something."""
    options = argparse.ArgumentParser(prog="make release", description="Builds all files of a release, reproducibly.")
    options.add_argument("--directory", type=Path, default=None, help="an empty folder (dist/VERSION)")
    options.add_argument("--preview", action="store_true", help="take the notes of what is not released yet")
    chosen = options.parse_args()
    folder = chosen.directory or ROOT / "dist" / __version__
    try:
        if not chosen.preview:
            release_checks.check_release(ROOT, __version__)
        for path in release(folder, preview=chosen.preview):
            print(f"{path.stat().st_size:>12,}  {path}")
        if not chosen.preview:
            print(f"Now tag it: git tag --cleanup=verbatim --file {folder / 'NOTES.md'} {tag_of(__version__)}")
    except NotReleased as reason:
        print(reason, file=sys.stderr)
        return 2
    except NotInstalled as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
