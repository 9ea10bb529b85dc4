"""A warmed function, copied twice as Lambda's snapshots are: `python -m tests.functions.restored`, one JSON line out.

It plays the runtime: hands the function the library with which it registers its hooks, lets it answer, runs what is to
be run before a snapshot, forks, and runs in each fork what is to be run after a restore. Where AWS, the table and the
bucket are, the environment says.
"""

import asyncio
import base64
import contextlib
import io
import json
import os
import random
import secrets
import socket
import sys
import traceback
from collections.abc import Callable
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from sigla import wiring
from sigla.auth import api_keys
from sigla.settings import Address
from tests.functions.test_registry import sent

Key = tuple[str, str]
"""Name and secret."""

READS = 32
"""By id, of which every line is drawn for."""


class Runtime:
    """The library of Lambda's runtime, as far as a function sees it."""

    def __init__(self) -> None:
        self.before: list[Callable[[], None]] = []
        self.after: list[Callable[[], None]] = []
        library: Any = ModuleType("snapshot_restore_py")
        library.register_before_snapshot = self.before.append
        library.register_after_restore = self.after.append
        sys.modules["snapshot_restore_py"] = library

    def snapshot(self) -> None:
        for hook in reversed(self.before):
            hook()

    def restore(self) -> None:
        for hook in self.after:
            hook()


class Caller:
    """Asks the function, with a key, and reads what it writes."""

    def __init__(self, handler: Any) -> None:
        self.handler = handler
        self.lines: list[dict[str, Any]] = []

    def __call__(self, key: Key, method: str, path: str, body: object = None) -> tuple[int, Any, str]:
        """Status, body, request id."""
        event = sent("function_url", method, path, body)
        shown = "Basic " + base64.b64encode(":".join(key).encode()).decode()
        event["headers"] = {**event["headers"], "authorization": shown}
        with contextlib.redirect_stdout(io.StringIO()) as out:
            answer = self.handler(event, SimpleNamespace(aws_request_id="invocation"))
        self.lines += map(json.loads, out.getvalue().splitlines())
        return answer["statusCode"], json.loads(answer["body"]), answer["headers"]["x-request-id"]

    def last(self) -> dict[str, Any]:
        """The last line of a request."""
        return next(line for line in reversed(self.lines) if line.get("event") == "request")


def connections() -> list[int]:
    """The ends of connections to AWS that this process has, by their ports."""
    there = urlsplit(os.environ["AWS_ENDPOINT_URL"]).port
    found = []
    for descriptor in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208 - numbers, not files
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as end:
            if end.family == socket.AF_INET and end.getpeername()[1] == there:
                found.append(end.getsockname()[1])
    return found


def main() -> None:
    asyncio.set_event_loop(asyncio.new_event_loop())
    runtime = Runtime()
    ask = Caller(wiring.lambda_handler())
    with wiring.keys(Address.of(bucket=os.environ["SIGLA_BUCKET"])) as (keys, clock):
        key, leaver = (
            (name, api_keys.create(keys, name, "admin", (), now=clock.now())[1]) for name in ("deployer", "leaver")
        )
        registered = ask(key, "POST", "/subjects/orders/versions", {"schema": '"int"'})
        for name in (key, leaver, key):
            ask(name, "GET", "/subjects/orders/versions/1")
        warm = {"status": registered[0], "calls": ask.last()["calls"], "connections": connections()}
        keys.remove("leaver")
    runtime.snapshot()
    seeds = random.getstate()
    told = [fork(partial(restored, number, runtime, seeds, ask.handler, (key, leaver))) for number in (1, 2)]
    print(json.dumps({"warm": warm, "restored": told}))


def restored(number: int, runtime: Runtime, seeds: Any, handler: Any, keys: tuple[Key, Key]) -> Any:
    """What a copy does first, and what can be told of it. keys: one that is good, and one no longer."""
    key, leaver = keys
    random.setstate(seeds)  # a fork sows anew by itself, a snapshot does not
    before = connections()
    runtime.restore()
    ask = Caller(handler)
    first = ask(key, "GET", "/subjects/orders/versions/1")
    facts = {
        "drawn": [random.random(), secrets.token_hex(8), first[2]],
        "connections": {"before": before, "after": connections()},
        "first": ask.last(),
        "left": ask(leaver, "GET", "/subjects")[0],
        "seen": ask(key, "GET", "/subjects")[1],
        "written": ask(key, "POST", f"/subjects/of-{number}/versions", {"schema": '"int"'})[0],
    }
    logged = []
    for _ in range(READS):
        count = len(ask.lines)
        ask(key, "GET", "/schemas/ids/1")
        logged.append(any(line.get("event") == "request" for line in ask.lines[count:]))
    return facts | {"reads": logged, "cold starts": sum("ColdStarts" in line for line in ask.lines)}


def fork(work: Callable[[], Any]) -> Any:
    """What the work yields in a copy of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writing, "w") as told:
                json.dump(work(), told)
        except Exception:  # noqa: BLE001 - whatever goes wrong, a copy must not go on as the original
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        facts = told.read()
    os.waitpid(child, 0)
    return json.loads(facts)


if __name__ == "__main__":
    main()
