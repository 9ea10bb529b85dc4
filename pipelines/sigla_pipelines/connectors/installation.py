"""Spark's connectors: the jars it needs to read Kafka and to change tables of Iceberg, beside PySpark itself.

    python -m sigla_pipelines.connectors.installation [VERSION …]     for the PySpark that is installed, or for these

They lie in build/spark of a clone, else in the user's cache, ~/.cache/sigla/spark. On a cluster the same poms say what
`spark.jars` has to name; not every version of every connector is to be had.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

from sigla_pipelines.connectors.maven import Unavailable, fetch_jars, is_fetched

POM = Path(__file__).parent / "pom.xml"
ICEBERG_POM = Path(__file__).parent / "iceberg.pom.xml"
_CLONE: Final = Path(__file__).parents[3]
HOME = _CLONE / "build" / "spark" if (_CLONE / "Makefile").exists() else Path.home() / ".cache" / "sigla" / "spark"

# Scala, Hadoop and a logger are among PySpark's own jars.
SPARKS_OWN = "org.scala-lang,org.apache.hadoop,org.slf4j"

ICEBERG_FOR: Final = ("4.0", "4.1")
"""For each of these minor versions of Spark, Iceberg has a runtime in Maven Central."""


def kafka_jars(version: str | None = None) -> list[Path]:
    """Kafka's jars for a version of Spark, of the installed PySpark if none is given. Raises Unavailable."""
    version = version or metadata.version("pyspark")
    return _jars(POM, _jars_folder(version), f"Spark's connectors are not installed here: {_command(version)}")


def iceberg(version: str | None = None) -> list[Path]:
    """Iceberg's jars, and those of a catalog in SQLite; `version` as in `kafka_jars`. Raises Unavailable."""
    version = version or metadata.version("pyspark")
    if _minor(version) not in ICEBERG_FOR:
        raise Unavailable(
            f"Iceberg has no runtime for Spark {version}: install a PySpark of {' or '.join(ICEBERG_FOR)}."
        )
    return _jars(
        ICEBERG_POM, _iceberg_place(version), f"Iceberg's runtime for Spark is not installed here: {_command(version)}"
    )


def install(version: str) -> None:
    """Fetches them; nothing to do when they are there. Raises Unavailable."""
    fetch_jars(POM, _jars_folder(version), properties={"spark": version}, without=SPARKS_OWN)
    if _minor(version) in ICEBERG_FOR:
        fetch_jars(ICEBERG_POM, _iceberg_place(version), properties={"spark": _minor(version)}, without=SPARKS_OWN)


def _jars(pom: Path, folder: Path, otherwise: str) -> list[Path]:
    """Raises Unavailable with this sentence where the folder does not have what the pom says."""
    if not is_fetched(pom, folder):
        raise Unavailable(otherwise)
    return sorted((folder / "lib").glob("*.jar"))


def _command(version: str) -> str:
    return f"python -m sigla_pipelines.connectors.installation {version}"


def _jars_folder(version: str) -> Path:
    return HOME / f"connectors-{version}"


def _iceberg_place(version: str) -> Path:
    return HOME / f"iceberg-{_minor(version)}"


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def main(argv: Sequence[str]) -> int:
    """The command: 0, or 1 if they cannot be had here."""
    options = argparse.ArgumentParser(
        prog="python -m sigla_pipelines.connectors.installation",
        description="What Spark needs to read Kafka and to change tables of Iceberg, in build/spark",
    )
    options.add_argument("version", nargs="*", help="a version of Spark (default: that of the installed PySpark)")
    chosen = options.parse_args(argv).version
    if odd := [each for each in chosen if not re.fullmatch(r"\d+\.\d+\.\d+", each)]:
        options.error(f"invalid version of Spark '{odd[0]}': expected a form like {metadata.version('pyspark')}")
    try:
        for version in chosen or [metadata.version("pyspark")]:
            install(version)
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
