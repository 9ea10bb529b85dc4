"""What an operator has to know when `sigla serve` starts, as events of its log."""

from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from sigla.observe import Facts


def of_directory(data: Path, *, writable: bool, readable: bool) -> Iterator[Facts]:
    """What to see to in a directory. readable: by other users of the machine, while it has KEKs."""
    if not writable:
        yield _disk_full(data)
    if readable:
        yield _readable_by_others(data)


def _disk_full(data: Path) -> Facts:
    """Told at the start; later `/health/ready` tells it, and each write that is refused."""
    told = f"The disk of {data} is full: schemas are read, and none can be registered until you make room there."
    return {"event": "disk-full", "message": told}


def _readable_by_others(data: Path) -> Facts:
    """Told at each start: an earlier release made the directory, or a person."""
    told = (
        f"Other users of this machine can read {data}, where credentials of key services may stand in kmsProps: "
        f"chmod -R go= {quote(str(data))}"
    )
    return {"event": "readable-by-others", "message": told}
