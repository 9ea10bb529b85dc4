"""A server of this machine as a command: fetched once, then run until it is interrupted."""

import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from sigla_pipelines.connectors.maven import Unavailable


def run(fetch: Callable[[], None], running: Callable[[], AbstractContextManager[str]] | None = None) -> int:
    """The exit code: 0 after Ctrl-C or SIGTERM, 1 if it cannot run here.

    running: the server, as the line that says where it answers; None: it is fetched and no more.
    """

    def asked_to_stop(*_: object) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT):  # a shell lets what it starts with & ignore the second
        signal.signal(number, asked_to_stop)
    try:
        fetch()
        if running:
            with running() as line:
                print(line, flush=True)
                signal.pause()
    except KeyboardInterrupt:
        return 0
    except Unavailable as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0
