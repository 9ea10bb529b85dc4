"""Spark's connectors, below build/: what it needs to read Kafka and is not in PySpark's own package.

    python -m pipelines.connectors.installation [VERSION …]     for the PySpark that is installed, or for these

On a cluster the same pom says what `spark.jars` has to name; not every version of every connector is to be had.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from pipelines.connectors.maven import Unavailable, fetch, fetched

POM = Path(__file__).parent / "pom.xml"
HOME = Path(__file__).parent.parent.parent / "build" / "spark"

# Scala, Hadoop and a logger are among PySpark's own jars.
SPARKS_OWN = "org.scala-lang,org.apache.hadoop,org.slf4j"


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


def _place(version: str) -> Path:
    return HOME / f"connectors-{version}"


def main(argv: Sequence[str]) -> int:
    """The command: 0, or 1 if they cannot be had here."""
    options = argparse.ArgumentParser(
        prog="python -m pipelines.connectors.installation", description="What Spark needs to read Kafka, in build/spark"
    )
    options.add_argument("version", nargs="*", help="of Spark; that of the PySpark installed here")
    chosen = options.parse_args(argv).version
    if odd := [each for each in chosen if not re.fullmatch(r"\d+\.\d+\.\d+", each)]:
        options.error(f"{odd[0]} is no version of Spark; one is written as {metadata.version('pyspark')}")
    try:
        for version in chosen or [metadata.version("pyspark")]:
            install(version)
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
