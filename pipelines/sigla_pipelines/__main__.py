"""The jobs of Sigla, on one machine or on a cluster of Spark.

python -m sigla_pipelines JOB …
spark-submit pipelines/sigla_pipelines/__main__.py JOB …
"""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

from sigla.terminal.output import escape_unprintable
from sigla.terminal.statuses import INTERRUPTED, MISUSED

JOBS: Final[Mapping[str, tuple[str, str]]] = {
    "land": ("sigla_pipelines.land.job", "makes typed tables of records in Kafka or in files"),
    "replay": ("sigla_pipelines.land.replay_job", "lands records of the quarantine whose reason is gone"),
    "gc": ("sigla_pipelines.land.gc_job", "removes files that failed attempts have left"),
    "tables": ("sigla_pipelines.tables.job", "lists the tables, and prints how an engine reads them"),
    "maintain": (
        "sigla_pipelines.land.maintain_job",
        "compacts Iceberg tables, expires snapshots, removes orphans",
    ),
    "audit": ("sigla_pipelines.audit.job", "reports what a registry holds, what would break, what occurs in the data"),
    "scrub": ("sigla_pipelines.scrub.job", "compares bodies, catalog and journal, for registries of millions"),
    "load": ("sigla_pipelines.load.job", "makes a registry of the topic of another registry"),
    "demo": ("sigla_pipelines.demo.__main__", "lands a million records of a shop, and compares each with its row"),
}
"""By name: a module with `main(argv) -> int`, and what it does."""


INSTALL: Final = "pip install 'sigla-registry[pipelines,spark]'"
"""Brings the libraries of the jobs, and Spark itself."""
INSTALL_DEMO: Final = "pip install 'sigla-registry[pipelines,spark,demo]'"
"""Brings what writes the records of the demonstration, too."""


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status of a job. argv: its name and its words; those of this process if not given."""
    escape_unprintable()
    words = sys.argv[1:] if argv is None else argv
    name = words[0] if words else "--help"
    if name in JOBS:
        try:
            return int(import_module(JOBS[name][0]).main(words[1:]))
        except ModuleNotFoundError as missing:
            package = (missing.name or "").partition(".")[0]
            if package in {"sigla", "sigla_pipelines"}:
                raise
            install = INSTALL_DEMO if name == "demo" else INSTALL
            print(f"The job {name} needs the package {package}, which is not installed: {install}.", file=sys.stderr)
            return MISUSED
        except KeyboardInterrupt:
            print("Interrupted.", file=sys.stderr)
            return INTERRUPTED
    out, code = (sys.stdout, 0) if name in {"-h", "--help"} else (sys.stderr, 2)
    if code:
        print(f"Unknown job {name}.", file=out)
    print(__doc__, *(f"  {job:<8} {does}" for job, (_, does) in JOBS.items()), sep="\n", file=out)
    return code


if __name__ == "__main__":
    sys.exit(main())
