"""What a table of statuses cannot tell: what a restricted key sees and does not, and what it costs."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sigla import observe
from sigla.auth.narrowed import Narrowed
from sigla.auth.permissions import READ, Principal, reach
from sigla.errors import StoreError
from sigla.model import Subject
from sigla.registry import Registry
from sigla.rules import names
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.web import app
from tests.build import Recognises, a_draft, a_text
from tests.unit.auth.guarded import KINDS, Guarded, guarded
from tests.unit.web.conftest import Client, Response

Asks = Callable[..., Response]
"""A request of a principal: its kind and its prefixes in words (`reader a- :.team:`), method, target, body."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Guarded]:
    with guarded(EmbeddedKeys(tmp_path), {}) as world:
        yield world


@pytest.fixture
def ask(world: Guarded) -> Asks:
    return asking(world.registry)


def principal(header: bytes | None) -> Principal:
    kind, *prefixes = (header or b"").decode().split()
    return Principal("somebody", KINDS[kind], reach(prefixes))


def asking(registry: Registry, **options: Any) -> Asks:
    client = Client(app.build(registry, options=app.HttpOptions(authenticate=Recognises(principal), **options)))

    def ask(who: str, method: str, target: str, body: Any = None) -> Response:
        return client(method, target, body, {"authorization": who})

    return ask


A_TO_B = {"name": "B", "subject": "b-one", "version": 1}
USES_B = {"schema": '{"type":"record","name":"R","fields":[{"name":"f","type":"B"}]}', "references": [A_TO_B]}


# --- reading ---------------------------------------------------------------------------------------------------------


def test_an_id_speaks_to_everybody_of_a_subject_he_may_know(ask: Asks) -> None:
    """The same schema under names of two teams: each is told its own, and what one was sent another never gets."""
    for _ in range(2):  # the second time from what is kept at hand
        assert ask("reader", "GET", "/schemas/ids/4").json["subject"] == "A-low"
        assert ask("reader a-", "GET", "/schemas/ids/4").json["subject"] == "a-low"
        assert ask("reader a-", "GET", "/schemas/ids/4?subject=a-low").json["subject"] == "a-low"
        assert ask("reader z-", "GET", "/schemas/ids/4").refusal == (404, 40403, "Schema 4 not found")


def test_an_id_of_others_answers_as_if_it_were_not_there(ask: Asks) -> None:
    """Word for word: who guesses ids must not learn which ones there are."""
    assert ask("reader a-", "GET", "/schemas/ids/2").refusal == (404, 40403, "Schema 2 not found")
    assert ask("reader a-", "GET", "/schemas/ids/99").refusal == (404, 40403, "Schema 99 not found")


def test_a_subject_of_others_is_refused_whether_it_exists_or_not(ask: Asks) -> None:
    for subject in ("b-one", "b-none"):
        refusal = ask("reader a-", "GET", f"/subjects/{subject}/versions").refusal
        assert refusal == (403, 40301, f"User is denied operation Read on Subject: {subject}")


def test_a_name_that_is_looked_for_everywhere_is_found_where_it_may_be(ask: Asks) -> None:
    """VER-8: the fallback to other contexts stays within what a key reaches."""
    assert ask("reader a-", "GET", "/subjects/a-team/versions/1").refusal[:2] == (404, 40401)
    assert ask("reader :*:a-", "GET", "/subjects/a-team/versions/1").json["subject"] == ":.team:a-team"
    assert ask("reader :.team:", "GET", "/subjects/a-team/versions/1").refusal[:2] == (403, 40301)
    assert ask("reader :.team:", "GET", "/contexts/team/subjects/a-team/versions").json == [1]


def test_a_lookup_passes_by_a_namesake_whose_references_may_not_be_read(ask: Asks) -> None:
    """PERM-5: a refusal would be about a subject that the client has not named."""
    uses_a = {
        "schema": '{"type":"record","name":"R","fields":[{"name":"f","type":"A"}]}',
        "references": [{"name": "A", "subject": "a-one", "version": 1}],
    }
    for subject, draft in ((":.team:a-one", {"schema": a_text("A")}), (":.team:b-one", uses_a)):
        assert ask("writer", "POST", f"/subjects/{subject}/versions", draft).status == 200
    assert ask("reader", "POST", "/subjects/b-one", uses_a).json["subject"] == ":.team:b-one"
    told = ask("reader a- b- :.team:b-", "POST", "/subjects/b-one", uses_a).refusal
    assert told == (404, 40403, "Schema not found")


def test_lists_of_a_key_with_many_prefixes_are_in_order_and_tell_nothing_twice(ask: Asks) -> None:
    many = "reader b- a-l a-low :*:a- :.team: :.te"
    everything = [":.team:a-team", "a-low", "a-noted", "a-one", "a-ref", "a-shared", "b-one", "b-ref", "b-shared"]
    assert ask(many, "GET", "/subjects").json == everything
    assert [one["subject"] for one in ask(many, "GET", "/schemas?subjectPrefix=:*:").json] == everything
    assert ask(many, "GET", "/subjects?offset=2&limit=3").json == everything[2:5]
    assert ask(many, "GET", "/subjects?subjectPrefix=:*:a-&deletedOnly=true").json == ["a-gone"]
    assert ask(many, "GET", "/contexts").json == [".", ".team"]


def test_aliases_are_listed_where_both_ends_may_be_read(ask: Asks) -> None:
    listed = ask("reader a-", "GET", "/schemas?aliases=true&subjectPrefix=a-").json
    assert [one["subject"] for one in listed if one.get("aliases")] == ["a-one"]
    assert "b-one" not in [one["subject"] for one in listed]


def test_an_alias_needs_rights_at_both_ends(ask: Asks) -> None:
    """ALIAS-1: a name does not lead around permissions, in neither direction."""
    assert ask("reader a-", "GET", "/subjects/a-alias/versions").json == [1]
    denied = "User is denied operation Read on Subject: b-one"
    assert ask("reader a-", "GET", "/subjects/a-out/versions").refusal == (403, 40301, denied)
    assert ask("writer a-", "POST", "/subjects/a-out/versions", {"schema": a_text("B")}).refusal[2] == denied
    assert ask("reader b-", "GET", "/subjects/a-out/versions").refusal[:2] == (403, 40301)
    assert ask("reader a- b-", "GET", "/subjects/a-out/versions").json == [1]


def test_settings_that_bear_on_a_key_may_be_read_and_nothing_else_of_their_scope(ask: Asks, world: Guarded) -> None:
    """A context can have settings and, under the same name, versions: the first are for all in it, the second not."""
    world.registry.register(names.subject(":.team:"), a_draft(a_text("Secret")))
    reader = "reader :.team:a-"
    assert ask(reader, "GET", "/config/:.team:?defaultToGlobal=true").json == {"compatibilityLevel": "BACKWARD"}
    assert ask(reader, "GET", "/mode/:.team:?defaultToGlobal=true").json == {"mode": "READWRITE"}
    assert ask(reader, "GET", "/config").status == 200
    assert ask(reader, "GET", "/subjects/:.team:/versions").refusal[:2] == (403, 40301)
    assert ask("admin :.team:a-", "PUT", "/config/:.team:", {"compatibility": "NONE"}).refusal[:2] == (403, 40301)
    assert ask("reader :.other:", "GET", "/config/:.team:?defaultToGlobal=true").refusal[:2] == (403, 40301)
    assert ask("admin :.team:", "PUT", "/config/:.team:", {"compatibility": "NONE"}).status == 200
    assert ask("admin :.team:", "DELETE", "/contexts/.team").refusal[:2] == (422, 42211)


# --- references ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target", ["/subjects/a-new/versions", "/subjects/a-new", "/compatibility/subjects/a-new/versions"]
)
def test_nobody_refers_to_what_he_may_not_read(ask: Asks, target: str) -> None:
    """With its references inlined a schema tells what they say: registering one would be reading the other."""
    refusal = ask("writer a-", "POST", target, USES_B).refusal
    assert refusal == (403, 40301, "User is denied operation Read on Subject: b-one")
    assert ask("writer a- b-", "POST", target, USES_B).status in (200, 404)


def test_what_a_schema_refers_to_is_part_of_it(ask: Asks) -> None:
    """A principal that may read a schema may read it whole; the other one, by its own name or id, it may not."""
    resolved = ask("reader b-", "GET", "/subjects/b-ref/versions/1?format=resolved")
    assert '"name":"A"' in resolved.json["schema"]
    assert ask("reader b-", "GET", "/subjects/a-one/versions/1").status == 403
    assert ask("reader b-", "GET", "/schemas/ids/1").status == 404


def test_a_delete_minds_referrers_that_its_key_does_not_see(ask: Asks) -> None:
    """Permissions hide things; they never make them breakable."""
    assert ask("admin a-", "GET", "/subjects/a-one/versions/1/referencedby").json == [6]
    found = [ask(who, "GET", "/console/api/subjects/a-one/referrers").json["found"] for who in ("admin a-", "admin")]
    assert [sorted(each["subject"] for each in told) for told in found] == [["a-ref"], ["a-ref", "b-ref"]]
    assert ask("admin a-", "DELETE", "/subjects/a-ref").status == 200
    assert ask("admin a-", "DELETE", "/subjects/a-ref?permanent=true").status == 200
    assert ask("admin a-", "GET", "/subjects/a-one/versions/1/referencedby").json == []
    for target in ("/subjects/a-one/versions/1", "/subjects/a-one"):
        assert ask("admin a-", "DELETE", target).refusal[:2] == (422, 42206)


def test_one_content_has_one_id_whoever_registers_it(ask: Asks) -> None:
    """Ids count for everybody: who registers the words of another gets their id, and may read it from then on."""
    assert ask("writer a-", "GET", "/schemas/ids/2").status == 404
    assert ask("writer a-", "POST", "/subjects/a-new/versions", {"schema": a_text("B")}).json["id"] == 2
    assert ask("writer a-", "GET", "/schemas/ids/2").json["subject"] == "a-new"


# --- changing --------------------------------------------------------------------------------------------------------


def test_an_alias_to_elsewhere_stays_where_somebody_else_has_put_it(ask: Asks) -> None:
    """Setting one needs rights on its target; changing something else of the same entry does not."""
    assert ask("admin a-", "PUT", "/config/a-out", {"normalize": True}).json == {"normalize": True, "alias": "b-one"}
    assert ask("admin a-", "PUT", "/config/a-out", {"alias": "b-ref"}).refusal[2].endswith("on Subject: b-ref")
    assert ask("admin a-", "PUT", "/config/a-out", {"alias": "a-one"}).status == 200


def test_modes_of_a_whole_context_are_dropped_by_who_has_it_whole(ask: Asks) -> None:
    ask("admin", "PUT", "/mode/:.team:a-team", {"mode": "READONLY"})
    assert ask("admin :.team:a-", "DELETE", "/mode/:.team:?recursive=true").refusal[:2] == (403, 40301)
    assert ask("admin :.team:", "DELETE", "/mode/:.team:?recursive=true").status == 200
    assert ask("admin", "GET", "/mode/:.team:a-team").refusal[:2] == (404, 40409)


def test_a_context_that_is_ones_own_is_ones_own_to_drop(ask: Asks) -> None:
    """Whole, and emptied before."""
    for target in ("/subjects/:.team:a-team", "/subjects/:.team:a-team?permanent=true"):
        assert ask("admin :.team:", "DELETE", target).status == 200
    assert ask("admin :.team:a-", "DELETE", "/contexts/.team").refusal[:2] == (403, 40301)
    assert ask("admin :.team:", "DELETE", "/contexts/.team").status == 204
    assert ask("reader", "GET", "/contexts").json == ["."]


def test_a_subject_of_ones_own_may_be_imported_with_its_ids(ask: Asks) -> None:
    """An id that means something else to others keeps meaning that."""
    assert ask("admin a-", "PUT", "/mode/a-import", {"mode": "IMPORT"}).status == 200
    brought = {"schema": a_text("Imported"), "version": 1}
    assert ask("writer a-", "POST", "/subjects/a-import/versions", {**brought, "id": 2}).refusal[:2] == (422, 42205)
    assert ask("writer a-", "POST", "/subjects/a-import/versions", {**brought, "id": 100}).json["id"] == 100
    assert ask("reader a-", "GET", "/schemas/ids/100?fetchMaxId=true&subject=a-import").json["maxId"] == 100


# --- what it costs ---------------------------------------------------------------------------------------------------


class Counting:
    """A catalog, and how often each question was asked of it."""

    def __init__(self, catalog: Any) -> None:
        self._catalog = catalog
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.asked[name] += 1
        return getattr(self._catalog, name)


@pytest.mark.parametrize(
    "who, target, cost",
    [
        ("reader", "/schemas/ids/4", {"speaker": 1}),
        ("reader a-", "/schemas/ids/1", {"speaker": 1}),
        ("reader a-", "/schemas/ids/4", {"speaker": 1, "holders": 1}),
        # The last one costs a store nothing: it knows of no other region.
        ("reader a-", "/schemas/ids/2", {"speaker": 1, "holders": 1, "check_absent": 1}),
        ("reader a-", "/subjects/a-one/versions/1", {"snapshot": 1}),
        ("reader a-", "/subjects/b-one/versions/1", {}),
        ("reader a-", "/subjects", {"subjects": 1}),
    ],
)
def test_an_unrestricted_reader_costs_nothing_and_a_restricted_one_a_question(
    world: Guarded, who: str, target: str, cost: dict[str, int]
) -> None:
    ask = asking(world.registry)
    ask(who, "GET", target)
    catalog: Any = Counting(world.registry.catalog)
    asking(replace(world.registry, catalog=catalog))(who, "GET", target)
    assert dict(catalog.asked) == cost


def test_a_silent_catalog_lets_no_restricted_key_read(world: Guarded) -> None:
    """Whose an id is, only the catalog knows: then the answer names no subject rather than the wrong one."""

    class Silent:
        def speaker(self, _: object) -> None:
            raise StoreError("silent")

    catalog: Any = Silent()
    told: list[observe.Facts] = []
    ask = asking(replace(world.registry, catalog=catalog), log_failure=told.append)
    assert ask("reader a-", "GET", "/schemas/ids/1").refusal[:2] == (500, 50001)
    assert [facts["reason"] for facts in told] == ["silent"], "the log says why"


def test_a_subject_of_nobody_is_refused_before_its_body_is_read(ask: Asks) -> None:
    assert ask("writer a-", "POST", "/subjects/b-one/versions", b"no JSON").status == 403
    assert ask("writer a-", "POST", "/subjects/a-one/versions", b"no JSON").status == 400


def test_the_document_says_that_a_key_is_needed(world: Guarded) -> None:
    """Generators of clients and the page at /docs ask for one then; an open registry says nothing of keys."""
    options = app.HttpOptions(authenticate=Recognises(principal))
    asked = Client(app.build(world.registry, options=options))(
        "GET", "/openapi.json", None, {"authorization": "reader"}
    )
    closed = asked.json
    assert closed["components"]["securitySchemes"]["key"]["scheme"] == "basic"
    assert closed["paths"]["/subjects"]["get"]["security"] == [{"key": []}]
    assert {"401", "403"} <= set(closed["paths"]["/subjects"]["get"]["responses"])
    assert "security" not in closed["paths"]["/"]["get"]
    assert "securitySchemes" not in Client(app.build(world.registry))("GET", "/openapi.json").json["components"]


def test_nothing_of_the_subject_is_left_of_a_context_that_is_only_shown(world: Guarded) -> None:
    """The port keeps its promise by itself, whichever verb asks."""
    secret = Subject(".team", "")
    world.registry.register(secret, a_draft(a_text("Secret")))
    own = reach([":.team:a-"])
    assert own is not None
    seen = Narrowed(world.store.catalog, world.store.bodies, own, READ).snapshot(secret)
    assert (seen.head.newest, seen.head.highest, seen.rows) == (None, 0, {})


# --- associations ----------------------------------------------------------------------------------------------------

B_TOPIC = {"resourceName": "b-topic", "resourceNamespace": "lkc"}


@pytest.mark.parametrize(
    "method, target, body",
    [
        ("PUT", "/associations/resources/id-b-topic", B_TOPIC | {"associations": [{}]}),
        ("PUT", "/associations/resources/id-b-topic", B_TOPIC | {"associations": [{"subject": "a-one"}]}),
        ("POST", "/associations", B_TOPIC | {"resourceId": "id-b-topic", "associations": [{"subject": "a-one"}]}),
    ],
)
def test_a_refusal_does_not_tell_which_subject_a_topic_of_others_uses(
    ask: Asks, method: str, target: str, body: Any
) -> None:
    """Many may know the id of a topic; its subject is outside."""
    status, number, sentence = ask("admin a-", method, target, body).refusal
    assert (status, number, "b-shared" in sentence) == (403, 40301, False), sentence
    assert ask("admin", method, f"{target}?dryRun=true", body).status != 403


@pytest.mark.parametrize("query", ["", "?dryRun=true"])
def test_a_delete_does_not_tell_whether_others_use_a_topic(ask: Asks, query: str) -> None:
    """Whoever deletes could try ids: those of others, and unused ones. Both are not found, and nothing goes."""
    there, not_there = (
        ask("admin a-", "DELETE", f"/associations/resources/{id}{query}").refusal for id in ("id-b-topic", "id-nobody")
    )
    assert there == (404, 40410, not_there[2].replace("id-nobody", "id-b-topic"))
    assert [one["subject"] for one in ask("admin", "GET", "/associations/resources/id-b-topic").json] == ["b-shared"]


def test_a_delete_takes_what_the_client_sees_of_a_topic_and_leaves_the_rest(ask: Asks) -> None:
    """As if there were nothing else."""
    topic = {"resourceName": "a-both", "resourceNamespace": "lkc", "resourceId": "id-both"}
    for subject, type in (("a-one", "key"), ("b-one", "value")):
        wanted = {"subject": subject, "associationType": type, "lifecycle": "WEAK"}
        assert ask("admin", "POST", "/associations", topic | {"associations": [wanted]}).status == 200
    assert ask("deleter a-", "DELETE", "/associations/resources/id-both").status == 204
    assert [one["subject"] for one in ask("admin", "GET", "/associations/resources/id-both").json] == ["b-one"]


@pytest.mark.parametrize("query", ["", "?dryRun=true"])
def test_a_topic_of_others_is_not_led_to_an_own_subject_nor_said_to_be_allowed(ask: Asks, query: str) -> None:
    """What a dry run answers is what the request would be answered (PERM-9)."""
    body = {"resourceName": "b-new", "resourceNamespace": "lkc", "resourceId": "id-b-new"}
    body |= {"associations": [{"subject": "a-one"}]}  # type: ignore[dict-item]  # JSON
    assert ask("admin a-", "POST", f"/associations{query}", body).refusal[:2] == (403, 40301)
    assert ask("admin", "POST", f"/associations{query}", body).status == 200


def test_a_batch_does_not_tell_what_a_topic_of_others_has(ask: Asks) -> None:
    """A delete of what is not there changes nothing, and the answer tells what the topic has."""
    wanted = [{"opType": "DELETE", "associationType": "key"}]
    batch = {"requests": [B_TOPIC | {"resourceId": "id-b-topic", "associations": wanted}]}

    def told(who: str) -> list[str]:
        (answer,) = ask(who, "POST", "/associations:batchMutate", batch).json["results"]
        return [one["subject"] for one in answer["result"].get("associations", ())]

    assert (told("deleter b-"), told("deleter a-")) == (["b-shared"], [])
