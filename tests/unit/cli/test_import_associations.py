"""`sigla import` of a registry's URL brings the associations of its topics."""

import json
from pathlib import Path

import pytest

from sigla.cli import main
from sigla.ports.progress import unseen
from sigla.registry import Registry
from sigla.remote import associations
from sigla.remote.client import Remote
from sigla.stores.sqlite.store import EmbeddedStore
from tests.attack.associations import STRONG_ORDERS, WEAK_ORDERS, weak
from tests.build import FixedClock
from tests.unit.cli.answering import behind_a_url, registry

Captured = pytest.CaptureFixture[str]


def test_the_associations_of_a_registry_are_imported_from_its_url(tmp_path: Path, capsys: Captured) -> None:
    """Weak and strong ones, with their topics, GUIDs and times: clients find the subjects that they found before."""
    data = str(tmp_path / "data")
    with EmbeddedStore() as store:
        asked = Registry(store.catalog, store.bodies, FixedClock())
        for verb in (*WEAK_ORDERS, *STRONG_ORDERS):
            verb(asked)
        with behind_a_url(registry(asked)) as url:
            assert main(["import", url, "--data", data, "--dry-run", "--json"]) == 0
            assert json.loads(capsys.readouterr().out)["imported"]["association"] == 4
            assert main(["import", url, "--data", data, "--json"]) == 0
            assert json.loads(capsys.readouterr().out)["imported"]["association"] == 4
        with EmbeddedStore(Path(data)) as here:
            assert tuple(here.catalog.associations_named()) == tuple(store.catalog.associations_named())


def test_more_associations_than_a_page_are_read_to_the_end() -> None:
    """A thousand topics are not many."""
    with EmbeddedStore() as store:
        asked = Registry(store.catalog, store.bodies, FixedClock())
        for verb in (WEAK_ORDERS[0], *(weak(f"t{number}", "orders") for number in range(7))):
            verb(asked)
        with behind_a_url(registry(asked)) as url:
            found = associations.read(Remote(url, "", FixedClock()), unseen, page=3)
    assert len({record.key for record in found}) == 7
