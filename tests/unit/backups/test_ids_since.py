"""What is made of a backup gives no id that another region, or the registry itself, may have given since."""

from pathlib import Path

from sigla.aws.clients import Clients
from sigla.cli import main
from sigla.model import BodyKey, SchemaId
from sigla.opening import writing
from sigla.regions import rules
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.settings import Address
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import a_body, a_text
from tests.contract.aws import make_table
from tests.unit.backups.test_carried import _short_lists, bucket, clients, data
from tests.unit.registry.tell import ONE, register

__all__ = ["_short_lists", "bucket", "clients", "data"]

FOLLOWS = Role(1, RegionKind.FOLLOWER, peer=KnownBy(url="http://a"), name="b", pair="p")


def next_id(url: str) -> int:
    with writing(Address.read(url)) as opened:
        return opened.store.catalog.next_id(".")


def test_one_of_two_regions_becomes_a_registry_in_aws_that_gives_no_id_of_theirs(
    clients: Clients, bucket: str, data: Path
) -> None:
    """The other one has handed over a schema, and has given ids since."""
    file, store = f"{data}.tar.gz", f"dynamodb+s3://{make_table(clients.dynamodb)}/{bucket}"
    with EmbeddedStore(data) as held:
        handed = BodyKey(".", SchemaId(held.catalog.max_id(".") + 7))
        held.bodies.put(handed, a_body(a_text("Handed")))
        assert held.region.set_role(None, FOLLOWS)
    assert main(["backup", file, "--data", str(data)]) == 0
    assert main(["restore", file, "--store", store, "--skip-ids", "0"]) == 0
    assert next_id(store) == rules.granted(2) + 1


def test_a_table_of_two_regions_becomes_a_registry_that_gives_no_id_of_theirs(
    clients: Clients, bucket: str, tmp_path: Path
) -> None:
    file, store = str(tmp_path / "file"), f"dynamodb+s3://{make_table(clients.dynamodb)}/{bucket}"
    with writing(Address.read(store)) as opened:
        register(opened.registry, "orders", ONE)
        assert opened.store.region.set_role(None, FOLLOWS)
    assert main(["backup", file, "--store", store]) == 0
    assert main(["restore", file, str(tmp_path / "restored"), "--skip-ids", "0"]) == 0
    assert next_id(f"file:{tmp_path / 'restored'}") == rules.granted(2) + 1


def test_ids_of_a_table_that_is_behind_its_bucket_are_not_given_twice(
    clients: Clients, bucket: str, tmp_path: Path
) -> None:
    """DynamoDB has restored it to an earlier moment; the bucket keeps what was registered since."""
    file, store = str(tmp_path / "file"), f"dynamodb+s3://{make_table(clients.dynamodb)}/{bucket}"
    with writing(Address.read(store)) as opened:
        register(opened.registry, "orders", ONE)
        opened.store.bodies.put(BodyKey(".", SchemaId(5)), a_body(a_text("Since")))
    assert main(["backup", file, "--store", store]) == 0
    assert main(["restore", file, str(tmp_path / "restored"), "--skip-ids", "0"]) == 0
    assert next_id(f"file:{tmp_path / 'restored'}") == 6
