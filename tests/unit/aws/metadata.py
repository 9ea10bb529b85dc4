"""The endpoints that know zones, as AWS's documentation describes them, on this machine."""

import json
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Ec2:
    """IMDSv2: a token first, by PUT, with the time it shall last; without a good one 401."""

    zone_id: str = "use1-az1"
    zone_name: str = "us-east-1a"
    tokens: set[str] = field(default_factory=set)

    def answer(self, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, str]:
        if (method, path) == ("PUT", "/latest/api/token"):
            lasts = headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
            if not lasts.isdigit() or not 1 <= int(lasts) <= 21_600:
                return 400, ""
            if "X-Forwarded-For" in headers:
                return 403, ""
            token = secrets.token_urlsafe(40)
            self.tokens.add(token)
            return 200, token
        if headers.get("X-aws-ec2-metadata-token") not in self.tokens:
            return 401, ""
        found = {
            "/latest/meta-data/placement/availability-zone-id": self.zone_id,
            "/latest/meta-data/placement/availability-zone": self.zone_name,
        }.get(path, "")
        return (200, found) if method == "GET" and found else (404, "")


@dataclass
class Ecs:
    """Task metadata, version 4: below a path of the container's own."""

    zone_name: str = "us-east-1a"

    def answer(self, method: str, path: str, _: Mapping[str, str]) -> tuple[int, str]:
        if (method, path) != ("GET", "/v4/of-this-container/task"):
            return 404, ""
        task = {"Cluster": "shop", "LaunchType": "FARGATE", "KnownStatus": "RUNNING"}
        return 200, json.dumps(task | ({"AvailabilityZone": self.zone_name} if self.zone_name else {}))


@dataclass
class Lambda:
    """The metadata of the execution environment, for those who show its token."""

    zone_id: str = "use1-az1"
    token: str = "a-token"

    def answer(self, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, str]:
        if headers.get("Authorization") != f"Bearer {self.token}":
            return 401, ""
        if (method, path) != ("GET", "/2026-01-15/metadata/execution-environment"):
            return 404, ""
        return 200, json.dumps({"AvailabilityZoneID": self.zone_id})


@dataclass
class Always:
    """Another server at that address, which answers everything alike."""

    status: int = 200
    body: str = "<html>Welcome! Please log in.</html>"

    def answer(self, *_: object) -> tuple[int, str]:
        return self.status, self.body


Endpoint = Ec2 | Ecs | Lambda | Always


@contextmanager
def served(endpoint: Endpoint) -> Iterator[str]:
    """Its host and port."""

    class Answers(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            status, body = endpoint.answer(self.command, self.path, dict(self.headers.items()))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_PUT = _answer  # noqa: N815 - the library calls them by the method

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
