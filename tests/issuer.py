"""An issuer of tokens for tests: keys of its own, what it signs, and where it publishes them over HTTPS."""

import html
import json
import secrets
import ssl
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

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
class People:
    """Logs people in by a code with PKCE, as OpenID Connect Core 3.1 and RFC 7636 have it.

    client: who may ask. back: where it leads back to, and no other place. sub: who logs in. lasts_s: how long a token
    is good. renews: whether there is another token for the one before. claims, answer: what an id token, and what leads
    back, say otherwise; None takes one away. refuses: an error in place of a code. more: of the discovery document.
    given: the tokens.
    """

    client: str = "sigla-console"
    back: str = ""
    sub: str = "ada"
    lasts_s: int = 600
    renews: bool = False
    claims: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)
    refuses: dict[str, str] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    renewals: dict[str, str] = field(default_factory=dict)
    given: list[str] = field(default_factory=list)

    def places(self, url: str) -> dict[str, Any]:
        """What the discovery document says of logging in."""
        told = {
            "authorization_endpoint": f"{url}/authorize",
            "token_endpoint": f"{url}/token",
            "end_session_endpoint": f"{url}/ended",
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
        return {name: value for name, value in {**told, **self.more}.items() if value is not None}

    def asked(self, issuer: Issuer, path: str) -> tuple[int, bytes]:
        """A page with two links: to log in, and not to."""
        said = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        fits = {"response_type": "code", "client_id": self.client, "redirect_uri": self.back}
        if any(said.get(name) != value for name, value in fits.items()):
            return 400, b"invalid_request: an unknown client, or another place to lead back to"
        if said.get("code_challenge_method") != "S256" or len(said.get("code_challenge", "")) != 43:
            return 400, b"invalid_request: no PKCE"
        if "openid" not in said.get("scope", "").split() or not (said.get("state") and said.get("nonce")):
            return 400, b"invalid_request: no OpenID Connect"
        code = secrets.token_urlsafe()
        self.codes[code] = said
        here = {"state": said["state"], "iss": issuer.url}

        def link(**told: str) -> str:
            led = {name: value for name, value in {**told, **here, **self.answer}.items() if value is not None}
            return html.escape(f"{self.back}?{urlencode(led)}")

        ways = {f"Log in as {self.sub}": self.refuses or {"code": code}, "Cancel": {"error": "access_denied"}}
        links = "".join(f'<p><a href="{link(**told)}">{way}</a></p>' for way, told in ways.items())
        return 200, f"<!doctype html><title>Log in</title>{links}".encode()

    def granted(self, issuer: Issuer, form: Mapping[str, list[str]]) -> tuple[int, bytes]:
        """A code is good once, for the client, the place and the verifier that it was asked with; a renewal as well."""
        said = {name: values[0] for name, values in form.items()}
        asked: Mapping[str, str] | None = None
        if said["grant_type"] == "refresh_token":
            asked = {"nonce": self.renewals.pop(said.get("refresh_token", ""), ""), "client_id": self.client}
        elif (found := self.codes.pop(said.get("code", ""), None)) is not None:
            digest = sha256(said.get("code_verifier", "").encode()).digest()
            shown = urlsafe_b64encode(digest).rstrip(b"=").decode()
            fits = shown == found["code_challenge"] and said.get("redirect_uri") == found["redirect_uri"]
            asked = found if fits else None
        if asked is None or not asked["nonce"] or said.get("client_id") != self.client:
            return 400, b'{"error": "invalid_grant", "error_description": "It is not good, or not any more"}'
        now = time.time()
        access = issuer.token("ec", now, sub=self.sub, exp=int(now) + self.lasts_s, jti=secrets.token_hex())
        own = {"aud": self.client, "sub": self.sub, "nonce": asked["nonce"], "preferred_username": self.sub}
        told: dict[str, Any] = {
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": self.lasts_s,
            "id_token": issuer.token("ec", now, **{**own, **self.claims}),
        }
        if self.renews:
            told["refresh_token"] = secrets.token_urlsafe()
            self.renewals[told["refresh_token"]] = asked["nonce"]
        self.given.append(access)
        return 200, json.dumps(told).encode()


@dataclass
class Published(Issuer):
    """One that listens. asked: the paths that it was asked for. wrong: what it answers instead, by path.

    people: logs people in.
    """

    asked: list[str] = field(default_factory=list)
    wrong: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    secret: str = "shown to the issuer alone"
    people: People = field(default_factory=People)

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        if path in self.wrong:
            return self.wrong[path]
        if path == "/.well-known/openid-configuration":
            told = {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **self.people.places(self.url)}
            return 200, json.dumps(told).encode()
        if path.startswith("/authorize?"):
            return self.people.asked(self, path)
        if path.startswith("/ended?"):
            return 200, b"<!doctype html><title>Logged out</title>"
        return (200, json.dumps(self.jwks).encode()) if path == "/keys" else (404, b"")

    def granted(self, form: Mapping[str, list[str]], basic: str) -> tuple[int, bytes]:
        """Client credentials (RFC 6749, 4.4), the secret in the form or as Basic; or what a code is good for."""
        if form.get("grant_type") != ["client_credentials"] and "grant_type" in form and not basic:
            return self.people.granted(self, form)
        import base64

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
            # Pages are for people, who log in there, and everything else may be asked by pages of other sites.
            is_page = body.startswith((b"<", b"invalid_request"))
            self.send_header("content-type", "text/html" if is_page else "application/json")
            self.send_header("access-control-allow-origin", "*")
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
