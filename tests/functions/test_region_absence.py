"""Two regions in AWS while they change places: what is not in a table yet is not told to be nowhere."""

import json

import pytest

from sigla.auth import api_keys
from sigla.regions import rules
from sigla.regions.nouns import RegionKind
from tests.contract.engines import REGION
from tests.functions.test_two_regions import Two, fixed, pair, two

__all__ = ["pair", "two"]


def test_a_primary_that_is_closed_concludes_nothing_from_what_is_not_there(pair: Two) -> None:
    """A planned promotion closes it, and makes it a follower when the other region takes writes, moments later."""
    pair.register(pair.a, ":.eu:orders", "Namesake")
    pair.b.turn()
    pair.a.become(open=False)
    assert pair.ask(pair.a, "GET", "/schemas/ids/1").status == 200
    assert pair.ask(pair.a, "GET", "/schemas/ids/77").code == 50003, "no region takes writes"
    assert pair.ask(pair.a, "POST", "/subjects/after/versions", fixed("After")).code == 50003
    pair.b.become(kind=RegionKind.PRIMARY, epoch=2)
    given = pair.register(pair.b, "after", "After")
    targets = [f"/schemas/ids/{given}", f"/schemas/ids/{given}?subject=after", "/subjects/after/versions/latest"]
    for target in [*targets, "/schemas/ids/77", "/subjects/none/versions"]:
        here, there = pair.ask(pair.a, "GET", target), pair.ask(pair.b, "GET", target)
        assert (here.status, here.body) == (there.status, there.body), target
    for method, target, body in (
        ("POST", "/subjects/other/versions", fixed("Other")),
        ("DELETE", "/subjects/after", None),
        ("DELETE", "/subjects/none", None),
    ):
        assert pair.ask(pair.a, method, target, body).code == 50003, "what comes of it would not be brought back"
    assert pair.ask(pair.b, "GET", "/subjects").body == [":.eu:orders", "after", "orders"]


def test_a_record_is_not_said_to_have_an_unknown_id_by_who_does_not_know_it_yet(pair: Two) -> None:
    """The answer says so in words, with 200, of what the primary has given a moment ago."""
    later = pair.register(pair.a, "later", "Later")
    record = {"record": f"00{later:08x}0a6c61746572"}
    here, there = (pair.ask(region, "POST", "/console/api/decode", record) for region in (pair.b, pair.a))
    assert (here.status, here.body) == (there.status, there.body)
    assert here.body["schema"]["subject"] == "later"
    unknown = pair.ask(pair.b, "POST", "/console/api/decode", {"record": f"00{77:08x}02"})
    assert unknown.body["failure"]["reason"] == "UNKNOWN_ID", "neither has it"


@pytest.mark.parametrize("is_closed", [False, True], ids=["it follows", "it is closed"])
def test_what_the_newest_versions_say_is_not_told_by_who_was_the_primary(pair: Two, *, is_closed: bool) -> None:
    """It remembers for a minute to be the primary; that another one is by now it meets in what it reads."""
    for region in (pair.a, pair.b):
        assert pair.ask(region, "GET", "/subjects").status == 200
    pair.b.turn()
    pair.a.become(**({"open": False} if is_closed else {"kind": RegionKind.FOLLOWER, "epoch": 2}))
    pair.b.become(kind=RegionKind.PRIMARY, epoch=2)
    assert pair.ask(pair.b, "PUT", "/config/orders", {"compatibility": "NONE"}).status == 200
    check = pair.ask(pair.a, "POST", "/compatibility/subjects/orders/versions/latest", fixed("Other"))
    assert check.body == {"is_compatible": True}
    written = pair.ask(pair.a, "POST", "/subjects/orders/versions", fixed("Other"))
    assert written.status == (500 if is_closed else 200)


def test_a_namesake_is_not_asked_by_who_remembers_to_be_the_primary(pair: Two) -> None:
    """It has the same id in another context, and what was registered since in the other region is not here yet."""
    context = {"mode": "IMPORT"}
    assert pair.ask(pair.a, "PUT", "/mode/:.eu:after?force=true", context).status == 200
    named = fixed("Namesake") | {"id": rules.BLOCK + 1, "version": 1}
    assert pair.ask(pair.a, "POST", "/subjects/:.eu:after/versions", named).status == 200
    pair.b.turn()
    pair.a.become(kind=RegionKind.FOLLOWER, epoch=2)
    pair.b.become(kind=RegionKind.PRIMARY, epoch=2)
    assert pair.register(pair.b, "after", "After") == named["id"]
    target = f"/schemas/ids/{named['id']}?subject=after"
    here, there = pair.ask(pair.a, "GET", target), pair.ask(pair.b, "GET", target)
    assert (here.status, here.body) == (there.status, there.body)
    assert json.loads(here.body["schema"])["name"] == "After"


LOST = "0f4c2b1e-5d37-4a09-8a61-2f0c6b7d9e13"


def test_what_the_region_that_was_passed_over_may_have_given_is_not_told_to_be_nowhere(pair: Two) -> None:
    """A client gives up at 404 and asks again at 50003. By whatever it asks, until that region is back, or given up."""
    hidden = pair.register(pair.a, "hidden", "Hidden")
    pair.b.turn()
    shown = f"small:{api_keys.create(pair.b.store.keys, 'small', 'reader', ('orders',), now=0)[1]}"
    for each in ("/schemas/ids/77", "/schemas/ids/77?subject=orders", f"/schemas/guids/{LOST}"):
        assert pair.ask(pair.b, "GET", each).code == 40403, "it remembers for a minute that it follows"
    pair.servers[REGION].shutdown()
    pair.servers[REGION].server_close()
    pair.b.become(kind=RegionKind.PRIMARY, epoch=2, reconciled=False, adopts=True)
    by_id = [f"/schemas/ids/{{}}{rest}" for rest in ("", "/schema", "/subjects", "/versions", "?subject=orders")]
    by_id += ["/schemas/ids/{}?subject=:.eu:", "/schemas/ids/{}?fetchMaxId=true", "/console/api/ids/{}"]
    for target in by_id:
        unknown = pair.ask(pair.b, "GET", target.format(77))
        assert (unknown.status, unknown.code) == (500, 50003), target
        assert "may have it" in unknown.body["message"]
        theirs = [pair.ask(pair.b, "GET", target.format(id), shown=shown) for id in (hidden, 77)]
        assert [(each.status, each.body) for each in theirs] == [(500, unknown.body)] * 2, target
        assert pair.ask(pair.b, "GET", target.format(rules.BLOCK + 1)).code == 40403, "the new primary gives it"
    assert pair.ask(pair.b, "GET", f"/schemas/guids/{LOST}").code == 50003
    assert pair.ask(pair.b, "GET", f"/schemas/ids/{hidden}").status == 200
    assert pair.ask(pair.b, "GET", "/subjects/none/versions").code == 40401, "the new primary decides about subjects"
    pair.b.become(reconciled=True)
    for target in (*[each.format(77) for each in by_id], f"/schemas/guids/{LOST}"):
        for caller in ({}, {"shown": shown}):
            assert pair.ask(pair.b, "GET", target, **caller).code == 40403, target
