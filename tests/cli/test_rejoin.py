"""`sigla rejoin`: what a region has that was passed over by force comes to the primary, and it follows again."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import boto3
import pytest

from sigla import opening
from sigla.cli import main
from sigla.cli import rejoin as rejoining
from sigla.cli.regions_told import shown_time
from sigla.keys import body_object
from sigla.model import BodyKey, SchemaId
from sigla.ports.store import Store
from sigla.regions import giving, rules
from sigla.regions.giving import Course
from sigla.registry import Registry
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.actions import update
from sigla.stores.dynamodb.region_turns import RegionTurns
from sigla.stores.dynamodb.store import AwsStore
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import a_draft, a_text
from tests.cli.test_regions import Urls, bring, roles, runs, silent, store, urls
from tests.contract.engines import BUCKET, REGION
from tests.unit.registry.tell import s

__all__ = ["urls"]

Captured = pytest.CaptureFixture[str]


def registry(held: Store) -> Registry:
    return Registry(held.catalog, held.bodies, SystemClock())


def register(held: Store, subject: str, name: str) -> int:
    return int(registry(held).register(s(subject), a_draft(a_text(name))).id or 0)


@pytest.fixture
def apart(urls: Urls, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Urls:
    """A has acknowledged what B never heard of, and B went on as the primary by force. Gives B and A."""
    here, there = urls
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rejoining, "HEARD_S", 0)
    bring(here, there)
    with store(there) as a:
        assert register(a, "free", "Free") == 3
        assert register(a, "taken", "TakenThere") == 4
        assert register(a, "next", "Next") == 5
        registry(a).change_config(s("orders"), {"level": "NONE"})
        registry(a).delete_subject(s("late"))
    if there.startswith("dynamodb"):
        runs(there, "1.0", here)
    assert main(["promote", here, "--force", "--yes"]) == 0
    with store(here) as b:
        assert register(b, "taken", "TakenHere") == rules.BLOCK + 1
    capsys.readouterr()
    return here, there


def check_says_what_it_runs(there: str, capsys: Captured) -> None:
    """Its stack has said that before, and says it again half an hour later."""
    capsys.readouterr()
    assert main(["regions", there]) == 0
    assert "  runs     release 1.0\n" in capsys.readouterr().out


def rejoin(here: str, there: str) -> int:
    return main(["rejoin", there, "--primary", here, "--yes"])


def check_brought(here: str) -> None:
    """Every id that A gave means here what it meant there, and what B has stands as it was."""
    with store(here) as b:
        for id, name in ((3, "Free"), (4, "TakenThere"), (5, "Next"), (rules.BLOCK + 1, "TakenHere")):
            assert registry(b).schema_by_id(SchemaId(id)).schema.text == a_text(name)
        assert [row.id for row in b.catalog.history(s("free"))] == [3]
        assert [row.id for row in b.catalog.history(s("taken"))] == [rules.BLOCK + 1]
        assert not b.catalog.history(s("late"))[0].deleted
        assert register(b, "again", "TakenThere") == 4, "the same text gets its id again"
        assert register(b, "again-here", "TakenHere") == rules.BLOCK + 1
        role = b.region.role()
        assert role
        assert role.reconciled


def filled(here: str, there: str) -> None:
    """As `sigla follow` does, each minute."""
    with opening.regions(Address.read(there), Address.read(here)) as regions:
        assert isinstance(regions.here, AwsStore)
        assert isinstance(regions.there, AwsStore)
        turn = RegionTurns(regions.here, regions.there)
        for _ in range(2):
            turn()


def test_a_report_that_cannot_be_written_is_told_before_anything_is_changed(
    apart: Urls, capsys: Captured, tmp_path: Path
) -> None:
    here, there = apart
    before = roles(there, here)
    assert main(["rejoin", there, "--primary", here, "--yes", "--report", str(tmp_path / "none" / "report")]) == 2
    assert "none/report cannot be used (No such file or directory)" in capsys.readouterr().err
    assert roles(there, here) == before


def test_what_only_the_old_region_had_comes_and_it_follows_again(apart: Urls, capsys: Captured) -> None:
    here, there = apart
    assert rejoin(here, there) == 1
    told = capsys.readouterr().out
    assert "5 commits of " in told
    assert "orders: config was changed there, and not here" in told
    assert "late version 1: the subject was deleted there, and not here" in told
    assert "taken version 1: the number is taken here; id 4 means what it meant there" in told
    (line,) = [json.loads(each) for each in Path("rejoin.jsonl").read_text().splitlines()]
    assert line["commits"] == 5
    assert len(line["left"]) == 3
    check_brought(here)
    if here.startswith("file"):
        assert roles(here, there) == [("primary", 2, True), ("primary", 1, False)]
        return
    assert roles(here, there) == [("primary", 2, True), ("joining", 2, False)]
    check_says_what_it_runs(there, capsys)
    filled(here, there)
    check_says_what_it_runs(there, capsys)
    assert roles(here, there) == [("primary", 2, True), ("follower", 2, False)]
    capsys.readouterr()
    assert rejoin(here, there) == 0
    assert capsys.readouterr().out.endswith("joins or follows already: nothing to do.\n")
    goes_there_and_back(here, there)


def goes_there_and_back(here: str, there: str) -> None:
    """Nothing of the time in which they were apart is met again."""
    assert main(["promote", there, "--primary", here, "--yes"]) == 0
    with store(there) as a:
        assert register(a, "back", "Back") == 2 * rules.BLOCK + 1
        assert [row.id for row in a.catalog.history(s("taken"))] == [rules.BLOCK + 1]
        assert [row.id for row in a.catalog.history(s("free"))] == [3]
    bring(here, there)
    assert main(["promote", here, "--primary", there, "--yes"]) == 0
    assert roles(here, there) == [("primary", 4, True), ("follower", 4, False)]


class CutOff(Exception):
    """The process ends."""


@pytest.mark.soak
@pytest.mark.parametrize("after", [False, True])
def test_who_is_cut_off_anywhere_runs_it_again(apart: Urls, monkeypatch: pytest.MonkeyPatch, after: bool) -> None:
    """Before and after each step in turn, one after the other on the same regions."""
    here, there = apart
    for number in count():
        with monkeypatch.context() as broken:
            broken.setattr(giving, "carried_out", cutting(number, after=after))
            try:
                status = rejoin(here, there)
            except CutOff:
                continue
        assert status in {0, 1}
        break
    assert number >= 2
    check_brought(here)
    if here.startswith("dynamodb"):
        filled(here, there)
        assert roles(here, there) == [("primary", 2, True), ("follower", 2, False)]
        goes_there_and_back(here, there)


def cutting(number: int, *, after: bool) -> Callable[[Course[Any]], Any]:
    """As `carried_out`, to the n-th request that changes something."""

    def carried_out(course: Course[Any]) -> Any:
        changes, answer = count(), None
        try:
            while True:
                request = course.send(answer)
                changing = not getattr(getattr(request, "func", request), "__name__", "").startswith("role")
                cut = changing and next(changes) == number
                if cut and not after:
                    raise CutOff
                answer = request()
                if cut:
                    raise CutOff
        except StopIteration as returned:
            return returned.value

    return carried_out


def test_only_a_region_that_was_passed_over_rejoins(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    assert rejoin(here, there) == 2
    assert "for the primary that takes writes" in capsys.readouterr().err
    assert rejoin(there, here) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert roles(here, there) == [("follower", 1, False), ("primary", 1, True)]


def test_a_region_that_was_given_up_may_come_back(apart: Urls, capsys: Captured) -> None:
    """Ids that were brought here with another meaning since stay as they are, and are told."""
    here, there = apart
    with silent(there):
        assert main(["regions", "abandon", here, "--yes"]) == 0
    with store(here) as b:
        registry(b).change_mode(s("brought"), "IMPORT")
        registry(b).register(s("brought"), a_draft(a_text("Brought"), id=5, version=1))
    assert rejoin(here, there) == 1
    assert "next version 1" in capsys.readouterr().out
    with store(here) as b:
        assert registry(b).schema_by_id(SchemaId(5)).schema.text == a_text("Brought")
        assert registry(b).schema_by_id(SchemaId(3)).schema.text == a_text("Free")


def test_bodies_are_there_before_their_versions(apart: Urls) -> None:
    here, there = apart
    with store(here) as b:
        assert b.bodies.last(".") >= SchemaId(rules.BLOCK + 1)
    rejoin(here, there)
    with store(here) as b:
        assert b.bodies.get(BodyKey(".", SchemaId(4))).schema.text == a_text("TakenThere")


def lose(held: Store, key: BodyKey) -> None:
    if isinstance(held, AwsStore):
        boto3.client("s3", region_name=REGION).delete_object(Bucket=BUCKET, Key=body_object("default", key))
    else:
        assert isinstance(held, EmbeddedStore)
        with held.group():
            held._unit.connection.execute("DELETE FROM content WHERE id = ?", (key.id,))


def test_a_body_that_the_old_region_has_lost_is_read_where_it_was_handed_over(apart: Urls) -> None:
    here, there = apart
    with store(there) as a, store(here) as b:
        key = BodyKey(".", SchemaId(3))
        b.bodies.put(key, a.bodies.get(key))
        lose(a, key)
    assert rejoin(here, there) == 1
    check_brought(here)


@pytest.mark.parametrize("urls", ["tables"], indirect=True)
def test_a_commit_that_cannot_be_read_is_told_and_holds_up_nothing(apart: Urls, capsys: Captured) -> None:
    here, there = apart
    with store(there) as a:
        assert isinstance(a, AwsStore)
        at, row, _ = next(each for each in a.journal.rows(0) if "ConfigChanged" in each[1]["change"])
        a.tools.table.update(update(a.tools.places.journal(at, row["nonce"]), {"form": "{"}))
    assert rejoin(here, there) == 1
    told = capsys.readouterr().out
    assert "4 commits of " in told
    assert f"a commit of {shown_time(at)} cannot be read: what it did there is not here" in told
    check_brought(here)
    filled(here, there)
    assert roles(here, there) == [("primary", 2, True), ("follower", 2, False)]
