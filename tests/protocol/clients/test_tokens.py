"""Tokens as people use them: a real issuer over HTTPS, the real server, Confluent's own clients."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from tests import npm
from tests.certificates import Authority
from tests.issuer import SIGNS, Published, publishing
from tests.protocol.clients.server import Server, serving
from tests.protocol.clients.shop import ORDER, another, avro
from tests.protocol.clients.test_javascript_client import NODE
from tests.protocol.test_auth import a_key, refusal

ROWS = (
    {"when": {"groups": "data-eng"}, "role": "writer", "subjects": ["orders-"]},
    {"when": {"sub": "shop"}, "role": "writer"},
    {"when": {"sub": "arn:aws:iam::111122223333:role/etl"}, "role": "reader"},
)
PYTHON = {"bearer_auth_logical_cluster": "lsrc-1", "bearer_auth_identity_pool_id": "pool-1"}
"""What the client insists on, and this registry passes by."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.made(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def issuer(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    with publishing(authority.pair(tmp_path_factory.mktemp("pair"))) as issuer:
        yield issuer


@contextmanager
def believing(issuer: Published, authority: Authority, data: Path | None = None, **more: Any) -> Iterator[Server]:
    """A registry that takes tokens of the issuer, and trusts its certificate. more: of the setting."""
    settings = {"SIGLA_ISSUERS": json.dumps([issuer.setting(*ROWS, **more)]), "SSL_CERT_FILE": str(authority.file)}
    with serving(data, settings=settings) as server:
        yield server


@pytest.fixture(scope="module")
def server(issuer: Published, authority: Authority) -> Iterator[Server]:
    with believing(issuer, authority) as server:
        yield server


def shown(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def of_the_shop(issuer: Published, kid: str = "rsa", **claims: Any) -> str:
    return issuer.token(kid, time.time(), **{"sub": "shop", **claims})


@pytest.mark.parametrize("kid", SIGNS)
def test_a_token_is_verified_by_what_its_issuer_publishes(server: Server, issuer: Published, kid: str) -> None:
    """Found by discovery, whichever of its keys has signed."""
    assert server.ask("GET", "/subjects", headers=shown(of_the_shop(issuer, kid))).status == 200


def test_whoever_comes_with_nothing_is_told_both_ways(server: Server) -> None:
    """The registry listens on loopback, and is closed all the same: issuers are named where callers are to be known."""
    answer = server.ask("GET", "/subjects")
    assert (answer.status, answer.json) == (401, {"error_code": 401, "message": "Unauthorized"})
    assert answer.headers["www-authenticate"] == 'Basic realm="schema registry", Bearer realm="schema registry"'
    assert server.ask("GET", "/").status == 200


def test_a_valid_token_that_no_row_knows_is_denied_everywhere(server: Server, issuer: Published) -> None:
    """403, not 401: another token would not help, a row of the map would. Metrics are not for it either."""
    known = shown(of_the_shop(issuer, sub="stranger"))
    answer = server.ask("GET", "/subjects", headers=known)
    assert (answer.status, answer.json) == (403, {"error_code": 40301, "message": "User is denied operation Read"})
    assert server.ask("GET", "/metrics", headers=known).status == 403
    assert server.ask("GET", "/metrics", headers=shown(of_the_shop(issuer))).status == 200
    assert server.ask("GET", "/metrics").status == 401
    written = server.ask("POST", "/subjects/orders-value/versions", {"schema": '"int"'}, headers=known)
    assert written.json["message"] == "User is denied operation Write on Subject: orders-value"


def test_the_log_names_who_asked_with_the_issuer(server: Server, issuer: Published) -> None:
    """The name of a key cannot have an '@': no token is taken for a key."""
    server.ask("GET", "/subjects", headers=shown(of_the_shop(issuer)))
    named = f'"principal":"shop@{issuer.url.removeprefix("https://")}"'
    server.wait_for(lambda server: named in server.output)
    assert "eyJ" not in server.said, "no token is in the log"


def test_keys_go_on_beside_tokens(issuer: Published, authority: Authority, tmp_path: Path) -> None:
    """AKHQ, ClickHouse and kafkajs speak Basic alone."""
    key = a_key(tmp_path / "data", "shop", "--role", "writer")
    with believing(issuer, authority, tmp_path / "data") as server:
        with another(server, basic_auth_user_info=key) as client:
            assert client.register_schema("orders-value", avro(ORDER)) == 1
        assert server.ask("GET", "/subjects", headers=shown(of_the_shop(issuer))).json == ["orders-value"]


def test_keys_that_rotate_are_known_with_their_first_token(issuer: Published, authority: Authority) -> None:
    """Also where one is replaced under a name of its own; the old one ends with the next reading."""
    with believing(issuer, authority) as server:
        assert server.ask("GET", "/subjects", headers=shown(of_the_shop(issuer, "ec"))).status == 200
        asked = len(issuer.asked)
        issuer.kids.append("ec-2")
        try:
            # The next reading comes 30 seconds after the first at the earliest: a registry that starts reads at once.
            assert server.ask("GET", "/subjects", headers=shown(of_the_shop(issuer, "ec-2"))).status == 401
            assert len(issuer.asked) == asked
            with believing(issuer, authority) as other:
                assert other.ask("GET", "/subjects", headers=shown(of_the_shop(issuer, "ec-2"))).status == 200
        finally:
            issuer.kids.remove("ec-2")


def test_a_crowd_at_the_start_asks_the_issuer_once(issuer: Published, authority: Authority) -> None:
    asked = len(issuer.asked)
    with believing(issuer, authority) as server, ThreadPoolExecutor(16) as crowd:
        tokens = [of_the_shop(issuer, "ec", jti=str(at)) for at in range(16)]
        answers = list(crowd.map(lambda token: server.ask("GET", "/subjects", headers=shown(token)).status, tokens))
    assert answers == [200] * 16
    assert issuer.asked[asked:] == ["/.well-known/openid-configuration", "/keys"]


@pytest.mark.parametrize(
    "path, answer, why",
    [
        ("/keys", (500, b""), "answers with status 500"),
        ("/keys", (302, b""), "answers with status 302"),
        ("/keys", (200, b" " * (2**20 + 1)), "is more than 1048576 bytes"),
        ("/keys", (200, b"<html>"), "its keys are not JSON"),
        ("/.well-known/openid-configuration", (200, b'{"issuer": "https://attacker.example"}'), "is of another issuer"),
        ("/.well-known/openid-configuration", (200, b"[]"), "is of another issuer"),
    ],
)
def test_an_issuer_that_publishes_nothing_useful_is_told_in_the_log(
    issuer: Published, authority: Authority, path: str, answer: tuple[int, bytes], why: str
) -> None:
    """The client hears that it may come again, the operator why; others are served meanwhile."""
    issuer.wrong[path] = answer
    try:
        with believing(issuer, authority) as server:
            told = server.ask("GET", "/subjects", headers=shown(of_the_shop(issuer)))
            assert (told.status, told.json["error_code"]) == (500, 50002)
            assert told.json["message"].endswith("was refused: the keys of the issuer of its token cannot be read")
            server.wait_for(lambda server: why in server.output)
            assert server.ask("GET", "/").status == 200
    finally:
        issuer.wrong.clear()


def test_an_issuer_whose_certificate_is_not_trusted_is_not_believed(issuer: Published, tmp_path: Path) -> None:
    other = Authority.made(tmp_path)
    with believing(issuer, other) as server:
        assert server.ask("GET", "/subjects", headers=shown(of_the_shop(issuer))).status == 500
        server.wait_for(lambda server: '"event":"issuer-silent"' in server.output)


def test_keys_may_lie_in_a_file(issuer: Published, authority: Authority, tmp_path: Path) -> None:
    """Where the issuer cannot be reached: a file that another program brings up to date."""
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(issuer.jwks))
    asked = len(issuer.asked)
    with believing(issuer, authority, jwks=str(file)) as server:
        assert server.ask("GET", "/subjects", headers=shown(of_the_shop(issuer))).status == 200
    assert len(issuer.asked) == asked


def test_a_token_of_sixteen_kibibytes_passes_and_a_megabyte_does_not(server: Server, issuer: Published) -> None:
    """Groups make tokens long. What is longer ends with the head of the request, and the server goes on."""
    groups = [f"group-{at:04}" for at in range(700)]
    long = of_the_shop(issuer, "ec", groups=[*groups, "data-eng"])
    assert 8_000 < len(long) < 16_384
    assert server.ask("GET", "/subjects", headers=shown(long)).status == 200
    assert server.raw(b"GET /subjects HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ", b"a" * 2**20).status == 431
    assert server.ask("GET", "/subjects", headers=shown(long)).status == 200


# --- Confluent's clients ---------------------------------------------------------------------------------------------


def use(client: SchemaRegistryClient, subject: str) -> None:
    """What a producer does, and one more thing."""
    id = client.register_schema(subject, avro(ORDER))
    assert client.get_schema(id).schema_str
    assert subject in client.get_subjects()


def test_the_python_client_with_a_static_token(server: Server, issuer: Published) -> None:
    """Restricted by its groups: what is outside is refused by name."""
    token = of_the_shop(issuer, sub="ada", groups=["ops", "data-eng"])
    conf = {"bearer_auth_credentials_source": "STATIC_TOKEN", "bearer_auth_token": token, **PYTHON}
    with another(server, **conf) as client:
        use(client, "orders-static")
        with pytest.raises(SchemaRegistryError) as raised:
            client.register_schema("others-value", avro(ORDER))
        assert refusal(raised.value) == (403, 40301)
    with another(server, **{**conf, "bearer_auth_token": of_the_shop(issuer, exp=1)}) as client:
        with pytest.raises(SchemaRegistryError) as raised:
            client.get_subjects()
        assert refusal(raised.value) == (401, 401)


def test_the_python_client_asks_the_issuer_for_its_token(
    server: Server, issuer: Published, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OAUTHBEARER: client credentials, as Okta, Entra, Keycloak and Cognito have them."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    with another(
        server,
        bearer_auth_credentials_source="OAUTHBEARER",
        bearer_auth_issuer_endpoint_url=f"{issuer.url}/token",
        bearer_auth_client_id="shop",
        bearer_auth_client_secret=issuer.secret,
        bearer_auth_scope="registry",
        **PYTHON,
    ) as client:
        use(client, "orders-oauth")
        client._rest_client.bearer_field_provider.client.close()  # which it leaves open


def test_the_python_client_with_a_function_of_its_own(server: Server, issuer: Published) -> None:
    """CUSTOM: wherever the token comes from."""

    def provide(config: dict[str, str]) -> dict[str, str]:
        return {
            "bearer.auth.token": of_the_shop(issuer, sub=config["who"]),
            "bearer.auth.logical.cluster": "lsrc-1",
            "bearer.auth.identity.pool.id": "pool-1",
        }

    conf = {"bearer.auth.credentials.source": "CUSTOM", "bearer.auth.custom.provider.function": provide}
    given = {"bearer.auth.custom.provider.config": {"who": "shop"}}
    with SchemaRegistryClient({"url": server.url, **conf, **given}) as client:
        use(client, "orders-custom")


def test_the_javascript_client_with_both_sources(server: Server, issuer: Published, authority: Authority) -> None:
    node, client = npm.node_program(), npm.installed(NODE)
    words = [node, str(NODE / "tokens.cjs"), server.url, of_the_shop(issuer), issuer.url, issuer.secret]
    environ = {**os.environ, "NODE_EXTRA_CA_CERTS": str(authority.file)}
    done = subprocess.run(words, cwd=client, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"fixed": "Order", "asked": "Order", "refused": 401}
