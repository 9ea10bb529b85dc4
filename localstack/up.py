"""AWS without AWS: LocalStack on this machine, without Docker.

    make localstack                      install it if need be, start it, print its endpoint, stop it with Ctrl-C
    python -m localstack.up --install    install it only
    python -m localstack.up --port 4600

It lives in an environment of its own, .localstack/, because its pins are not ours, and needs Python 3.13, which need
not be the Python of .venv: its modules are written for 3.13, and its pins have no solution for 3.14. S3, CloudFormation
and IAM answer in this mode. DynamoDB and Lambda do not: LocalStack runs those by Docker or by downloads.
"""

import argparse
import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).parent
HOME = HERE.parent / ".localstack"
LOCK = HERE / "requirements.txt"

READY_WITHIN_S = 60.0
# Its own thread pools take up to ten seconds to end.
STOPS_WITHIN_S = 25.0

Command = list[str]


class Unavailable(Exception):  # noqa: N818 - it is what LocalStack is on this machine
    """LocalStack cannot run here; the message says what is missing and what to do."""


def candidates(environ: Mapping[str, str]) -> Iterator[str]:
    """Where a Python 3.13 may be, likeliest first."""
    if chosen := environ.get("LOCALSTACK_PYTHON"):
        yield chosen
    yield from (sys.executable, "python3.13", "python3")
    versions = Path(environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from (str(python) for python in sorted(versions.glob("3.13.*/bin/python"), reverse=True))


def find_python(tried: Iterable[str]) -> str:
    """The first candidate that runs and is a 3.13. It has to be run: version managers leave shims that only fail.

    Raises Unavailable.
    """
    asked = "import sys; sys.exit(sys.version_info[:2] != (3, 13))"
    for python in tried:
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-c", asked], capture_output=True, check=False).returncode == 0:
                return python
    message = "LocalStack needs Python 3.13, and there is none here: install it, or say where with LOCALSTACK_PYTHON"
    raise Unavailable(message)


def installed() -> bool:
    """Whether the environment holds what the lock says."""
    stamp = HOME / "lock"
    return stamp.exists() and stamp.read_text() == hashlib.sha256(LOCK.read_bytes()).hexdigest()


def install(environ: Mapping[str, str]) -> None:
    """The environment as locked, with hashes; nothing to do when it is there. Raises Unavailable."""
    if installed():
        return
    python = find_python(candidates(environ))
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        message = "LocalStack is installed by uv, and there is none here: make setup"
        raise Unavailable(message)
    print(f"Installing LocalStack in {HOME} …", file=sys.stderr)
    subprocess.run([uv, "venv", "--quiet", "--clear", "--python", python, str(HOME / "venv")], check=True)
    within = {**environ, "VIRTUAL_ENV": str(HOME / "venv"), "UV_NO_CONFIG": "1"}
    subprocess.run([uv, "pip", "sync", "--quiet", "--require-hashes", str(LOCK)], check=True, env=within)
    (HOME / "lock").write_text(hashlib.sha256(LOCK.read_bytes()).hexdigest())


def surroundings(environ: Mapping[str, str], port: int) -> dict[str, str]:
    """The environment that makes LocalStack stay at home: no telemetry, no downloads at start, no files elsewhere."""
    return {
        **environ,
        "DISABLE_EVENTS": "1",
        "DNS_ADDRESS": "0",
        "FILESYSTEM_ROOT": str(HOME / "root"),
        "GATEWAY_LISTEN": f"127.0.0.1:{port}",
        "LOCALSTACK_HOST": f"localhost.localstack.cloud:{port}",
        "OVERRIDE_IN_DOCKER": "0",
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        # Plug-ins found once are remembered for ever in the user's cache; a newer environment would not see its own.
        "XDG_CACHE_HOME": str(HOME / "cache"),
    }


def taken(port: int) -> bool:
    """Whether somebody listens there already; LocalStack would say `Ready.` all the same, and hear nothing."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def running(environ: Mapping[str, str], *, port: int = 4566, log: Path | None = None) -> Iterator[str]:
    """A LocalStack that answers, as its endpoint's URL; it ends with the block. Raises Unavailable."""
    if taken(port):
        message = f"port {port} of 127.0.0.1 is taken; choose another with --port"
        raise Unavailable(message)
    install(environ)
    command: Command = [str(HOME / "venv" / "bin" / "python"), "-P", str(HERE / "loopback.py")]
    where = log or HOME / "localstack.log"
    with where.open("wb") as output:
        # A session of its own: Ctrl-C is ours to hear, and what LocalStack starts ends with it.
        server = subprocess.Popen(
            command, env=surroundings(environ, port), cwd=HOME, stdout=output, stderr=output, start_new_session=True
        )
    try:
        endpoint = f"http://127.0.0.1:{port}"
        wait_until_ready(server, endpoint, where)
        yield endpoint
    finally:
        stop(server)


def wait_until_ready(server: "subprocess.Popen[bytes]", endpoint: str, log: Path) -> None:
    """Back when the health page answers. Raises Unavailable with the end of the log."""
    deadline = time.monotonic() + READY_WITHIN_S
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{endpoint}/_localstack/health", timeout=5).close()  # noqa: S310 - our own server
            return
        time.sleep(0.1)
    last = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
    message = f"LocalStack did not come up; its log is {log}, and ends\n{last}"
    raise Unavailable(message)


def stop(server: "subprocess.Popen[bytes]") -> None:
    """Ended politely, or else; with everything it started."""
    if server.poll() is None:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(STOPS_WITHIN_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def main() -> int:
    """The command: 0 after Ctrl-C or SIGTERM, 1 if LocalStack cannot run here."""
    options = argparse.ArgumentParser(prog="python -m localstack.up", description="LocalStack without Docker")
    options.add_argument("--port", type=int, default=4566)
    options.add_argument("--install", action="store_true", help="install it and stop")
    chosen = options.parse_args()

    def asked_to_stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, asked_to_stop)
    try:
        if chosen.install:
            install(os.environ)
            return 0
        with running(os.environ, port=chosen.port) as endpoint:
            print(f"LocalStack answers on {endpoint}\n")
            print(f"  export AWS_ENDPOINT_URL={endpoint} AWS_REGION=us-east-1")
            print("  export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test\n")
            print("Ctrl-C stops it; what it held is gone then.", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
