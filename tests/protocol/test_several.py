"""Several registries in one `sigla serve`: real commands, a real server, Confluent's own client."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import closing, redirect_stdout
from http.client import HTTPConnection
from io import StringIO
from pathlib import Path
from time import perf_counter

import pytest
from confluent_kafka.schema_registry.error import SchemaRegistryError

from sigla import cli
from sigla.auth.guesses import FREE
from tests.protocol.clients.server import Answer, Server, run, serving
from tests.protocol.clients.shop import ORDER, another, avro
from tests.waiting import eventually

NAMES = ("payments", "ads")
BOTH = ("--registry", "payments", "--registry", "ads=ads.example")
TEXT = {"schema": '"string"'}


def a_key(data: Path, name: str = "etl", role: str = "admin") -> str:
    """`name:secret`, of the registry in a directory."""
    with redirect_stdout(StringIO()) as told:
        assert cli.main(["keys", "create", name, "--role", role, "--data", str(data), "--json"]) == 0
    shown = json.loads(told.getvalue())
    return f"{shown['key']}:{shown['secret']}"


def of_registry(key: str, registry: str) -> str:
    """The same key, whose user names its registry."""
    name, _, secret = key.partition(":")
    return f"{name}@{registry}:{secret}"


def basic(key: str) -> Mapping[str, str]:
    return {"Authorization": "Basic " + b64encode(key.encode()).decode()}


def at(server: Server, registry: str, method: str, path: str, body: object = None) -> Answer:
    """Asked by the host name of a registry."""
    return server.ask(method, path, body, {"Host": f"{registry}.localhost:{server.port}"})


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("registries") / "data"


@pytest.fixture(scope="module")
def keys(data: Path) -> Mapping[str, str]:
    return {name: a_key(data / name) for name in NAMES}


@pytest.fixture(scope="module")
def server(data: Path, keys: Mapping[str, str]) -> Iterator[Server]:
    with serving(data, "--auth", *BOTH) as server:
        yield server


def test_a_client_names_its_registry_behind_its_user(server: Server, keys: Mapping[str, str]) -> None:
    """No setting of a client is needed but the two that it has: a URL and a user."""
    for name in NAMES:
        with another(server, basic_auth_user_info=of_registry(keys[name], name)) as client:
            assert client.register_schema(f"{name}-value", avro(ORDER)) == 1
            assert client.get_subjects() == [f"{name}-value"]
    with another(server, basic_auth_user_info=of_registry(keys["payments"], "ads")) as client:
        with pytest.raises(SchemaRegistryError, match="Unauthorized") as raised:
            client.get_subjects()
        assert raised.value.error_code == 401
    unnamed = "name the registry behind the user, as NAME@REGISTRY"
    with (
        another(server, basic_auth_user_info=keys["payments"]) as client,
        pytest.raises(SchemaRegistryError, match=unnamed),
    ):
        client.get_subjects()


def test_a_host_name_leads_to_its_registry_alone(server: Server, keys: Mapping[str, str]) -> None:
    """A proxy with a name for each needs nothing else, and no user leads out of there."""
    hosts = {"payments": "payments.localhost", "ads": "ADS.example:443"}
    for name, host in hosts.items():
        for key in (keys[name], of_registry(keys[name], name)):
            assert server.ask("GET", "/subjects", None, {**basic(key), "Host": host}).status == 200
        for key in (keys[other(name)], of_registry(keys[other(name)], other(name))):
            refused = server.ask("GET", "/subjects", None, {**basic(key), "Host": host})
            assert (refused.status, refused.json["message"]) == (401, "Unauthorized")


def other(name: str) -> str:
    return NAMES[1 - NAMES.index(name)]


def test_metrics_and_log_tell_of_the_registry_that_was_asked(server: Server, keys: Mapping[str, str]) -> None:
    """Whoever has a key of one sees nothing of its neighbours: not how much they hold, nor what they are called."""
    for name in NAMES:
        told = server.ask("GET", "/metrics", None, basic(of_registry(keys[name], name))).body.decode()
        assert f'kafka_schema_registry_registered_count{{registry="{name}"}}' in told
        assert f'registry="{other(name)}"' not in told
        assert "process_cpu_seconds_total " in told
        assert told.count("# TYPE sigla_ready gauge") == 1
    assert server.ask("GET", "/metrics").status == 401
    assert server.ask("GET", "/metrics", None, basic(keys["ads"])).status == 401
    at(server, "payments", "GET", "/subjects")
    server.wait_for(lambda it: any(line.get("registry") == "payments" and line["status"] == 401 for line in lines(it)))
    assert server.ask("GET", "/health").json == {"status": "up"}


def test_credentials_that_are_sent_twice_open_no_metrics(server: Server, keys: Mapping[str, str]) -> None:
    """The registry is chosen and its key is checked by the same headers: of two of a kind neither counts."""
    said = [basic(of_registry(keys[name], name))["Authorization"] for name in NAMES]
    for twice in (said, said[::-1], said[:1] * 2, said[1:] * 2):
        with closing(HTTPConnection("127.0.0.1", server.port)) as connection:
            connection.putrequest("GET", "/metrics")
            for each in twice:
                connection.putheader("Authorization", each)
            connection.endheaders()
            answer = connection.getresponse()
            assert answer.status == 401
            assert b"registry=" not in answer.read()


def lines(server: Server) -> list[dict[str, object]]:
    """Those of requests."""
    return [line for line in map(json.loads, server.lines) if line["event"] == "request"]


def test_a_guess_waits_as_long_at_a_registry_that_is_there_as_at_one_that_is_not(tmp_path: Path) -> None:
    """Whoever was kept waiting for `x@none`, and was answered at once for `x@payments`, knew that there is payments."""
    key = a_key(tmp_path / "ads")
    with serving(tmp_path, "--auth", *BOTH) as server:

        def waits(registry: str) -> bool:
            begun = perf_counter()
            assert server.ask("GET", "/subjects", headers=basic(of_registry("x:guess", registry))).status == 401
            return perf_counter() - begun > 0.1

        assert any(waits("none") for _ in range(10 * FREE))
        assert [name for name in (*NAMES, "none") if not waits(name)] == []
        assert server.ask("GET", "/subjects", headers=basic(of_registry(key, "ads"))).status == 200


def test_each_is_a_directory_of_its_own_for_every_command(
    server: Server, data: Path, keys: Mapping[str, str], tmp_path: Path
) -> None:
    """Keys are made while it serves, a backup is one of a registry, and that registry may be served alone some day."""
    reader = a_key(data / "payments", "reader", "reader")
    with another(server, basic_auth_user_info=of_registry(reader, "payments")) as client:
        assert client.get_compatibility() == "BACKWARD"
    assert run("scrub", "--data", str(data / "payments")).returncode == 0
    assert run("backup", str(tmp_path / "file"), "--data", str(data / "ads")).returncode == 0
    assert run("restore", str(tmp_path / "file"), str(tmp_path / "alone")).returncode == 0
    with serving(tmp_path / "alone") as alone:
        held = [
            server.ask("GET", "/subjects", None, basic(of_registry(keys["ads"], "ads"))).body,
            alone.ask("GET", "/subjects").body,
        ]
        assert held[0] == held[1]


def test_an_exporter_writes_from_one_to_the_other(server: Server, keys: Mapping[str, str]) -> None:
    """They are as far apart as two servers: by its URL and a key, and under the name of its registry."""
    source, destination = basic(of_registry(keys["payments"], "payments")), basic(of_registry(keys["ads"], "ads"))
    config = {
        "schema.registry.url": server.url,
        "basic.auth.credentials.source": "USER_INFO",
        "basic.auth.user.info": of_registry(keys["ads"], "ads"),
    }
    wanted = {"name": "over", "contextType": "AUTO", "subjects": ["exported"], "config": config}
    assert server.ask("POST", "/subjects/exported/versions", TEXT, source).status == 200
    assert server.ask("POST", "/exporters", wanted, source).status == 200
    eventually(lambda: ":.payments:exported" in server.ask("GET", "/subjects", None, destination).json)
    server.wait_for(lambda it: '"event":"exporter-running"' in it.output and '"registry":"payments"' in it.output)
    assert server.ask("DELETE", "/exporters/over", None, source).status in (204, 409)


def test_an_open_server_goes_by_the_host_name_alone(tmp_path: Path) -> None:
    """On a laptop no key is needed; each registry is found by a name that browsers and curl know by themselves."""
    with serving(tmp_path / "data", *BOTH) as server:
        assert f"payments   http://payments.localhost:{server.port}" in server.banner
        assert f"http://ads.example:{server.port}" in server.banner
        assert at(server, "payments", "POST", "/subjects/s/versions", TEXT).json["id"] == 1
        assert at(server, "ads", "GET", "/subjects").json == []
        assert at(server, "ads", "GET", "/schemas/ids/1").status == 404
        unnamed = server.ask("GET", "/subjects")
        assert (unnamed.status, unnamed.json["message"]) == (
            404,
            "Several registries are served here: ask for one by its host name",
        )
        foreign = server.ask("GET", "/subjects", None, {"Host": "evil.example"})
        assert foreign.status == 403
        told = server.ask("GET", "/metrics").body.decode()
        assert 'registered_count{registry="payments"} 1' in told
        assert 'registered_count{registry="ads"} 0' in told


def test_what_was_acknowledged_survives_in_each(tmp_path: Path) -> None:
    """A killed server comes up again with all of them, also in another order, and numbering goes on in each."""
    with serving(tmp_path / "data", *BOTH) as server:
        for name, count in (("payments", 3), ("ads", 1)):
            for number in range(count):
                body = {"schema": json.dumps({"type": "fixed", "name": f"F{number}", "size": 1})}
                assert at(server, name, "POST", f"/subjects/s{number}/versions", body).status == 200
        server.kill()
    with serving(tmp_path / "data", settings={"SIGLA_REGISTRIES": "ads=ads.example, payments"}) as server:
        assert at(server, "payments", "GET", "/subjects").json == ["s0", "s1", "s2"]
        assert at(server, "ads", "GET", "/subjects").json == ["s0"]
        assert at(server, "payments", "POST", "/subjects/s/versions", TEXT).json["id"] == 4
        assert at(server, "ads", "POST", "/subjects/s/versions", TEXT).json["id"] == 2


def test_one_that_does_not_open_is_named_and_none_is_served(tmp_path: Path) -> None:
    """Half of the registries would be worse than none: their clients would be told that keys are unknown."""
    data = tmp_path / "data"
    with serving(data / "ads"):
        refused = run("serve", "--port", "0", "--data", str(data), *BOTH)
    assert refused.returncode == 2
    assert "The registry ads does not open, so none is served. Another process is using the data" in refused.stderr
    with serving(data, *BOTH) as server:
        assert at(server, "payments", "GET", "/subjects").json == []


def test_one_that_is_full_is_no_matter_of_its_neighbour(tmp_path: Path) -> None:
    """Each has a quota of its own, which a restart does not forget."""
    for _ in range(2):
        with serving(tmp_path / "data", *BOTH, settings={"SIGLA_QUOTA_VERSIONS": "1"}) as server:
            assert at(server, "payments", "POST", "/subjects/s/versions", TEXT).json["id"] == 1
            full = at(server, "payments", "POST", "/subjects/t/versions", TEXT)
            assert (full.status, full.headers["retry-after"]) == (429, "60")
            assert at(server, "ads", "POST", "/subjects/s/versions", TEXT).status == 200


def test_the_directory_of_several_is_never_one_more_registry(tmp_path: Path) -> None:
    """A start without `--registry` would serve an empty one in their place, and the next start with it would fail."""
    data = tmp_path / "data"
    with serving(data, *BOTH):
        pass
    said = f"sigla: {data} has registries in directories of their own: give one of those, as in --data {data / 'ads'}"
    for command in (("serve", "--port", "0"), ("keys", "create", "etl")):
        refused = run(*command, "--data", str(data))
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert refused.stderr.startswith(said)
    assert sorted(each.name for each in data.iterdir()) == ["ads", "payments"]
    with serving(data / "ads") as alone:
        assert alone.ask("GET", "/subjects").json == []
    with serving(data, *BOTH) as server:
        assert at(server, "payments", "GET", "/subjects").json == []


def test_an_address_of_ipv6_is_a_host_like_any_other(tmp_path: Path) -> None:
    """The URL that is shown is one that a client takes."""
    with serving(tmp_path / "data", "--registry", "ads=[::1]") as server:
        assert f"http://[::1]:{server.port}" in server.banner


@pytest.mark.parametrize(
    "arguments, settings, why",
    [
        (("--registry", "A"), {}, "--registry: 'A' cannot be the name of a registry"),
        (("--registry", "a", "--zones", "2"), {}, "Zones are of one registry: leave out --zones, or --registry"),
        (("--zones", "2"), {"SIGLA_REGISTRIES": "a"}, "leave out --zones, or SIGLA_REGISTRIES"),
        ((), {"SIGLA_REGISTRIES": "a=x y"}, "SIGLA_REGISTRIES: 'a=x y' names no host"),
        (("--registry", "a"), {}, "is the directory of one registry: move it to"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], settings: dict[str, str], why: str
) -> None:
    """The last one has made its only registry one of several, and would find it empty."""
    (tmp_path / "lock").touch()
    refused = run("serve", "--port", "0", "--data", str(tmp_path), *arguments, **settings)
    assert refused.returncode == 2
    assert why in refused.stderr
    assert refused.stderr.count("\n") == 1
