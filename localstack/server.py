"""LocalStack as a process of this machine: started, waited for, found again, ended.

It runs in host mode, without Docker, with our plug-in (localstack/plugin/), and listens on this machine alone: on one
port for AWS, and on those after it for function URLs. All it holds is in memory and in one folder, and goes with it.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from localstack_client.session import Session

from localstack.installation import HERE, HOME, PYTHON, install, runtime_client
from sigla_pipelines.connectors.maven import Unavailable

PORT = 4566
"""Where LocalStack is by custom."""

ZONES = 6
"""The most that a region has."""

READY_WITHIN_S = 180.0
STOPS_WITHIN_S = 10.0

CREDENTIALS = {
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
}
"""Those of the account that LocalStack makes for whoever says `test`."""


def session(endpoint: str, credentials: Mapping[str, str] = CREDENTIALS) -> Session:
    """Makes clients of the LocalStack there, as its users make them; AWS_ENDPOINT_URL goes before `endpoint`."""
    return Session(
        aws_access_key_id=credentials["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=credentials["AWS_SECRET_ACCESS_KEY"],
        region_name=credentials["AWS_DEFAULT_REGION"],
        localstack_host=urlsplit(endpoint).netloc,
    )


@dataclass(frozen=True, slots=True)
class Server:
    """One LocalStack. folder: what belongs to it, the log first.

    port: of AWS. urls: how many ports after it are function URLs, in the order in which these are made. python: of the
    environment that LocalStack is installed in.
    """

    port: int
    folder: Path
    urls: int = 1
    python: Path = PYTHON

    @classmethod
    def on(cls, port: int) -> "Server":
        """The one that `make localstack` starts there: with room for the registry's URL and one of each zone."""
        return cls(port, HOME / "run" / str(port), urls=1 + ZONES)

    @property
    def ports(self) -> range:
        return range(self.port, self.port + 1 + self.urls)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.folder / "localstack.log"

    def process(self) -> psutil.Process | None:
        """Its process, if it runs. A number alone would not do: some day it belongs to another process."""
        with contextlib.suppress(OSError, ValueError, psutil.NoSuchProcess):
            told = json.loads(self._note.read_text())
            process = psutil.Process(told["pid"])
            if process.create_time() == told["since"] and process.status() != psutil.STATUS_ZOMBIE:
                return process
        return None

    def start(self, environ: Mapping[str, str], *, tied: bool = False) -> "subprocess.Popen[bytes]":
        """Back when it answers; it goes on when we end, unless tied to us. Raises Unavailable."""
        for port in self.ports:
            if taken(port):
                raise Unavailable(f"port {port} of 127.0.0.1 is taken; choose another with --port")
        install(environ)
        surroundings = self.surroundings(environ, runtime_client(environ))
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as output:
            # A session of its own: Ctrl-C is ours to hear, and what LocalStack starts can be ended with it.
            process = subprocess.Popen(
                [str(self.python), "-P", "-m", "plugin"],
                env={**surroundings, "SIGLA_TIED": "yes" if tied else ""},
                stdin=subprocess.PIPE if tied else subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._note.write_text(json.dumps({"pid": process.pid, "since": psutil.Process(process.pid).create_time()}))
        try:
            self._wait_until_ready(process)
        except BaseException:
            with process:
                self.stop()
            raise
        return process

    def stop(self) -> bool:
        """Whether there was one to stop. It is not asked: it would take ten seconds to keep nothing."""
        process = self.process()
        if process:
            os.killpg(process.pid, signal.SIGKILL)
            # Where ended processes are not collected, as in some containers, it stays in the list of processes.
            with contextlib.suppress(psutil.TimeoutExpired):
                process.wait(STOPS_WITHIN_S)
        shutil.rmtree(self.folder, ignore_errors=True)
        return process is not None

    def surroundings(self, environ: Mapping[str, str], runtime: Path) -> dict[str, str]:
        """What makes LocalStack stay at home: no telemetry, no downloads at start, no files elsewhere.

        runtime: the folder of Lambda's runtime client.
        """
        return {
            **environ,
            # CloudFormation looks at once whether a function is there, and not a second later.
            "CFN_NO_WAIT_ITERATIONS": "100",
            # Browsers are answered by the registry, as its settings say.
            "DISABLE_CORS_CHECKS": "1",
            "DISABLE_CORS_HEADERS": "1",
            "DISABLE_EVENTS": "1",
            "DNS_ADDRESS": "0",
            "FILESYSTEM_ROOT": str(self.folder / "root"),
            "GATEWAY_LISTEN": ",".join(f"127.0.0.1:{port}" for port in self.ports),
            "LAMBDA_RUNTIME_ENVIRONMENT_TIMEOUT": "60",
            "LOCALSTACK_HOST": f"localhost.localstack.cloud:{self.port}",
            "OVERRIDE_IN_DOCKER": "0",
            # The plug-in, and what it needs of Sigla itself, which is of the standard library alone.
            "PYTHONPATH": os.pathsep.join(map(str, (HERE, HERE.parent / "layers" / "sigla" / "python"))),
            "SIGLA_RUNTIME_CLIENT": str(runtime),
            "SKIP_SSL_CERT_DOWNLOAD": "1",
            "XDG_CACHE_HOME": str(HOME / "cache"),
        }

    @property
    def _note(self) -> Path:
        return self.folder / "server.json"

    def _wait_until_ready(self, process: "subprocess.Popen[bytes]") -> None:
        """Raises Unavailable with the end of the log."""
        deadline = time.monotonic() + READY_WITHIN_S
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(urllib.error.URLError, OSError):
                urllib.request.urlopen(f"{self.endpoint}/_localstack/health", timeout=5).close()
                return
            time.sleep(0.1)
        last = "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
        raise Unavailable(f"LocalStack did not start. Its log ends with\n{last}")


def taken(port: int) -> bool:
    """Whether a process listens there already; LocalStack would say `Ready.` all the same, and hear nothing."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def running(environ: Mapping[str, str], server: Server) -> Iterator[str]:
    """Its endpoint's URL; it ends with the block, or with this process, however that ends. Raises Unavailable."""
    with server.start(environ, tied=True):
        try:
            yield server.endpoint
        finally:
            server.stop()
