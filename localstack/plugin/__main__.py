"""LocalStack in host mode with what it lacks there. Runs in LocalStack's own environment; server.py starts it."""

import os
import signal
import sys
import threading

from localstack.runtime.main import main

from . import doors, dynamodb, elasticache, functions, outage, reads, subnets


def end_with_parent() -> None:
    """Waits for the other end of standard input to be gone, then ends everything that was started here."""
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)


if os.environ.get("SIGLA_TIED"):
    threading.Thread(target=end_with_parent, name="end-with-parent", daemon=True).start()
for part in (doors, dynamodb, elasticache, functions, outage, reads, subnets):
    part.install()
main()
