"""Three servers, and two of them take writes: that ends by itself, and no id means two things then."""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sigla.regions import rules
from tests.protocol.clients.server import Server, run, serving
from tests.protocol.test_region_places import is_follower, region, role
from tests.waiting import eventually


class Machines:
    """Servers by their number, each at one URL for ever."""

    def __init__(self, path: Path, until: ExitStack) -> None:
        self._path = path
        self._until = until
        self._ports: dict[int, int] = {}
        self._served: dict[int, tuple[Server, ExitStack]] = {}
        self._texts = iter(range(10**6))

    def start(self, number: int, *words: str) -> Server:
        own = self._until.enter_context(ExitStack())
        server = own.enter_context(serving(self._path / str(number), *words, "--port", str(self._ports.get(number, 0))))
        self._ports[number] = server.port
        self._served[number] = server, own
        return server

    def follow(self, number: int, primary: int) -> Server:
        server = self.start(number, "--follow", self.url(primary))
        eventually(lambda: is_follower(server))
        eventually(lambda: region(server)["journal"] == region(self._served[primary][0])["journal"])
        return server

    def kill(self, number: int) -> None:
        self._served.pop(number)[0].kill()

    def url(self, number: int) -> str:
        return f"http://127.0.0.1:{self._ports[number]}"

    def register(self, server: Server, subject: str) -> int:
        """A schema that no one else has."""
        text = json.dumps({"type": "fixed", "name": f"F{next(self._texts)}", "size": 1})
        answer = server.ask("POST", f"/subjects/{subject}/versions", {"schema": text})
        assert answer.status == 200, answer
        return int(answer.json["id"])


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    with ExitStack() as until:
        yield Machines(tmp_path, until)


def done(*words: str, status: int = 0) -> str:
    ended = run(*words, *([] if words[0] == "regions" and words[1] not in ("abandon", "dismiss") else ["--yes"]))
    assert ended.returncode == status, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def split(machines: Machines) -> tuple[Server, Server, dict[str, int]]:
    """1 and 2 were both promoted by force, in epochs of their own, and neither was the other's primary."""
    first = machines.start(0)
    one = machines.follow(1, 0)
    ids = {"both": machines.register(first, "both")}
    eventually(lambda: region(one)["journal"] == region(first)["journal"])
    machines.kill(0)
    done("promote", one.url, "--force")
    ids |= {"one": machines.register(one, "one")}
    machines.kill(1)
    first = machines.start(0)
    done("regions", "dismiss", first.url)
    two = machines.follow(2, 0)
    ids |= {"zero": machines.register(two, "zero")}
    machines.kill(0)
    done("promote", two.url, "--force")
    ids |= {"two": machines.register(two, "two")}
    return machines.start(1), two, ids


def test_two_that_took_over_and_never_met_are_one_again(machines: Machines) -> None:
    one, two, ids = split(machines)
    assert len(set(ids.values())) == len(ids)
    eventually(lambda: not role(one)["open"])
    assert role(two)["open"]
    eventually(lambda: one.ask("GET", "/schemas/ids/999999").status == 404)  # by now it knows whom to ask
    assert machines.register(one, "sent-on") > 2 * rules.BLOCK
    meant = one.ask("GET", f"/schemas/ids/{ids['one']}").json
    assert two.ask("GET", f"/schemas/ids/{ids['one']}").json["error_code"] == 50003, "it is not here yet"
    told = done("rejoin", one.url, "--primary", two.url, "--report", "/dev/null")
    assert "1 commits of" in told
    assert f"{one.url} takes no writes. It begins anew with a copy of {two.url} as soon as" in told
    assert f"{machines.url(0)} may have what it lacks" in told, "and why it waits"
    assert two.ask("GET", f"/schemas/ids/{ids['one']}").json == meant
    eventually(lambda: "may have what it lacks" in region(one)["problem"])
    assert machines.register(one, "sent-on-too") > 2 * rules.BLOCK
    done("regions", "abandon", two.url)
    eventually(lambda: is_follower(one))
    back = machines.start(0)
    eventually(lambda: not role(back)["open"])
    done("rejoin", back.url, "--primary", two.url, "--report", "/dev/null")
    eventually(lambda: "follows it already" in region(back)["problem"])
    for server in (one, two, back):
        assert {server.ask("GET", f"/schemas/ids/{each}").status for each in ids.values()} == {200}
    assert machines.register(back, "at-the-end") > 2 * rules.BLOCK


def test_which_region_is_given_up_is_said_and_one_that_answers_is_not(machines: Machines) -> None:
    one, two, _ = split(machines)
    eventually(lambda: not role(one)["open"])
    name = role(one)["name"]
    several = done("regions", "abandon", two.url, status=2)
    assert name in several
    assert machines.url(0) in several
    assert "sigla regions abandon URL NAME" in several
    for named in (name, one.url):
        told = done("regions", "abandon", two.url, named, status=2)
        assert f"{one.url} answers: it is the closed primary of epoch 2." in told
        assert f"sigla rejoin {one.url} --primary" in told
    assert "another is not out." in done("regions", "abandon", two.url, "another", status=2)
    told = done("regions", "abandon", two.url, machines.url(0))
    assert "Imports may give those ids another meaning here." in told
    assert role(two)["lost"] == name, "the other one is out still"
    assert not role(two)["reconciled"]
    closed = done("regions", "abandon", one.url, status=2)
    assert "the region is the closed primary of epoch 2" in closed
    seen = region(two)["out"][0]["seen"]
    eventually(lambda: region(two)["out"][0]["seen"] > seen)
    machines.kill(1)
    done("regions", "abandon", two.url)
    assert role(two)["reconciled"]
    assert done("regions", "abandon", two.url, name).startswith("Nothing is left")
    back = machines.start(1)
    eventually(lambda: not role(back)["open"])


def test_one_that_is_closed_finds_the_region_that_takes_writes_now(machines: Machines) -> None:
    """Its partner of before is not that one any more, or is gone."""
    first = machines.start(0)
    one = machines.follow(1, 0)
    machines.kill(0)
    done("promote", one.url, "--force")
    machines.kill(1)
    first = machines.start(0)
    done("regions", "dismiss", first.url)
    two = machines.follow(2, 0)
    done("promote", two.url)
    one = machines.start(1)
    eventually(lambda: not role(one)["open"])
    eventually(lambda: one.ask("POST", "/subjects/a/versions", _text("string")).status == 200)
    assert two.ask("GET", "/subjects").json == ["a"], "its partner follows that one by now"
    began = time.monotonic()
    assert one.ask("POST", "/subjects/b/versions", _text("long")).status == 200
    assert time.monotonic() - began < 1.5, "what cannot come back is not waited for"
    machines.kill(0)
    assert one.ask("POST", "/subjects/c/versions", _text("double")).status == 200
    machines.kill(2)
    eventually(lambda: "no region that takes writes is known here" in region(one)["problem"])
    assert f"{two.url} does not answer" in done("regions", one.url)


def _text(kind: str) -> dict[str, Any]:
    return {"schema": json.dumps(kind)}


def test_a_follower_that_was_given_up_and_is_back_joins_again(machines: Machines) -> None:
    first = machines.start(0)
    lost = machines.follow(1, 0)
    name = role(lost)["name"]
    machines.kill(1)
    done("regions", "dismiss", first.url)
    lost = machines.start(1)
    eventually(lambda: "given up there" in region(lost)["problem"])
    began = time.monotonic()
    machines.register(lost, "sent-on")
    assert time.monotonic() - began < 1.5
    told = done("rejoin", lost.url, "--primary", first.url, "--report", "/dev/null")
    assert "0 commits of" in told
    eventually(lambda: is_follower(lost))
    assert role(first)["reconciled"], "nothing is open"
    assert role(first)["peer"] == role(lost)["name"] != name
    assert "nothing to do" in done("rejoin", lost.url, "--primary", first.url, "--report", "/dev/null")


def is_told(server: Server, id: int, meaning: str) -> bool:
    """Whether the id is answered, and with nothing else."""
    answer = server.ask("GET", f"/schemas/ids/{id}")
    assert answer.status != 200 or answer.json["schema"] == meaning
    return answer.status == 200


def copied_primary(machines: Machines, copy: Path) -> Server:
    """The first machine is ended and its directory copied, in step with the second one, which follows: that one."""
    first = machines.start(0)
    second = machines.follow(1, 0)
    machines.register(first, "before")
    eventually(lambda: region(first)["journal"] == region(second)["journal"])
    machines.kill(0)
    shutil.copytree(copy.parent / "0", copy)
    return second


@pytest.mark.parametrize("is_follower_down", [False, True])
def test_an_older_copy_of_a_primary_gives_no_id_once_more(
    machines: Machines, tmp_path: Path, *, is_follower_down: bool
) -> None:
    """It looks at its follower before its first write, and for as long as it runs. That one may then take over."""
    second = copied_primary(machines, tmp_path / "copy")
    first = machines.start(0)
    id = machines.register(first, "lost")
    meaning = first.ask("GET", f"/schemas/ids/{id}").json["schema"]
    eventually(lambda: region(first)["journal"] == region(second)["journal"])
    machines.kill(0)
    shutil.rmtree(tmp_path / "0")
    shutil.copytree(tmp_path / "copy", tmp_path / "0")
    if is_follower_down:
        machines.kill(1)
    first = machines.start(0)
    if is_follower_down:
        second = machines.start(1)
    eventually(lambda: not role(first)["open"])
    first.wait_for(lambda server: "is an older copy" in server.output)
    refused = first.ask("POST", "/subjects/more/versions", {"schema": '"int"'})
    assert (refused.status, refused.json["error_code"]) == (500, 50003)
    for server in (first, second):
        eventually(partial(is_told, server, id, meaning))
    for way in ([], ["--undo"]):
        assert "its directory is an older copy" in done("promote", second.url, *way, status=2)
        assert not role(first)["open"]
    done("promote", second.url, "--force")
    done("rejoin", first.url, "--primary", second.url, "--report", str(tmp_path / "report"))
    eventually(lambda: is_follower(first))
    assert machines.register(first, "more") > id


@pytest.mark.parametrize("is_follower_down", [False, True])
def test_of_two_primaries_from_copies_of_one_directory_the_one_that_is_not_followed_takes_no_writes(
    machines: Machines, tmp_path: Path, *, is_follower_down: bool
) -> None:
    """Before its first write, while the follower answers; else once that is back, and what it took alone is told."""
    second = copied_primary(machines, tmp_path / "2")
    first = machines.start(0)
    if is_follower_down:
        machines.kill(1)
        copy = machines.start(2)
        machines.register(copy, "alone")
        second = machines.start(1)
        eventually(lambda: not role(copy)["open"])
    else:
        eventually(lambda: region(second)["behind"] is not None and not region(second)["problem"])
        copy = machines.start(2)
        assert not role(copy)["open"]
    why = f"{second.url} follows {first.url}, which is served from another copy of this directory"
    copy.wait_for(lambda server: why in server.output)
    eventually(lambda: why in region(copy)["problem"])
    assert role(first)["open"]
    assert not region(first)["problem"]
    eventually(lambda: copy.ask("PUT", "/config", {"compatibility": "NONE"}).status == 200)  # it is sent on
    assert len({machines.register(server, "after") for server in (first, copy, second)}) == 3
    done("promote", second.url)
    report = tmp_path / "report"
    words = ["rejoin", copy.url, "--primary", second.url, "--report", str(report)]
    assert "What was brought is safe" in done(*words, status=int(is_follower_down))
    assert ("alone version 1 id 2" in report.read_text()) == is_follower_down


def test_a_follower_that_has_heard_nothing_since_its_start_is_not_promoted_by_force_without_a_warning(
    machines: Machines,
) -> None:
    """It cannot know whether its directory is an older copy, by which ids would be given once more."""
    warning = "It has not heard from its primary since it was started."
    machines.start(0)
    second = machines.follow(1, 0)
    machines.kill(0)
    asked = run("promote", second.url, "--force")
    assert "is to become the primary with what it has" in asked.stderr
    assert warning not in asked.stderr
    machines.kill(1)
    assert warning in done("promote", machines.start(1).url, "--force")
