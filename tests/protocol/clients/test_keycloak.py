"""Keycloak as an issuer, set up as docs/security.md says it: the server and Confluent's client are the real ones."""

import json
import resource
from collections.abc import Iterator

import jwt
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from sigla_pipelines.connectors.maven import Unavailable
from tests.protocol.clients import keycloak
from tests.protocol.clients.keycloak import SECRET, Keycloak
from tests.protocol.clients.server import Server, serving
from tests.protocol.clients.shop import ORDER, another, avro
from tests.protocol.clients.test_tokens import PYTHON, shown
from tests.protocol.test_auth import refusal
from tests.waiting import eventually

pytestmark = [pytest.mark.soak, pytest.mark.process]

MAP = (
    {"when": {"azp": "etl"}, "role": "writer", "subjects": ["orders-"]},
    {"when": {"groups": "data-eng"}, "role": "reader"},
)


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keycloak]:
    try:
        with keycloak.running(tmp_path_factory.mktemp("keycloak")) as issuer:
            yield issuer
    except Unavailable as reason:
        pytest.skip(str(reason))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"Keycloak and what asked it: {used.ru_utime + used.ru_stime:.0f} s of computing")


@pytest.fixture(scope="module")
def server(issuer: Keycloak, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """SIGLA_ISSUERS as the page has it: `issuer`, `audience`, and a map; keys are found by discovery."""
    told = [{"issuer": issuer.issuer, "audience": "sigla", "map": MAP}]
    trusted = {"SIGLA_ISSUERS": json.dumps(told), "SSL_CERT_FILE": str(issuer.authority.file)}
    with serving(tmp_path_factory.mktemp("data") / "data", settings=trusted) as server:
        yield server


@pytest.fixture
def client(server: Server, issuer: Keycloak, monkeypatch: pytest.MonkeyPatch) -> Iterator[SchemaRegistryClient]:
    """Confluent's, which asks Keycloak for its token by client credentials."""
    monkeypatch.setenv("SSL_CERT_FILE", str(issuer.authority.file))
    with another(
        server,
        bearer_auth_credentials_source="OAUTHBEARER",
        bearer_auth_issuer_endpoint_url=issuer.token_url,
        bearer_auth_client_id="etl",
        bearer_auth_client_secret=SECRET,
        bearer_auth_scope="sigla",
        **PYTHON,
    ) as client:
        yield client
        client._rest_client.bearer_field_provider.client.close()  # which it leaves open


def test_a_client_registers_with_a_token_of_keycloak(client: SchemaRegistryClient) -> None:
    """Within its prefixes, and nowhere else."""
    id = client.register_schema("orders-value", avro(ORDER))
    assert client.get_schema(id).schema_str
    with pytest.raises(SchemaRegistryError) as raised:
        client.register_schema("payments-value", avro(ORDER))
    assert refusal(raised.value) == (403, 40301)


def test_the_log_names_the_service_account(server: Server, issuer: Keycloak) -> None:
    """`sub` is in the scope `basic`, as a number of Keycloak's own: without that scope there would be no name."""
    token = issuer.token("etl")
    server.ask("GET", "/subjects", headers=shown(token))
    sub = jwt.decode(token, options={"verify_signature": False})["sub"]
    named = f'"principal":"{sub}@{issuer.issuer.removeprefix("https://")}"'
    server.wait_for(lambda server: named in server.output)


def test_groups_come_by_a_mapper(server: Server, issuer: Keycloak) -> None:
    """With *Full group path* off, so that the row says the group's name alone."""
    land = shown(issuer.token("land"))
    assert server.ask("GET", "/subjects", headers=land).status == 200
    assert server.ask("POST", "/subjects/orders-value/versions", {"schema": '"int"'}, headers=land).status == 403


def test_a_client_without_the_scope_is_not_let_in(server: Server, issuer: Keycloak) -> None:
    """Its token is for other services: Keycloak adds an audience by a mapper alone."""
    assert server.ask("GET", "/subjects", headers=shown(issuer.token("without-audience"))).status == 401


def test_keys_that_keycloak_rotates_are_picked_up(server: Server, issuer: Keycloak) -> None:
    """It signs with the new one at once; the registry asks again for an unknown key, every 30 seconds at most."""
    old = issuer.token("etl")
    assert server.ask("GET", "/subjects", headers=shown(old)).status == 200
    issuer.rotate(priority=200)
    new = issuer.token("etl")
    assert jwt.get_unverified_header(new)["kid"] != jwt.get_unverified_header(old)["kid"]
    eventually(lambda: server.ask("GET", "/subjects", headers=shown(new)).status == 200, pause_s=1.0)
    assert server.ask("GET", "/subjects", headers=shown(old)).status == 200, "the one before goes on being published"
