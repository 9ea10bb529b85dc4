"""Another registry's URL: which ones are invalid, and which principals may not read all of it."""

import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from sigla.cli import main
from sigla.model import BodyKey, SchemaId
from sigla.registry import Registry
from sigla.remote import state
from sigla.remote.client import FORM, Remote, retry_after_s
from sigla.remote.failures import RemoteMisused, RemoteRefused
from sigla.remote.schemas import RemoteSchemas
from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.build import FixedClock
from tests.caches import a_certificate
from tests.unit.auth.guarded import SUBJECTS, guarded
from tests.unit.cli.answering import Answer, always, behind_a_url
from tests.unit.web.test_permissions_stories import asking

CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n[]"
CUT_IN_A_CHUNK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n[]"
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"


def read(answer: Answer) -> Any:
    with behind_a_url(answer) as url:
        return state.read(url, "", FixedClock(), lambda *_: None)


@contextmanager
def saying(*answers: bytes) -> Iterator[str]:
    """A URL at which each connection is told one of these, and closed."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server, ThreadPoolExecutor(1) as thread:

        def say() -> None:
            for answer in answers:
                connection, _ = server.accept()
                with connection:
                    connection.recv(65_536)
                    connection.sendall(answer)

        told = thread.submit(say)
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        told.result()


@contextmanager
def behind_tls(tmp_path: Path, *, greetings: int = 1) -> Iterator[str]:
    """A URL with a certificate of an unknown authority. greetings: how many clients it waits for."""
    certificate = a_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    with closing(socket.create_server(("127.0.0.1", 0))) as server, ThreadPoolExecutor(1) as thread:

        def greet() -> None:
            for _ in range(greetings):
                connection, _ = server.accept()
                with connection, suppress(OSError):
                    context.wrap_socket(connection, server_side=True).close()

        greeted = thread.submit(greet)
        yield f"https://127.0.0.1:{server.getsockname()[1]}"
        greeted.result()


def as_seen_by(who: str, registry: Registry) -> Answer:
    """who: a role and its prefixes."""
    ask = asking(registry)

    def answer(path: str, _: str) -> tuple[int, str]:
        answered = ask(who, "GET", path)
        return answered.status, answered.text

    return answer


@pytest.mark.parametrize("path", ["/contexts/.ctx", "/api/contexts/.ctx/", "/contexts/%3A.ctx%3A"])
def test_one_context_alone_is_not_imported(path: str) -> None:
    """It has no settings for everybody: under it those are the context's own."""
    with pytest.raises(RemoteMisused, match=r"whole, with all of its contexts: give http://h(/api)?\.$"):
        state.read(f"http://u:secret@h{path}", "", FixedClock(), lambda *_: None)


def test_a_path_may_lead_to_a_registry() -> None:
    """Which stands behind others."""
    assert Remote("http://u:secret@h/api/", "", FixedClock()).shown == "http://h/api/"


@pytest.mark.parametrize("rest", ["?a=1", "/x?a=1", "#a"])
def test_a_url_with_more_than_a_path_is_refused(rest: str) -> None:
    with pytest.raises(RemoteMisused, match=r"no query and no fragment: give http://h(/x)?\.$"):
        Remote(f"http://h{rest}", "", FixedClock())


@pytest.mark.parametrize("who", ["reader a-", "reader :.:", "reader :*:a- :.team:", "admin :.team:"])
def test_a_key_for_a_part_imports_nothing(tmp_path: Path, who: str) -> None:
    """Lists leave out the rest, without a word that it is missing."""
    with (
        guarded(EmbeddedKeys(tmp_path), {}) as world,
        pytest.raises(RemoteRefused, match="does not let these credentials read everything"),
    ):
        read(as_seen_by(who, world.registry))


@pytest.mark.parametrize("who", ["reader", "reader :*:"])
def test_a_key_for_everything_imports_everything(tmp_path: Path, who: str) -> None:
    with guarded(EmbeddedKeys(tmp_path), {}) as world:
        assert {str(subject) for subject in read(as_seen_by(who, world.registry)).subjects} >= set(SUBJECTS)


@pytest.mark.parametrize("cut", [CUT, CUT_IN_A_CHUNK])
def test_an_answer_that_breaks_off_is_asked_for_again(cut: bytes) -> None:
    """The registry may be a good one, behind a bad line."""
    clock = FixedClock()
    with saying(cut, cut, WHOLE) as url, closing(Remote(url, "", clock)) as asked:
        assert asked.get("/subjects") == []
    assert len(clock.slept) == 2
    broken = pytest.raises(RemoteRefused, match=r"does not answer \(its answer breaks off\)")
    with saying(*[CUT] * 4) as url, closing(Remote(url, "", clock)) as asked, broken:
        asked.get("/subjects")


@pytest.mark.parametrize(
    "location, named",
    [
        ("https://u:p@other:8443/api/subjects?deleted=true#x", "https://other:8443/api"),
        ("/api/subjects", "http://127.0.0.1:[0-9]+/api"),
        ("https://login", "https://login"),
    ],
)
def test_a_redirect_is_told_and_not_followed(location: str, named: str) -> None:
    """Credentials go where they were given to, and nowhere else."""
    moved = f"HTTP/1.1 301 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
    told = pytest.raises(
        RemoteMisused, match=f"^http://127.0.0.1:[0-9]+ answers with a redirect to {named}: use that URL.$"
    )
    with saying(moved) as url, closing(Remote(url, "", FixedClock())) as asked, told:
        asked.get("/subjects", deleted="true")


@pytest.mark.parametrize("version", ["1 of 2", "1\r\nX: y", "\u00e9"])
def test_a_registry_that_names_what_no_path_can_have_is_told_at_once(version: str) -> None:
    """Nothing is sent, so that to wait and ask again is of no use: it took seven seconds for each such name."""
    clock = FixedClock()
    with (
        behind_a_url(always(200, [{"subject": "s", "version": version}])) as url,
        closing(Remote(url, "", clock)) as remote,
        pytest.raises(RemoteMisused, match="answers, but not as a schema registry does"),
    ):
        RemoteSchemas(remote).by_id(BodyKey(".", SchemaId(1)))
    assert not clock.slept


@pytest.mark.parametrize("path", ["/a registry", "/registr\u00e9"])
def test_a_path_that_is_not_encoded_is_told_before_anything_is_asked(path: str) -> None:
    """By hand it is typed as it is read."""
    with pytest.raises(RemoteMisused, match="write spaces as %20"):
        Remote(f"http://registry{path}", "", FixedClock())


HOUR_S = 3_600


@pytest.mark.parametrize(
    "said, seconds",
    [
        ("0", 0),
        ("120", 120),
        ("999999999", 999_999_999),
        (format_datetime(datetime.fromtimestamp(FixedClock().now() / 1000 + HOUR_S, UTC), usegmt=True), HOUR_S),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        *(
            (nonsense, 0)
            for nonsense in ("", "soon", "-1", "1.5", "1e9", "9" * 5_000, "٣", "Mon, 99 Jan 0000 99:99:99 +9999999999")
        ),
    ],
)
def test_a_registry_says_when_to_come_again_in_seconds_or_by_a_date(said: str, seconds: float) -> None:
    """Both forms are in use; what is neither says nothing, whatever it is."""
    assert retry_after_s(said, FixedClock()) == pytest.approx(seconds, abs=1)


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999", "http://[::1", "ftp://h", "http://h:0", "http://", "h:8081"])
def test_what_is_no_url_is_refused_before_anybody_is_asked(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By whoever is given one; a secret in it is not shown."""
    for command in (["import", url], ["explain", "000000002a0461", "--registry-url", url.replace("//", "//u:secret@")]):
        assert main(command) == 2
        told = capsys.readouterr().err
        assert f": {FORM}.\n" in told
        assert "secret" not in told


@pytest.mark.parametrize("status", [200, 404])
def test_an_answer_nested_without_end_is_none_of_a_registry(status: int, capsys: pytest.CaptureFixture[str]) -> None:
    with behind_a_url(always(status, '{"a":' * 200_000)) as url:
        for command in (["import", url], ["explain", "000000002a0461", "--registry-url", url]):
            assert main(command) == 2
            assert capsys.readouterr().err == f"sigla: {url} answers, but not as a schema registry does.\n"


@pytest.mark.parametrize(
    "user, status, told",
    [
        ("", 401, r"asks for credentials \(status 401\)$"),
        ("me:wrong", 401, r"does not accept these credentials \(status 401\)\.$"),
        ("me:right", 403, r"let these credentials read everything: it refuses /contexts \(status 403\)\.$"),
    ],
)
def test_who_is_not_let_in_is_told_whether_credentials_are_missing_wrong_or_too_weak(
    user: str, status: int, told: str
) -> None:
    """Each is put right in another way."""
    with behind_a_url(always(status, "{}")) as url, pytest.raises(RemoteRefused, match=told):
        state.read(url, user, FixedClock(), lambda *_: None)


def test_an_address_that_is_no_registry_is_told_the_form_of_one() -> None:
    """`/subjects` behind the URL is the first mistake of those who come from curl."""
    with pytest.raises(
        RemoteMisused, match=r"answers /contexts with status 405\. If it is not a schema registry, give the URL of"
    ):
        read(always(405, "{}"))


def test_https_in_front_of_a_registry_without_tls_is_told_at_once() -> None:
    """Asking again changes nothing, and OpenSSL's words for it say nothing to people."""
    clock = FixedClock()
    with saying(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url:
        secure = url.replace("http", "https")
        with pytest.raises(RemoteMisused, match=f"^{secure} answers without TLS: give its URL with http://.$"):
            state.read(secure, "", clock, lambda *_: None)
    assert clock.slept == []


def test_a_certificate_that_is_not_trusted_is_told_at_once_and_what_makes_it_so(tmp_path: Path) -> None:
    """Many registries have one of their company's own authority."""
    clock = FixedClock()
    told = pytest.raises(RemoteMisused, match=r"does not trust \(.*SSL_CERT_FILE=FILE\.$")
    with behind_tls(tmp_path) as url, told:
        state.read(url, "", clock, lambda *_: None)
    assert clock.slept == []


def test_http_to_a_port_that_speaks_tls_is_told_at_once(tmp_path: Path) -> None:
    """Such a port hangs up, or answers with something else than HTTP: neither says what is wrong with the URL."""
    clock = FixedClock()
    with behind_tls(tmp_path, greetings=2) as url:
        plain = url.replace("https", "http")
        with pytest.raises(RemoteMisused, match=f"^{plain} is a port that speaks TLS: give its URL with https://.$"):
            state.read(plain, "", clock, lambda *_: None)
    assert clock.slept == []


def test_http_to_a_proxy_that_wants_https_is_told_at_once(tmp_path: Path) -> None:
    """Some answer plain HTTP on their TLS port with a page that says so."""
    certificate = a_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    with closing(socket.create_server(("127.0.0.1", 0))) as server, ThreadPoolExecutor(1) as thread:

        def serve() -> None:
            plain, _ = server.accept()
            with plain:
                plain.recv(65_536)
                plain.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            secure, _ = server.accept()
            with secure, suppress(OSError):
                context.wrap_socket(secure, server_side=True).close()

        served = thread.submit(serve)
        with pytest.raises(RemoteMisused, match="speaks TLS: give its URL with https://"):
            state.read(f"http://127.0.0.1:{server.getsockname()[1]}", "", FixedClock(), lambda *_: None)
        served.result()


def test_a_command_says_how_credentials_are_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with behind_a_url(always(401, "{}")) as url:
        assert main(["import", url, "--data", str(tmp_path / "data")]) == 1
    told = capsys.readouterr().err
    assert told == (
        f"sigla: {url} asks for credentials (status 401): give them with --user NAME; "
        "the secret is asked for, or taken from SIGLA_SECRET.\n"
    )
