"""Data keys as Confluent's clients expect them."""

import pytest

from sigla.kms.key_message import ALGORITHMS, fresh_key, is_key

FORMS = {"AES128_GCM": ("1a10", 18), "AES256_GCM": ("1a20", 34), "AES256_SIV": ("1240", 66)}
"""How the message begins, and how long it is."""


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_fresh_key_is_the_message_that_clients_read(algorithm: str) -> None:
    """Tink's AesGcmKey and AesSivKey: a client that got bare bytes would read another key out of them."""
    begins, length = FORMS[algorithm]
    message = fresh_key(algorithm)
    assert (message[:2].hex(), len(message)) == (begins, length)
    assert is_key(message)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_two_keys_are_equal(algorithm: str) -> None:
    assert len({fresh_key(algorithm) for _ in range(100)}) == 100


@pytest.mark.parametrize("other", [b"", b"\x1a", b"a letter", b"\x1a\x10short", b"\x1a\x10" + bytes(17)])
def test_what_is_no_key_is_told_apart(other: bytes) -> None:
    """A server that unwrapped anything would decrypt for its clients whatever else the KMS key has encrypted."""
    assert not is_key(other)
