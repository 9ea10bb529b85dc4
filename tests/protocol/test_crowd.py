"""Sixty-four clients at the same moment: everybody is answered, and all agree in the end."""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.protocol.clients.server import Server, ask, serving
from tests.waiting import PATIENCE_S


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("registry") / "data") as server:
        yield server


def text(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": []})


CLIENTS = 64
SHARED = 4
OWN = 2


def crowd(server: Server, work: Any) -> list[Any]:
    """What 64 clients got who all begin at the same moment, each on a connection of its own."""
    told: list[Any] = [None] * CLIENTS
    start = threading.Barrier(CLIENTS)

    def client(number: int) -> None:
        connection = HTTPConnection(server.host, server.port, timeout=PATIENCE_S)
        try:
            connection.connect()
            start.wait()
            told[number] = work(connection, number)
        finally:
            connection.close()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def test_64_clients_who_register_at_once_agree_on_every_id(server: Server) -> None:
    """Shared schemas and own ones, into one subject and into many; each client reads at once what it was told."""
    assert server.ask("PUT", "/config/crowd", {"compatibility": "NONE"}).status == 200

    def work(connection: HTTPConnection, number: int) -> list[tuple[str, str, int, int]]:
        told = []
        names = [f"Shared{(number + n) % SHARED}" for n in range(SHARED)] + [f"Own{number}_{n}" for n in range(OWN)]
        for name in names:
            for subject in ("crowd", f"alone{number}"):
                if subject != "crowd":
                    ask(connection, "PUT", f"/config/{subject}", {"compatibility": "NONE"})
                answer = ask(connection, "POST", f"/subjects/{subject}/versions", {"schema": text(name)})
                assert answer.status == 200, answer
                id, version = answer.json["id"], answer.json["version"]
                told.append((subject, name, id, version))
                by_id = ask(connection, "GET", f"/schemas/ids/{id}/schema")
                assert json.loads(by_id.body) == json.loads(text(name)), "a client reads what it wrote"
                listed = ask(connection, "GET", f"/subjects/{subject}/versions").json
                assert version in listed
        return told

    everything = [each for told in crowd(server, work) if told for each in told]
    assert len(everything) == CLIENTS * (SHARED + OWN) * 2, "every client was answered, every time"
    ids: dict[str, set[int]] = defaultdict(set)
    versions: dict[tuple[str, str], set[int]] = defaultdict(set)
    for subject, name, id, version in everything:
        ids[name].add(id)
        versions[subject, name].add(version)
    assert all(len(told) == 1 for told in ids.values()), "one text, one id"
    assert all(len(told) == 1 for told in versions.values()), "one text, one version of a subject"
    assert len(set().union(*ids.values())) == len(ids), "one id, one text"
    for subject, number in [("crowd", SHARED + CLIENTS * OWN), *((f"alone{n}", SHARED + OWN) for n in range(CLIENTS))]:
        assert server.ask("GET", f"/subjects/{subject}/versions").json == list(range(1, number + 1))


def test_64_clients_who_register_and_delete_at_once_leave_no_gap_that_nobody_made(server: Server) -> None:
    """Half of them delete what they registered; what is listed in the end is what was not deleted."""
    assert server.ask("PUT", "/config/churn", {"compatibility": "NONE"}).status == 200

    def work(connection: HTTPConnection, number: int) -> tuple[set[int], set[int]]:
        made, removed = set(), set()
        for n in range(6):
            name = f"Churn{number}_{n}"
            answer = ask(connection, "POST", "/subjects/churn/versions", {"schema": text(name)})
            assert answer.status == 200, answer
            version = answer.json["version"]
            made.add(version)
            if number % 2:
                deleted = ask(connection, "DELETE", f"/subjects/churn/versions/{version}")
                assert (deleted.status, deleted.json) == (200, version)
                removed.add(version)
        return made, removed

    told = crowd(server, work)
    made = [version for some, _ in told for version in some]
    removed = {version for _, some in told for version in some}
    assert sorted(made) == list(range(1, len(made) + 1))
    assert server.ask("GET", "/subjects/churn/versions").json == sorted(set(made) - removed)
    assert server.ask("GET", "/subjects/churn/versions?deleted=true").json == sorted(made)
