"""What landed tables hold, as their sink tells it: what an attempt has left beside them belongs to no table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sigla_pipelines.audit.usage import NoRecords
from sigla_pipelines.land.driver import Driver
from sigla_pipelines.land.quarantine import RESOLVED_TABLE
from sigla_pipelines.land.resolved import Resolved
from sigla_pipelines.land.sinks.sink import OURS
from sigla_pipelines.places import Bucket, Place, open_place

Files = Mapping[Place, Sequence[str]]
"""Names of files below places."""


@dataclass(frozen=True, slots=True)
class Committed:
    """resolved: the rows of the quarantine that are in a typed table, too; None where nothing is landed."""

    files: Files = field(default_factory=dict)
    resolved: Resolved | None = None


def committed(opened: Driver) -> Committed:
    """All that the tables of a job hold now. Raises NoRecords where that is nothing, StoreError."""
    # Asked first: what a replay lands meanwhile is rather counted twice than not at all.
    resolved = _resolved(opened)
    return Committed(committed_files(opened), resolved)


def _resolved(opened: Driver) -> Resolved:
    """As of now, so that tasks have nothing to ask."""
    last = {query: opened.manifests.last(query) for query in opened.manifests.queries()}
    of_files = frozenset(query for query, manifest in last.items() if manifest and manifest.entries)
    return Resolved(opened.sink.rows(RESOLVED_TABLE), of_files.__contains__)


def committed_files(opened: Driver) -> Files:
    """Every file that a table of the job holds now. Raises NoRecords if no table holds a file, StoreError."""
    tables = {*OURS}
    for query in opened.manifests.queries():
        if last := opened.manifests.last(query):
            tables |= {*last.columns}
    scheme = "s3://" if isinstance(opened.lake, Bucket) else ""
    names: dict[str, list[str]] = {}
    for path in opened.sink.paths(tables):
        folder, _, name = path.rpartition("/")
        names.setdefault(folder, []).append(name)
    if not names:
        raise NoRecords(f"The tables in {opened.lake.url} are empty: land some records first.")
    return {open_place(f"{scheme}{folder}"): several for folder, several in names.items()}
