"""Jars from Maven Central, below build/: what Spark needs to read Kafka and is not in PySpark's own package.

    python -m pipelines.connectors.installation [VERSION …]     for the PySpark that is installed, or for these

On a cluster the same pom says what `spark.jars` has to name; not every version of every connector is to be had.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

POM = Path(__file__).parent / "pom.xml"
HOME = Path(__file__).parent.parent.parent / "build" / "spark"

JAVA = 17
"""The oldest that runs Spark 4 and Kafka 4."""
FETCHED_WITHIN_S = 150.0
# Scala, Hadoop and a logger are among PySpark's own jars.
SPARKS_OWN = "org.scala-lang,org.apache.hadoop,org.slf4j"


class Unavailable(Exception):
    """Something cannot be had here; the message says what, and what to do."""


def connectors(version: str | None = None) -> list[Path]:
    """The jars for a version of Spark, of the installed PySpark if none is given. Raises Unavailable."""
    version = version or metadata.version("pyspark")
    folder = _place(version)
    if not fetched(POM, folder):
        message = f"Spark's connectors are not installed here: python -m pipelines.connectors.installation {version}"
        raise Unavailable(message)
    return sorted((folder / "lib").glob("*.jar"))


def install(version: str) -> None:
    """Fetches them; nothing to do when they are there. Raises Unavailable."""
    fetch(POM, _place(version), properties={"spark": version}, without=SPARKS_OWN)


def fetched(pom: Path, folder: Path) -> bool:
    """Whether a folder holds what a pom says."""
    stamp = folder / "pom"
    return stamp.exists() and stamp.read_text() == _digest(pom)


def fetch(pom: Path, folder: Path, *, properties: Mapping[str, str] | None = None, without: str = "") -> None:
    """The jars of a pom into `folder/lib`. without: groups of artifacts, between commas. Raises Unavailable."""
    if fetched(pom, folder):
        return
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("Jars are fetched by Maven, and there is no mvn here: install Maven")
    folder.mkdir(parents=True, exist_ok=True)
    print(f"Fetching jars into {folder} …", file=sys.stderr)
    # Beside its place first: a download that is cut off leaves nothing half done.
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        command = [maven, "--quiet", "--batch-mode", "--file", str(pom)]
        command += [f"-D{name}={value}" for name, value in (properties or {}).items()]
        command += ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={beside}/lib"]
        _run([*command, f"-DexcludeGroupIds={without}"] if without else command)
        (folder / "pom").unlink(missing_ok=True)
        shutil.rmtree(folder / "lib", ignore_errors=True)
        (Path(beside) / "lib").rename(folder / "lib")
    (folder / "pom").write_text(_digest(pom))


def java() -> str:
    """The Java that runs Spark and Kafka. Raises Unavailable."""
    found = shutil.which("java")
    if found is None:
        raise Unavailable(f"Spark and Kafka need Java {JAVA} or newer, and there is no java here")
    told = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', told)
    if version is None or int(version.group(1)) < JAVA:
        raise Unavailable(f"Spark and Kafka need Java {JAVA} or newer; this one says {told.splitlines()[:1]}")
    return found


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=FETCHED_WITHIN_S)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"Maven did not fetch the jars within {FETCHED_WITHIN_S:.0f} s") from None
    if done.returncode:
        raise Unavailable(f"Maven could not fetch the jars; it said\n{done.stdout[-2000:]}")


def _place(version: str) -> Path:
    return HOME / f"connectors-{version}"


def _digest(pom: Path) -> str:
    return hashlib.sha256(pom.read_bytes()).hexdigest()


def main(argv: Sequence[str]) -> int:
    """The command: 0, or 1 if they cannot be had here."""
    try:
        for version in argv or [metadata.version("pyspark")]:
            install(version)
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
