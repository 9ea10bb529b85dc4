"""A table of two regions is restored to an earlier moment: it gives no id, is followed by none, and rejoins."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from sigla.cli import main
from sigla.cli import rejoin as rejoining
from sigla.errors import Closed
from sigla.model import BodyKey, SchemaId
from sigla.regions import rules
from sigla.regions.giving import carried_out, reached, tell_ceiling
from sigla.regions.nouns import RegionKind
from sigla.regions.refusals import NoBlock
from sigla.stores.dynamodb.region_turns import RegionTurns
from sigla.stores.dynamodb.store import AwsStore
from tests.build import a_text
from tests.cli.test_regions import Urls, bring, planned, roles, store, urls
from tests.cli.test_rejoin import filled, register, registry, rejoin
from tests.contract.aws import make_table
from tests.unit.registry.tell import s

__all__ = ["urls"]

pytestmark = pytest.mark.parametrize("urls", ["tables"], indirect=True)
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def pair(urls: Urls, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Urls:
    """B, which follows, and A. Both have the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rejoining, "HEARD_S", 0)
    bring(*urls)
    return urls


def items(url: str) -> list[Any]:
    """All that the table has at this moment."""
    with store(url) as held:
        aws = cast("AwsStore", held)
        found = aws._clients.dynamodb.scan(TableName=aws._table)
        assert "LastEvaluatedKey" not in found
        return list(found["Items"])


def restored(url: str, moment: list[Any]) -> str:
    """The URL of a new table with what the other one had at a moment, as DynamoDB restores it; the bucket is as now."""
    with store(url) as held:
        aws = cast("AwsStore", held)
        table = make_table(aws._clients.dynamodb)
        for item in moment:
            aws._clients.dynamodb.put_item(TableName=table, Item=item)
        return url.replace(aws._table, table)


def turn(here: str, there: str) -> dict[str, Any]:
    with store(here) as one, store(there) as other:
        return dict(RegionTurns(cast("AwsStore", one), cast("AwsStore", other))())


def complete_at(url: str) -> int:
    with store(url) as held:
        return cast("AwsStore", held).region.state().complete_at


def kind(url: str) -> RegionKind:
    with store(url) as held:
        role = held.region.role()
        assert role
        return role.kind


def check_meanings(url: str, meanings: dict[int, str]) -> None:
    with store(url) as held:
        found = {id: registry(held).schema_by_id(SchemaId(id)).schema.text for id in meanings}
    assert found == {id: a_text(name) for id, name in meanings.items()}


def test_a_restored_primary_takes_no_writes_and_the_other_region_goes_on(pair: Urls, capsys: Captured) -> None:
    """Each id means one thing, whatever the restored table has forgotten; no one follows it, and it comes back."""
    here, there = pair
    with store(there) as a:
        assert register(a, "before", "Before") == 3
    moment = items(there)  # of which the follower has not heard yet
    with store(there) as a:
        assert register(a, "since", "Since") == 4
    old, there = there, restored(there, moment)
    with store(there) as a:
        last = a.bodies.last(".")
        with pytest.raises(Closed):
            register(a, "new", "New")
        assert a.bodies.last(".") == last
    known = complete_at(here)
    for either in ((here, there), (there, here)):
        assert main(["regions", "follow", *either, "--once", "--yes"]) == 1
        assert "was restored to an earlier moment: `sigla rejoin` brings it back" in capsys.readouterr().out
    assert turn(here, there) == {"role": "follower", "epoch": 1, "restored": True}
    assert turn(there, here) == {"role": "joining", "epoch": 1, "restored": True}
    assert complete_at(here) == known, "it is not followed silently"
    capsys.readouterr()
    assert main(["regions", there]) == 0
    assert "restored to an earlier moment: `sigla rejoin` brings it back" in capsys.readouterr().out
    for words in (planned(here, there), planned(there, here), ["promote", there, "--force", "--yes"]):
        assert main(words) == 2
        assert "was restored to an earlier moment and does not know what was done since" in capsys.readouterr().err
    assert rejoin(here, there) == 2, "nobody takes writes"
    assert main(["promote", here, "--primary", there, "--force", "--yes"]) == 0
    with store(here) as b:
        assert register(b, "new", "New") == rules.BLOCK + 1
    assert rejoin(here, there) == 0
    check_meanings(here, {3: "Before", rules.BLOCK + 1: "New"})
    assert roles(here, there) == [("primary", 2, True), ("joining", 2, False)]
    filled(here, there)
    assert roles(here, there) == [("primary", 2, True), ("follower", 2, False)]
    with store(here) as b:
        role = b.region.role()
        assert role
        assert (role.reconciled, role.at) == (True, there)
        assert [row.id for row in b.catalog.history(s("before"))] == [3], "which only the restored table had"
    assert main(planned(there, here)) == 0
    with store(there) as a:
        assert register(a, "back", "Back") == 2 * rules.BLOCK + 1
        # No number is given that stands in its bucket, whatever the restored table has forgotten.
        assert a.bodies.get(BodyKey(".", SchemaId(4))).schema.text == a_text("Since")
    check_meanings(there, {3: "Before", rules.BLOCK + 1: "New", 2 * rules.BLOCK + 1: "Back"})
    assert kind(old) is RegionKind.PRIMARY, "the table before stands as it was, and no stack has it"


def test_a_restored_follower_is_told_no_ceiling_and_rejoins(pair: Urls, capsys: Captured) -> None:
    """It has forgotten which ids its primary may give: whoever promoted it would give them again."""
    here, there = pair
    moment = items(here)
    with store(there) as a:
        assert register(a, "since", "Since") == 3
    bring(here, there)
    here = restored(here, moment)
    known = complete_at(here)
    assert turn(here, there) == {"role": "joining", "epoch": 1, "restored": True}
    assert turn(there, here)["elsewhere"], "the primary knows its follower by another URL"
    assert complete_at(here) == known
    with store(there) as a, store(here) as b:
        look = b.region.look(".")
        assert look.role
        assert look.role.kind is RegionKind.JOINING
        assert not b.region.raise_for(".", 1, look.counter, SchemaId(9 * rules.BLOCK))
        carried_out(tell_ceiling(a.region, b.region, "."))  # below what is granted
        assert b.region.look(".").counter == look.counter
    assert main(["promote", here, "--force", "--yes"]) == 2
    assert rejoin(there, here) == 0
    filled(there, here)
    assert roles(here, there) == [("follower", 1, False), ("primary", 1, True)]
    assert turn(there, here)["ceilings"]
    check_meanings(here, {3: "Since"})
    assert main(planned(here, there)) == 0
    with store(here) as b:
        assert register(b, "next", "Next") == rules.BLOCK + 1


def test_a_table_that_was_restored_to_when_it_joined_rejoins(pair: Urls) -> None:
    """What it gives since, and of what the copy consists, it does not know: it begins anew."""
    here, there = pair
    with store(here) as b:
        role = b.region.role()
        assert role
        assert b.region.set_role(role, role.restored())
    moment = items(here)
    here = restored(here, moment)
    assert turn(here, there)["restored"]
    assert rejoin(there, here) == 0
    filled(there, here)
    assert roles(here, there) == [("follower", 1, False), ("primary", 1, True)]


def test_a_region_that_was_restored_twice_or_cut_off_while_it_rejoins_does_it_again(
    pair: Urls, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    here, there = pair
    there = restored(restored(there, items(there)), items(there))
    assert main(["promote", here, "--force", "--yes"]) == 0
    with monkeypatch.context() as broken:
        broken.setattr(rejoining, "put_into_report", _killed)
        assert rejoin(here, there) == 130
    assert turn(there, here)["restored"]
    assert rejoin(here, there) == 0
    filled(here, there)
    assert roles(here, there) == [("primary", 2, True), ("follower", 2, False)]
    capsys.readouterr()
    assert main(["regions", there, here, "--json"]) == 0
    assert [each["restored"] for each in json.loads(capsys.readouterr().out)["regions"]] == [False, False]


def _killed(*_: Any) -> None:
    raise KeyboardInterrupt


def test_the_primary_asks_a_restored_follower_for_no_block(pair: Urls) -> None:
    """Then ids end with the block that it knows of: they are refused, and given nowhere twice."""
    here, there = pair
    moment = items(here)
    here = restored(here, moment)
    with store(there) as a, store(here) as b, pytest.raises(NoBlock):
        carried_out(reached(a.region, b.region, ".", SchemaId(3 * rules.BLOCK)))
