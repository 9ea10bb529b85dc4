"""DynamoDB falls silent while records come: they land by what it said last, for as long as the settings allow."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from sigla import forms, keys, opening
from sigla.aws.clients import Clients
from sigla.errors import FormTooNew
from sigla.model import BodyKey, Draft, SchemaId, Subject
from sigla.settings import Address
from sigla_pipelines.land.batch import Batch
from sigla_pipelines.land.driver import Driver, driver
from sigla_pipelines.land.landed import Landed
from sigla_pipelines.land.manifest import Entry, Manifest
from sigla_pipelines.land.outputs import Outputs
from sigla_pipelines.land.reader_schemas import NoHead
from sigla_pipelines.land.readers import Readers
from sigla_pipelines.land.schemas import Schemas
from sigla_pipelines.land.settings import parse_landing
from sigla_pipelines.land.task import Task
from sigla_pipelines.land.transform import land_share
from tests.build import FixedClock, a_body
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION, in_process
from tests.pipelines.land.world import framed, raw

pytestmark = pytest.mark.usefixtures("unsynced")

ORDERS = Subject(".", "orders-value")
HOUR_MS = 3_600_000
NOBODY = "http://127.0.0.1:9"
"""Where connections are refused."""
ORDER, LATER = (
    json.dumps({"type": "record", "name": "Order", "doc": doc, "fields": [{"name": "n", "type": "int"}]})
    for doc in ("", "later")
)
PAYLOAD = b"\2"


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    """A registry in a table and a bucket; the id 1 is the topic's."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with in_process() as clients:
        where = Address.of(bucket=BUCKET, table=make_table(clients.dynamodb))
        with opening.writing(where) as writing:
            assert writing.registry.register(ORDERS, Draft(ORDER)).id == 1
        yield where


@pytest.fixture
def clock() -> FixedClock:
    """It stands still until it is moved."""
    return FixedClock()


@pytest.fixture
def landing(address: Address, tmp_path: Path, clock: FixedClock) -> Driver:
    return a_driver(address, tmp_path, "latest", clock)


def a_driver(address: Address, folder: Path, reader: Any, clock: FixedClock, **binding: str) -> Driver:
    form = {
        "registry": dict(zip(("table", "bucket"), address.names, strict=True)),
        "source": {"kind": "files", "path": str(folder)},
        "bind": [{"topic": "orders", "reader": reader} | binding],
        "sink": {"kind": "parquet", "lake": str(folder / "lake")},
        "work": str(folder / "work"),
        "max_stale": "1h",
    }
    return replace(driver(parse_landing(yaml.safe_dump(form), "land.yaml")), clock=clock)


def land(landing: Driver, number: int, *ids: int) -> Manifest:
    """A batch of records with these ids."""
    records = raw([framed(id, PAYLOAD) for id in ids], *landing.landing.topics)

    def tasks(task: Task) -> Sequence[Landed]:
        with opening.bodies(task.registry) as bodies:
            readers = Readers(Schemas(bodies, task.plan.context), task.plan.checks.limits)
            outputs = Outputs(task.lake, task.plan.query, task.plan.batch, task.format)
            return [land_share([records], task.plan, readers, outputs, task.now)]

    return landing.land(Batch("q", number, entries=(Entry(str(number), "", 0, len(ids)),)), tasks)


def silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", NOBODY)


def register_behind_its_back(address: Address, id: int) -> None:
    """What another instance has registered meanwhile: S3 has the body, and the table cannot say whose it is."""
    with opening.bodies(address) as bodies:
        bodies.put(BodyKey(".", SchemaId(id)), a_body(LATER))


def test_a_silent_table_is_what_it_said_last_until_that_is_too_old(
    landing: Driver, address: Address, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not land(landing, 0, 1).reads[0].stale
    silence(monkeypatch)
    register_behind_its_back(address, 2)
    clock.time += HOUR_MS
    manifest = land(landing, 1, 1, 2, 3)
    assert (manifest.counts.landed, manifest.counts.quarantined) == (2, 1)
    assert manifest.reads[0].stale
    assert {each.schema_id: each.unchecked for each in manifest.metrics if not each.reason} == {1: 0, 2: 1}
    assert [each.reason for each in manifest.metrics if each.schema_id == 3] == ["UNKNOWN_ID"]
    clock.time += 1
    with pytest.raises(NoHead, match=r"does not answer.*older than `max_stale`: raise `max_stale`, or wait"):
        land(landing, 2, 1)


@pytest.mark.parametrize("binding", [{"topic": "payments"}, {"strategy": "TopicRecordName"}], ids=str)
def test_a_subject_that_is_newer_than_the_answer_is_waited_for(
    binding: dict[str, str], address: Address, clock: FixedClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its records belong to it is said when the table answers."""
    landing = a_driver(address, tmp_path, "latest", clock, **binding)
    land(landing, 0)
    with monkeypatch.context() as patched:
        silence(patched)
        assert land(landing, 1).counts.read == 0
        with pytest.raises(
            NoHead, match=r"records of subject \S+, .* its last answer does not know this subject: wait"
        ):
            land(landing, 2, 1)
    assert [each.reason for each in land(landing, 2, 1).metrics] == ["NOT_IN_SUBJECT"]


def test_when_the_table_answers_again_nothing_is_unchecked(
    landing: Driver, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A foreign schema is then not a member."""
    land(landing, 0, 1)
    with monkeypatch.context() as patched:
        silence(patched)
        land(landing, 1, 1)
    register_behind_its_back(address, 2)
    manifest = land(landing, 2, 1, 2)
    assert not manifest.reads[0].stale
    assert [each.reason for each in manifest.metrics if each.schema_id == 2] == ["NOT_IN_SUBJECT"]


def test_a_table_that_a_newer_release_wrote_is_not_waited_for(address: Address, landing: Driver) -> None:
    """The last answer is for silences that pass; here something is to be installed."""
    land(landing, 0, 1)
    head = {"pk": {"S": keys.subject_pk("default", ORDERS)}, "sk": {"S": keys.HEAD}}
    with closing(Clients()) as clients:
        item = clients.dynamodb.get_item(TableName=address.names[0], Key=head)["Item"]
        clients.dynamodb.put_item(
            TableName=address.names[0], Item=item | {"form": {"N": str(forms.ITEM_OF_REGIONS + 1)}}
        )
    with pytest.raises(FormTooNew, match=r"item HEAD of .* install that release or a later one"):
        land(landing, 1, 1)


def test_a_first_start_beside_a_silent_table_needs_a_reader_that_is_an_id(
    address: Address, clock: FixedClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silence(monkeypatch)
    for reader in ("latest", {"version": 1}):
        with pytest.raises(NoHead, match=r"nothing has been landed here before: pin the reader"):
            land(a_driver(address, tmp_path, reader, clock), 0, 1)
    assert land(a_driver(address, tmp_path, {"id": 1}, clock), 0, 1).counts.landed == 1
