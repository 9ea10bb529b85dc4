"""What an exporter writes per second, and what registrations feel of one that runs, or hangs.

Two `sigla serve --memory`: schemas are registered in the first, then an exporter begins. Beside its walk stands the
least that it could cost: a loop that posts the same schemas, with their ids and versions, to a third server in IMPORT
on one connection, and asks nothing. An exporter also looks whether each subject is there.

Registrations are measured on a server whose exporter has a destination that takes connections and says nothing, beside
a server without exporters, in turns.

It may mislead: all servers share the machine.
"""

import json
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from http.client import HTTPConnection
from itertools import count
from statistics import median
from typing import Any

from benchmarks.harness import Goal, Line, Lines, Server, ask, in_turns, main, serving, sigla
from benchmarks.load import load, posting

PATIENCE_S = 300.0
_fresh = count(1)


def lines(*, quick: bool = False) -> Lines:
    schemas, rounds, each = (20, 1, 20) if quick else (1_000, 5, 300)
    yield from _walk(schemas)
    yield from _registrations(rounds, each)


def _walk(schemas: int) -> Lines:
    with serving(sigla("--memory")) as source, serving(sigla("--memory")) as target, serving(sigla("--memory")) as bare:
        texts = [_text(number) for number in range(schemas)]
        load(source.port, [_registration(f"s{number}", text) for number, text in enumerate(texts)], connections=8)
        found = json.loads(ask(source.port, "GET", "/schemas?limit=1000").body)
        exported = _seconds(lambda: _export_all(source, target, len(found)))
        posted = _seconds(lambda: _post_all(bare, found))
    what = f"schemas that an exporter writes to an empty registry, of {schemas}"
    yield Line(what, schemas / exported, "/s", schemas / posted, "a bare loop of POSTs", Goal(0.4, least=True))


def _registrations(rounds: int, each: int) -> Lines:
    with (
        ExitStack() as opened,
        socket.create_server(("127.0.0.1", 0)) as silent,
        serving(sigla("--memory")) as exporting,
        serving(sigla("--memory")) as plain,
    ):
        _create_exporter(exporting, silent.getsockname()[1])
        asked, _ = silent.accept()
        opened.callback(asked.close)

        def registering(server: Server) -> Callable[[], float]:
            def work() -> float:
                requests = [_registration(f"s{next(_fresh)}", _text(next(_fresh))) for _ in range(each)]
                return load(server.port, requests, connections=8).seconds / each

            return work

        hung, free = (median(figures) for figures in in_turns(rounds, registering(exporting), registering(plain)))
    what = "registrations while an exporter waits for a silent destination, 8 clients"
    yield Line(what, 1 / hung, "/s", 1 / free, "without exporters", Goal(0.9, least=True))


def _seconds(work: Callable[[], None]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _text(number: int) -> str:
    return json.dumps({"type": "record", "name": "R", "fields": [{"name": f"f{number}", "type": "string"}]})


def _registration(subject: str, text: str) -> str:
    return posting(f"/subjects/{subject}/versions", json.dumps({"schema": text}))


def _create_exporter(source: Server, port: int) -> None:
    form = {
        "name": "line",
        "subjects": [":*:*"],
        "contextType": "NONE",
        "config": {"schema.registry.url": f"http://127.0.0.1:{port}"},
    }
    answer = ask(source.port, "POST", "/exporters", json.dumps(form).encode())
    _check(answer.status == 200, "no exporter was created")


def _export_all(source: Server, target: Server, schemas: int) -> None:
    _create_exporter(source, target.port)
    deadline = time.monotonic() + PATIENCE_S
    while json.loads(ask(source.port, "GET", "/exporters/line/status").body)["state"] != "RUNNING":
        if time.monotonic() > deadline:
            raise TimeoutError("the exporter has not come to its end")
        time.sleep(0.01)
    written = len(json.loads(ask(target.port, "GET", "/subjects").body))
    _check(written == schemas, f"{written} of {schemas} schemas were written")


def _post_all(server: Server, found: list[dict[str, Any]]) -> None:
    ask(server.port, "PUT", "/mode", b'{"mode": "IMPORT"}')
    connection = HTTPConnection("127.0.0.1", server.port)
    for each in found:
        form = {"schema": each["schema"], "id": each["id"], "version": each["version"]}
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/subjects/{each['subject']}/versions", json.dumps(form), headers)
        answer = connection.getresponse()
        answer.read()
        _check(answer.status == 200, "a schema was refused")
    connection.close()


def _check(well: object, problem: str) -> None:
    if not well:
        raise RuntimeError(problem)


if __name__ == "__main__":
    main(lines, __doc__)
