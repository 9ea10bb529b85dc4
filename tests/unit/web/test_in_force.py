"""`/console/api/in-force/{subject}`: what applies to a subject or a context, and where each setting comes from."""

import random
from typing import Any
from urllib.parse import quote

import pytest

from tests.unit.web.conftest import Client
from tests.unit.web.test_console_api import ask, field, record, register, verdict

SCOPES = ("", ":.__GLOBAL:", ":.eu:", "a", ":.eu:a")


def in_force(client: Client, scope: str, below: str = "") -> Any:
    return ask(client, "GET", f"{below}/console/api/in-force/{quote(scope, safe='')}")


def set_there(client: Client, scope: str, config: dict[str, Any] | None = None, mode: str | None = None) -> None:
    place = f"/{quote(scope, safe='')}" if scope else ""
    for what, body in (("config", config), ("mode", mode and {"mode": mode})):
        if body is not None:
            ask(client, "PUT", f"/{what}{place}", body)


def test_where_nothing_is_set_all_is_the_servers(client: Client) -> None:
    told = {"config": {"compatibilityLevel": "BACKWARD"}, "mode": "READWRITE", "from": {}}
    for scope, subject in (("a", "a"), (":.eu:a", ":.eu:a"), (":.:", ""), (":.__GLOBAL:", ":.__GLOBAL:")):
        assert in_force(client, scope) == {"subject": subject, **told}


def test_config_and_mode_come_each_from_the_nearest_scope(client: Client) -> None:
    set_there(client, ":.__GLOBAL:", {"compatibility": "NONE"}, "IMPORT")
    assert in_force(client, ":.eu:a")["from"] == {"compatibilityLevel": ":.__GLOBAL:", "mode": ":.__GLOBAL:"}
    set_there(client, ":.eu:", {"compatibility": "FULL"})
    told = in_force(client, ":.eu:a")
    assert (told["config"], told["mode"]) == ({"compatibilityLevel": "FULL"}, "IMPORT")
    assert told["from"] == {"compatibilityLevel": ":.eu:", "mode": ":.__GLOBAL:"}
    set_there(client, ":.eu:a", mode="READWRITE")
    assert in_force(client, ":.eu:a")["from"] == {"compatibilityLevel": ":.eu:", "mode": ":.eu:a"}
    assert in_force(client, ":.eu:")["from"] == {"compatibilityLevel": ":.eu:", "mode": ":.__GLOBAL:"}


def test_a_named_context_has_nothing_of_the_default_one_but_what_its_own_entries_are_silent_about(
    client: Client,
) -> None:
    """INH-1, INH-5, INH-6."""
    set_there(client, "", {"compatibility": "FULL", "normalize": True}, "READONLY")
    assert in_force(client, "a")["from"] == {"compatibilityLevel": "", "normalize": "", "mode": ""}
    assert in_force(client, ":.eu:a")["from"] == {}
    set_there(client, ":.eu:a", {"compatibilityGroup": "major"})
    told = in_force(client, ":.eu:a")
    assert told["config"] == {"compatibilityLevel": "BACKWARD", "normalize": True, "compatibilityGroup": "major"}
    assert told["from"] == {"normalize": "", "compatibilityGroup": ":.eu:a"}


def test_an_alias_has_what_is_set_for_itself(client: Client) -> None:
    """ALIAS-2."""
    set_there(client, "b", {"compatibility": "FULL"})
    set_there(client, "a", {"alias": "b"})
    told = in_force(client, "a")
    assert told["config"] == {"compatibilityLevel": "BACKWARD", "alias": "b"}
    assert told["from"] == {"alias": "a"}


def test_below_a_context_a_name_is_in_it(client: Client) -> None:
    set_there(client, ":.eu:", {"compatibility": "FULL"})
    for below in ("/contexts/eu", "/contexts/:.eu:"):
        assert in_force(client, "a", below) == in_force(client, ":.eu:a")
        assert in_force(client, ":.us:a", below) == in_force(client, ":.us:a")


LEVELS = (None, "BACKWARD", "FULL", "NONE")
MORE = {"normalize": (True, False), "compatibilityGroup": ("major",), "alias": ("b",)}


@pytest.mark.parametrize("seed", range(20))
def test_it_is_what_the_routes_of_config_and_mode_tell_and_stands_where_it_says(client: Client, seed: int) -> None:
    chance = random.Random(seed)
    for scope in SCOPES:
        if chance.random() < 0.6:
            level = chance.choice(LEVELS)
            config = {name: chance.choice(values) for name, values in MORE.items() if chance.random() < 0.4}
            set_there(client, scope, config | ({} if level is None else {"compatibility": level}))
        if chance.random() < 0.4:
            set_there(client, scope, mode=chance.choice(("READWRITE", "IMPORT")))
    for scope in (":.:", *SCOPES[1:]):
        told, named = in_force(client, scope), quote(scope, safe="")
        assert told["config"] == ask(client, "GET", f"/config/{named}?defaultToGlobal=true")
        assert told["mode"] == ask(client, "GET", f"/mode/{named}?defaultToGlobal=true")["mode"]
        for name, origin in told["from"].items():
            own = own_settings(client, origin)
            assert (own["mode"] if name == "mode" else own["config"][name]) == (told["config"] | told)[name]
        assert set(told["config"]) - {"compatibilityLevel"} <= set(told["from"])


def own_settings(client: Client, scope: str) -> Any:
    listed = ask(client, "GET", "/settings?subjectPrefix=:*:")
    return next(each for each in listed if each["subject"] == scope)


def test_a_verdict_tells_which_scope_its_level_comes_from(client: Client) -> None:
    register(client, "a", record(field("x")))
    register(client, ":.eu:b", record(field("x")))
    assert "from" not in verdict(client, "a", record())["applied"]
    set_there(client, "", {"compatibility": "NONE"})
    assert verdict(client, "a", record())["applied"]["from"] == ""
    set_there(client, ":.eu:", {"compatibility": "FULL"})
    assert verdict(client, ":.eu:b", record())["applied"]["from"] == ":.eu:"
    set_there(client, "a", {"compatibility": "FULL"})
    set_there(client, "led", {"alias": "a"})
    assert verdict(client, "led", record())["applied"]["from"] == "a"
