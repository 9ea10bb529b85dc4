"""What keys in a bucket cost."""

import base64
from collections import Counter
from contextlib import closing

from sigla.auth import api_keys
from sigla.auth.credentials import BasicKeys
from sigla.stores.s3.api_keys import AwsKeys
from sigla.stores.s3.objects import Objects
from tests.build import NOW, FixedClock
from tests.contract.engines import BUCKET, in_process
from tests.unit.aws.faults import Faults


def basic(name: str, secret: str) -> bytes:
    return b"Basic " + base64.b64encode(f"{name}:{secret}".encode())


def test_guesses_cost_a_bucket_next_to_nothing() -> None:
    """Each request to S3 is paid for by who was attacked."""
    with in_process() as clients, closing(Objects(clients.s3, BUCKET, clock=FixedClock())) as objects:
        keys = AwsKeys(objects)
        _, secret = api_keys.create(keys, "orders", "reader", (), now=NOW)
        faults = Faults(clients.s3)
        who = BasicKeys(keys, FixedClock())
        for guess in range(200):
            assert who(basic("orders", str(guess))) is None
            assert who(basic(f"name-{guess}", "x")) is None
        assert who(basic("orders", secret))
        assert Counter(call.operation for call in faults.calls) == {"GetObject": 2, "ListObjectsV2": 1}
