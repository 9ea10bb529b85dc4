"""The command `sigla` in a process of its own that is a fork of one which has imported everything already.

It starts in a hundredth of a second of processor time instead of one. It is a process as any other: it can be stopped,
killed, limited and counted. What is different is how it came to be; tests of that take `subprocess`.
"""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

from sigla import cli, local_zones, serving
from sigla.remote import client
from sigla.web.local import server, several, zones
from sigla.web.threads import thinkers

__all__ = ["local_zones", "server", "several", "thinkers", "zones"]  # what `sigla serve` imports late

serving.import_languages()

_forkserver = get_context("forkserver")
_forkserver.set_forkserver_preload([__name__, "benchmarks.environments"])


class Fork:
    """As much of a `subprocess.Popen` as tests ask of it.

    outputs: descriptors of what it writes to, as standard output and as standard error; they stay open here.
    hurried: between two tries to reach another registry it waits for a moment alone.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        outputs: tuple[int, int],
        cwd: Path | None = None,
        descriptors: int | None = None,
        *,
        hurried: bool = False,
    ) -> None:
        output, complaints = (Connection(os.dup(each), readable=False) for each in outputs)
        self._process = _forkserver.Process(
            target=_run,
            args=(arguments, environment, cwd, descriptors, (output, complaints)),
            kwargs={"hurried": hurried},
            daemon=True,
        )
        self._process.start()
        output.close()
        complaints.close()
        self.pid: int = self._process.pid or 0

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float) -> int:
        self._process.join(timeout)
        status = self._process.exitcode
        if status is None:
            raise subprocess.TimeoutExpired("sigla", timeout)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forked(Fork):
    """The same with two pipes, which are read here."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path | None = None,
        descriptors: int | None = None,
        *,
        hurried: bool = False,
    ) -> None:
        (output, said), (complaints, complained) = os.pipe(), os.pipe()
        super().__init__(arguments, environment, (said, complained), cwd, descriptors, hurried=hurried)
        os.close(said)
        os.close(complained)
        self.stdout: IO[bytes] = os.fdopen(output, "rb")
        self.stderr: IO[bytes] = os.fdopen(complaints, "rb")


def _run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    cwd: Path | None,
    descriptors: int | None,
    pipes: tuple[Connection, Connection],
    *,
    hurried: bool,
) -> None:
    """The command, in a session of its own."""
    os.setsid()
    if descriptors is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    os.environ.clear()
    os.environ.update(environment)
    if cwd is not None:
        os.chdir(cwd)
    for number, pipe in enumerate(pipes, 1):
        os.dup2(pipe.fileno(), number)
        pipe.close()
    sys.stdout, sys.stderr = (open(number, "w", buffering=1, closefd=False) for number in (1, 2))  # noqa: SIM115 - open as long as the process
    if hurried:
        client.FIRST_PAUSE_S = 0.02
    sys.argv = ["sigla", *arguments]
    sys.exit(cli.main(arguments))
