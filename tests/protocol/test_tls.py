"""`sigla serve` over TLS, as clients meet it: real ones, those who speak something else, and those who never finish."""

import json
import os
import signal
import socket
import ssl
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from sigla.web.local.pair import Files
from tests.certificates import DAY, Authority, elliptic_key
from tests.protocol.clients.server import Server, command, environment, serving
from tests.waiting import PATIENCE_S, eventually

STRING = '{"schema": "\\"string\\""}'


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.made(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def files(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Files:
    return authority.pair(tmp_path_factory.mktemp("pair"))


def options(files: Files) -> tuple[str, ...]:
    return "--tls-cert", str(files.cert), "--tls-key", str(files.key)


@pytest.fixture(scope="module")
def server(authority: Authority, files: Files) -> Iterator[Server]:
    with serving(None, *options(files), authority=authority.file) as server:
        yield server


# --- clients ----------------------------------------------------------------------------------------------------------


def test_the_banner_says_https_and_until_when_the_certificate_is_valid(server: Server, files: Files) -> None:
    assert server.url.startswith("https://127.0.0.1:")
    assert f"schema.registry.url={server.url}" in server.banner
    assert f"tls       {files.cert}, until 20" in server.banner
    assert "try       curl https" in server.banner, "an authority that is known needs no word"


def test_what_the_banner_offers_to_try_works_with_a_certificate_that_signs_itself(tmp_path: Path) -> None:
    """As the first trial on one machine makes it: without its file curl refuses it, and says nothing of Sigla."""
    openssl = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"]
    named = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = Files(tmp_path / "registry.pem", tmp_path / "registry.key")
    made = [*openssl, *named, "-keyout", str(files.key), "-out", str(files.cert)]
    subprocess.run(made, check=True, capture_output=True)
    with serving(None, *options(files), authority=files.cert) as server:
        (line,) = [line for line in server.complaints if line.strip().startswith("try ")]
        assert f"curl --cacert {files.cert} https://" in line
        asked = subprocess.run(line.split()[1:], capture_output=True, text=True, check=False)
        assert asked.stdout == "[]", asked.stderr


def test_confluents_python_client_trusts_an_authority_by_its_file(server: Server, authority: Authority) -> None:
    """As its users name it: ssl.ca.location."""
    with SchemaRegistryClient({"url": server.url, "ssl.ca.location": str(authority.file)}) as client:
        schema = Schema('{"type": "record", "name": "Secured", "fields": []}')
        id = client.register_schema("secured-value", schema)
        assert client.get_latest_version("secured-value").schema_id == id
    with SchemaRegistryClient({"url": server.url, "ssl.ca.location": str(authority.file)}) as reader:
        assert json.loads(reader.get_schema(id).schema_str or "")["name"] == "Secured"


def test_curl_trusts_an_authority_by_its_file(server: Server, authority: Authority) -> None:
    """Health, metrics and the API answer as without TLS."""
    for path, told in (("/health/ready", '{"status":"up"}'), ("/subjects", "["), ("/metrics", "# HELP")):
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--fail", "--cacert", str(authority.file), server.url + path],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(told)


def test_our_own_import_trusts_an_authority_that_the_environment_names(
    server: Server, authority: Authority, tmp_path: Path
) -> None:
    """One variable, which curl and other programs of this machine know as well."""
    assert server.ask("POST", "/subjects/imported/versions", STRING.encode()).status == 200

    def imported(**settings: str) -> "subprocess.CompletedProcess[str]":
        said = command("import", server.url, "--data", str(tmp_path / "data"))
        return subprocess.run(said, env=environment(**settings), capture_output=True, text=True, check=False)

    refused = imported()
    assert refused.returncode == 2
    assert "SSL_CERT_FILE=FILE" in refused.stderr
    done = imported(SSL_CERT_FILE=str(authority.file))
    assert done.returncode == 0, done.stderr


def test_the_settings_say_it_as_well_as_the_options(authority: Authority, files: Files) -> None:
    """A unit of systemd, and a container, have an environment."""
    settings = {"SIGLA_TLS_CERT": str(files.cert), "SIGLA_TLS_KEY": str(files.key)}
    with serving(None, settings=settings, authority=authority.file) as server:
        assert server.ask("GET", "/subjects").json == []


def test_zones_speak_tls_each(authority: Authority, files: Files) -> None:
    """Every port has the same certificate, and the directory names URLs that can be used."""
    with serving(None, "--zones", "2", *options(files), authority=authority.file) as server:
        urls = [zone["url"] for zone in server.ask("GET", "/zones").json]
        assert [url.partition("://")[0] for url in urls] == ["https", "https"]


@pytest.mark.parametrize(
    "version, spoken",
    [(ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True)],
)
def test_versions_before_1_2_are_not_spoken(
    server: Server, authority: Authority, version: ssl.TLSVersion, spoken: bool
) -> None:
    """RFC 8996 has deprecated them."""
    context = ssl.create_default_context(cafile=authority.file)
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python, too, says that it is deprecated
        context.minimum_version = context.maximum_version = version
    with closing(socket.create_connection((server.host, server.port), PATIENCE_S)) as plain:
        if not spoken:
            with pytest.raises((ssl.SSLError, ConnectionResetError)):
                context.wrap_socket(plain, server_hostname="localhost")
        else:
            with context.wrap_socket(plain, server_hostname="localhost") as secured:
                assert secured.version() == version.name.replace("_", ".")


def test_requests_and_answers_larger_than_a_record_arrive_whole(server: Server) -> None:
    """And many of them, for a client that reads late: what it has not taken waits with it, not in the server."""
    text = json.dumps({"type": "record", "name": "Long", "doc": "d" * 900_000, "fields": []})
    assert server.ask("POST", "/subjects/long/versions", {"schema": text}).status == 200
    asked = b"GET /subjects/long/versions/latest/schema HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with server.connected() as wire:
        wire.send(asked * 20)
        assert server.ask("GET", "/schemas/types").status == 200
        for _ in range(20):
            assert json.loads(wire.receive().body)["name"] == "Long"


# --- what is not TLS --------------------------------------------------------------------------------------------------


def failures(server: Server) -> list[dict[str, str]]:
    told = [json.loads(line) for line in server.lines]
    return [facts for facts in told if facts["event"] == "tls-failed"]


def test_plain_http_is_told_where_to_go(authority: Authority, files: Files) -> None:
    """A URL with one letter too few is the most common mistake; the log says it, and so does the answer."""
    with serving(None, *options(files), authority=authority.file) as server:
        for _ in range(3):
            with closing(socket.create_connection((server.host, server.port), PATIENCE_S)) as plain:
                plain.sendall(b"GET /subjects HTTP/1.1\r\nHost: localhost\r\n\r\n")
                answer = b"".join(iter(lambda: plain.recv(65536), b""))
            assert answer.startswith(b"HTTP/1.1 400 ")
            assert b"https://" in answer
        server.wait_for(failures)
        (told,) = failures(server)  # once, and not for each of them
        assert (told["client"], told["reason"]) == ("127.0.0.1", "plain HTTP")
        assert "https://" in told["message"]


def test_a_client_that_does_not_trust_the_certificate_is_told_of(authority: Authority, files: Files) -> None:
    """It fails on another machine; this is where the operator looks."""
    with serving(None, *options(files), authority=authority.file) as server:
        with closing(socket.create_connection((server.host, server.port), PATIENCE_S)) as plain:
            distrusting = ssl.create_default_context()
            with pytest.raises(ssl.SSLCertVerificationError):
                distrusting.wrap_socket(plain, server_hostname="localhost")
        server.wait_for(failures)
        (told,) = failures(server)
        assert "does not know the authority" in told["message"]
        assert 'sigla_tls_handshakes_total{outcome="failed"} 1' in server.ask("GET", "/metrics").body.decode()


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x00\x05hello", b"\x80\x2e\x01\x00\x02", b"\x00", b"\x16" * 70_000])
def test_garbage_is_hung_up_on(server: Server, data: bytes) -> None:
    """And other clients go on."""
    with (
        closing(socket.create_connection((server.host, server.port), PATIENCE_S)) as plain,
        suppress(ConnectionError),
    ):
        plain.sendall(data)
        while plain.recv(65536):
            pass
    assert server.ask("GET", "/subjects").status == 200


def test_those_who_never_finish_a_handshake_make_room(authority: Authority, files: Files) -> None:
    """They count as connections from the first byte, so they cannot use up the descriptors."""
    with ExitStack() as silent, serving(None, *options(files), authority=authority.file, descriptors=128) as server:
        for number in range(100):
            plain = silent.enter_context(closing(socket.create_connection((server.host, server.port), PATIENCE_S)))
            with suppress(ConnectionError):
                plain.sendall(b"\x16\x03\x01"[: number % 4])
        assert server.ask("GET", "/subjects").status == 200


def test_a_client_that_finds_no_connection_free_is_told_so_over_tls(authority: Authority, files: Files) -> None:
    """503 says that it is not for ever; a connection that breaks off says nothing."""
    with ExitStack() as busy, serving(None, *options(files), authority=authority.file, descriptors=64 + 8) as server:
        for _ in range(8):
            wire = busy.enter_context(server.connected())
            head = b"POST /subjects/s/versions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
            wire.send(head, b"Expect: 100-continue\r\n\r\n")
            assert wire.receive().status == 100
        newcomer = busy.enter_context(server.connected())
        assert newcomer.receive().status == 503


def test_a_handshake_that_never_ends_keeps_no_server_from_its_end(authority: Authority, files: Files) -> None:
    """A restart must not wait for a port scanner."""
    with ExitStack() as silent, serving(None, *options(files), authority=authority.file) as server:
        for sent in (b"", b"\x16\x03"):
            plain = silent.enter_context(closing(socket.create_connection((server.host, server.port), PATIENCE_S)))
            plain.sendall(sent)
        assert server.ask("GET", "/subjects").status == 200
        server.stop()


def test_what_has_begun_is_finished_before_the_server_ends(authority: Authority, files: Files) -> None:
    """SIGTERM in the middle of a request over TLS: it is answered, and the client is told that nothing follows."""
    with serving(None, *options(files), authority=authority.file) as server, server.connected() as wire:
        head = b"POST /subjects/s/versions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n" % len(STRING)
        wire.send(head, b"Expect: 100-continue\r\n\r\n")
        assert wire.receive().status == 100
        os.kill(server.process.pid, signal.SIGTERM)
        wire.send(STRING.encode())
        assert wire.receive().json["id"] == 1
        assert wire.left()


# --- another pair -----------------------------------------------------------------------------------------------------


def serial(server: Server) -> str:
    """That of the certificate that a new connection gets."""
    with server.connected() as wire:
        assert isinstance(wire.socket, ssl.SSLSocket)
        return str((wire.socket.getpeercert() or {})["serialNumber"])


def test_a_certificate_is_renewed_without_a_restart(authority: Authority, tmp_path: Path) -> None:
    """Connections that are open go on; a pair that cannot be used is refused, and told."""
    files = authority.pair(tmp_path)
    with serving(None, *options(files), authority=authority.file) as server, server.kept() as ask:
        first = serial(server)
        assert ask("GET", "/subjects").status == 200
        authority.pair(tmp_path, ends=2 * DAY)
        eventually(lambda: serial(server) != first)
        second = serial(server)
        server.wait_for(lambda server: "tls-renewed" in server.output)
        files.key.write_bytes(b"")
        server.wait_for(lambda server: "tls-refused" in server.output)
        assert serial(server) == second
        authority.pair(tmp_path, key=elliptic_key())
        os.kill(server.process.pid, signal.SIGHUP)
        eventually(lambda: serial(server) != second)
        assert ask("GET", "/subjects").status == 200, "the connection from before"


def test_a_pair_that_cannot_be_used_stops_the_start(authority: Authority, tmp_path: Path) -> None:
    """In one sentence, and before the data are touched."""
    files, data = authority.pair(tmp_path, passphrase="secret"), tmp_path / "data"
    lonely = ("--tls-cert", str(files.cert))
    for given, word in ((options(files), "is encrypted"), (lonely, "give both --tls-cert and --tls-key")):
        done = subprocess.run(
            command("serve", "--port", "0", "--data", str(data), *given),
            env=environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert word in line
    assert not data.exists()
