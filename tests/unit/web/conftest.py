"""A registry in memory behind the application, and a client that sends what it is told, byte for byte."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pytest

from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from tests.build import FixedClock

Headers = Mapping[str, str] | list[tuple[str, str]]


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def refusal(self) -> tuple[int, int, str]:
        """Status, number and sentence; both fields are always there, and no others."""
        assert set(self.json) == {"error_code", "message"}
        return self.status, self.json["error_code"], self.json["message"]


class Client:
    """Speaks ASGI to an application: no HTTP library stands between, to normalise what a test is about.

    address: where it asks from; None: that is not told.
    """

    def __init__(self, application: Any, address: str | None = None) -> None:
        self.application = application
        self.address = address

    def __call__(self, method: str, target: str, body: Any = None, headers: Headers = MappingProxyType({})) -> Response:
        """body: bytes as they are, anything else as JSON."""
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as own:  # the thread's loop stays as it is
            return own.run(self.send(method, target, [content], headers))

    async def send(
        self, method: str, target: str, parts: list[bytes], headers: Headers = MappingProxyType({})
    ) -> Response:
        path, _, query = target.partition("?")
        pairs = list(headers.items()) if isinstance(headers, Mapping) else headers
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "client": self.address and (self.address, 50_000),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs],
        }
        messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
        messages[-1]["more_body"] = False
        sent: list[Any] = []

        async def receive() -> Any:
            if not messages:
                await asyncio.Event().wait()  # the client stays
            return messages.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        await self.application(scope, receive, send)
        if not sent:
            return Response(0, {}, b"")
        named = {name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]}
        return Response(sent[0]["status"], named, b"".join(message["body"] for message in sent[1:]))


@pytest.fixture
def registry() -> Iterator[Registry]:
    with EmbeddedStore() as store:
        yield Registry(store.catalog, store.bodies, FixedClock(), secrets=store.secrets, recent_log=store.recent_log)


@pytest.fixture
def client(registry: Registry) -> Client:
    return Client(app.build(registry))
