"""Confluent's JavaScript client against a registry that speaks TLS with a certificate of our own authority."""

import json
import subprocess
from pathlib import Path

from tests import npm
from tests.certificates import Authority
from tests.protocol.clients.server import serving
from tests.protocol.clients.test_javascript_client import NODE
from tests.protocol.test_auth import a_key


def test_the_javascript_client_trusts_an_authority_by_its_file(tmp_path: Path) -> None:
    """As docs/service.md has it; a client that does not trust the authority says so and sends no key."""
    node, client = npm.node_program(), npm.installed(NODE)
    authority = Authority.made(tmp_path)
    (tmp_path / "pair").mkdir()
    pair = authority.pair(tmp_path / "pair")
    data = tmp_path / "data"
    key = a_key(data, "shop", "--role", "writer")
    options = ("--auth", "--tls-cert", str(pair.cert), "--tls-key", str(pair.key))
    with serving(data, *options, authority=authority.file) as server:
        words = [node, str(NODE / "secured.cjs"), server.url, str(authority.file), key]
        done = subprocess.run(words, cwd=client, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == {"read": "Order", "refused": "UNABLE_TO_VERIFY_LEAF_SIGNATURE"}
        assert all(json.loads(line).get("status") == 200 for line in server.lines if '"request"' in line)
