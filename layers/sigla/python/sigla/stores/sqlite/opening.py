"""Data in a directory, or in memory, opened: a `kinds.StoreKind`. A failure becomes a sentence that says what to do."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from errno import errorcode
from pathlib import Path

from sigla.auth.api_keys import Keys
from sigla.errors import StoreError
from sigla.model import BodyKey, Guid
from sigla.ports.bodies import Bodies
from sigla.settings import Address
from sigla.stores.not_opened import DataNotOpened, NoRegistry
from sigla.stores.sqlite.database import CatalogLost, NoData, OtherRegistry, TooNew
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.stores.sqlite.promoting import DirectoryPair, promote_by_force
from sigla.stores.sqlite.reading import CATALOG, ReadingStore
from sigla.stores.sqlite.store import DataInUse, EmbeddedStore

__all__ = ["adopt_keys", "bodies", "is_handed_over", "keys", "pair", "promote_by_force", "reading", "writing"]


@contextmanager
def bodies(address: Address) -> Iterator[Bodies]:
    with reading(address) as store:
        yield store.bodies


@contextmanager
def keys(address: Address) -> Iterator[Keys]:
    """Beside the data, and without their lock: a key is made or revoked while the registry runs."""
    _check_is_of_one(Path(address.path))
    yield EmbeddedKeys(Path(address.path), registry=address.registry)


@contextmanager
def reading(address: Address) -> Iterator[ReadingStore]:
    try:
        store = ReadingStore(Path(address.path), registry=address.registry)
    except NoData as nothing:
        # Where a file is in the way, no registry can ever come to be.
        refused = DataNotOpened if Path(address.path).is_file() else NoRegistry
        raise refused(str(nothing)) from nothing
    except (CatalogLost, TooNew, OtherRegistry) as problem:
        raise DataNotOpened(str(problem)) from problem
    except (StoreError, OSError) as problem:
        raise _unusable(address, problem) from problem
    with closing(store):
        yield store


@contextmanager
def writing(address: Address) -> Iterator[EmbeddedStore]:
    """Without a directory everything is forgotten at the end."""
    path = None if address.scheme == "memory" else Path(address.path)
    if path is not None:
        _check_is_of_one(path)
    try:
        opened = EmbeddedStore(path, registry=address.registry)
    except (DataInUse, CatalogLost, TooNew, OtherRegistry) as problem:
        raise DataNotOpened(str(problem)) from problem
    except (StoreError, OSError) as problem:
        raise _unusable(address, problem) from problem
    with opened as store:
        yield store


def _check_is_of_one(path: Path) -> None:
    """A directory of several registries is not where another one begins: it would be empty, and be taken for theirs."""
    try:
        below = [] if (path / CATALOG).exists() else sorted(each.parent for each in path.glob(f"[!.]*/{CATALOG}"))
    except OSError:
        return  # whoever opens it says why it cannot be read
    if below:
        raise DataNotOpened(
            f"{path} has registries in directories of their own: give one of those, as in --data {below[0]}, or serve "
            "them all with --registry."
        )


def _unusable(address: Address, problem: Exception) -> DataNotOpened:
    """What hinders, and what to do about it."""
    cause = problem.__cause__ or problem
    reason = f"{cause.filename}: {cause.strerror}" if isinstance(cause, OSError) and cause.strerror else str(problem)
    kind = errorcode.get(getattr(cause, "errno", None) or 0, "") or getattr(cause, "sqlite_errorname", "")
    advice = next((advice for kinds, advice in _ADVICE if kind.startswith(kinds)), _RESTORE)
    return DataNotOpened(f"The data in {address} cannot be opened ({reason}); {advice}.")


_RESTORE = "restore the directory from a backup, or choose another one with --data"
_ADVICE = (
    (("EMFILE", "ENFILE"), "let the process open more files (ulimit -n), or stop what holds so many"),
    (("ENAMETOOLONG", "EEXIST", "ENOTDIR"), "choose another directory with --data"),
    (("ENOSPC", "EDQUOT", "EFBIG", "SQLITE_FULL"), "make room on the disk, or choose another directory with --data"),
    (
        ("EACCES", "EPERM", "EROFS", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM"),
        "see that all in it is yours to read and to write, or choose another directory with --data",
    ),
)
"""By how the system or SQLite call what went wrong."""


def pair(here: EmbeddedStore, there: EmbeddedStore) -> DirectoryPair:
    return DirectoryPair(here, there)


def is_handed_over(store: EmbeddedStore, key: BodyKey, guid: Guid, over: str) -> bool:  # noqa: ARG001 - as `kinds.StoreKind` has it
    """All but a tombstone: what an import leaves that is refused becomes one at once."""
    return not over


def adopt_keys(store: EmbeddedStore) -> int:  # noqa: ARG001 - as `kinds.StoreKind` calls it of each kind
    """None: they came with the promotion."""
    return 0
