"""Exporters in a scrub: their rows, and the credentials that are kept for them, of which only names are looked at.

A flaw tells an exporter by its name, and credentials as EXPORTER/NONCE, the end of the parameter's name in AWS.
"""

from collections.abc import Iterator
from typing import Any, Final

from sigla.errors import StoreError
from sigla.exporters.nouns import Exporter
from sigla.ports.inventory import ProgressAlone, UnreadableRow
from sigla.ports.secrets import SecretName
from sigla.ports.store import Store

EXPORTER: Final = "EXPORTER"
PROGRESS: Final = "PROGRESS"
UNREADABLE: Final = "UNREADABLE"

Facts = tuple[Any, ...]

# --- gathering -------------------------------------------------------------------------------------------------------


def credentials_facts(store: Store) -> Iterator[Facts]:
    """Rows of `credentials`. Where they cannot be listed, a row says so, and the scrub goes on without them."""
    try:
        for kept in store.secrets.kept():
            yield *kept.name, True
    except StoreError:
        yield "", "", False


def exporter_facts(store: Store) -> Iterator[Facts]:
    """Rows of `exporter`."""
    for row in store.inventory.exporter_rows():
        match row:
            case UnreadableRow():
                yield UNREADABLE, row.place, ""
            case ProgressAlone():
                yield PROGRESS, row.exporter, ""
            case Exporter():
                yield EXPORTER, row.name, row.credentials


# --- looking again ---------------------------------------------------------------------------------------------------


def is_without_credentials(store: Store, exporter: str) -> bool:
    """The exporter before and after: its credentials are put before it names them, and go when it does not any more."""
    before = store.catalog.exporter(exporter)
    if before is None or not before.credentials:
        return False
    name = SecretName(exporter, before.credentials)
    return all(kept.name != name for kept in store.secrets.kept()) and store.catalog.exporter(exporter) == before


def is_left(store: Store, credentials: str, before: int) -> bool:
    """Whether no exporter names them, and they were put before that time: those of a change under way are younger."""
    name = secret_name(credentials)
    kept = next((each for each in store.secrets.kept() if each.name == name), None)
    return kept is not None and kept.ts < before and not _may_be_named(store, name)


def _may_be_named(store: Store, name: SecretName) -> bool:
    """A row that cannot be read may name any."""
    return any(
        isinstance(row, UnreadableRow) or (isinstance(row, Exporter) and SecretName(row.name, row.credentials) == name)
        for row in store.inventory.exporter_rows()
    )


def is_progress_alone(store: Store, exporter: str) -> bool:
    return ProgressAlone(exporter) in store.inventory.exporter_rows()


def secret_name(credentials: str) -> SecretName:
    exporter, _, nonce = credentials.rpartition("/")
    return SecretName(exporter, nonce)


# --- putting right ---------------------------------------------------------------------------------------------------


def drop_progress(store: Store, exporter: str) -> None:
    store.inventory.drop_progress(exporter)


def delete_credentials(store: Store, credentials: str) -> bool:
    """False where an exporter may name them by now."""
    name = secret_name(credentials)
    if _may_be_named(store, name):
        return False
    store.secrets.delete(name)
    return True
