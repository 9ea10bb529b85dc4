"""What a principal with prefixes can tell of the subjects outside of them: nothing but what docs/api.md says (PERM-*).

Two registries are asked the same, one of which lacks all that is hidden. Each answer is compared byte for byte: status,
headers, lists and their pages, ids and GUIDs, words of refusals, ETags.
"""

import asyncio
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from sigla.auth.permissions import Principal, principal
from sigla.registry import Registry
from sigla.registry.conditions import state_tag
from sigla.rules import names
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from sigla.web.api.route import Route
from sigla.web.api.routes import ROUTES
from tests.build import FixedClock, Recognises
from tests.unit.web.conftest import Client, Response

ADMIN = "admin"
REACHES = {"a": ("a-",), "team": (":.team:",), "both": ("a-", ":.team:team-"), "everywhere": (":*:a-",)}
ROLES = {"reader": False, "writer": False, "deleter": True, "admin": False}
SMALL = [f"{role} of {reach}" for role in ROLES for reach in REACHES]
CONTEXTS = (".", ".team", ".other", ".secret", ".listed", ".lkc", ".none")
DRAWN = re.compile(rb"\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|p?[0-9a-f]{16}|[0-9a-f]{64})\b")
"""What each registry draws for itself, UUIDs of associations and tokens of a history, with their digests; and GUIDs."""


def principals() -> Iterator[Principal]:
    yield principal(ADMIN, "admin", ())
    for role, deletes in ROLES.items():
        for reach, prefixes in REACHES.items():
            name = "writer" if role == "deleter" else role
            yield principal(f"{role} of {reach}", name, prefixes, deletes=deletes)


PRINCIPALS = {each.name: each for each in principals()}


@dataclass
class World:
    """A registry. drawn: what it has told of `DRAWN`, numbered in its order."""

    registry: Registry
    client: Client
    loop: asyncio.AbstractEventLoop
    drawn: dict[bytes, bytes] = field(default_factory=dict)

    def ask(self, who: str, method: str, target: str, body: Any = None, if_match: str = "") -> Response:
        content = b"" if body is None else json.dumps(body).encode()
        headers = {"authorization": who} | ({"if-match": if_match} if if_match else {})
        return self.loop.run_until_complete(self.client.send(method, target, [content], headers))

    def tag(self, subject: str) -> str:
        """What If-Match says of the subject as it is."""
        seen = self.registry.catalog.snapshot(names.subject(subject))
        return state_tag(seen.head, seen.chain.own)

    def must(self, method: str, target: str, body: Any = None) -> None:
        told = self.ask(ADMIN, method, target, body)
        assert told.status < 300, (method, target, told)

    def register(self, subject: str, text: str, *references: str) -> None:
        listed = [{"name": "A", "subject": each, "version": 1} for each in references]
        self.must("POST", f"/subjects/{quote(subject)}/versions", {"schema": text, "references": listed})

    def associate(self, topic: str, association: Mapping[str, Any]) -> None:
        named = {"resourceName": topic, "resourceNamespace": "lkc", "resourceId": f"id-{topic}"}
        self.must("POST", "/associations", {**named, "associations": [association]})

    def comparable(self, told: Response) -> tuple[object, ...]:
        def numbered(found: re.Match[bytes]) -> bytes:
            return self.drawn.setdefault(found[0], b"drawn %d" % len(self.drawn))

        return told.status, dict(told.headers), DRAWN.sub(numbered, told.body)


@contextmanager
def world(loop: asyncio.AbstractEventLoop) -> Iterator[World]:
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock(), secrets=store.secrets)
        known = Recognises(lambda header: PRINCIPALS.get((header or b"").decode()))
        options = app.HttpOptions(authenticate=known, fresh_id=lambda: b"id")
        yield World(registry, Client(app.build(registry, options=options)), loop)


def record(name: str, *fields: str, of: str = "int") -> str:
    listed = [{"name": each, "type": of} | ({"default": 0} if of == "int" else {}) for each in fields]
    return json.dumps({"type": "record", "name": name, "fields": listed})


KEKS = "/dek-registry/v1/keks"
A, B = record("A"), record("B")


def fill(world: World) -> None:
    """What both registries have. The context `.listed` is known, with its settings, and has no subject any more."""
    for text in (A, record("A", "f")):
        world.register("a-one", text)
    for subject, name in {"a-two": "Two", "a-low": "Low", "a-gone": "Gone", "a-noted": "Noted"}.items():
        world.register(subject, record(name))
    world.register("a-ref", record("Ref", "f", of="A"), "a-one")
    world.register("c-ref", record("CRef", "f", of="A"), "a-one")  # a delete is refused for a referrer unseen (PERM-7)
    for subject in (":.team:team-one", ":.other:a-one", ":.listed:gone"):
        world.register(subject, A)
    for subject in ("a-gone", ":.listed:gone", ":.listed:gone?permanent=true"):
        world.must("DELETE", f"/subjects/{subject}")
    for subject, config in {
        "a-alias": {"alias": "a-one"},
        "a-out": {"alias": "b-one"},
        "a-one": {"compatibility": "FULL"},
    }.items():
        world.must("PUT", f"/config/{subject}", config)
    world.must("PUT", "/config/:.listed:", {"compatibility": "NONE"})
    for kek in ("k", "kb"):
        world.must("POST", KEKS, {"name": kek, "kmsType": "local-kms", "kmsKeyId": "id", "kmsProps": {"secret": "s"}})
    world.must("POST", f"{KEKS}/k/deks", {"subject": "a-one", "encryptedKeyMaterial": "m"})
    world.associate("a-topic", {"subject": "a-noted", "lifecycle": "WEAK"})


def hide(world: World, *, contexts: bool) -> None:
    """What one of them lacks. contexts: also those of which nothing can be within."""
    for text in (B, record("B", "g")):
        world.register("b-one", text)
    for subject, name in {
        "b-shared": "Low",
        "A-low": "Low",
        "0": "Two",
        "b-gone": "BGone",
        ":.listed:b-x": "X",
    }.items():
        world.register(subject, record(name))
    world.register("b-ref", record("BRef", "f", of="A"), "a-one")
    world.must("DELETE", "/subjects/b-gone")
    if contexts:
        for subject in (":.secret:b-one", ":.secret:a-new", ":.secret:a-one"):
            world.register(subject, A)
        world.must("PUT", "/config/:.secret:", {"compatibility": "NONE"})
        world.associate("b-strong", {"associationType": "value", "schema": {"schema": record("Strong")}})
    world.must("PUT", "/config/b-one", {"compatibility": "NONE", "normalize": True})
    world.must("PUT", "/config/b-alias", {"alias": "a-one"})
    world.must("PUT", "/mode/b-two", {"mode": "READONLY"})
    for kek, subject in (("k", "b-one"), ("kb", "b-one"), ("kb", "b-gone")):
        world.must("POST", f"{KEKS}/{kek}/deks", {"subject": subject, "encryptedKeyMaterial": "m"})
    world.associate("b-topic", {"subject": "b-shared", "lifecycle": "WEAK"})
    world.must("POST", "/exporters", {"name": "running", "config": {"schema.registry.url": "http://there"}})


HIDDEN_TEXTS = (B, record("B", "g"), record("BGone"), record("X"), record("Strong"))
TEXTS = (A, record("A", "f"), record("A", "f", "g"), record("Two"), record("Low"), record("Gone"), record("New"),
         record("Newer"), record("Ref", "f", of="A"), record("RefB", "f", of="B"), '"string"', "nonsense")  # fmt: skip
OWN = ("a-one", "a-two", "a-low", "a-ref", "a-gone", "a-noted", "a-alias", "a-out", "a-new", ":.team:team-one")
OTHERS = (
    "b-one", "b-shared", "b-ref", "b-gone", "b-alias", "b-two", "b-none", "A-low", "0", ":.team:b-one", ":.other:a-one",
    ":.secret:b-one", ":.secret:a-one", ":.listed:b-x", ":.listed:a-new", ":.none:b-one", ":.secret:", ":.listed:",
    ":.none:", ":.team:", ":.:", ":.__GLOBAL:", "a-topic-value", "b-topic-value", ":.lkc:b-strong-value", ":.:b-one",
    "::b-one", ":.:.:b-one", ":*:b-one", "a-/../b-one", "a-one/versions/../../b-one", "a-%62", "a-\u00e9", "%62-one",
)  # fmt: skip
SUBJECTS = OWN * (len(OTHERS) // len(OWN)) + OTHERS
"""About half of them within."""

HIDDEN = ("b-one", "b-gone", "b-alias", ":.secret:b-one", ":.secret:", ":.listed:")

OWN_TOPICS, HIDDEN_TOPICS = ("a-topic", "a-other"), ("b-topic", "b-strong")
VALUES: Mapping[str, tuple[str, ...]] = {
    "offset": ("0", "1", "2", "5"),
    "limit": ("0", "1", "2", "1000"),
    "subjectPrefix": ("", "a", "b", "0", ":*:", ":*:b", ":.secret:", ":.listed:", ":.none:", ":.team:"),
    "contextPrefix": ("", ".", ".s", ".l", ":.s"),
    "subject": SUBJECTS,
    "context": (":.secret:", ":.team:", ":.listed:", ".none", ":.:"),
    "format": ("resolved", "serialized", "unknown"),
    "referenceFormat": ("qualified",),
    "findTags": ("*",),
    "ruleType": ("any",),
    "resourceType": ("topic",),
    "associationType": ("key", "value"),
    "lifecycle": ("WEAK", "STRONG", "NONE"),
    "algorithm": ("AES256_GCM", "AES256_SIV"),
    "token": ("p0", "sigla"),
    "key": ("owner",),
    "value": ("Ada",),
}
"""What is asked by parameters that are more than flags."""


@dataclass(frozen=True)
class Asked:
    """Makes requests of routes. guids, tags: of all that either registry has, and of some subjects at the beginning."""

    chance: random.Random
    guids: tuple[str, ...]
    tags: tuple[str, ...] = ()

    def request(self, route: Route) -> tuple[str, str, Any]:
        pick = self.chance.choice
        places: Mapping[str, Callable[[], str]] = {
            "subject": lambda: quote(pick(SUBJECTS), safe=""),
            **dict.fromkeys(("version", "old", "new"), lambda: pick(("1", "1", "2", "latest", "-1"))),
            "id": lambda: str(pick(range(1, 25))),
            "guid": lambda: pick(self.guids),
            "context": lambda: pick(CONTEXTS),
            "kek": lambda: pick(("k", "kb", "none")),
            "exporter": lambda: pick(("running", "none")),
            "key": lambda: pick(("team", "none")),
            "namespace": lambda: pick(("lkc", "-")),
            "resource": lambda: self._resource(route),
        }
        path = re.sub(r"{(\w+)}", lambda found: places[found[1]](), route.path)
        if self.chance.random() < 0.15 and not path.startswith("/contexts"):
            path = f"/contexts/{pick(CONTEXTS)}{path}"
        asked = [one.name for one in route.query if self.chance.random() < 0.3]
        values = {**VALUES, "guids": (",".join(self.guids),)}
        query = "&".join(f"{name}={quote_plus(pick(values.get(name, ('true', 'false'))))}" for name in asked)
        return route.method, f"{path}?{query}" if query else path, self._body(route) if route.body else None

    def if_match(self) -> str:
        """Nothing, most often."""
        return self.chance.choice(self.tags) if self.chance.random() < 0.2 else ""

    def _resource(self, route: Route) -> str:
        """What a topic has counts for what it may have, whoever sees it: so only reads are about hidden ones."""
        topics = OWN_TOPICS + (HIDDEN_TOPICS if route.method in ("GET", "DELETE") else ())
        return self.chance.choice((*topics, *(f"id-{topic}" for topic in topics), "-"))

    def _body(self, route: Route) -> Any:
        pick = self.chance.choice
        if "batchGet" in route.path:
            return {"requests": [{"resourceId": f"id-{topic}"} for topic in (*OWN_TOPICS, *HIDDEN_TOPICS)]}
        if "batchMutate" in route.path:
            return {"requests": [self.association(pick(OWN_TOPICS), opType=pick(("CREATE", "UPSERT", "DELETE")))]}
        if "/associations" in route.path:
            return self.association(pick(OWN_TOPICS))
        if "/exporters" in route.path:
            return {"name": "new", "config": {"schema.registry.url": "http://there"}}
        if "/deks" in route.path:
            return {"subject": pick(SUBJECTS), "encryptedKeyMaterial": pick("mn"), "version": pick((1, 2))}
        if KEKS in route.path:
            return {"name": pick(("k", "kb", "new")), "kmsType": "local-kms", "kmsKeyId": pick(("id", "other"))}
        if "/config" in route.path:
            return pick(
                (
                    {"compatibility": pick(("NONE", "FULL"))},
                    {pick(("alias", "aliasForDeks")): pick(SUBJECTS)},
                    {"normalize": True},
                )
            )
        if "/mode" in route.path:
            return {"mode": pick(("READONLY", "READWRITE", "IMPORT", "FORWARD"))}
        if route.path.endswith("/tags"):
            return {"metadata": {"properties": {"by": pick("ab")}}}
        return self.draft(TEXTS if route.method == "POST" and route.access.value != "read" else TEXTS + HIDDEN_TEXTS)

    def draft(self, texts: tuple[str, ...]) -> dict[str, Any]:
        """Who registers the very words of another gets their id (PERM-7): those are only looked up."""
        pick = self.chance.choice
        drafted: dict[str, Any] = {"schema": pick(texts)}
        if self.chance.random() < 0.3:
            drafted["references"] = [{"name": pick("AB"), "subject": pick(SUBJECTS), "version": pick((1, 2, -1))}]
        if self.chance.random() < 0.1:
            drafted["version"] = pick((1, 2, 3))
        return drafted

    def association(self, topic: str, **more: Any) -> dict[str, Any]:
        pick = self.chance.choice
        wanted = {"subject": pick(SUBJECTS), "associationType": pick(("key", "value")), "lifecycle": "WEAK", **more}
        if self.chance.random() < 0.3:
            wanted |= {"lifecycle": "STRONG", "schema": self.draft(TEXTS)}
        named = {"resourceName": topic, "resourceNamespace": "lkc", "resourceId": f"id-{topic}"}
        return {**named, "associations": [wanted]}


@contextmanager
def two_worlds(reach: str) -> Iterator[tuple[World, World, tuple[str, ...]]]:
    """One that lacks what is hidden, one that has it, and all GUIDs. Both go on with the same ids."""
    with closing(asyncio.new_event_loop()) as loop, world(loop) as lacking, world(loop) as having:
        fill(lacking)
        fill(having)
        hide(having, contexts=reach != "everywhere")
        for context in CONTEXTS:
            lacking.registry.catalog.raise_counter(context, having.registry.catalog.next_id(context))
        listed = having.ask(ADMIN, "GET", "/schemas?subjectPrefix=:*:&deleted=true").json
        yield lacking, having, (*sorted({each["guid"] for each in listed}), "none")


ROUNDS = 5
"""So often each route is asked, by another principal each time."""


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("reach", REACHES)
def test_what_is_hidden_changes_no_answer(reach: str, seed: int) -> None:
    """An admin reads meanwhile, so that what is hidden is in every memory that answers come from."""
    compare(reach, seed)


@pytest.mark.soak
@pytest.mark.parametrize("reach", REACHES)
def test_nor_does_it_in_ten_times_as_many_questions(reach: str) -> None:
    """One route of a hundred, asked for one text of twenty, was found by these."""
    for seed in range(2, 22):
        compare(reach, seed)


def compare(reach: str, seed: int) -> None:
    chance = random.Random(f"{reach} {seed}")
    with two_worlds(reach) as (lacking, having, guids):
        tags = tuple(f'"{each.tag(name)}"' for each in (lacking, having) for name in (*OWN, *HIDDEN))
        asked = Asked(chance, guids, ("*", '"x"', *tags))
        for route in chance.sample(ROUTES * ROUNDS, len(ROUTES) * ROUNDS):
            noise, target, _ = asked.request(chance.choice(ROUTES))
            if noise == "GET":
                having.ask(ADMIN, noise, target)
            request = (f"{chance.choice([*ROLES])} of {reach}", *asked.request(route), asked.if_match())
            one, other = lacking.ask(*request), having.ask(*request)
            assert lacking.comparable(one) == having.comparable(other), request


@pytest.mark.parametrize("topic", HIDDEN_TOPICS)
@pytest.mark.parametrize("reach", REACHES)
def test_a_topic_of_others_is_refused_without_a_name_of_theirs(reach: str, topic: str) -> None:
    """What a topic has counts for what it may have. That it has something can be told so, and nothing else."""
    chance = random.Random(f"{reach} {topic}")
    own = ":.team:team-one" if reach == "team" else "a-one"
    with two_worlds("a") as (_, having, guids):
        asked = Asked(chance, guids)
        for role in ROLES:
            who = f"{role} of {reach}"
            for operation in ("CREATE", "UPSERT", "DELETE"):
                for type in ("key", "value"):
                    wanted = asked.association("a-mine", opType=operation) | {"resourceId": f"id-{topic}"}
                    wanted["associations"][0] |= {"subject": own, "associationType": type}
                    told = [
                        having.ask(who, "POST", "/associations", wanted),
                        having.ask(who, "POST", "/associations?dryRun=true", wanted),
                        having.ask(who, "PUT", f"/associations/resources/id-{topic}", wanted),
                        having.ask(who, "DELETE", f"/associations/resources/id-{topic}?associationType={type}"),
                        having.ask(who, "POST", "/associations:batchMutate", {"requests": [wanted]}),
                    ]
                    for answer in told:
                        untold = answer.text.replace(f"id-{topic}", "")
                        assert not re.search(f"{topic}|b-shared|strong", untold), (who, wanted, answer)
