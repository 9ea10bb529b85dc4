"""What it costs to recognise a caller by a bearer token: the first time, and again, beside an API key.

The first time a signature is verified; from then on the token is known by its digest. The issuer's keys are at hand, as
they are after the first token of all.
"""

import base64
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from benchmarks.harness import Goal, Line, Lines, best_of, main, per_call
from sigla.auth import api_keys
from sigla.auth.credentials import BasicKeys
from sigla.auth.tokens import issuers
from sigla.auth.tokens.bearer import BearerTokens, KeysAndTokens
from sigla.auth.tokens.key_sets import KeySet, parse
from sigla.auth.tokens.published import AT_ONCE, Published
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.keys import EmbeddedKeys

ISSUER, AUDIENCE = "https://issuer.example", "sigla"
KEYS: dict[str, tuple[Any, Callable[[Any], str]]] = {
    "RS256": (rsa.generate_private_key(65537, 2048), RSAAlgorithm.to_jwk),
    "ES256": (ec.generate_private_key(ec.SECP256R1()), ECAlgorithm.to_jwk),
    "EdDSA": (ed25519.Ed25519PrivateKey.generate(), OKPAlgorithm.to_jwk),
}
GROUPS = [f"team-{number}" for number in range(20)]
FIRST = Goal(2e-3, "s")
AGAIN = Goal(10e-6, "s")


def lines(*, quick: bool = False) -> Lines:
    rounds, calls = (2, 3) if quick else (10, 300)
    with TemporaryDirectory() as folder:
        keys = BasicKeys(EmbeddedKeys(Path(folder)), SystemClock())
        _, secret = api_keys.create(EmbeddedKeys(Path(folder)), "etl", "reader", (), now=0)
        key = b"Basic " + base64.b64encode(f"etl:{secret}".encode())
        both = KeysAndTokens(keys, _tokens()())
        alone, beside = best_of(
            rounds, per_call(partial(keys, key), 100 * calls), per_call(partial(both, key), 100 * calls)
        )
        yield Line("an API key, where tokens are taken as well", beside, "s", alone, "keys alone")
        for algorithm in KEYS:
            again = _shown(algorithm)
            seen, by_key = best_of(
                rounds, per_call(partial(both, again), 100 * calls), per_call(partial(both, key), 100 * calls)
            )
            yield Line(f"a token with {algorithm}, again", seen, "s", by_key, "an API key, again", AGAIN)
        for algorithm in KEYS:
            many = [_shown(algorithm) for _ in range(calls)]
            first, library = best_of(
                rounds, per_call(_each_new(many), calls), per_call(_by_the_library(algorithm, many), calls)
            )
            yield Line(f"a token with {algorithm}, the first time", first, "s", library, "PyJWT alone", FIRST)


def _tokens() -> Callable[[], BearerTokens]:
    """Makes one that has seen no token, as after a restart, and has the issuer's keys at hand."""
    row = {"when": {"groups": "team-19"}, "role": "writer", "subjects": ["orders-"]}
    known = issuers.read(json.dumps([{"issuer": ISSUER, "audience": AUDIENCE, "map": [row]}]))
    clock = SystemClock()
    published = {ISSUER: Published(known[0], _Source(), clock, AT_ONCE)}
    made = partial(BearerTokens, known, published, clock, waits=False)
    if made()(_shown("ES256")) is None:
        raise ValueError("the token of the benchmark is not accepted")
    return made


class _Source:
    """A `KeySource` without a way."""

    def read(self, _: issuers.Issuer) -> KeySet:
        keys = [{**json.loads(write(key.public_key())), "kid": name} for name, (key, write) in KEYS.items()]
        return KeySet(parse(json.dumps({"keys": keys}).encode()), SystemClock().now())


_ids: Iterator[int] = iter(range(2**62))


def _shown(algorithm: str) -> bytes:
    """A header with a token of its own."""
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "etl", "groups": GROUPS, "exp": now + 3600, "jti": str(next(_ids))}
    token = jwt.encode(claims, KEYS[algorithm][0], algorithm, headers={"kid": algorithm})
    return b"Bearer " + token.encode()


def _each_new(headers: Sequence[bytes]) -> Callable[[], object]:
    """Each is shown where it has not been seen; a round of measuring takes them all."""
    shown, made = cycle(headers), _tokens()
    authenticate, left = made(), 0

    def call() -> object:
        nonlocal authenticate, left
        if not left:
            authenticate, left = made(), len(headers)
        left -= 1
        return authenticate(next(shown))

    return call


def _by_the_library(algorithm: str, headers: Sequence[bytes]) -> Callable[[], object]:
    shown, key = cycle(headers), KEYS[algorithm][0].public_key()
    return lambda: jwt.decode(next(shown)[7:], key, [algorithm], audience=AUDIENCE, issuer=ISSUER)


if __name__ == "__main__":
    main(lines, __doc__)
