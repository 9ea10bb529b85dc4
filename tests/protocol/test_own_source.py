"""Exporters of real servers that would write to where they read: refused, or stopped, and copies that end go on."""

from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.protocol.clients.link import Link
from tests.protocol.clients.server import Answer, Server, serving
from tests.protocol.test_region_places import following
from tests.protocol.test_several import BOTH, a_key, basic, of_registry
from tests.waiting import eventually

pytestmark = pytest.mark.process

TEXT = {"schema": '"string"'}
COPIES = {"subjects": [":*:*"], "contextType": "CUSTOM", "context": "ex"}
AUTO = {"subjects": [":*:*"]}
ANOTHER_CONTEXT = {"contextType": "CUSTOM", "context": "copy"}


def offer(server: Server, url: str, form: Mapping[str, Any], key: str = "", own_key: str = "", **config: str) -> Answer:
    """key: with which the destination is entered. own_key: of the client."""
    if key:
        config = {"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": key, **config}
    whole = {"name": "line", "config": {"schema.registry.url": url, **config}, **form}
    return server.ask("POST", "/exporters", whole, basic(own_key) if own_key else None)


def names(server: Server) -> list[str]:
    found: list[str] = server.ask("GET", "/subjects?subjectPrefix=:*:").json
    return found


def is_refused(answer: Answer, url: str) -> bool:
    said = f"Missing or invalid exporter config: {url} is this registry itself, "
    return (answer.status, answer.json["error_code"]) == (409, 40951) and answer.json["message"].startswith(said)


def trace(server: Server) -> str:
    return str(server.ask("GET", "/exporters/line/status").json["trace"])


def test_a_server_answers_its_own_question_while_the_client_waits() -> None:
    """By each of its names, and also while more exporters are offered than threads are there to ask."""
    with serving() as server:
        server.ask("POST", "/subjects/orders/versions", TEXT)
        assert is_refused(offer(server, server.url, COPIES), server.url)
        assert is_refused(offer(server, f"http://localhost:{server.port}", AUTO), f"http://localhost:{server.port}")
        found: list[Answer] = []
        offers = [Thread(target=lambda: found.append(offer(server, server.url, COPIES))) for _ in range(12)]
        for each in offers:
            each.start()
        for each in offers:
            each.join()
        assert len(found) == 12
        assert all(is_refused(each, server.url) for each in found)
        assert server.ask("GET", "/exporters").json == []
        assert offer(server, server.url, ANOTHER_CONTEXT).status == 200
        eventually(lambda: names(server) == [":.copy:orders", "orders"])


def test_a_zone_of_this_machine_is_the_same_registry() -> None:
    with serving(None, "--zones", "2") as server:
        urls = [each["url"] for each in server.ask("GET", "/zones").json]
        assert len(urls) == 2
        for url in urls:
            assert is_refused(offer(server, url, COPIES), url)


def test_each_of_several_registries_is_one_of_its_own(tmp_path: Path) -> None:
    """They have one address: the credentials in its config say which of them an exporter writes to."""
    keys = {name: a_key(tmp_path / name) for name in ("payments", "ads")}
    with serving(tmp_path, "--auth", *BOTH) as server:
        own, other = (of_registry(keys[name], name) for name in ("payments", "ads"))
        server.ask("POST", "/subjects/orders/versions", TEXT, basic(own))
        assert is_refused(offer(server, server.url, COPIES, own, own), server.url)
        assert offer(server, server.url, COPIES, other, own).status == 200
        eventually(lambda: server.ask("GET", "/subjects?subjectPrefix=:*:", None, basic(other)).json == [":.ex:orders"])
        assert server.ask("GET", "/subjects?subjectPrefix=:*:", None, basic(own)).json == ["orders"]


def test_what_follows_a_registry_is_the_same_registry(tmp_path: Path) -> None:
    """What is written there is sent back; so an exporter there would be filled by itself, too."""
    with serving(tmp_path / "a") as primary, following(primary, tmp_path / "b") as follower:
        primary.ask("POST", "/subjects/orders/versions", TEXT)
        assert is_refused(offer(primary, follower.url, COPIES), follower.url)
        assert is_refused(offer(follower, follower.url, COPIES), follower.url)
        assert is_refused(offer(follower, primary.url, COPIES), primary.url)


def test_an_address_that_comes_to_lead_back_is_not_written_to() -> None:
    """It was silent when the exporter was offered: nothing is written before it has answered, and then neither."""
    with serving() as server, Link(server.port) as link:
        server.ask("POST", "/subjects/orders/versions", TEXT)
        link.cut("there", "back")
        assert offer(server, link.url, COPIES).status == 200
        link.cut()
        eventually(lambda: trace(server).startswith(f"{link.url} is this registry itself, "))
        assert names(server) == ["orders"]
        for verb in ("pause", "reset", "resume"):
            assert server.ask("PUT", f"/exporters/line/{verb}").status == 200
        eventually(lambda: trace(server).startswith(f"{link.url} is this registry itself, "))
        assert names(server) == ["orders"]
        assert server.ask("GET", "/exporters/line/status").json["state"] == "STARTING"
