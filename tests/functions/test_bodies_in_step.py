"""A registry in two regions, as its functions are wired: a new schema stands in both before it is registered."""

import json
from dataclasses import replace

import pytest

from sigla.model import BodyKey, SchemaId
from sigla.regions import rules
from sigla.regions.nouns import RegionKind
from tests.contract.engines import REGION
from tests.functions.test_two_regions import Two, fixed, pair, two

__all__ = ["pair", "two"]


@pytest.fixture
def in_step(pair: Two, monkeypatch: pytest.MonkeyPatch) -> Two:
    """A minute later, when the primary knows that there are two regions."""
    pair.a.begin(monkeypatch, pair.b)
    return pair


def promoted_by_force(pair: Two) -> None:
    """A is lost."""
    pair.servers[REGION].shutdown()
    pair.servers[REGION].server_close()
    pair.b.become(kind=RegionKind.PRIMARY, epoch=2, reconciled=False, adopts=True)


def test_what_was_acknowledged_is_read_by_its_id_in_the_survivor(in_step: Two) -> None:
    """Nothing of the commit got there, but for the body that was put into both buckets before it."""
    pair = in_step
    id = pair.register(pair.a, "news", "News")
    guid = pair.a.store.bodies.get(BodyKey(".", SchemaId(id))).guid
    promoted_by_force(pair)
    found = pair.ask(pair.b, "GET", f"/schemas/ids/{id}")
    assert (found.status, json.loads(found.body["schema"])["name"]) == (200, "News")
    assert pair.ask(pair.b, "GET", f"/schemas/guids/{guid}").status == 200
    assert pair.ask(pair.b, "GET", f"/schemas/ids/{id}?subject=news").status == 200
    assert pair.ask(pair.b, "GET", f"/schemas/ids/{id}/versions").body == [], "no version is invented"
    assert pair.ask(pair.b, "GET", "/subjects").body == ["orders"]
    assert pair.register(pair.b, "later", "News") == id, "the same schema gets its id again"
    assert pair.register(pair.b, "other", "Other") > rules.BLOCK
    assert pair.ask(pair.b, "GET", "/schemas/ids/77").code == 50003, "the lost region may have given it"


def test_no_namesake_says_what_an_id_means_that_the_lost_region_has_given_to_a_subject(in_step: Two) -> None:
    """The subject's commit has not got there, and another context has the id with another schema."""
    pair = in_step
    id = pair.register(pair.a, ":.other:news", "Namesake")
    pair.b.turn()
    assert pair.register(pair.a, "news", "First") == id
    asked = f"/schemas/ids/{id}?subject=news"
    assert json.loads(pair.ask(pair.a, "GET", asked).body["schema"])["name"] == "First"
    promoted_by_force(pair)
    assert pair.ask(pair.b, "GET", asked).code == 50003
    assert json.loads(pair.ask(pair.b, "GET", f"/schemas/ids/{id}").body["schema"])["name"] == "First"


def test_while_the_primary_is_silent_a_follower_knows_by_bodies_what_ids_mean(in_step: Two) -> None:
    pair = in_step
    id = pair.register(pair.a, "news", "News")
    pair.servers[REGION].shutdown()
    pair.servers[REGION].server_close()
    assert json.loads(pair.ask(pair.b, "GET", f"/schemas/ids/{id}").body["schema"])["name"] == "News"
    for path in (f"/schemas/ids/{id}/versions", "/schemas/ids/77", "/subjects/news/versions"):
        assert pair.ask(pair.b, "GET", path).code == 50003


def test_a_bucket_that_takes_nothing_refuses_new_schemas_or_rings(
    pair: Two, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = replace(pair.b, variables={**pair.b.variables, "SIGLA_BUCKET": "there-is-no-such-bucket"})
    for bodies, status in (("required", 500), ("best_effort", 200)):
        pair.a.variables["SIGLA_REGION_BODIES"] = bodies
        pair.a.begin(monkeypatch, gone)
        capsys.readouterr()
        told = pair.ask(pair.a, "POST", "/subjects/news/versions", fixed("News"))
        assert told.status == status, told
        assert told.body.get("error_code") == (50002 if status == 500 else None)
        assert ('"bodies_out_of_step"' in capsys.readouterr().out) == (status == 200)
    assert pair.ask(pair.a, "GET", "/subjects").body == ["news", "orders"]
