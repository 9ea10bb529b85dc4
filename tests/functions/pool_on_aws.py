"""A pool as it is deployed: two registries in one table and one bucket, beside the function's own.

DynamoDB is that of `tests/contract/tables.py`, S3 and SSM are moto's. Filling takes longer than most tests, so both
stores are put back to what they were, and the function is begun anew, after each request that has changed something.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest

from sigla import wiring
from sigla.auth import api_keys
from sigla.auth.tokens import issuers
from sigla.aws.clients import Clients
from sigla.functions.lifecycle import Renewed
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.store import AwsStore
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION, OneAtATime, in_process
from tests.contract.tables import Tables
from tests.unit.auth.guarded import ISSUER, KEYS, PREFIXES, Reply, fill, prepared
from tests.unit.auth.pool_asked import Ask
from tests.unit.auth.pooled import ask_by_event, basic, rows_of_the_map
from tests.unit.web.test_gateway import function_url, rest
from tests.unit.web.test_permissions import ROWS, Row

OWN = "own"
"""The registry of the settings. a and b are opened when they are asked."""

EVENTS = (rest, function_url)
SETTING = json.dumps([ISSUER.setting(*rows_of_the_map())])


class Bucket:
    """What is in the bucket, to be put back. Keys and their use stay as they are: no request changes a key."""

    def __init__(self, s3: Any) -> None:
        self._s3 = s3
        self._kept = {name: (etag, self._read(name)) for name, etag in self._listed().items()}

    def _listed(self) -> dict[str, str]:
        found = self._s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return {each["Key"]: each["ETag"] for each in found if "/key" not in each["Key"]}

    def _read(self, name: str) -> bytes:
        with closing(self._s3.get_object(Bucket=BUCKET, Key=name)["Body"]) as body:
            content: bytes = body.read()
        return content

    def put_back(self) -> None:
        listed = self._listed()
        for name in listed.keys() - self._kept.keys():
            self._s3.delete_object(Bucket=BUCKET, Key=name)
        for name, (etag, content) in self._kept.items():
            if listed.get(name) != etag:
                self._s3.put_object(Bucket=BUCKET, Key=name, Body=content)


class PoolOnAws:
    """A `World`. registry: a, as it was filled."""

    def __init__(self, clients: Clients, tables: Tables) -> None:
        self._tables = tables
        table, clock = make_table(clients.dynamodb), SystemClock()
        stores = {name: AwsStore(clients, table, BUCKET, clock, registry=name) for name in (OWN, "a", "b")}
        self.variables = {"SIGLA_TABLE": table}
        self.secrets = {
            name: {
                who.name: api_keys.create(
                    stores[name].keys, who.name, who.role, PREFIXES[who.reach], now=clock.now(), deletes=who.deletes
                )[1]
                for who in KEYS
            }
            for name in ("a", "b")
        }
        (issuer,) = issuers.read(SETTING)
        stores[OWN].issuer_keys.put(issuer, json.dumps(ISSUER.jwks).encode(), clock.now())
        self.registry = Registry(stores["a"].catalog, stores["a"].bodies, clock, secrets=stores["a"].secrets)
        self._bare = tables.copied(), Bucket(clients.s3)
        fill(self.registry)
        self._filled = tables.copied(), Bucket(clients.s3)
        self._now = self._filled
        self._targets = {row.target: prepared(self, row.target) for row in ROWS}
        self._stores = stores

    def basic(self, who: str, of: str, asked: str = "") -> dict[str, str]:
        return basic(self.secrets, who, of, asked)

    def bearer(self, who: str) -> dict[str, str]:
        return {"authorization": "Bearer " + ISSUER.token("ec", time.time(), sub=who)}

    def target(self, row: Row) -> str:
        return self._targets[row.target]

    @property
    def is_changed(self) -> tuple[bool, bool]:
        rows, _ = self._now
        of_a, of_b = (self._tables.is_changed(rows, self.variables["SIGLA_TABLE"], f"{name}#") for name in ("a", "b"))
        return of_a, of_b

    @property
    def is_filled(self) -> bool:
        return self._now is self._filled

    def put_back(self, *, filled: bool = True) -> None:
        """filled: whether a has anything."""
        self._now = self._filled if filled else self._bare
        rows, bucket = self._now
        self._tables.put_back(rows)
        bucket.put_back()

    def close(self) -> None:
        for store in self._stores.values():
            store.close()


class FunctionDoors:
    """The pool behind its function: `Doors` for one kind of event after the other."""

    def __init__(self, world: PoolOnAws, patched: pytest.MonkeyPatch) -> None:
        self._world, self._patched = world, patched
        self._function: Renewed | None = None
        self._event: Callable[..., dict[str, Any]] = rest

    def of_turn(self, turn: int) -> "FunctionDoors":
        self._event = EVENTS[turn % len(EVENTS)]
        return self

    def __call__(self, *, filled: bool = True) -> tuple[PoolOnAws, Ask]:
        """filled: whether a has anything."""
        if any(self._world.is_changed) or self._world.is_filled != filled:
            self.close()
            self._world.put_back(filled=filled)
        if self._function is None:
            with self._patched.context() as environment:
                for name, value in self._world.variables.items():
                    environment.setenv(name, value)
                self._function = wiring.lambda_handler()
        return self._world, self._ask

    def begin_anew(self) -> None:
        """Whatever is known by now."""
        self.close()
        self._world.put_back()

    def _ask(self, method: str, target: str, headers: Mapping[str, str], body: Any = None) -> Reply:
        assert self._function is not None
        return ask_by_event(self._function, self._event, method, target, headers=headers, body=body)

    def close(self) -> None:
        if self._function is not None:
            self._function.close()
            self._function = None


@contextmanager
def pool_on_aws() -> Iterator[FunctionDoors]:
    variables = {
        "AWS_DEFAULT_REGION": REGION,
        "SIGLA_AUTH": "keys",
        "SIGLA_BUCKET": BUCKET,
        "SIGLA_EXPORTERS": "here",
        "SIGLA_ISSUERS": SETTING,
        "SIGLA_LOG_REQUESTS": "false",
        "SIGLA_REGISTRIES": f"{OWN},a,b",
        "SIGLA_REGISTRY_DOMAIN": "example",
        "SIGLA_REGISTRY_NAME": OWN,
    }
    tables = Tables()
    with in_process(tables=tables) as clients, pytest.MonkeyPatch.context() as patched, ExitStack() as opened:
        clients.__dict__["s3"] = OneAtATime(clients.s3)
        # A function makes its own, which takes longer than a request does.
        patched.setattr("sigla.aws.clients.Clients", lambda **_: clients)
        for name, value in variables.items():
            patched.setenv(name, value)
        world = opened.enter_context(closing(PoolOnAws(clients, tables)))
        yield opened.enter_context(closing(FunctionDoors(world, patched)))
