"""A free place for a LocalStack, and how to speak to a registry without a client's help."""

import http.client
import json
from base64 import b64encode
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlsplit

import pytest

from localstack.installation import installed
from tests.contract.engines import two_free_ports


@pytest.fixture(scope="module")
def port() -> int:
    """A port that is free, as the next one is. Skips where LocalStack is not installed."""
    if not installed():
        pytest.skip("LocalStack is not installed here: python -m localstack.installation")
    return two_free_ports()


@dataclass(frozen=True)
class Door:
    """One way into the registry. url: without a slash at the end. key: name and secret, or None."""

    url: str
    key: tuple[str, str] | None

    def without_key(self) -> Self:
        return replace(self, key=None)

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON. The path goes as it is written here: no client tidies it up."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        if self.key:
            headers["Authorization"] = f"Basic {b64encode(':'.join(self.key).encode()).decode()}"
        try:
            content = None if body is None else json.dumps(body).encode()
            connection.request(method, parts.path + path, body=content, headers=headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()
