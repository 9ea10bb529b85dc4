"""An account and a runtime for a function in a process of its own: AWS by moto, Lambda's own runtime client."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.test import EnvironBuilder, run_wsgi_app

from localstack import installation
from sigla.aws.clients import Clients
from sigla_pipelines.connectors.maven import Unavailable
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION

ROOT = Path(__file__).parents[2]
FUNCTION = ROOT / "functions" / "registry"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": REGION}


class _Kept(BaseHTTPRequestHandler):
    """A connection to moto's application that is kept, as AWS keeps them; moto's own server closes each."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body at once: no side waits for an acknowledgement
    application = DomainDispatcherApplication(create_backend_app)
    seen: Callable[[str], None] = staticmethod(lambda _: None)

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.seen(self.headers.get("X-Amz-Target", self.command).rpartition(".")[2])
        asked = EnvironBuilder(self.path, method=self.command, headers=list(self.headers.items()), data=body)
        chunks, status, headers = run_wsgi_app(self.application, asked.get_environ(), buffered=True)
        content = b"".join(chunks)
        self.send_response(int(status.split()[0]))
        for name, value in headers.items():
            if name.lower() not in ("connection", "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = _answer  # noqa: N815 - the server looks for these names

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def aws(seen: Callable[[str], None] = lambda _: None) -> Iterator[str]:
    """The URL of AWS, for other processes. seen: is told each operation of DynamoDB, and each method of S3."""
    handler = type("Seeing", (_Kept,), {"seen": staticmethod(seen)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def account(endpoint: str) -> dict[str, str]:
    """Makes an account at that URL, with a bucket and an empty table: the environment of its functions."""
    told = {**CREDENTIALS, "AWS_ENDPOINT_URL": endpoint}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in told.items():
            patch.setenv(name, value)
        with closing(Clients()) as clients:
            clients.s3.create_bucket(Bucket=BUCKET)
            return {**told, "SIGLA_TABLE": make_table(clients.dynamodb), "SIGLA_BUCKET": BUCKET}


def runtime_client() -> Path:
    """The folder of Lambda's runtime client. Skips where it cannot be had."""
    if sys.version_info[:2] != (3, 13):
        pytest.skip(f"Lambda's Python is not here: this one is {sys.version.split()[0]}")
    try:
        return installation.runtime_client(os.environ)
    except Unavailable as reason:
        pytest.skip(f"Lambda's Python is not here: {reason}")


def alone() -> dict[str, str]:
    """The environment of this process without what it says of AWS and of registries."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SIGLA_"))}


def lambda_environment(told: Mapping[str, str], code: Path = FUNCTION) -> dict[str, str]:
    """What Lambda's runtime finds, besides the address of its API. code: where `handler.py` is."""
    return {
        **alone(),
        "AWS_LAMBDA_FUNCTION_NAME": "registry",
        "AWS_LAMBDA_FUNCTION_VERSION": "1",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
        "LAMBDA_TASK_ROOT": str(code),
        "PYTHONPATH": os.pathsep.join([str(code), str(runtime_client())]),
        "PYTHONUNBUFFERED": "1",
        **told,
    }


RUNTIME = (sys.executable, "-m", "awslambdaric", "handler.handler")


@dataclass
class Process:
    """Lambda's runtime with the registry's function. output: what it has written."""

    running: "subprocess.Popen[bytes]"
    output: Path

    def lines(self, event: str) -> list[str]:
        """The messages of its log, of one kind."""
        lines = [line for line in self.output.read_text().splitlines() if line.startswith("{")]
        told = [json.loads(line) for line in lines]
        return [line["message"] for line in told if line.get("event") == event]


@contextmanager
def runtime(environment: Mapping[str, str], output: Path) -> Iterator[Process]:
    with output.open("wb") as log:
        process = subprocess.Popen(RUNTIME, env=dict(environment), stdout=log, stderr=log)
        try:
            yield Process(process, output)
        finally:
            process.kill()
            process.wait()
