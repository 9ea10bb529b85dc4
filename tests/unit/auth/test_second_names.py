"""A key for the default context reaches nothing else, however the name of a subject is spelled."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from sigla.auth import api_keys
from sigla.rules import names
from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.build import NOW, a_draft, a_text
from tests.unit.auth.guarded import DOORS, Ask, Guarded, guarded

WHO, BANK, ALL = "default", "bank", "all"
PREFIXES = {WHO: (":.:",), BANK: (":.::.bank:",), ALL: ()}
PAY = names.subject(":.bank:pay")
SPELLINGS = [":.::.bank:pay", ":.::.::.bank:pay", "%3A.%3A%3A.bank%3Apay"]
DRAFT = {"schema": a_text("Ghost")}
REQUESTS: list[tuple[str, str, Any]] = [
    ("DELETE", "/subjects/{name}", None),
    ("DELETE", "/subjects/{name}?permanent=true", None),
    ("DELETE", "/subjects/{name}/versions/1", None),
    ("POST", "/subjects/{name}/versions", DRAFT),
    ("POST", "/subjects/{name}", DRAFT),
    ("POST", "/compatibility/subjects/{name}/versions/latest", DRAFT),
    ("GET", "/subjects/{name}/versions/1", None),
    ("GET", "/contexts/./subjects/{name}/versions", None),
    ("DELETE", "/contexts/./subjects/{name}", None),
    ("PUT", "/config/{name}", {"compatibility": "NONE"}),
    ("DELETE", "/config/{name}", None),
    ("PUT", "/mode/{name}", {"mode": "READONLY"}),
    ("PUT", "/mode/{name}?force=true", {"mode": "IMPORT"}),
    ("PUT", "/contexts/./config/{name}", {"compatibility": "NONE"}),
    ("PUT", "/config/mine", {"alias": ":.::.bank:pay"}),
]


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Guarded, Ask]]:
    keys = EmbeddedKeys(tmp_path)
    made = {who: api_keys.create(keys, who, "admin", prefixes, now=NOW) for who, prefixes in PREFIXES.items()}
    with guarded(keys, {who: secret for who, (_, secret) in made.items()}) as world:
        world.registry.register(PAY, a_draft(a_text("Pay")))
        with DOORS[request.param](world) as ask:
            yield world, ask


def test_a_key_for_the_default_context_reaches_no_other(door: tuple[Guarded, Ask]) -> None:
    """`:.::.bank:pay` was the bank's subject to the tables, and outside every permission: it could be deleted."""
    world, ask = door
    before = world.commits
    for method, target, body in REQUESTS:
        for spelling in SPELLINGS:
            reply = ask(WHO, method, target.format(name=spelling), body)
            assert (reply.status, reply.json["error_code"]) == (403, 40301), (method, target, spelling)
    assert world.commits == before
    for spelling in map(unquote, SPELLINGS):
        assert ask(WHO, "GET", f"/schemas/ids/1?subject={spelling}").status == 403
        assert ask(WHO, "GET", f"/subjects?subjectPrefix={spelling}").json == []


def test_every_spelling_is_the_subject_itself(door: tuple[Guarded, Ask]) -> None:
    """Who may, may by each of them: a key whose prefix names two contexts is a key for the last."""
    world, ask = door
    for who in (BANK, ALL):
        for spelling in SPELLINGS:
            assert ask(who, "GET", f"/subjects/{spelling}/versions/1").json["subject"] == ":.bank:pay"
            asked = unquote(spelling)
            assert ask(who, "GET", f"/subjects?subjectPrefix={asked}").json == [":.bank:pay"]
            assert ask(who, "GET", f"/schemas/ids/1?subject={asked}").json["subject"] == ":.bank:pay"
            assert ask(who, "GET", f"/contexts/.other/subjects/{spelling}/versions").json == [1]
    assert ask(BANK, "GET", "/subjects/a-one/versions").status == 403
    assert ask(ALL, "POST", "/subjects/:.::.bank:pay/versions", {"schema": a_text("Pay")}).json["id"] == 1
    assert [subject.qualified for subject in world.store.catalog.subjects(names.search(":.bank:"))] == [":.bank:pay"]


@pytest.mark.parametrize(
    "name", [":.::.__GLOBAL:", ":.::.__GLOBAL:x", ":.::*:x", ":.::.:__GLOBAL", ":.::.bank:__EMPTY", ":.::.:", ":.::."]
)
def test_a_reserved_name_is_refused_however_it_is_spelled(door: tuple[Guarded, Ask], name: str) -> None:
    """The sentence quotes what the client sent (NAME-1 to NAME-6)."""
    _, ask = door
    refused = ask(ALL, "POST", f"/subjects/{name}/versions", DRAFT)
    assert (refused.status, refused.json["error_code"]) == (422, 42208)
    assert name in refused.json["message"]


def test_a_reference_and_an_alias_mean_what_the_path_means(door: tuple[Guarded, Ask]) -> None:
    """A referrer of a subject keeps it from being deleted, whatever it calls it."""
    world, ask = door
    text = '{"type":"record","name":"Uses","fields":[{"name":"f","type":"Pay"}]}'
    references = [{"name": "Pay", "subject": ":.::.bank:pay", "version": 1}]
    sent = {"schema": text, "references": references}
    for subject in ("uses", ":.other:uses"):
        assert ask(ALL, "POST", f"/subjects/{subject}/versions", sent).status == 200
    assert len(list(world.store.catalog.referrers(PAY))) == 2
    assert ask(ALL, "DELETE", "/subjects/:.bank:pay").status == 422
    assert ask(WHO, "POST", "/subjects/mine/versions", sent).status == 403
    assert ask(ALL, "PUT", "/config/mine", {"alias": ":.::.bank:pay"}).status == 200
    assert ask(ALL, "GET", "/subjects/mine/versions/1").json["subject"] == ":.bank:pay"
    assert ask(WHO, "GET", "/subjects/mine/versions/1").status == 403
