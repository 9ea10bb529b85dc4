"""Four servers under an operator who makes every mistake in turn: no id ever means two things, and it ends well."""

import json
import random
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.clients.server import Server, run, serving
from tests.protocol.test_region_places import is_follower, region
from tests.waiting import eventually

MACHINES = range(4)
STEPS = 40


class Operator:
    """Knows which machines run, and what was acknowledged by whichever server: ids, and what each means."""

    def __init__(self, path: Path, until: ExitStack, seed: int) -> None:
        self._path = path
        self._until = until
        self.random = random.Random(seed)
        self._ports: dict[int, int] = {}
        self.runs: dict[int, Server] = {}
        self.means: dict[int, str] = {}
        self.story: list[str] = []

    def start(self) -> None:
        """A machine as it was, or a new one, which follows whichever server the operator happens to think of."""
        number = self.random.choice(MACHINES)
        if number in self.runs or (number not in self._ports and not self.runs):
            return
        words: list[str] = []
        if number not in self._ports:
            primary = self.random.choice([*self.runs.values()])
            if self._role(primary).get("kind") != "primary" or not self._may_be_followed(primary):
                return
            words = ["--follow", primary.url]
        self.begin(number, *words)

    def begin(self, number: int, *words: str) -> None:
        port = ["--port", str(self._ports[number])] if number in self._ports else []
        self.runs[number] = self._until.enter_context(serving(self._path / str(number), *words, *port))
        self._ports[number] = self.runs[number].port
        self.story.append(f"start {number} {' '.join(words)}")

    def kill(self) -> None:
        if len(self.runs) > 1:
            number = self.random.choice([*self.runs])
            self.runs.pop(number).kill()
            self.story.append(f"kill {number}")

    def register(self) -> None:
        server, text = self._any(), json.dumps({"type": "fixed", "name": f"F{self.random.randrange(10**9)}", "size": 1})
        with suppress(OSError):
            subject = f"s{self.random.randrange(5)}"
            server.ask("PUT", f"/config/{subject}", {"compatibility": "NONE"})
            answer = server.ask("POST", f"/subjects/{subject}/versions", {"schema": text})
            if answer.status == 200:
                self.acknowledged(int(answer.json["id"]), text)

    def bring(self) -> None:
        """An import of an id that another region may have given, with another meaning."""
        server, id = self._any(), self.random.choice([*self.means, 7, 100_007, 200_007, 300_007])
        text = json.dumps({"type": "fixed", "name": f"B{self.random.randrange(10**9)}", "size": 2})
        subject = f"b{self.random.randrange(10**9)}"
        with suppress(OSError):
            server.ask("PUT", f"/mode/{subject}", {"mode": "IMPORT"})
            answer = server.ask("POST", f"/subjects/{subject}/versions", {"schema": text, "id": id, "version": 1})
            if answer.status == 200:
                self.acknowledged(id, text)

    def acknowledged(self, id: int, text: str) -> None:
        assert self.means.setdefault(id, text) == text, f"{id} means two things after {self.story}"

    def command(self) -> None:
        here, there = self._any(), self._any()
        words: list[str] = self.random.choice(
            [
                ["promote", here.url],
                ["promote", here.url, "--force"],
                ["promote", here.url, "--force"],
                ["regions", "dismiss", here.url],
                ["rejoin", here.url, "--primary", there.url, "--report", "/dev/null"],
                ["rejoin", here.url, "--primary", there.url, "--report", "/dev/null"],
            ]
        )
        ended = run(*words, "--yes")
        assert "Traceback" not in ended.stderr, (ended.stderr, self.story)
        if ended.returncode != 2:
            self.story.append(" ".join(words))

    def check(self) -> None:
        """What a server says of an id is what was acknowledged."""
        for server in self.runs.values():
            for id, text in self.means.items():
                with suppress(OSError):
                    answer = server.ask("GET", f"/schemas/ids/{id}")
                    if answer.status == 200:
                        assert json.loads(answer.json["schema"]) == json.loads(text), (id, server.url, self.story)

    def ends_well(self) -> None:
        """All machines run again: one region takes writes, and what each of the others had comes there."""
        for number in self._ports:
            if number not in self.runs:
                self.begin(number)
        eventually(lambda: sum(self._writes(server) for server in self.runs.values()) == 1)
        primary = next(server for server in self.runs.values() if self._writes(server))
        for server in self.runs.values():
            if server is not primary and not (is_follower(server) and not region(server)["problem"]):
                ended = run("rejoin", server.url, "--primary", primary.url, "--report", "/dev/null", "--yes")
                assert ended.returncode in (0, 1), (ended.stderr, self.story)
        for id, text in self.means.items():
            answer = primary.ask("GET", f"/schemas/ids/{id}")
            assert answer.status == 200, (id, answer, self.story)
            assert json.loads(answer.json["schema"]) == json.loads(text), (id, self.story)

    def _any(self) -> Server:
        return self.random.choice([*self.runs.values()])

    def _role(self, server: Server) -> dict[str, Any]:
        with suppress(OSError):
            return dict(region(server)["role"] or {"kind": "primary", "open": True, "peer": "", "reconciled": True})
        return {}

    def _writes(self, server: Server) -> bool:
        role = self._role(server)
        return role.get("kind") == "primary" and bool(role["open"])

    def _may_be_followed(self, server: Server) -> bool:
        role = self._role(server)
        return not role["peer"] or ("://" in role["peer"] and bool(role["reconciled"]) and not role["token"])


@pytest.fixture
def machines(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Operator]:
    with ExitStack() as until:
        operator = Operator(tmp_path, until, request.param)
        operator.begin(0)
        operator.begin(1, "--follow", operator.runs[0].url)
        yield operator


@pytest.mark.soak
@pytest.mark.parametrize("machines", range(8), indirect=True)
def test_whatever_an_operator_does_to_four_servers_an_id_means_one_thing(machines: Operator) -> None:
    actions = [machines.start, machines.start, machines.kill, machines.register, machines.register, machines.bring]
    for _ in range(STEPS):
        machines.random.choice([*actions, machines.command, machines.command])()
    machines.check()
    machines.ends_well()
    machines.check()
