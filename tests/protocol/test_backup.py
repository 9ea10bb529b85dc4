"""`sigla backup` of a registry that is served and written to, and what `sigla restore` makes of it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from sigla.cli import main
from tests.protocol.clients.server import Server, ask, serving
from tests.waiting import eventually

WRITERS = 2


@contextmanager
def writing(server: Server) -> Iterator[dict[int, str]]:
    """Writers without a pause: the texts by the ids that were acknowledged, and are not deleted for good."""
    acknowledged: dict[int, str] = {}
    stop, numbers = threading.Event(), count()

    def write() -> None:
        connection = server.connection()
        while not stop.is_set():
            number = next(numbers)
            text = json.dumps({"type": "record", "name": f"R{number}", "fields": []}, separators=(",", ":"))
            answer = ask(connection, "POST", f"/subjects/s{number}/versions", {"schema": text})
            assert answer.status == 200, answer
            if number % 3 == 0:
                for query in ("", "?permanent=true"):
                    assert ask(connection, "DELETE", f"/subjects/s{number}{query}").status == 200
            else:
                acknowledged[answer.json["id"]] = text
        connection.close()

    writers = [threading.Thread(target=write) for _ in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        yield acknowledged
    finally:
        stop.set()
        for writer in writers:
            writer.join()


@pytest.mark.process
def test_every_id_acknowledged_before_a_backup_reads_the_same_after_it_was_restored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A registry goes on while it is backed up, and a backup is worth what can be read of it."""
    with serving(tmp_path / "data") as server, writing(server) as acknowledged:
        eventually(lambda: len(acknowledged) > 15)
        before = dict(acknowledged)
        assert main(["backup", str(tmp_path / "b.tar.gz"), "--data", str(tmp_path / "data")]) == 0
        eventually(lambda: len(acknowledged) > len(before) + 5)
    assert main(["restore", str(tmp_path / "b.tar.gz"), str(tmp_path / "restored")]) == 0
    assert main(["scrub", "--settle", "0", "--data", str(tmp_path / "restored")]) == 0
    assert capsys.readouterr().out.endswith("Bodies, catalog and journal agree.\n")
    with serving(tmp_path / "restored") as server:
        for id, text in before.items():
            assert server.ask("GET", f"/schemas/ids/{id}").json["schema"] == text
        lost = acknowledged.keys() - before.keys()
        answer = server.ask("POST", "/subjects/new/versions", {"schema": '"string"'})
        assert answer.json["id"] > max(lost) + 100_000
