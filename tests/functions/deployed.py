"""The function as it is deployed, as many instances of it as a test wants, and clients before its doors."""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import pytest

from sigla import wiring
from sigla.auth import api_keys
from sigla.functions.lifecycle import Renewed
from sigla.stores.clock import SystemClock
from sigla.stores.s3.api_keys import AwsKeys
from sigla.stores.s3.objects import Objects
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION, in_process
from tests.unit.web.test_gateway import function_url, rest

ENDPOINT = "AWS_ENDPOINT_URL_DYNAMODB"
"""Where the SDK finds DynamoDB, if not at AWS."""


@dataclass(frozen=True)
class Reply:
    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def code(self) -> int:
        """The `error_code` of a refusal."""
        return int(self.body["error_code"])


@dataclass(frozen=True)
class Client:
    """A client before a door of one instance. secret: of the key `name`; without one it is unknown. host: it asks."""

    handler: Renewed
    door: str = "rest"
    name: str = ""
    secret: str = ""
    host: str = "h"

    def __call__(self, method: str, target: str, body: object = None) -> Reply:
        text = None if body is None else json.dumps(body)
        path, _, query = target.partition("?")
        shown = "Basic " + base64.b64encode(f"{self.name}:{self.secret}".encode()).decode()
        headers = {"Host": self.host} | ({"Authorization": shown} if self.name else {})
        if self.door == "rest":
            listed = {name: [value] for name, value in headers.items()}
            event = rest(method, path, parse_qs(query) or None, text, multiValueHeaders=listed)
        else:
            event = function_url(method, path, query, text, headers=headers)
        told = self.handler(event, None)
        sent = told.get("headers") or {name: one[0] for name, one in told["multiValueHeaders"].items()}
        content = json.loads(told["body"]) if told["body"] else None
        return Reply(told["statusCode"], content, {name.lower(): value for name, value in sent.items()})

    def get(self, target: str) -> Reply:
        return self("GET", target)


@dataclass
class Deployment:
    """One table, one bucket. keys: where API keys are kept. objects: of the bucket."""

    monkeypatch: pytest.MonkeyPatch
    keys: AwsKeys
    objects: Objects
    opened: ExitStack = field(default_factory=ExitStack)

    def instance(self, **settings: str) -> Renewed:
        """Starts one. Its variables are set for it alone: what it was not told the next one does not know either."""
        with self.monkeypatch.context() as environment:
            for name, value in settings.items():
                environment.setenv(name, value)
            return self.opened.enter_context(closing(wiring.lambda_handler()))

    def key(self, name: str, role: str, *prefixes: str) -> str:
        """Makes a key; its secret."""
        return api_keys.create(self.keys, name, role, prefixes, now=0)[1]

    def key_of(self, registry: str, name: str, role: str = "admin") -> str:
        """Makes a key of one of several registries; its secret."""
        return api_keys.create(AwsKeys(self.objects, registry=registry), name, role, (), now=0)[1]


@contextmanager
def deployed(monkeypatch: pytest.MonkeyPatch, endpoint: str | None = None, **settings: str) -> Iterator[Deployment]:
    """An empty registry, open to everybody. endpoint: of DynamoDB's own engine; in this process without one."""
    with in_process(dynamodb_endpoint=endpoint) as clients, ExitStack() as opened:
        variables = {
            "AWS_DEFAULT_REGION": REGION,
            "SIGLA_AUTH": "none",
            "SIGLA_BUCKET": BUCKET,
            "SIGLA_LOG_REQUESTS": "false",
            "SIGLA_TABLE": make_table(clients.dynamodb),
            **({ENDPOINT: endpoint} if endpoint else {}),
            **settings,
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        objects = opened.enter_context(closing(Objects(clients.s3, BUCKET, clock=SystemClock())))
        yield Deployment(monkeypatch, AwsKeys(objects), objects, opened)
