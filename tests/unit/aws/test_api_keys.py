"""What keys in a bucket cost."""

import base64
from collections import Counter
from contextlib import closing

from sigla.auth import api_keys
from sigla.auth.credentials import BasicKeys
from sigla.auth.listed_keys import listed_keys
from sigla.auth.uses import KeyUses
from sigla.ports.clock import day_of
from sigla.stores.s3.api_keys import AwsKeys
from sigla.stores.s3.objects import Objects
from tests.build import NOW, FixedClock
from tests.contract.engines import BUCKET, in_process
from tests.unit.aws.faults import Faults
from tests.unit.aws.metering import metered


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
        assert Counter(call.operation for call in faults.calls) == {"GetObject": 1, "ListObjectsV2": 1}


def test_a_key_that_is_used_costs_one_look_a_minute_and_one_note_a_day() -> None:
    """No request waits for the note; the second instance of a day finds it, and writes none."""
    clock = FixedClock()
    with in_process() as clients, closing(Objects(clients.s3, BUCKET, clock=clock)) as objects:
        keys = AwsKeys(objects)
        _, secret = api_keys.create(keys, "orders", "reader", (), now=NOW)
        header = basic("orders", secret)
        faults = Faults(clients.s3)

        def a_day() -> tuple[Counter[str], Counter[str]]:
            """What ten minutes of requests of one instance ask, and what its notes do."""
            told: list[str] = []
            who, noted = BasicKeys(keys, clock, used=told.append), KeyUses(keys, clock)
            faults.calls.clear()
            for _ in range(1000):
                assert who(header)
                clock.time += 600
            requests = Counter(call.operation for call in faults.calls)
            faults.calls.clear()
            for name in told:
                noted(name)
            noted._thread.shutdown()
            return requests, Counter(call.operation for call in faults.calls)

        assert a_day() == ({"GetObject": 10}, {"GetObject": 1, "PutObject": 1})
        assert a_day() == ({"GetObject": 10}, {"GetObject": 1})
        clock.time += 86_400_000
        assert a_day() == ({"GetObject": 10}, {"GetObject": 1, "PutObject": 1})
        assert list(objects.names("default/key-uses/")) == ["default/key-uses/orders"]


def test_keys_are_listed_with_their_uses_in_two_rounds() -> None:
    """However many there are: the console's page of keys keeps to what each of its pages may cost."""
    with in_process() as clients, closing(Objects(clients.s3, BUCKET, clock=FixedClock())) as objects:
        keys = AwsKeys(objects)
        for at in range(4):
            api_keys.create(keys, f"key-{at}", "reader", (), now=NOW)
            keys.note_use(f"key-{at}", day_of(NOW))
        with metered(clients, (("ListObjectsV2",) * 2, ("GetObject",) * 8)) as meter:
            found = listed_keys(keys)
        assert meter.seen == (("ListObjectsV2",) * 2, ("GetObject",) * 8)
        assert [(key.name, found.used(key)) for key in found.keys] == [(f"key-{at}", day_of(NOW)) for at in range(4)]
