"""Confluent's JavaScript client against a running registry: tests/protocol/node tells the stories, this runs them.

The two clients also write to each other: what one of them has sent, the other one reads.
"""

import base64
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from sigla.decoding.frames import Frame, frame
from tests import npm
from tests.protocol.clients import json_schemas, protobufs
from tests.protocol.clients.server import Server
from tests.protocol.clients.shop import another

NODE = Path(__file__).parent.parent / "node"
STORIES = [
    story
    for file in sorted(NODE.glob("*.cjs"))
    for story in re.findall(r"^  async '(.+)'\(", file.read_text(encoding="utf-8"), re.MULTILINE)
]

NOT_FOR_BOTH = "hop"
"""The one letter that the clients address differently: for Python a map's entries take a place among the messages."""


def letters(server: Server, bazaar: Any) -> list[dict[str, Any]]:
    """What Python has sent, for JavaScript to read: how it looks as JSON, and its bytes."""
    with another(server) as client:
        schema = json_schemas.delivery(client, "python.delivery")
        framed = json_schemas.sent(client, "python.delivery", schema, json_schemas.PARCEL)
        posted = [letter("delivery", "JSON", "python.delivery", json_schemas.PARCEL, framed)]
        for name, (write, _) in protobufs.LETTERS.items():
            if name != NOT_FOR_BOTH:
                message, topic = write(bazaar), f"python.{name.replace(' ', '_')}"
                framed = protobufs.sent(client, topic, message)
                shown, type = MessageToDict(message), message.DESCRIPTOR.full_name
                posted.append(letter(name, "PROTOBUF", topic, shown, framed) | {"type": type})
    return posted


def letter(name: str, language: str, topic: str, shown: Any, framed: bytes) -> dict[str, Any]:
    message = base64.b64encode(framed).decode()
    return {"name": name, "language": language, "topic": topic, "json": shown, "message": message}


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where letters are exchanged."""
    return tmp_path_factory.mktemp("office")


@pytest.fixture(scope="module")
def told(server: Server, bazaar: Any, office: Path) -> dict[str, str | None]:
    """Every story with what failed in it. One Node for all: it takes longer to start than to tell them."""
    node, client = npm.node_program(), npm.installed(NODE)
    protobufs.descriptors(office / "bazaar.binpb")
    (office / "from_python.json").write_text(json.dumps(letters(server, bazaar)), encoding="utf-8")
    run = subprocess.run(
        [node, str(NODE / "stories.cjs"), server.url, str(office)],
        cwd=client,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    return {line["story"]: line["failed"] for line in lines}


@pytest.mark.parametrize("story", STORIES)
def test_story(told: dict[str, str | None], story: str) -> None:
    assert told[story] is None, told[story]


@pytest.mark.parametrize("name", ["delivery", *(name for name in protobufs.LETTERS if name != NOT_FOR_BOTH)])
def test_a_letter_from_javascript_is_read(
    told: dict[str, str | None], server: Server, bazaar: Any, office: Path, name: str
) -> None:
    """The stories have left them; Python reads them with its own classes and the registry's schemas."""
    posted = json.loads((office / "from_javascript.json").read_text(encoding="utf-8"))
    [found] = [letter for letter in posted if letter["name"] == name]
    framed = base64.b64decode(found["message"])
    with another(server) as client:
        if found["language"] == "JSON":
            assert json_schemas.received(client, found["topic"], framed) == found["json"]
            return
        write, indexes = protobufs.LETTERS[name]
        taken_apart = frame(framed, indexed=True)
        assert isinstance(taken_apart, Frame)
        assert taken_apart.indexes == indexes
        message = write(bazaar)
        assert protobufs.received(client, found["topic"], type(message), framed) == message


def test_the_lock_file_names_no_host() -> None:
    """A user that installs it uses the registry of that user's configuration, as for everything else."""
    lock = json.loads((NODE / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert all("resolved" not in package for package in packages.values())
    assert all("integrity" in package for package in packages.values()), "what is installed is what was locked"
