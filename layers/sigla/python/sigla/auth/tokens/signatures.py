"""Whether a key signed a token: the one place that knows PyJWT. It is imported with the first bearer."""

from functools import lru_cache
from typing import Final

from jwt import PyJWK, PyJWTError
from jwt.api_jws import PyJWS

from sigla.auth.tokens.key_sets import ALGORITHMS, Key
from sigla.auth.tokens.presented import Presented

RSA_BITS: Final = range(2048, 8192 + 1)
"""Shorter keys can be broken, longer ones take long."""

_verifier: Final = PyJWS(algorithms=ALGORITHMS)


def is_signed(presented: Presented, key: Key) -> bool:
    """Whether the token is what the key has signed, with an algorithm that it may be used with."""
    algorithm = presented.header["alg"]
    if algorithm not in key.algorithms:
        return False
    try:
        _verifier.decode_complete(presented.token, _opened(frozenset(key.jwk.items()), algorithm), [algorithm])
    except (PyJWTError, ValueError):
        return False
    return True


@lru_cache(maxsize=256)
def _opened(jwk: frozenset[tuple[str, str]], algorithm: str) -> PyJWK:
    """Raises PyJWTError, ValueError for what cannot be a key."""
    opened = PyJWK(dict(jwk), algorithm)
    if opened.key_type == "RSA" and opened.key.key_size not in RSA_BITS:
        raise ValueError("an RSA key of another size")
    return opened
