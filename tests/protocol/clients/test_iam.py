"""Roles of AWS as clients: `sigla.iam.bearer` in Confluent's Python client, with an STS that answers here."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient

from sigla import iam
from tests.certificates import Authority
from tests.issuer import AUDIENCE, Published, publishing
from tests.protocol.clients.server import serving

ROLE = "arn:aws:iam::111122223333:role/etl"
ANSWER = """<GetWebIdentityTokenResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetWebIdentityTokenResult>
<WebIdentityToken>{token}</WebIdentityToken><Expiration>2033-05-18T03:33:20Z</Expiration>
</GetWebIdentityTokenResult></GetWebIdentityTokenResponse>"""


@contextmanager
def sts(issuer: Published) -> Iterator[tuple[str, list[dict[str, list[str]]]]]:
    """An STS whose tokens the issuer signs, and what it was asked."""
    asked: list[dict[str, list[str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            asked.append(form)
            seconds = int(form["DurationSeconds"][0])
            token = issuer.token(
                "p384", time.time(), sub=ROLE, aud=form["Audience.member.1"][0], exp=int(time.time()) + seconds
            )
            self.send_response(200)
            self.send_header("content-type", "text/xml")
            self.end_headers()
            self.wfile.write(ANSWER.format(token=token).encode())

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_role_of_iam_reads_schemas_without_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its credentials are those of the machine; the token is asked for once for most of its life."""
    authority = Authority.made(tmp_path)
    (tmp_path / "pair").mkdir()
    with publishing(authority.pair(tmp_path / "pair")) as issuer, sts(issuer) as (url, asked):
        rows = [{"when": {"sub": ROLE}, "role": "reader"}]
        settings = {"SIGLA_ISSUERS": json.dumps([issuer.setting(*rows)]), "SSL_CERT_FILE": str(authority.file)}
        for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
            monkeypatch.setenv(f"AWS_{name}", "of the machine")
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", url)
        custom = {
            "bearer.auth.credentials.source": "CUSTOM",
            "bearer.auth.custom.provider.function": iam.bearer,
            "bearer.auth.custom.provider.config": {"audience": AUDIENCE, "region": "eu-west-1"},
        }
        with serving(settings=settings) as server, SchemaRegistryClient({"url": server.url, **custom}) as client:
            assert client.get_subjects() == []
            assert client.get_contexts() == ["."]
    (form,) = asked
    assert form["Action"] == ["GetWebIdentityToken"]
    assert (form["SigningAlgorithm"], form["DurationSeconds"]) == (["ES384"], ["900"])


@pytest.mark.parametrize(
    "config, why", [({}, "audience is missing"), ({"audience": "sigla", "aud": "x"}, "Unknown setting aud")]
)
def test_a_wrong_setting_of_the_helper_is_told(config: dict[str, str], why: str) -> None:
    """Before AWS is asked."""
    with pytest.raises(ValueError, match=why):
        iam.bearer(config)
