"""Keys of AWS KMS: what is asked of it, with which credentials, and what a client is told when it refuses."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError, ReadTimeoutError

from sigla.aws.clients import Clients
from sigla.aws.kms import REFUSED, AwsKey
from sigla.effort import Limits
from sigla.keks.nouns import Algorithm, DekDraft, KekDraft
from sigla.keks.verbs.deks import create_dek, read_dek
from sigla.keks.verbs.keks import create_kek
from sigla.kms.drivers import Drivers
from sigla.kms.shared import SharedMaterials
from sigla.model import Subject, Version
from sigla.ports.kms import KmsDenied, KmsFailed, KmsKey
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from tests.contract.aws import AwsStores
from tests.contract.engines import in_process

RAW = b"\x1a\x10 sixteen octets "
FAR = "eu-central-1"
NOWHERE = f"arn:aws:kms:{FAR}:123456789012:key/0a1b2c3d-0000-4000-8000-000000000001"


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with in_process() as made:
        yield made


@pytest.fixture(scope="module")
def arn(clients: Clients) -> str:
    """The key is in another region than the registry."""
    return str(clients.kms(FAR).create_key()["KeyMetadata"]["Arn"])


def test_a_key_is_used_in_the_region_that_its_arn_names(clients: Clients, arn: str) -> None:
    """A KEK may live elsewhere than its registry."""
    service = Drivers(lambda: clients).service(KmsKey("aws-kms", arn, {}))
    wrapped = service.wrap(RAW)
    assert RAW not in wrapped
    assert service.unwrap(wrapped) == RAW


def test_calls_are_counted_as_all_calls_of_aws_are(clients: Clients, arn: str) -> None:
    """The line of a request says what it cost."""
    before = clients.calls.read()
    service = Drivers(lambda: clients).service(KmsKey("aws-kms", arn, {}))
    service.unwrap(service.wrap(RAW))
    assert clients.calls.read() - before == {"Encrypt": 1, "Decrypt": 1}


def test_one_client_is_made_for_a_kek_and_used_again(clients: Clients, arn: str, monkeypatch: Any) -> None:
    """Making one takes longer than a call."""
    made: list[tuple[object, ...]] = []
    make = clients.kms

    def counted(*asked: Any) -> Any:
        made.append(asked)
        return make(*asked)

    monkeypatch.setattr(clients, "kms", counted)
    drivers = Drivers(lambda: clients)
    own = {"access.key.id": "AKIDOWN", "secret.access.key": "own"}
    for props in ({}, {}, own, own):
        drivers.service(KmsKey("aws-kms", arn, props)).wrap(RAW)
    assert made == [(FAR, None, None), (FAR, "AKIDOWN", "own")]


def test_keys_of_one_region_share_a_client(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    """A company has a key for each team: each client costs a megabyte, and its first call a handshake."""
    made: list[str] = []
    make = clients.session.create_client

    def counted(service: str, **more: Any) -> Any:
        made.append(more["region_name"])
        return make(service, **more)

    monkeypatch.setattr(clients.session, "create_client", counted)
    drivers = Drivers(lambda: clients)
    for number in range(3):
        with pytest.raises(KmsFailed):
            drivers.service(KmsKey("aws-kms", f"arn:aws:kms:eu-north-1:123456789012:key/{number}", {})).wrap(RAW)
    assert made == ["eu-north-1"]


def test_credentials_of_the_kek_are_used_instead_of_the_servers(clients: Clients) -> None:
    client = clients.kms(FAR, "AKIDOWN", "own")
    credentials = client._request_signer._credentials
    assert (credentials.access_key, credentials.secret_key) == ("AKIDOWN", "own")


def test_a_key_that_is_not_there_is_a_failure_with_what_aws_says(clients: Clients) -> None:
    with pytest.raises(KmsFailed, match=r"^AWS KMS failed to encrypt: NotFoundException") as failed:
        Drivers(lambda: clients).service(KmsKey("aws-kms", NOWHERE, {})).wrap(RAW)
    assert not isinstance(failed.value, KmsDenied)


def test_bytes_of_another_key_are_not_unwrapped(clients: Clients, arn: str) -> None:
    """The bytes themselves say which key made them; the KEK decides."""
    other = clients.kms(FAR).create_key()["KeyMetadata"]["Arn"]
    wrapped = Drivers(lambda: clients).service(KmsKey("aws-kms", other, {})).wrap(RAW)
    asked: dict[str, object] = {}

    class Recording:
        def decrypt(self, **parameters: object) -> object:
            asked.update(parameters)
            return {"Plaintext": RAW}

    AwsKey(Recording(), arn).unwrap(wrapped)
    assert asked == {"KeyId": arn, "CiphertextBlob": wrapped}


@pytest.mark.parametrize(
    "id",
    [
        "arn:aws:kms:eu-west-1",
        "arn:aws:kms:evil.example/:111122223333:key/k",
        "arn:aws:kms:eu-west-1:111122223333:key/k@evil.example",
        "arn:aws:kms:eu-west-1:1:key/k",
        "alias/mine",
    ],
)
def test_an_address_that_is_no_arn_asks_nothing_of_anyone(clients: Clients, id: str) -> None:
    """The region becomes part of a host's name: a client must not choose which host a server calls."""
    with pytest.raises(KmsFailed, match="expected the ARN of a key"):
        Drivers(lambda: clients).service(KmsKey("aws-kms", id, {})).wrap(RAW)


@pytest.mark.parametrize("name", REFUSED)
def test_a_kek_does_not_choose_which_identity_of_the_server_it_borrows(clients: Clients, arn: str, name: str) -> None:
    """Else whoever writes KEKs could use every profile and every role that the server's machine can have."""
    with pytest.raises(KmsFailed, match=f"takes no {name} in kmsProps"):
        Drivers(lambda: clients).service(KmsKey("aws-kms", arn, {name: "x"})).wrap(RAW)


@pytest.mark.parametrize(
    "props",
    [
        {"access.key.id": "AKIDOWN"},
        {"access.key.id": "AKIDOWN", "secret.access.key": ""},
        {"access.key.id": "", "secret.access.key": "own"},
    ],
)
def test_half_of_a_credential_is_refused(clients: Clients, arn: str, props: dict[str, str]) -> None:
    """With the server's own credentials it would work, and look as if the KEK's did."""
    with pytest.raises(KmsFailed, match="belong together"):
        Drivers(lambda: clients).service(KmsKey("aws-kms", arn, props)).wrap(RAW)


def test_a_session_makes_one_client_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Botocore's sessions are not made for several threads, and keys of several regions may be first used at once."""
    clients, both = Clients(region=FAR), Barrier(2)
    make = clients.session.create_client
    met: list[int] = []

    def create(*asked: Any, **more: Any) -> Any:
        with suppress(BrokenBarrierError):
            met.append(both.wait(0.2))
        return make(*asked, **more)

    monkeypatch.setattr(clients.session, "create_client", create)
    with ThreadPoolExecutor(2) as threads:
        made = list(threads.map(lambda region: clients.kms(region, "AKIDOWN", "own"), (FAR, "eu-west-1")))
    assert met == []
    assert [each.meta.region_name for each in made] == [FAR, "eu-west-1"]


def test_the_last_of_silent_keys_is_given_up_before_the_front_door_is_closed(clients: Clients) -> None:
    """Behind API Gateway a client waits 29 s: by then it must have our sentence, and not the door's."""
    config = clients.kms(FAR).meta.config
    tries = config.retries["total_max_attempts"]
    pauses = sum(2**number for number in range(tries - 1))
    silent = tries * (config.connect_timeout + config.read_timeout) + pauses
    assert Limits().waiting_s + silent <= 29


DENIAL = "User: arn:aws:sts::111122223333:assumed-role/sigla/f is not authorized to perform: kms:Encrypt"


@pytest.mark.parametrize(
    "failure, kind, cause",
    [
        (
            ClientError({"Error": {"Code": "AccessDeniedException", "Message": DENIAL}}, "Encrypt"),
            KmsDenied,
            "AWS KMS denied Encrypt: AccessDeniedException",
        ),
        (NoCredentialsError(), KmsDenied, "AWS KMS cannot be called: Unable to locate credentials"),
        (
            ClientError({"Error": {"Code": "DisabledException", "Message": "k is disabled."}}, "Encrypt"),
            KmsFailed,
            "AWS KMS failed to encrypt: DisabledException: k is disabled.",
        ),
        (ReadTimeoutError(endpoint_url="http://x"), KmsFailed, "AWS KMS did not answer Encrypt: ReadTimeoutError"),
    ],
)
def test_a_denial_is_told_apart_and_gives_no_role_away(failure: Exception, kind: type[KmsFailed], cause: str) -> None:
    """A client learns that the server may not use the key, and not who the server is."""

    class Refusing:
        def encrypt(self, **_: object) -> object:
            raise failure

    with pytest.raises(KmsFailed) as refused:
        AwsKey(Refusing(), NOWHERE).wrap(RAW)
    assert (type(refused.value), refused.value.cause) == (kind, cause)


def test_a_data_key_whose_row_is_in_dynamodb_is_wrapped_by_kms(stores: AwsStores) -> None:
    """A registry in AWS from end to end; a read asks KMS once, and the row holds no raw key."""
    arn = str(stores.clients.kms(FAR).create_key()["KeyMetadata"]["Arn"])
    materials = SharedMaterials(Drivers(lambda: stores.clients))
    registry = Registry(stores.catalog, stores.bodies, SystemClock(), materials=materials)
    create_kek(registry, KekDraft("k", "aws-kms", arn, shared=True), test_sharing=True)
    made = create_dek(registry, "k", Subject(".", "orders"), DekDraft())
    before = stores.clients.calls.read()
    read = read_dek(registry, "k", Subject(".", "orders"), Version(1), Algorithm.AES256_GCM)
    asked = stores.clients.calls.read() - before
    assert (read.raw, read.dek.material) == (made.raw, made.dek.material)
    assert read.raw
    assert asked["Decrypt"] == 1
    rows = stores.dynamodb.scan(TableName=stores.table)["Items"]
    assert made.dek.material in repr(rows)
    assert read.raw not in repr(rows)
