"""The adapters that the suites are run on."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from sigla.ports.audits import Audits
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.journal import Journal
from sigla.ports.log import Log
from sigla.ports.principals import Principals
from sigla.ports.reads import Reads
from sigla.ports.regions import Region
from sigla.stores.sqlite.store import EmbeddedStore
from tests.contract.aws import Account, account_of, engine, moto, of_two_parts

__all__ = ["engine", "moto"]

# One suite for each port: LocalStack takes five times as long for a call. DynamoDB's own engine judges in all suites,
# wherever it is installed; so do the tables of this process, which most other tests of AWS rest on.
FEW = {"test_bodies.py", "test_catalog.py", "test_journal.py"}
# Where all sixteen parts of a list are merged; others look at many lists, and not at how they are merged.
OF_LISTS = {"test_catalog_lists.py", "test_journal.py", "test_long_names.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if item.path.name in FEW or "aws-localstack" not in item.name]


class Stores(Protocol):
    """What an adapter provides: the three ports over one fresh registry."""

    @property
    def catalog(self) -> Catalog: ...
    @property
    def bodies(self) -> Bodies: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def log(self) -> Log: ...
    @property
    def principals(self) -> Principals: ...
    @property
    def reads(self) -> Reads: ...
    @property
    def audits(self) -> Audits: ...
    @property
    def region(self) -> Region: ...


@pytest.fixture(scope="session")
def localstack_account(localstack: str) -> Iterator[Account]:
    with account_of(localstack) as made:
        yield made


def on_disk(folder: Path, _: pytest.FixtureRequest) -> Iterator[Stores]:
    with EmbeddedStore(folder / "data") as store:
        yield store


def in_memory(_: Path, __: pytest.FixtureRequest) -> Iterator[Stores]:
    with EmbeddedStore() as store:
        yield store


def on_moto(_: Path, request: pytest.FixtureRequest) -> Iterator[Stores]:
    with request.getfixturevalue("moto").stores() as stores:
        yield stores


def on_engine(_: Path, request: pytest.FixtureRequest) -> Iterator[Stores]:
    with request.getfixturevalue("engine").stores() as stores:
        yield stores


def on_localstack(_: Path, request: pytest.FixtureRequest) -> Iterator[Stores]:
    with request.getfixturevalue("localstack_account").stores() as stores:
        yield stores


ADAPTERS: dict[str, Callable[[Path, pytest.FixtureRequest], Iterator[Stores]]] = {
    "embedded-disk": on_disk,
    "embedded-memory": in_memory,
    "aws-moto": on_moto,
    "aws-dynamodb": on_engine,
    "aws-localstack": on_localstack,
}


MARKS = {
    "aws-dynamodb": pytest.mark.process,
    "aws-localstack": pytest.mark.localstack,
}


@pytest.fixture(params=[pytest.param(name, marks=MARKS.get(name, ())) for name in ADAPTERS])
def stores(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    if request.path.name not in OF_LISTS:
        of_two_parts(monkeypatch)
    yield from ADAPTERS[request.param](tmp_path, request)


@pytest.fixture
def catalog(stores: Stores) -> Catalog:
    return stores.catalog


@pytest.fixture
def bodies(stores: Stores) -> Bodies:
    return stores.bodies


@pytest.fixture
def journal(stores: Stores) -> Journal:
    return stores.journal
