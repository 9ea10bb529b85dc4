"""Files that attempts have left: staged, named by no manifest, and old.

Age alone condemns nothing: a manifest keeps its files however old they are. And only files are looked at that tasks of
this work directory's queries have named: what an engine wrote beside them (a compaction, a table's metadata), or a job
that shares the lake, is not ours to remove.
"""

from collections.abc import Container, Iterator
from datetime import datetime, timedelta
from typing import Final

from pyarrow import fs

from sigla_pipelines.land.landed import DataFile
from sigla_pipelines.land.manifest import Manifests
from sigla_pipelines.land.sinks.sink import STAGED, in_staging, in_table
from sigla_pipelines.places import Place

KEPT: Final = timedelta(days=7)
"""Longer than any batch takes: a younger file may be of one that is still to be decided."""


def orphans(lake: Place, manifests: Manifests, now: datetime, kept: timedelta = KEPT) -> Iterator[tuple[str, int]]:
    """(name below the lake, bytes) of files that no manifest will ever name."""
    # Listed first: what is decided meanwhile is in the manifests that are read after it.
    found = [(name, STAGED.fullmatch(name)) for name in lake.names()]
    queries = manifests.queries()
    listed = [name for name, ours in found if ours and ours["query"] in queries]
    there = {name for name, _ in found}
    named = {name for manifest in manifests.all() for file in manifest.files for name in _names_to_keep(file, there)}
    left = [name for name in listed if name not in named]
    infos = lake.filesystem.get_file_info([lake.path(name) for name in left]) if left else []
    for name, info in zip(left, infos, strict=True):
        if info.type is fs.FileType.File and info.mtime < now - kept:
            yield name, int(info.size)


def _names_to_keep(file: DataFile, there: Container[str]) -> Iterator[str]:
    """Which of a file's names are to be kept, of those that are there: it may wait to be moved into its table.

    Where it is in the table as well, a move was interrupted, and what waits is a second copy.
    """
    yield in_table(file)
    if in_table(file) not in there:
        yield in_staging(file)


def remove_orphans(
    lake: Place, manifests: Manifests, now: datetime, *, kept: timedelta = KEPT, dry_run: bool = True
) -> list[tuple[str, int]]:
    """What was removed, or would be. now: aware of its zone."""
    found = list(orphans(lake, manifests, now, kept))
    for name, _ in found if not dry_run else ():
        lake.delete(name)
    return found
