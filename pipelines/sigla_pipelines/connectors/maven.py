"""Jars from Maven Central, and the Java that runs them: for Spark, for Kafka, for DynamoDB's own engine."""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

JAVA: Final = 17
"""The oldest that runs Spark 4, Kafka 4 and DynamoDB Local."""
FETCHED_WITHIN_S: Final = 150.0


class Unavailable(Exception):
    """Something cannot be had here; the message says what, and what to do."""


def java() -> str:
    """The program. Raises Unavailable."""
    found = shutil.which("java")
    if found is None:
        raise Unavailable(f"Java {JAVA} or newer is needed, but java is not on the PATH: install it")
    told = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', told)
    if version is None or int(version.group(1)) < JAVA:
        raise Unavailable(f"Java {JAVA} or newer is needed; the java on the PATH reports {told.splitlines()[:1]}")
    return found


def class_path(folder: Path) -> str:
    """The path of all that was fetched into a folder, as `java -cp` takes it."""
    return f"{folder / 'lib'}/*"


def is_fetched(pom: Path, folder: Path) -> bool:
    """Whether a folder holds what a pom says."""
    stamp = folder / "pom"
    return stamp.exists() and stamp.read_text() == _pom_digest(pom)


def fetch_jars(
    pom: Path,
    folder: Path,
    *,
    properties: Mapping[str, str] | None = None,
    without: str = "",
    within_s: float = FETCHED_WITHIN_S,
) -> None:
    """The jars of a pom into `folder/lib`; nothing to do when they are there. Raises Unavailable.

    properties: of the pom. without: groups of artifacts that are left out, between commas.
    """
    if is_fetched(pom, folder):
        return
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("Maven is needed to fetch jars, but mvn is not on the PATH: install it")
    java()
    folder.mkdir(parents=True, exist_ok=True)
    print(f"Fetching jars into {folder} …", file=sys.stderr)
    command = [maven, "--quiet", "--batch-mode", "--file", str(pom)]
    command += [f"-D{name}={value}" for name, value in (properties or {}).items()]
    command += ["dependency:copy-dependencies", "-DincludeScope=runtime"]
    command += [f"-DexcludeGroupIds={without}"] if without else []
    # Beside its place first: a download that is cut off leaves nothing half done.
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        _run_maven([*command, f"-DoutputDirectory={beside}/lib"], within_s)
        (folder / "pom").unlink(missing_ok=True)
        shutil.rmtree(folder / "lib", ignore_errors=True)
        (Path(beside) / "lib").rename(folder / "lib")
    (folder / "pom").write_text(_pom_digest(pom))


def _run_maven(command: list[str], within_s: float) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=within_s)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"Maven did not fetch the jars within {within_s:.0f} s") from None
    if done.returncode:
        raise Unavailable(f"Maven could not fetch the jars. Its output:\n{done.stdout[-2000:]}")


def _pom_digest(pom: Path) -> str:
    return hashlib.sha256(pom.read_bytes()).hexdigest()
