"""The jobs: `python -m pipelines JOB …` on one machine, `spark-submit pipelines/__main__.py JOB …` on a cluster."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Final

from pipelines import output

JOBS: Final[Mapping[str, tuple[str, str]]] = {
    "land": ("pipelines.land.job", "records of Kafka, or of files, become typed tables"),
    "replay": ("pipelines.land.replay_job", "the quarantine once more, when a reason may be gone"),
    "gc": ("pipelines.land.gc_job", "removes files that attempts have left"),
    "tables": ("pipelines.tables.job", "which tables there are, and how an engine reads them"),
    "maintain": (
        "pipelines.land.maintain_job",
        "compacts Iceberg tables, expires snapshots, removes orphans",
    ),
    "audit": ("pipelines.audit.job", "what a registry holds, what would break, what occurs in the data"),
    "scrub": ("pipelines.scrub.job", "bodies against catalog against journal, for registries of millions"),
    "load": ("pipelines.load.job", "the topic of another registry becomes a registry"),
}
"""By name: a module with `main(argv) -> int`, and what it does."""

INTERRUPTED: Final = 130
"""As a shell has it of who ended by Ctrl-C: 128 and the signal."""


def main() -> int:
    output.escape_unprintable()
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name in JOBS:
        try:
            return int(import_module(JOBS[name][0]).main(sys.argv[2:]))
        except KeyboardInterrupt:
            print("Interrupted.", file=sys.stderr)
            return INTERRUPTED
    out, code = (sys.stdout, 0) if name in {"-h", "--help"} else (sys.stderr, 2)
    if code:
        print(f"No job is called {name}.", file=out)
    print(__doc__, *(f"  {job:<8} {does}" for job, (_, does) in JOBS.items()), sep="\n", file=out)
    return code


if __name__ == "__main__":
    sys.exit(main())
