"""What tests of the extension share."""

from random import Random

from sigla_pipelines.land.decoders.decoder import Decoded

NOT_BUILT = "the extension is not built here: `make native` builds it, where cargo is new enough"


def same(found: Decoded, expected: Decoded) -> Decoded:
    """What both say, if it is the same."""
    assert found.rows.type.equals(expected.rows.type, check_metadata=True)
    found.rows.validate(full=True)
    for part in ("status", "at", "detail"):
        assert getattr(found, part).equals(getattr(expected, part))
    # A NaN is equal to none for Arrow, and written as one here.
    assert found.rows.equals(expected.rows) or repr(found.rows.to_pylist()) == repr(expected.rows.to_pylist())
    return found


def damaged(payload: bytes, by: Random) -> bytes:
    """Every third one: a byte is another one, or is missing, or there is one too many, or the end is missing."""
    if not payload or by.randrange(3):
        return payload
    at, byte = by.randrange(len(payload)), bytes([by.randrange(256)])
    before, after = payload[:at], payload[at + 1 :]
    return by.choice([before + byte + after, before + after, before + byte + payload[at:], before])
