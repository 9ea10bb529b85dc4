"""An issuer of tokens for tests: keys of its own, what it signs, and where it publishes them over HTTPS."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from sigla.auth.tokens import issuers
from sigla.auth.tokens.key_sets import KeySet, parse
from sigla.web.local.pair import Files
from tests.build import NOW

AUDIENCE: Final = "sigla"
SIGNS: Final[Mapping[str, str]] = {"rsa": "RS256", "pss": "PS256", "ec": "ES256", "p384": "ES384", "ed": "EdDSA"}
"""The keys of an issuer by their kid, and the algorithm that each is used with."""

PRIVATE = Any


def private_key(kid: str, generation: int = 0) -> PRIVATE:
    """The same one each time: making one takes a while. generation: another one under the same name."""
    return _made(kid, generation)


@cache
def _made(kid: str, _: int) -> PRIVATE:
    match SIGNS.get(kid.partition("-")[0], "RS256"):
        case "RS256" | "PS256":
            return rsa.generate_private_key(65537, 2048)
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
        case "ES384":
            return ec.generate_private_key(ec.SECP384R1())
        case _:
            return ed25519.Ed25519PrivateKey.generate()


def public_jwk(kid: str, generation: int = 0) -> dict[str, Any]:
    key = private_key(kid, generation).public_key()
    return {**json.loads(_WRITERS[type(key).__name__](key)), "kid": kid, "use": "sig"}


_WRITERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "RSAPublicKey": RSAAlgorithm.to_jwk,
    "ECPublicKey": ECAlgorithm.to_jwk,
    "Ed25519PublicKey": OKPAlgorithm.to_jwk,
}


@dataclass
class Issuer:
    """url: its name. kids: of the keys that it publishes now."""

    url: str = "https://issuer.test"
    kids: list[str] = field(default_factory=lambda: [*SIGNS])
    generation: int = 0

    def read(self, _: issuers.Issuer) -> KeySet:
        """As a `KeySource`, without a way there."""
        return KeySet(parse(json.dumps(self.jwks).encode()), NOW)

    @property
    def jwks(self) -> dict[str, Any]:
        return {"keys": [public_jwk(kid, self.generation) for kid in self.kids]}

    def claims(self, now: float = NOW / 1000, **changed: Any) -> dict[str, Any]:
        """Those of a token of etl; None takes one away."""
        whole = {"iss": self.url, "aud": AUDIENCE, "sub": "etl", "iat": int(now), "exp": int(now) + 600, **changed}
        return {name: value for name, value in whole.items() if value is not None}

    def token(self, kid: str = "rsa", now: float = NOW / 1000, **changed: Any) -> str:
        algorithm = SIGNS.get(kid.partition("-")[0], "RS256")
        key = private_key(kid, self.generation)
        return jwt.encode(self.claims(now, **changed), key, algorithm, headers={"kid": kid})

    def setting(self, *rows: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """What SIGLA_ISSUERS has of it."""
        return {
            "issuer": self.url,
            "audience": AUDIENCE,
            "map": rows or [{"when": {"sub": "*"}, "role": "reader"}],
            **more,
        }


@dataclass
class Published(Issuer):
    """One that listens. asked: the paths that it was asked for. wrong: what it answers instead, by path."""

    asked: list[str] = field(default_factory=list)
    wrong: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    secret: str = "shown to the issuer alone"

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        if path in self.wrong:
            return self.wrong[path]
        if path == "/.well-known/openid-configuration":
            return 200, json.dumps({"issuer": self.url, "jwks_uri": f"{self.url}/keys"}).encode()
        return (200, json.dumps(self.jwks).encode()) if path == "/keys" else (404, b"")

    def granted(self, form: Mapping[str, list[str]], basic: str) -> tuple[int, bytes]:
        """Client credentials (RFC 6749, 4.4): the secret in the form, or as Basic."""
        import base64
        import time

        name, _, secret = base64.b64decode(basic).decode().partition(":") if basic else ("", "", "")
        name = name or form.get("client_id", [""])[0]
        if (secret or form.get("client_secret", [""])[0]) != self.secret:
            return 401, b'{"error": "invalid_client"}'
        token = self.token("ec", time.time(), sub=name, scope=form.get("scope", [""])[0])
        return 200, json.dumps({"access_token": token, "token_type": "Bearer", "expires_in": 600}).encode()


@contextmanager
def publishing(files: Files) -> Iterator[Published]:
    """An issuer on loopback. files: its certificate and key."""
    issuer = Published()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(*issuer.answer(self.path))

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            self._send(*issuer.granted(form, self.headers.get("authorization", "").removeprefix("Basic ")))

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.cert, files.key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    issuer.url = f"https://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
