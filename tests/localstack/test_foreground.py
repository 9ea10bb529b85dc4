"""A server as a command: it runs until it is interrupted, and ends well."""

import signal
import subprocess
import sys

import pytest

COMMAND = """
import sys
from contextlib import contextmanager
from localstack import foreground

@contextmanager
def running():
    try:
        yield "it runs"
    finally:
        print("it has stopped", flush=True)

sys.exit(foreground.run(lambda: None, running))
"""


@pytest.mark.process
@pytest.mark.parametrize("ends_by", [signal.SIGTERM, signal.SIGINT])
def test_a_server_runs_until_it_is_told_to_stop(ends_by: signal.Signals) -> None:
    """By Ctrl-C as by a supervisor; a command that is interrupted has not failed."""
    with subprocess.Popen([sys.executable, "-c", COMMAND], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            assert server.stdout.readline() == "it runs\n"
            server.send_signal(ends_by)
            assert server.wait(60) == 0
        finally:
            server.kill()
        assert server.stdout.read() == "it has stopped\n"
