"""Templates that a release brings, and what Lambda unpacks: `sigla deploy` needs neither CDK nor Node.js."""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from sigla import __version__
from sigla.delivery.guard import NotDeployed
from sigla.deployment import packages
from sigla.deployment.packages import Package
from sigla.deployment.settings import Settings
from sigla.deployment.sources import TEMPLATES
from sigla.deployment.translation import Released, differences
from sigla.deployment.uv import NotInstalled


def released() -> Iterator[tuple[str, Released]]:
    """Each template by the name of its shape."""
    for path in sorted(TEMPLATES.glob("*.json")):
        yield path.stem, Released.from_json(json.loads(path.read_text(encoding="utf-8")))


def template_for(settings: Settings, path: Path) -> Released:
    """The one of the settings' shape. Raises NotDeployed."""
    nearest: tuple[str, list[str]] | None = None
    for name, each in released():
        other = differences(each.settings, settings)
        if not other:
            return each
        if nearest is None or len(other) < len(nearest[1]):
            nearest = name, other
    if nearest is None:
        raise NotDeployed(
            "This installation has no templates: install the wheel of a release, or write them in a clone by "
            "`make templates`."
        )
    name, other = nearest
    raise NotDeployed(
        f"No template of this release has the shape of {path}: the nearest, {name}, differs in {', '.join(other)}. "
        "Change these settings, or deploy with CDK (docs/cdk.md)."
    )


def package(name: str) -> Package:
    """One that a template names."""
    processor = name.removeprefix("layer-")
    return packages.code(name) if processor == name else packages.layer(processor)


def key_of(package: Package) -> str:
    """The key of its zip in a bucket, as CDK calls what has a hash of its own: by the hash of that."""
    return f"{hashlib.sha256(package.digest.encode()).hexdigest()}.zip"


def _is_whole_zip(archive: bytes) -> bool:
    try:
        with zipfile.ZipFile(BytesIO(archive)) as opened:
            return opened.testzip() is None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError):
        return False


def zipped(name: str, key: str, folder: Path | None) -> bytes:
    """A package as Lambda takes it: from a folder of a release, or built here. Raises NotDeployed."""
    if folder is not None:
        archive = folder / f"{name}-{__version__}.zip"
        try:
            found = archive.read_bytes()
        except OSError as failure:
            raise NotDeployed(f"{archive} cannot be read ({failure.strerror}).") from None
        if not _is_whole_zip(found):
            # It would stay in the bucket, under a name that says another content.
            raise NotDeployed(f"{archive} is damaged or cut off: download it once more.")
        return found
    made = package(name)
    if key_of(made) != key:
        raise NotDeployed(
            f"The package {name} is not the one that the template was made for: its sources were changed. Install the "
            "wheel of a release again, or write templates of this clone by `make templates`."
        )
    try:
        content = packages.built(made)
    except NotInstalled as reason:
        raise NotDeployed(
            f"{reason}. Or download the zips of release {__version__}, and name their folder with --packages.", 1
        ) from None
    into = BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as opened:
        for file in sorted(each for each in content.rglob("*") if each.is_file()):
            opened.write(file, file.relative_to(content).as_posix())
    return into.getvalue()
