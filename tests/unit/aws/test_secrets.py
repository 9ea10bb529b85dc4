"""Credentials of exporters in the parameter store: encrypted, below the name of the registry's table."""

import time
from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from sigla.aws.clients import Clients
from sigla.aws.secrets import AwsSecrets
from sigla.errors import StoreError
from sigla.exporters.nouns import Credentials
from sigla.ports.secrets import SecretName
from tests.contract.engines import in_process

NAME = SecretName("orders-1", "0a1b")
CREDENTIALS = Credentials({"basic.auth.user.info": "orders:é-secret"})


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    with in_process() as made:
        yield made


@pytest.fixture
def secrets(clients: Clients) -> AwsSecrets:
    return AwsSecrets(clients, "schemas", registry="Orders é")


def test_credentials_are_encrypted_below_the_name_of_the_table(clients: Clients, secrets: AwsSecrets) -> None:
    """A role is given the parameters of its own table, and no others."""
    secrets.put(NAME, CREDENTIALS)
    secrets.put(NAME, CREDENTIALS)  # its answer got lost
    assert secrets.get(NAME) == CREDENTIALS
    (found,) = clients.ssm.describe_parameters()["Parameters"]
    assert found["Name"] == "/sigla/schemas/Orders.20.C3.A9/orders-1/0a1b"
    assert found["Type"] == "SecureString"
    assert AwsSecrets(clients, "schemas").get(NAME) is None
    assert AwsSecrets(clients, "others", registry="Orders é").get(NAME) is None


def test_credentials_are_encrypted_by_the_key_that_settings_name(clients: Clients) -> None:
    """An organisation that has one key for all that is stored means its secrets first."""
    key = "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000001"
    AwsSecrets(clients, "encrypted", key=key).put(NAME, CREDENTIALS)
    with_name = [{"Key": "Name", "Option": "BeginsWith", "Values": ["/sigla/encrypted/"]}]
    (found,) = clients.ssm.describe_parameters(ParameterFilters=with_name)["Parameters"]
    assert found["KeyId"] == key
    assert AwsSecrets(clients, "encrypted").get(NAME) == CREDENTIALS


def test_deleted_credentials_are_gone(secrets: AwsSecrets) -> None:
    """They would outlive what they were for."""
    secrets.put(NAME, CREDENTIALS)
    secrets.delete(NAME)
    assert secrets.get(NAME) is None
    secrets.delete(NAME)


def test_a_list_has_all_credentials_of_the_registry_and_no_others(clients: Clients) -> None:
    """More than a page of them; what a person has put beside them is not ours."""
    secrets = AwsSecrets(clients, "listed", registry="Orders é")
    names = {SecretName(exporter, f"{number:x}") for exporter in ("orders", "A.b-_é") for number in range(12)}
    for name in names:
        secrets.put(name, CREDENTIALS)
    for other in (AwsSecrets(clients, "listed"), AwsSecrets(clients, "list", registry="Orders é")):
        other.put(NAME, CREDENTIALS)
    path = "/sigla/listed/Orders.20.C3.A9"
    for foreign in ("notes", "a/b/c"):
        clients.ssm.put_parameter(Name=f"{path}/{foreign}", Value="mine", Type="String")
    begun = time.time() * 1000 - 60_000
    found = list(secrets.kept())
    assert {each.name for each in found} == names
    assert len(found) == len(names)
    assert all(begun < each.ts < begun + 120_000 for each in found)
    assert "secret" not in repr(found)


def test_a_parameter_store_that_does_not_answer_is_a_store_that_failed(
    clients: Clients, secrets: AwsSecrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client is told 50001, and no secret is in the sentence."""

    def refuse(**_: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "not permitted"}}, "PutParameter")

    def be_silent(**_: object) -> None:
        raise EndpointConnectionError(endpoint_url="https://ssm")

    for failing in (refuse, be_silent):
        monkeypatch.setattr(clients.ssm, "put_parameter", failing)
        with pytest.raises(StoreError, match="writing the credentials of the exporter orders-1") as failed:
            secrets.put(NAME, CREDENTIALS)
        assert "secret" not in str(failed.value)
