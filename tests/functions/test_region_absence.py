"""Two regions in AWS while they change places: what is not in a table yet is not told to be nowhere."""

import json

from sigla.regions import rules
from sigla.regions.nouns import RegionKind
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
