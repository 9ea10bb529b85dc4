"""Shared KEKs as clients meet them: the server makes, wraps and unwraps data keys, and keeps none."""

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sigla.changes import Change, DeksChanged
from sigla.errors import Conflict
from sigla.kms.alternates import ALTERNATES
from sigla.kms.drivers import Drivers
from sigla.kms.local import LocalKey
from sigla.kms.shared import SharedMaterials
from sigla.model import BodyKey
from sigla.ports.catalog import Catalog
from sigla.ports.in_front import CatalogInFront
from sigla.ports.kms import KeyService, KeyServices, KmsDenied, KmsFailed, KmsKey
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from tests.build import FixedClock
from tests.unit.web.conftest import Client, Response

K = "/dek-registry/v1/keks"
DEKS = f"{K}/k/deks"
JUNK = b64encode(b"junk that nobody wrapped, of a good length").decode()


def no_clients() -> Any:
    pytest.fail("AWS is not asked for a key of local-kms")


def client_of(store: EmbeddedStore, services: KeyServices, catalog: Catalog | None = None) -> Client:
    """catalog: what stands in front of the store's own."""
    materials = SharedMaterials(services)
    return Client(app.build(Registry(catalog or store.catalog, store.bodies, FixedClock(), materials=materials)))


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore() as store:
        yield store


@pytest.fixture
def client(store: EmbeddedStore) -> Client:
    return client_of(store, Drivers(no_clients))


def make_kek(client: Client, **fields: Any) -> Response:
    query = f"?testSharing={str(fields.pop('testSharing')).lower()}" if "testSharing" in fields else ""
    kek = {"name": "k", "kmsType": "local-kms", "kmsKeyId": "id", "kmsProps": {"secret": "s"}, "shared": True}
    return client("POST", K + query, kek | fields)


def make_dek(client: Client, subject: str = "orders", query: str = "", **fields: Any) -> Response:
    return client("POST", f"{DEKS}/{subject}{query}", fields)


def wrapped(raw: bytes, secret: str = "s") -> str:
    return b64encode(LocalKey(secret).wrap(raw)).decode()


RAW = b"\x1a\x10sixteen octets !"


@pytest.mark.parametrize("algorithm, length", [("AES128_GCM", 18), ("AES256_GCM", 34), ("AES256_SIV", 66)])
def test_the_server_makes_a_key_and_tells_the_same_one_ever_after(client: Client, algorithm: str, length: int) -> None:
    """A client of a shared KEK needs no key service: what it encrypts today is decrypted with what is told tomorrow."""
    make_kek(client)
    made = make_dek(client, algorithm=algorithm)
    assert made.status == 200
    raw = b64decode(made.json["keyMaterial"])
    assert len(raw) == length
    assert LocalKey("s").unwrap(b64decode(made.json["encryptedKeyMaterial"])) == raw
    read = client("GET", f"{DEKS}/orders/versions/1?algorithm={algorithm}")
    assert read.json == made.json
    assert client("GET", f"{DEKS}/orders?algorithm={algorithm}").json == made.json


def test_material_of_a_client_is_unwrapped_once_before_it_is_kept(client: Client) -> None:
    """Else the first reader would find that it cannot read."""
    make_kek(client)
    made = make_dek(client, encryptedKeyMaterial=wrapped(RAW))
    assert (made.status, b64decode(made.json["keyMaterial"])) == (200, RAW)
    for material in (JUNK, wrapped(RAW, "of another")):
        refused = make_dek(client, "payments", encryptedKeyMaterial=material).refusal
        assert refused[:2] == (500, 50070)
        assert refused[2].startswith("Could not generate raw dek for payments: ")
    assert client("GET", f"{DEKS}/payments/versions").json == []


def test_what_is_no_data_key_is_not_decrypted_for_a_client(client: Client) -> None:
    """A key of a key service may have encrypted other things: a registry must not read them for its clients."""
    make_kek(client)
    refused = make_dek(client, encryptedKeyMaterial=wrapped(b"the password of the database")).refusal
    assert refused == (500, 50070, "Could not generate raw dek for orders: what the material holds is not a data key")


@pytest.mark.parametrize("material", ["no base64", "ä", "A", "====", "QUJD\n"])
def test_material_that_is_no_base64_is_the_clients_mistake(client: Client, material: str) -> None:
    make_kek(client)
    assert make_dek(client, encryptedKeyMaterial=material).refusal == (
        422,
        42271,
        "Invalid or missing value for field 'encryptedKeyMaterial' of key",
    )


def test_a_rewrap_changes_the_wrapping_and_never_the_key(client: Client) -> None:
    """After a key of the key service was rotated, data stay readable."""
    make_kek(client)
    first = make_dek(client).json
    again = make_dek(client, query="?rewrap=true").json
    assert again["encryptedKeyMaterial"] != first["encryptedKeyMaterial"]
    assert again["keyMaterial"] == first["keyMaterial"]
    taken = make_dek(client, query="?rewrap=true", encryptedKeyMaterial=wrapped(RAW))
    assert taken.refusal == (409, 40971, "Key 'orders' already exists; use a different value")
    assert make_dek(client, "new", query="?rewrap=true").json["keyMaterial"]


def test_a_key_that_is_no_longer_shared_is_told_to_no_client(client: Client) -> None:
    """And shared again, it is: nothing of it was lost, or kept in the clear."""
    make_kek(client)
    raw = make_dek(client).json["keyMaterial"]
    client("PUT", f"{K}/k", {"shared": False})
    assert "keyMaterial" not in client("GET", f"{DEKS}/orders").json
    assert make_dek(client, "payments").refusal[1] == 42271
    client("PUT", f"{K}/k", {"shared": True})
    assert client("GET", f"{DEKS}/orders").json["keyMaterial"] == raw


def test_an_import_is_taken_as_it_is(client: Client) -> None:
    """The key service of another place need not be there on the day of the move."""
    make_kek(client)
    client("PUT", "/mode", {"mode": "IMPORT"})
    taken = make_dek(client, encryptedKeyMaterial=JUNK)
    assert (taken.status, "keyMaterial" in taken.json) == (200, False)
    assert client("GET", f"{DEKS}/orders").refusal[:2] == (500, 50070)


def test_a_delete_asks_no_key_service(client: Client) -> None:
    """A key that is lost must not keep its DEKs from being removed."""
    make_kek(client)
    make_dek(client)
    client("PUT", f"{K}/k", {"kmsProps": {"secret": "lost"}})
    assert client("GET", f"{DEKS}/orders").refusal[:2] == (500, 50070)
    assert client("DELETE", f"{DEKS}/orders/versions/1").status == 204
    assert client("POST", f"{DEKS}/orders/versions/1/undelete").status == 204


def test_changed_settings_count_at_once(client: Client) -> None:
    """No restart for a new credential."""
    make_kek(client)
    raw = make_dek(client).json["keyMaterial"]
    client("PUT", f"{K}/k", {"kmsProps": {"secret": "other"}})
    assert client("GET", f"{DEKS}/orders").status == 500
    client("PUT", f"{K}/k", {"kmsProps": {"secret": "s", ALTERNATES: "two"}})
    assert client("GET", f"{DEKS}/orders").json["keyMaterial"] == raw


@pytest.mark.parametrize("kind, hint", [("azure-kms", True), ("gcp-kms", True), ("hcvault", True), ("own", False)])
def test_a_type_without_a_driver_is_served_and_cannot_be_shared(client: Client, kind: str, hint: bool) -> None:
    """Clients wrap with it by themselves, and are told so where they thought that the server would."""
    id = {"azure-kms": "https://v/k", "gcp-kms": "projects/p", "hcvault": "https://v"}.get(kind, "k")
    refused = make_kek(client, kmsType=kind, kmsKeyId=id, testSharing=True).refusal
    assert refused[:2] == (500, 50070)
    assert refused[2].startswith(f"Could not generate encrypted dek for __TEST: No KMS driver supports: {kind}://{id}")
    assert ("set shared to false" in refused[2]) is hint
    assert client("GET", f"{K}/k").status == 404
    assert make_kek(client, kmsType=kind, kmsKeyId=id, shared=False, testSharing=True).status == 200
    assert make_dek(client, encryptedKeyMaterial="AAAA").status == 200


def test_a_trial_is_made_before_a_kek_is_written(client: Client) -> None:
    """A wrong credential is found by the operator who typed it, and not by a producer at night."""
    refused = make_kek(client, kmsProps=None, testSharing=True).refusal
    assert refused[:2] == (500, 50070)
    assert client("GET", f"{K}/k").status == 404
    assert make_kek(client, testSharing=True).status == 200
    refused = client("PUT", f"{K}/k?testSharing=true", {"kmsProps": {}}).refusal
    assert refused[:2] == (500, 50070)
    assert client("GET", f"{K}/k").json["kmsProps"] == {"secret": "s"}


def test_a_kek_that_stands_is_tried_on_demand(client: Client) -> None:
    assert client("POST", f"{K}/k/test").refusal[:2] == (404, 40470)
    kek = make_kek(client).json
    tried = client("POST", f"{K}/k/test", b"{bad")
    assert (tried.status, tried.json) == (200, kek)
    client("PUT", f"{K}/k", {"shared": False})
    assert client("POST", f"{K}/k/test").refusal[1:] == (42271, "Invalid or missing value for field 'shared' of key")


class Denying(KeyServices):
    """A key service that answers 403 to all."""

    def service(self, key: KmsKey) -> KeyService:
        raise KmsDenied(f"no access to {key}")


def test_a_denial_is_the_clients_to_know(store: EmbeddedStore, client: Client) -> None:
    """The server works: an operator has to grant something."""
    make_kek(client)
    make_dek(client)
    denied = client_of(store, Denying())
    assert denied("POST", f"{K}/k/test").refusal == (
        403,
        40370,
        "Could not generate encrypted dek for __TEST: no access to local-kms://id",
    )
    assert denied("GET", f"{DEKS}/orders").refusal[:2] == (403, 40370)


def test_why_a_key_service_failed_is_in_the_log(store: EmbeddedStore) -> None:
    """A client may keep the answer to itself; an operator has to learn it, and no secret."""
    told: list[Mapping[str, object]] = []

    class Down(KeyServices):
        def service(self, key: KmsKey) -> KeyService:
            raise KmsFailed(f"{key} does not answer")

    for services in (Drivers(no_clients), Down(), Denying()):
        registry = Registry(store.catalog, store.bodies, FixedClock(), materials=SharedMaterials(services))
        client = Client(app.build(registry, options=app.HttpOptions(log_failure=told.append)))
        make_kek(client)
        make_dek(client, encryptedKeyMaterial=JUNK)
    assert [facts["event"] for facts in told] == ["failure"] * 3
    reasons = [str(facts["reason"]) for facts in told]
    assert ["wrapped with this secret" in reasons[0], "does not answer" in reasons[1], "no access" in reasons[2]] == [
        True,
        True,
        True,
    ]
    assert "kmsProps" not in str(told)


class Counting(KeyServices):
    """Those of this process. asked: how often a key was wrapped or unwrapped."""

    def __init__(self) -> None:
        self._drivers = Drivers(no_clients)
        self.asked = 0

    def service(self, key: KmsKey) -> KeyService:
        self.asked += 1
        return self._drivers.service(key)


class Contended(CatalogInFront):
    """Other writers of DEKs are a moment faster, so many times."""

    def __init__(self, catalog: Catalog, losses: int) -> None:
        super().__init__(catalog)
        self.losses = losses

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        if isinstance(change, DeksChanged) and self.losses:
            self.losses -= 1
            raise Conflict
        return super().commit(change)


def test_a_race_that_is_lost_asks_the_key_service_no_second_time(store: EmbeddedStore, client: Client) -> None:
    """A thousand topics that meet their KEK at once lose many of them, and each call takes time and costs money."""
    make_kek(client)
    counting, contended = Counting(), Contended(store.catalog, 3)
    made = make_dek(client_of(store, counting, contended))
    assert (made.status, contended.losses, counting.asked) == (200, 0, 1)
    assert make_dek(client, query="?rewrap=true").json["keyMaterial"] == made.json["keyMaterial"]


def test_answers_with_a_secret_are_not_for_caches(client: Client) -> None:
    """A proxy that keeps answers for a while would keep raw keys, and hand them to others."""
    secret = [
        make_kek(client),
        make_dek(client),
        client("GET", f"{DEKS}/orders"),
        client("GET", f"{DEKS}/orders/versions/1"),
        client("GET", f"{K}/k"),
    ]
    assert {each.headers.get("cache-control") for each in secret} == {"no-store"}
    client("PUT", f"{K}/k", {"shared": False, "kmsProps": None})
    plain = [client("GET", f"{K}/k"), client("GET", f"{DEKS}/orders"), client("GET", f"{DEKS}/orders/versions")]
    assert {each.headers.get("cache-control") for each in plain} == {None}


def test_no_raw_key_is_stored(tmp_path: Path) -> None:
    """Whoever has a copy of the data, the journal included, has no key of it."""
    with EmbeddedStore(tmp_path / "data") as store:
        client = client_of(store, Drivers(no_clients))
        make_kek(client)
        raw = make_dek(client).json["keyMaterial"]
        make_dek(client, query="?rewrap=true")
        client("GET", f"{DEKS}/orders")
    kept = b"".join(each.read_bytes() for each in (tmp_path / "data").rglob("*") if each.is_file())
    assert b"encryptedKeyMaterial" in kept
    assert raw.encode() not in kept
    assert b64decode(raw)[2:] not in kept
