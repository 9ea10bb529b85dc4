"""AWS's own emulator of Lambda, with its own runtime: there, too, who reads is noted after the answer.

Its Extensions API is the one that Lambda has. It hands an answer on to its caller only when all extensions are done, as
Lambda does not: so a proxy before its Runtime API tells when the runtime has posted it.
"""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.functions.other_process import ROOT, RUNTIME, account, aws, lambda_environment
from tests.unit.web.test_gateway import function_url
from tests.waiting import eventually

pytestmark = [pytest.mark.soak, pytest.mark.process]

EMULATOR = "github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@v0.0.0-20261030222936-bef5c4ba774d"
INVOKE = "/2015-03-31/functions/function/invocations"
READ = "/schemas/ids/1"
POSTED = "posted"


@pytest.fixture(scope="module")
def program() -> Path:
    """Built from its module, once per folder."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go is not installed here: AWS's emulator needs it")
    folder = ROOT / "build" / EMULATOR.rpartition("@")[2]
    if not (folder / "aws-lambda-rie").exists():
        told = {**os.environ, "GOBIN": str(folder)}
        ran = subprocess.run([go, "install", EMULATOR], env=told, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
    return folder / "aws-lambda-rie"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Proxy(BaseHTTPRequestHandler):
    """Hands requests on to the Runtime API, and writes down which answers were taken."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    api = ""
    happened: list[str]

    def _hand_on(self) -> None:
        with suppress(OSError, http.client.HTTPException):  # the emulator is ended while others wait for it
            self._answer(self._body())

    def _answer(self, body: bytes) -> None:
        headers = {name: value for name, value in self.headers.items() if name.lower() != "transfer-encoding"}
        with closing(http.client.HTTPConnection(self.api, timeout=None)) as connection:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
        if self.path.endswith("/response"):
            self.happened.append(POSTED)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "date"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    do_GET = do_POST = _hand_on  # noqa: N815 - the server looks for these names

    def log_message(self, *_: object) -> None:
        pass


@dataclass
class Emulated:
    """One environment. output: what it and the function have written."""

    address: str
    output: Path

    def ask(self, method: str, path: str, body: object = None) -> Any:
        event = function_url(method, path, "", None if body is None else json.dumps(body))
        with closing(http.client.HTTPConnection(self.address, timeout=60)) as connection:
            connection.request("POST", INVOKE, json.dumps(event))
            return json.loads(json.loads(connection.getresponse().read())["body"])

    def lasted_ms(self) -> list[float]:
        return [float(found) for found in re.findall(r"\tDuration: ([\d.]+) ms", self.output.read_text())]


@contextmanager
def emulated(program: Path, told: dict[str, str], happened: list[str], folder: Path) -> Iterator[Emulated]:
    api, door = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    output = folder / f"output-{free_port()}"
    handler = type("Handler", (Proxy,), {"api": api, "happened": happened})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy, output.open("wb") as log:
        proxy.daemon_threads = True
        thread = Thread(target=proxy.serve_forever, args=(0.01,))
        thread.start()
        addresses = ["--runtime-api-address", api, "--runtime-interface-emulator-address", door]
        # The emulator says where its own API is; the runtime has to find the proxy.
        ours = ["/usr/bin/env", f"AWS_LAMBDA_RUNTIME_API=127.0.0.1:{proxy.server_address[1]}", *RUNTIME]
        environment = lambda_environment({**told, "AWS_LAMBDA_FUNCTION_TIMEOUT": "20"})
        process = subprocess.Popen(
            [program, *addresses, *ours], env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            eventually(lambda: process.poll() is not None or reached(door))
            yield Emulated(door, output)
        finally:
            os.killpg(process.pid, 9)
            process.wait()
            proxy.shutdown()
            thread.join()


def reached(address: str) -> bool:
    host, _, port = address.partition(":")
    with socket.socket() as tried:
        return tried.connect_ex((host, int(port))) == 0


@pytest.fixture
def happened() -> list[str]:
    """What the function asked of AWS, and its answers, in order."""
    return []


@pytest.fixture
def told(happened: list[str]) -> Iterator[dict[str, str]]:
    with aws(happened.append) as endpoint:
        yield {**account(endpoint), "SIGLA_AUTH": "none", "SIGLA_LOG_REQUESTS": "false"}


def test_the_emulator_sees_notes_after_answers_and_no_trip_before_them(
    program: Path, told: dict[str, str], happened: list[str], tmp_path: Path
) -> None:
    with emulated(program, told, happened, tmp_path) as function:
        function.ask("POST", "/subjects/orders-value/versions", {"schema": '"string"'})
    trips: dict[str, list[list[str]]] = {"false": [], "true": []}
    for usage, of_reads in trips.items():
        with emulated(program, {**told, "SIGLA_USAGE": usage}, happened, tmp_path) as function:
            for _ in range(3):
                del happened[:]
                assert function.ask("GET", READ)["schema"] == '"string"'
                of_reads.append(list(happened))
            if usage == "true":
                (version,) = function.ask("GET", "/subjects/orders-value/usage")["versions"]
                assert [read["by"] for read in version["reads"]] == ["anyone"]
            log = function.output.read_text()
            assert ("Internal agent sigla-after-answers" in log) == (usage == "true")
            assert '"extension"' not in log, "it fails at nothing"
            print(f"\nusage {usage}: {of_reads}, milliseconds of invocations: {function.lasted_ms()}")
    first, *more = trips["true"]
    without, *more_without = trips["false"]
    assert sorted(first[: len(without)]) == sorted(without)
    assert first[len(without) - 1 :] == [POSTED, "BatchGetItem", "UpdateItem", "UpdateItem"]
    assert more == more_without == [[POSTED], [POSTED]]
