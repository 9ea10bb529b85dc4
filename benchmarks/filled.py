"""Schemas to measure with, and data directories that hold many of them.

Schemas look like those of a shop: a record of nine fields, some 500 characters, ten versions to a subject, each
compatible with the one before.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from unittest.mock import patch
from zlib import crc32

import psutil

from sigla import keys, records
from sigla.model import DEFAULT_CONTEXT, Draft, Subject
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite import tables
from sigla.stores.sqlite.store import EmbeddedStore

VERSIONS = 10
GROUP = 1_000
IN_MEMORY = {"tmpfs", "ramfs"}


def text(subject: int, version: int = 1) -> str:
    """The text of one version of one subject; each differs from every other."""
    fields = [
        {"name": "id", "type": "string", "doc": "assigned by the shop"},
        {"name": "customer", "type": "long"},
        {"name": "placed", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": LINE}}},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": f"since_{version}", "type": ["null", "string"], "default": None},
    ]
    return json.dumps({"type": "record", "name": f"Order{subject}", "namespace": "shop.orders", "fields": fields})


LINE = [{"name": "article", "type": "string"}, {"name": "pieces", "type": "int"}, {"name": "cents", "type": "long"}]


def subject(number: int) -> Subject:
    return Subject(DEFAULT_CONTEXT, f"orders-{number:06}-value")


def registry_over(store: EmbeddedStore) -> Registry:
    """The verbs over a store alone: no cache of bodies, nothing of HTTP."""
    return Registry(store.catalog, store.bodies, SystemClock())


@contextmanager
def workspace() -> Iterator[Path]:
    """A temporary directory on a real disk."""
    with tempfile.TemporaryDirectory(prefix="sigla-bench-", dir=_disk()) as made:
        yield Path(made)


def kind_of_disk(path: Path) -> str:
    """The file system a path is on: `ext4`."""
    mounts = [part for part in psutil.disk_partitions(all=True) if path.is_relative_to(part.mountpoint)]
    return str(max(mounts, key=lambda part: len(part.mountpoint)).fstype) if mounts else "unknown"


def _disk() -> Path:
    """Where temporary files are, unless that is memory: there a sync costs nothing and proves nothing."""
    tried = [Path(tempfile.gettempdir()), Path("/var/tmp"), Path.cwd()]  # noqa: S108 - only a name made at random is used
    return next((path for path in tried if path.is_dir() and kind_of_disk(path.resolve()) not in IN_MEMORY), tried[0])


def copy_of(schemas: int, into: Path) -> Path:
    """A data directory of one's own inside `into`, with so many schemas, ids from 1.

    It is made once per form of the stores and kept among the temporary files: with 100,000 schemas that takes minutes.
    Bodies are never written again, so that their files may be shared.
    """
    original = _kept(schemas)
    copy = into / f"data-{schemas}"
    shutil.copytree(original, copy, copy_function=_shared)
    return copy


def _shared(source: str, target: str) -> str:
    if source.endswith(".json"):
        os.link(source, target)
    else:
        shutil.copyfile(source, target)
    return target


def _kept(schemas: int) -> Path:
    home = _disk() / f"sigla-benchmarks-{os.getuid()}"
    kept = home / f"{_form():08x}" / str(schemas)
    if not kept.exists():
        for stale in home.glob("*"):
            if stale != kept.parent:
                shutil.rmtree(stale)
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as making:
            fill(Path(making) / "data", schemas)
            try:
                (Path(making) / "data").rename(kept)
            except OSError:
                if not kept.exists():  # else another process was faster, which is as good
                    raise
    return kept


def _form() -> int:
    """A checksum of what decides how things are stored: another form has to be made anew."""
    return crc32(b"".join(Path(module.__file__ or "").read_bytes() for module in (tables, keys, records)))


def fill(path: Path, schemas: int) -> None:
    """Registers so many schemas by the verbs, a thousand to a commit; they need not survive a power cut."""
    with patch("os.fsync"), EmbeddedStore(path) as store:
        registry = registry_over(store)
        for begin in range(0, schemas, GROUP):
            with store.group():
                for number in range(begin, min(begin + GROUP, schemas)):
                    of, version = divmod(number, VERSIONS)
                    registry.register(subject(of), Draft(text(of, version + 1)))


def fresh() -> Iterator[tuple[Subject, Draft]]:
    """New subjects with their first versions, none of which `copy_of` knows."""
    return ((subject(number), Draft(text(number))) for number in count(900_000))
