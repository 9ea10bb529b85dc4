"""The files of landed tables, as their sink tells them: what an attempt has left beside them belongs to no table."""

from collections.abc import Mapping, Sequence

from pipelines.audit.usage import NoRecords
from pipelines.land.driver import Driver
from pipelines.land.sinks.sink import OURS
from pipelines.places import Bucket, Place, place

Files = Mapping[Place, Sequence[str]]
"""Names of files below places."""


def files(opened: Driver) -> Files:
    """Every file that a table of the job holds now. Raises NoRecords where there is none, StoreError."""
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
        raise NoRecords(f"The tables in {opened.lake.url} hold nothing yet: land something first.")
    return {place(f"{scheme}{folder}"): several for folder, several in names.items()}
