"""Exporters in backups: their definitions come back, paused and without the keys of anything else."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sigla.backups import carrying
from sigla.cli import main
from sigla.exporters.verbs.asking import secret_settings, shown_config
from sigla.opening import writing
from sigla.registry import Registry
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from tests.attack.exporters import THERE, advanced, created, deleted, paused, updated
from tests.contract.aws import make_table, of_two_parts
from tests.contract.engines import BUCKET, REGION, in_process

SECRET = b"orders:secret"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with EmbeddedStore(tmp_path / "data") as store:
        registry = Registry(store.catalog, store.bodies, SystemClock(), secrets=store.secrets)
        for verb in (created("gone"), paused("gone"), deleted("gone"), created("e"), advanced("e"), created("open")):
            verb(registry)
    return tmp_path / "data"


def exporters(url: str) -> list[Any]:
    with writing(Address.read(url)) as opened:
        catalog, found = opened.store.catalog, []
        for each in catalog.exporters():
            progress = catalog.progress(each.name)
            assert progress is not None
            assert not secret_settings(opened.store.secrets, each)
            found.append((each.name, each.subjects, shown_config(each), progress.state.value, progress.position.offset))
        return found


SET_DOWN = [(name, ("*",), THERE, "PAUSED", 0) for name in ("e", "open")]


def test_a_restored_exporter_waits_and_has_no_credentials(data: Path, tmp_path: Path) -> None:
    """A copy that is tried out beside its original must not write to the same destination."""
    file = tmp_path / "backup.tar.gz"
    assert main(["backup", str(file), "--data", str(data)]) == 0
    assert SECRET not in gzip.decompress(file.read_bytes())
    assert main(["restore", str(file), str(tmp_path / "copy")]) == 0
    assert exporters(f"file:{tmp_path / 'copy'}") == SET_DOWN
    with EmbeddedStore(data) as store:
        standing = store.catalog.exporter("e")
        assert standing is not None
        assert secret_settings(store.secrets, standing), "the original goes on"


def test_a_backup_of_an_earlier_moment_has_the_exporters_of_then(data: Path, tmp_path: Path) -> None:
    """What was deleted since is there again, and what was changed is as it was."""
    file = tmp_path / "backup.tar.gz"
    assert main(["backup", str(file), "--data", str(data), "--until", "1"]) == 0
    assert main(["restore", str(file), str(tmp_path / "copy")]) == 0
    assert exporters(f"file:{tmp_path / 'copy'}") == [("gone", ("*",), THERE, "PAUSED", 0)]


@pytest.fixture
def store_url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A table and a bucket of nothing."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setattr(carrying, "SIDE_BY_SIDE", 1)
    of_two_parts(monkeypatch)
    with in_process() as clients:
        yield f"dynamodb+s3://{make_table(clients.dynamodb)}/{BUCKET}"


def test_exporters_go_to_aws_and_come_back(data: Path, tmp_path: Path, store_url: str) -> None:
    """A registry moves with all that it has but the credentials, which are given anew."""
    there, back = str(tmp_path / "there.tar.gz"), str(tmp_path / "back.tar.gz")
    assert main(["init", "--store", store_url, "--identity", "a" * 32]) == 0
    assert main(["backup", there, "--data", str(data)]) == 0
    assert main(["restore", there, "--store", store_url]) == 0
    assert exporters(store_url) == SET_DOWN
    with writing(Address.read(store_url)) as opened:
        allowing = replace(opened.registry, options=replace(opened.registry.options, no_exporters=""))
        updated("e", subjects=("a*",), config={**THERE, "basic.auth.user.info": SECRET.decode()})(allowing)
    assert main(["backup", back, "--store", store_url]) == 0
    assert SECRET not in gzip.decompress(Path(back).read_bytes())
    assert main(["restore", back, str(tmp_path / "back")]) == 0
    assert exporters(f"file:{tmp_path / 'back'}") == [("e", ("a*",), THERE, "PAUSED", 0), SET_DOWN[1]]
