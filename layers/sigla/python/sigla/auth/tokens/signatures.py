"""Whether a key signed a token: the one place that knows PyJWT. It is imported with the first bearer."""

from functools import lru_cache
from math import gcd, prod
from typing import Final

from jwt import PyJWK, PyJWTError
from jwt.api_jws import PyJWS

from sigla.auth.tokens.key_sets import ALGORITHMS, Key
from sigla.auth.tokens.presented import Presented

RSA_BITS: Final = range(2048, 8192 + 1)
"""Shorter keys can be broken, longer ones take long."""

RSA_EXPONENTS: Final = range(2**16 + 1, 2**256, 2)
"""Source: FIPS 186-5, 5.1. Some signatures under the smaller ones were forged, and huge ones take long."""

_SMALL_PRIMES: Final = prod(n for n in range(3, 752) if all(n % other for other in range(2, n)))
"""Source: NIST SP 800-89, 5.3.3: a modulus without factors below 752."""

SMALL_ORDER: Final = frozenset(
    bytes.fromhex(point)
    for point in (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    )
)
"""Points of Ed25519 for which a signature can be made without a secret, without the bit of their sign.

Source: the points of order 1, 2, 4 and 8 with their other spellings, as libsodium refuses them (RFC 8032 leaves that
to whoever verifies).
"""

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
    if opened.key_type == "RSA":
        numbers = opened.key.public_numbers()
        _check_rsa(numbers.n, numbers.e)
    if opened.key_type == "OKP" and _unsigned(opened.key.public_bytes_raw()) in SMALL_ORDER:
        raise ValueError("a point of small order")
    return opened


def _check_rsa(n: int, e: int) -> None:
    """n: the modulus; e: the public exponent. Raises ValueError."""
    if n.bit_length() not in RSA_BITS or e not in RSA_EXPONENTS:
        raise ValueError("an RSA key of another size, or with another exponent")
    if n % 2 == 0 or gcd(n, _SMALL_PRIMES) > 1:
        raise ValueError("a modulus with a small factor")


def _unsigned(point: bytes) -> bytes:
    return point[:-1] + bytes([point[-1] & 0x7F])
