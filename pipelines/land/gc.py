"""Files that attempts have left: staged, named by no manifest, and old.

Age alone condemns nothing: a manifest keeps its files however old they are. And only files are looked at that tasks of
this work directory's queries have named: what an engine wrote beside them (a compaction, a table's metadata), or a job
that shares the lake, is not ours to remove.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from pyarrow import fs

from pipelines.land.manifest import Manifests
from pipelines.land.sinks.sink import STAGED, folder
from pipelines.places import Place

KEPT: Final = timedelta(days=7)
"""Longer than any batch takes: a younger file may be of one that is still to be decided."""


def orphans(lake: Place, manifests: Manifests, now: datetime, kept: timedelta = KEPT) -> Iterator[tuple[str, int]]:
    """(name below the lake, bytes) of what nobody will ever name."""
    # Listed first: what is decided meanwhile is in the manifests that are read after it.
    found = [(name, STAGED.fullmatch(name)) for name in lake.names()]
    queries = manifests.queries()
    listed = [name for name, ours in found if ours and ours["query"] in queries]
    named = {f"{folder(file.table)}/{file.path}" for manifest in manifests.all() for file in manifest.files}
    left = [name for name in listed if name not in named]
    infos = lake.filesystem.get_file_info([lake.path(name) for name in left]) if left else []
    for name, info in zip(left, infos, strict=True):
        if info.type is fs.FileType.File and info.mtime < now - kept:
            yield name, int(info.size)


def collect(
    lake: Place, manifests: Manifests, now: datetime, *, kept: timedelta = KEPT, dry_run: bool = True
) -> list[tuple[str, int]]:
    """What was removed, or would be. now: aware of its zone."""
    found = list(orphans(lake, manifests, now, kept))
    for name, _ in found if not dry_run else ():
        lake.delete(name)
    return found
