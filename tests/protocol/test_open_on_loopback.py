"""`sigla serve` without keys, as programs and pages on its machine reach it."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.protocol.clients.server import Server, run, serving
from tests.protocol.test_serve import assert_misuse

SCHEMA = {"schema": json.dumps("string")}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(None, settings={"SIGLA_HOSTS": "host.docker.internal, registry.test"}) as server:
        yield server


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "host.docker.internal", "registry.test"])
def test_programs_reach_it_by_every_name_of_the_machine(server: Server, host: str) -> None:
    """Java and Python send the name of their URL; in a container that is what leads to the host."""
    named = {"Host": f"{host}:{server.port}"}
    assert server.ask("POST", "/subjects/orders/versions", SCHEMA, named).status == 200
    assert server.ask("GET", "/schemas/ids/1", headers=named).status == 200
    assert server.ask("GET", "/health", headers=named).status == 200


@pytest.mark.parametrize("path", ["/subjects", "/schemas/ids/1", "/health", "/metrics", "/docs"])
def test_a_rebound_name_reads_nothing(server: Server, path: str) -> None:
    """A page of evil.example whose name leads to 127.0.0.1 by now."""
    answer = server.ask("GET", path, headers={"Host": f"evil.example:{server.port}"})
    assert (answer.status, answer.json["error_code"]) == (403, 403)
    assert "SIGLA_HOSTS" in answer.json["message"]


def test_a_page_from_elsewhere_writes_nothing(server: Server) -> None:
    """A form of text needs no leave of CORS."""
    sent = {"Origin": "http://evil.example", "Content-Type": "text/plain"}
    assert server.ask("POST", "/subjects/orders/versions", SCHEMA, sent).status == 403
    assert server.ask("DELETE", "/subjects/orders", headers=sent).status == 403


def test_http_1_0_without_a_name_is_served(server: Server) -> None:
    """As load balancers probe; no browser speaks like that."""
    assert server.raw(b"GET /health HTTP/1.0\r\n\r\n").status == 200


def test_with_keys_every_name_is_good(tmp_path: Path) -> None:
    """A page has no key, and a client with one may call the registry by any name."""
    with serving(tmp_path / "data", "--auth") as server:
        assert server.ask("GET", "/health", headers={"Host": "registry.example"}).status == 200
        assert server.ask("GET", "/subjects", headers={"Host": "registry.example"}).status == 401


@pytest.mark.parametrize("hosts", ["http://registry.test", "a b"])
def test_what_is_no_host_is_refused_at_the_start(hosts: str) -> None:
    assert_misuse(run("serve", "--port", "0", "--memory", SIGLA_HOSTS=hosts), "SIGLA_HOSTS", hosts)


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")
def test_it_listens_on_the_loopback_of_ipv6() -> None:
    """Where `localhost` means that, clients find it nowhere else."""
    with serving(None, "--host", "::1") as server:
        assert server.ask("GET", "/subjects").status == 200
        assert server.ask("GET", "/subjects", headers={"Host": "evil.example"}).status == 403
