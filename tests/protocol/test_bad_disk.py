"""`sigla` over damaged data, or on a full disk: a sentence that says what to do, and a health that is true."""

import json
import os
import resource
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sigla.cli import main
from tests.protocol.clients.server import Server, run, serving, start
from tests.protocol.test_serve import assert_misuse

Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a registry in which something is registered."""
    data = tmp_path_factory.mktemp("sound") / "data"
    with serving(data) as server:
        for number in range(20):
            assert register(server, f"subject-{number}") == 200
    return data


def register(server: Server, name: str, *, size: int = 0) -> int:
    text = json.dumps({"type": "record", "name": "R", "doc": name + "x" * size, "fields": []})
    return server.ask("POST", f"/subjects/{name}/versions", {"schema": text}).status


def catalog(data: Path) -> Path:
    return data / "catalog.sqlite"


def sql(statement: str) -> Damage:
    def run(data: Path) -> None:
        with closing(sqlite3.connect(catalog(data))) as opened, opened:
            opened.execute(statement)

    return run


def another(data: Path) -> None:
    """A database of another program."""
    catalog(data).unlink()
    sql("CREATE TABLE state (of TEXT) STRICT")(data)


def a_folder_for(name: str) -> Damage:
    def put(data: Path) -> None:
        (data / name).unlink(missing_ok=True)
        (data / name).mkdir()

    return put


def a_file_for(name: str) -> Damage:
    def put(data: Path) -> None:
        shutil.rmtree(data / name, ignore_errors=True)
        (data / name).write_text("mine")

    return put


# For each, what every command says.
DAMAGES: dict[str, tuple[Damage, str]] = {
    "garbage": (lambda data: catalog(data).write_bytes(b"garbage" * 5000), "restore"),
    "a few bytes": (lambda data: catalog(data).write_bytes(b"gar"), "restore"),
    "cut off": (lambda data: os.truncate(catalog(data), 5000), "restore"),
    "cut in half": (lambda data: os.truncate(catalog(data), catalog(data).stat().st_size // 2), "restore"),
    "of a newer release": (sql("UPDATE state SET layout = 99"), "newer release"),
    "emptied": (sql("DELETE FROM state"), "restore"),
    "without a table": (sql("DROP TABLE journal"), "no table journal"),
    "another program's": (another, "restore"),
    "a folder": (a_folder_for("catalog.sqlite"), "choose another"),
    "with a folder for a log": (a_folder_for("catalog.sqlite-wal"), "read and to write"),
    "a file for the registry": (a_file_for("default"), "Not a directory"),
    "a file for the bodies": (a_file_for("default/schemas"), "Not a directory"),
    "a file for what is on its way": (a_file_for("default/pending"), "Not a directory"),
}


@pytest.fixture(params=DAMAGES, ids=lambda name: name.replace(" ", "-"))
def damaged(request: pytest.FixtureRequest, sound: Path, tmp_path: Path) -> tuple[Path, str]:
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    damage, says = DAMAGES[request.param]
    damage(data)
    return data, says


@pytest.mark.parametrize("command", ["serve --port 0", "scrub", f"export {os.devnull}"])
def test_damaged_data_are_told_in_a_sentence_by_every_command(
    damaged: tuple[Path, str], command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """No operator should restore a backup because of a trace in a library."""
    data, says = damaged
    assert main([*command.split(), "--data", str(data)]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith(f"sigla: The data in {data} ")
    assert says in line


@pytest.mark.parametrize("command", ["serve", "keys"])
@pytest.mark.parametrize("name", ["lock", "default/keys"])
def test_what_only_a_server_or_only_keys_need_is_told_in_a_sentence_too(
    sound: Path, tmp_path: Path, command: str, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The lock is the server's; keys are read where they are asked for."""
    data = tmp_path / "data"
    shutil.copytree(sound, data)
    (a_folder_for if name == "lock" else a_file_for)(name)(data)
    called = ["keys", "list"] if command == "keys" else ["serve", "--auth", "--port", "0"]
    status = main([*called, "--data", str(data)])
    assert status == (2 if command == "serve" else 0 if name == "lock" else 1)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == (1 if status else 0)
    assert all(str(data) in line for line in lines)


def healthy(server: Server) -> bool:
    answer = server.ask("GET", "/health/ready")
    assert (answer.status, answer.json["status"]) in ((200, "up"), (503, "down"))
    return answer.status == 200


def test_a_damaged_catalog_ends_a_server_before_it_begins(sound: Path, tmp_path: Path) -> None:
    """As its user meets it."""
    shutil.copytree(sound, tmp_path / "data")
    catalog(tmp_path / "data").write_bytes(b"garbage" * 5000)
    assert_misuse(run("serve", "--port", "0", "--data", str(tmp_path / "data")), "restore the directory from a backup")


def test_health_says_that_writes_fail_and_that_they_work_again(tmp_path: Path) -> None:
    """A quota, which no figure of the disk tells: found out by the first write that fails, and by trying since."""
    with serving(tmp_path / "data") as server:
        assert register(server, "before") == 200
        assert healthy(server)
        unlimited = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        assert register(server, "failing", size=200_000) == 500
        assert not healthy(server)
        assert server.ask("GET", "/schemas/ids/1").status == 200
        assert server.ask("GET", "/health/live").status == 200
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, unlimited)
        assert healthy(server)
        assert register(server, "failing", size=200_000) == 200


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Four megabytes for this test alone."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only root can make a small disk")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path) -> Path:
    """Takes all the room there is."""
    everything = disk / "everything"
    with everything.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return everything


def test_a_full_disk_is_down_until_there_is_room(small_disk: Path) -> None:
    """Monitors are told before a write fails; it need not be started again."""
    with serving(small_disk / "data") as server:
        assert register(server, "before") == 200
        assert healthy(server)
        everything = fill(small_disk)
        assert not healthy(server)
        assert register(server, "failing", size=50_000) == 500
        assert server.ask("PUT", "/config", {"compatibility": "FULL"}).status in (200, 500)
        assert not healthy(server)
        assert server.ask("GET", "/subjects").json == ["before"]
        everything.unlink()
        assert healthy(server)
        assert register(server, "failing", size=50_000) == 200


def test_a_start_on_a_disk_that_has_become_full_says_what_to_do(small_disk: Path) -> None:
    """Reads go on, so the server starts; whoever started it must not find out by the first refused registration."""
    data = small_disk / "data"
    with serving(data) as server:
        assert register(server, "before") == 200
        assert "full" not in server.said
    everything = fill(small_disk)
    os.truncate(everything, everything.stat().st_size - 2**19)  # half of what a write needs
    server = start("--port", "0", "--data", str(data))
    try:
        server.wait_for(lambda server: "Its disk is full: make room" in server.banner)
        server.wait_for(lambda server: '"event":"disk-full"' in server.output)
        server.wait_for(lambda server: "Stop with Ctrl-C" in server.banner)
    finally:
        server.stop()


def test_a_disk_that_is_full_at_the_start_is_told_in_a_sentence(small_disk: Path, sound: Path) -> None:
    fill(small_disk)
    assert_misuse(run("serve", "--port", "0", "--data", str(small_disk / "data")), "make room on the disk")


@pytest.mark.parametrize("below", ["file", "file/data"])
def test_a_file_in_the_place_of_a_directory_needs_no_backup(tmp_path: Path, below: str) -> None:
    """The command line names the wrong thing, and no data were harmed."""
    (tmp_path / "file").write_text("of somebody's")
    done = run("serve", "--port", "0", "--data", str(tmp_path / below))
    assert_misuse(done, str(tmp_path / "file"), "; choose another directory with --data.")
