"""A server that computes for some: whoever registers hardly notices, and whoever stops it does not wait for them."""

import threading
import time
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

from benchmarks import waits
from tests.protocol.clients.server import Answer, Server, serving
from tests.waiting import PATIENCE_S, eventually

WAIT_S = 5.0
"""What a registration may wait on a machine that is busy with other tests as well."""
END_S = 30.0
REGISTRATIONS = 10


class Checking:
    """Eight clients, each with one check on its way at a time, that stay until the server ends."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.answers: list[Answer] = []
        self.threads = [threading.Thread(target=self._check, daemon=True) for _ in range(waits.CHECKS)]
        for thread in self.threads:
            thread.start()

    def _check(self) -> None:
        path = f"/compatibility/subjects/{waits.SUBJECT}/versions/latest"
        with suppress(OSError, HTTPException):
            while True:
                self.answers.append(self.server.ask("POST", path, waits.check_of()))

    def join(self) -> None:
        for thread in self.threads:
            thread.join(PATIENCE_S)


def test_eight_bad_checks_keep_nobody_from_registering_or_from_stopping(tmp_path: Path) -> None:
    """One client's schemas must not decide when another's service starts, or how long a deployment takes."""
    with serving(tmp_path / "data") as server:
        waits.prepare(server.port)
        before = server.cpu_s
        checking = Checking(server)
        eventually(lambda: server.cpu_s - before > 0.5)
        waited = []
        for number in range(REGISTRATIONS):
            begun = time.monotonic()
            schema = {"schema": f'{{"type": "enum", "name": "E", "symbols": ["S{number}"]}}'}
            assert server.ask("POST", f"/subjects/s{number}/versions", schema).status == 200
            waited.append(time.monotonic() - begun)
        begun = time.monotonic()
        server.stop()
        ended = time.monotonic() - begun
        checking.join()
    assert max(waited) <= WAIT_S
    assert ended <= END_S
    refused = [answer.json for answer in checking.answers if answer.status != 200]
    assert refused
    assert all(each == {"error_code": 50002, "message": "Compatibility check timed out"} for each in refused)


def test_a_check_ends_when_its_time_is_used_up(tmp_path: Path) -> None:
    """In the contract's words, and the next client is answered."""
    with serving(tmp_path / "data", settings={"SIGLA_COMPUTING_SECONDS": "0.2"}) as server:
        waits.prepare(server.port)
        path = f"/compatibility/subjects/{waits.SUBJECT}/versions/latest"
        answer = server.ask("POST", path, waits.check_of())
        assert (answer.status, answer.json["error_code"]) == (500, 50002)
        assert server.ask("POST", path, {"schemaType": "JSON", "schema": "{}"}).status == 200


def test_nothing_is_computed_for_clients_that_left(tmp_path: Path) -> None:
    """A client that asks and leaves, again and again, does not keep a machine busy."""
    with serving(tmp_path / "data") as server:
        waits.prepare(server.port)
        body = waits.check_of()
        head = f"POST /compatibility/subjects/{waits.SUBJECT}/versions/latest HTTP/1.1\r\nHost: localhost\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        before = server.cpu_s
        wires = [server.connected() for _ in range(waits.CHECKS)]
        for wire in wires:
            wire.send(head.encode(), body)
        eventually(lambda: server.cpu_s - before > 0.5)
        for wire in wires:
            with wire:
                pass

        def rests() -> bool:
            began = server.cpu_s
            time.sleep(0.3)
            return server.cpu_s - began < 0.1

        eventually(rests)
        assert server.cpu_s - before < 5.0  # eight such checks take several times as long
