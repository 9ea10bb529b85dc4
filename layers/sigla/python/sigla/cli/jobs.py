"""`sigla land` and the other jobs over topics and tables, which the package sigla_pipelines brings."""

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final

from sigla.cli.misuse import Misuse

if TYPE_CHECKING:
    import argparse

GROUP: Final = "sigla.jobs"
"""The entry points under which a package offers jobs: `main(argv)`, of which the first word is the job's name."""

JOBS: Final[Mapping[str, str]] = {
    "land": "make typed tables of records in Kafka or in files",
    "tables": "list the tables, and print how an engine reads them",
    "maintain": "compact Iceberg tables, expire snapshots, remove orphans",
    "replay": "land records of the quarantine whose reason is gone",
    "gc": "remove files that failed attempts have left",
    "audit": "report what a registry holds, what would break, what occurs in the data",
    "load": "make a registry of the topic of another registry, by Spark",
    "demo": "land a million records of a shop on this machine, and compare each with its row",
}
"""By name, what a job does. They parse their own words."""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Names them in the list of commands; `run` gets their words as they are."""
    for name, does in JOBS.items():
        commands.add_parser(name, help=does, add_help=False)


def run(words: Sequence[str]) -> int:
    """The exit status of the job that these words name. Raises Misuse where its package is not installed."""
    found = entry_points(group=GROUP, name=words[0])
    if not found:
        raise Misuse(f"`sigla {words[0]}` is a job of the package sigla_pipelines: pip install sigla-registry.")
    return int(next(iter(found)).load()(words))
