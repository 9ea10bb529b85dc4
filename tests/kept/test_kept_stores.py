"""What an earlier release wrote opens, is read as it was, is written to and scrubs clean: in a directory and in AWS."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sigla.auth.api_keys import Keys
from sigla.auth.credentials import BasicKeys
from sigla.auth.permissions import DELETE, READ, WRITE
from sigla.auth.rotation import rotate
from sigla.cli import main
from sigla.model import BodyKey, SchemaId, Search
from sigla.ports.store import Store
from sigla.registry import Registry
from sigla.stores.dynamodb.inventory import AwsInventory
from sigla.stores.dynamodb.marks import BucketMark, TableMark
from sigla.stores.dynamodb.zones import AwsZones
from sigla.stores.s3.api_keys import AwsKeys
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.flaws import KINDS, Flaw, Severity
from sigla.upkeep.mending import fix
from sigla.web import app
from tests.build import FixedClock, StoreOf
from tests.contract.aws import Account, AwsStores, moto
from tests.kept.stores import (
    IDENTITY,
    NAME,
    REGISTRY,
    SECRET,
    THREE,
    TWO,
    answers,
    read,
    restore_aws,
    restore_directory,
)
from tests.unit.aws.journaling import as_streamed, event_of, follower, journal_rows, told_rows
from tests.unit.registry.test_scrub import found_in
from tests.unit.web.conftest import Client

__all__ = ["moto"]

HERE = Path(__file__).parent
RELEASES = sorted(folder.parent.name for folder in HERE.glob("*/export.jsonl"))
EVERYTHING = Search(context=None)


@dataclass
class Kept:
    """A registry that an earlier release wrote, opened by this one. told: what that one answered."""

    holdings: Store
    keys: Keys
    told: list[Any]

    @property
    def registry(self) -> Registry:
        return Registry(self.holdings.catalog, self.holdings.bodies, self.holdings.clock)


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest) -> Path:
    return HERE / str(request.param)


@pytest.fixture
def data(release: Path, tmp_path: Path) -> Path:
    restore_directory(release, tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def in_aws(release: Path, moto: Account) -> AwsStores:
    return restore_aws(release, moto)


def later() -> FixedClock:
    """After all that is kept was written, and not so late that the journal would have expired."""
    clock = FixedClock()
    clock.time += 3_600_000
    return clock


@pytest.fixture(params=["directory", "aws"])
def kept(request: pytest.FixtureRequest, release: Path) -> Iterator[Kept]:
    its_own = release / str(request.param) / "answers.jsonl"
    told = read(its_own if its_own.exists() else release / "answers.jsonl")
    if request.param == "directory":
        data: Path = request.getfixturevalue("data")
        with EmbeddedStore(data) as store:
            held = StoreOf(store.catalog, store.bodies, store.journal, store.inventory, later())
            yield Kept(held, EmbeddedKeys(data), told)
        return
    stores: AwsStores = request.getfixturevalue("in_aws")
    objects = request.getfixturevalue("moto").objects
    inventory = AwsInventory(objects, stores.catalog, later(), registry=REGISTRY)
    held = StoreOf(stores.catalog, stores.bodies, stores.journal, inventory, later())
    yield Kept(held, AwsKeys(objects, registry=REGISTRY), told)
    stores.catalog.close()


def test_every_answer_is_the_one_that_release_gave(kept: Kept) -> None:
    """To the byte: subjects, ids, references, tombstones, settings, contexts, a displaced id, keys and a topic."""
    assert list(answers(kept.registry, [question for question, *_ in kept.told])) == kept.told


def test_it_is_written_to_and_no_id_is_given_twice(kept: Kept) -> None:
    """Versions, settings, deletes and imports go on where that release left off."""
    client, bodies = Client(app.build(kept.registry)), kept.holdings.inventory
    before = set(bodies.bodies())
    asked = [
        ("POST", "/subjects/orders/versions", {"schema": THREE}),
        ("POST", "/subjects/new/versions", {"schema": THREE.replace("Order", "New")}),
        ("POST", "/subjects/:.bank:using/versions", {"schema": TWO}),
        ("POST", "/subjects/:.other:orders/versions", {"schema": THREE, "id": 72, "version": 4}),
        ("PUT", "/config/:.bank:", {"compatibility": "NONE"}),
        ("PUT", "/mode/:.bank:pay", {"mode": "READWRITE"}),
        ("DELETE", "/subjects/old?permanent=true", None),
        ("DELETE", "/subjects/using", None),
    ]
    client("PUT", "/config/:.bank:", {"compatibility": "NONE"})
    for method, target, body in asked:
        told = client(method, target, body)
        assert told.status == 200, (target, told.text)
    given = sorted(set(bodies.bodies()) - before)
    assert [key for key in given if key.context == ".bank"] == [BodyKey(".bank", SchemaId(41))]
    assert all(key.id > max(one.id for one in before if one.context == key.context) for key in given)
    for flaw in wrong(kept):  # the one that was kept on purpose
        assert flaw.kind == "SECOND_NAME"
        assert fix(kept.holdings, flaw)
    assert wrong(kept) == []


def wrong(kept: Kept) -> list[Flaw]:
    """But for credentials of exporters, which no folder has."""
    found = [flaw for flaw in found_in(kept.holdings) if flaw.kind != "CREDENTIALS_MISSING"]
    return [flaw for flaw in found if KINDS[flaw.kind].severity is not Severity.INFO]


def test_its_key_opens_and_the_revoked_one_does_not(kept: Kept) -> None:
    who = BasicKeys(kept.keys, later())
    principal = who(basic(NAME, SECRET))
    assert principal is not None
    assert principal.name == NAME
    assert principal.may == (READ, WRITE, DELETE), "0.2.0 let writers delete, and an upgrade takes no right away"
    assert who(basic("revoked", SECRET)) is None


def test_its_key_is_rotated_and_keeps_what_it_may(kept: Kept) -> None:
    """The other secret opens what it has opened, and the kept one goes on for a while."""
    rotated = rotate(kept.keys, NAME, now=later().now(), lasts_ms=60_000)
    who = BasicKeys(kept.keys, later())
    assert rotated.key.form == 1, "0.2.0 goes on reading it"
    assert who(basic(NAME, SECRET)) == who(basic(NAME, rotated.secret)) == rotated.key.principal


def basic(name: str, secret: str) -> bytes:
    return b"Basic " + base64.b64encode(f"{name}:{secret}".encode())


def test_what_it_exported_is_imported_and_its_directory_exported_to_the_same_records(
    release: Path, data: Path, tmp_path: Path
) -> None:
    new, again = str(tmp_path / "new"), tmp_path / "again.jsonl"
    assert main(["import", str(release / "export.jsonl"), "--data", new]) == 0
    assert main(["scrub", "--settle", "0", "--data", new]) == 0
    assert main(["scrub", "--settle", "0", "--data", str(data), "--fix", "SECOND_NAME"]) == 0
    assert main(["export", str(again), "--data", str(data)]) == 0
    _, _, *records = (line | {"offset": 0} for line in read(again))  # after the two that tell of the second name
    assert records == [line | {"offset": 0} for line in read(release / "export.jsonl")]


def test_its_segments_are_imported(release: Path, in_aws: AwsStores, tmp_path: Path) -> None:
    """They lie in the bucket for ever, as the release wrote them."""
    for name, content in read(release / "aws/objects.jsonl"):
        if name.endswith(".jsonl"):
            (tmp_path / Path(name).name).write_text(content)
    assert main(["import", str(tmp_path), "--data", str(tmp_path / "data")]) == 0
    assert main(["scrub", "--settle", "0", "--data", str(tmp_path / "data")]) == 0


def test_its_journal_goes_on(in_aws: AwsStores) -> None:
    """Rows that had no segment yet get one, beside those of this release; none is told twice."""
    Client(app.build(Registry(in_aws.catalog, in_aws.bodies, later())))(
        "POST", "/subjects/orders/versions", {"schema": THREE}
    )
    with follower(in_aws, later()) as follow:
        done = follow(event_of(as_streamed(in_aws)))
    assert (done["rows"], done["aside"]) == (2, 0)
    assert all("segment" in row for row in journal_rows(in_aws).values())
    assert len(told_rows(in_aws)) == len(set(told_rows(in_aws)))


def test_its_zone_and_its_marks_are_read(in_aws: AwsStores, moto: Account) -> None:
    (zone,) = AwsZones(moto.dynamodb, in_aws.table, later(), registry=REGISTRY).list()
    assert (zone.id, zone.healthy) == ("use1-az1", True)
    assert TableMark(moto.dynamodb, in_aws.table, later(), registry=REGISTRY).read() == IDENTITY
    assert BucketMark(moto.objects, "bodies", registry=REGISTRY).read() == IDENTITY
