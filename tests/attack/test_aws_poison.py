"""A commit in the journal of a primary that its follower cannot carry out: whatever it is, all others go on.

It is told: by the line of the function, for which an alarm rings, and by `sigla regions`. No plan promotes the region
meanwhile; force does, and then the other one rejoins. Once the cause is gone, it is carried out like any other.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, Final

import pytest

from sigla import keys
from sigla.model import BodyKey, SchemaId
from sigla.regions import promotion, rules
from sigla.regions.giving import carried_out
from sigla.regions.refusals import NotRehearsed
from sigla.regions.rejoining import rejoined
from sigla.registry import Resources
from sigla.stores.dynamodb.promoting import TablePair
from sigla.stores.dynamodb.values import packed, read_item, unpacked, written
from sigla.upkeep.rejoining import Rejoined, merge
from tests.attack.aws_replay import check_equal, contents, stores
from tests.attack.aws_sites import shared
from tests.attack.replay import ask
from tests.attack.stories import HISTORY, TWO, config, register
from tests.attack.test_aws_copying import account, two
from tests.attack.test_aws_replay_function import Two
from tests.contract.aws import Account
from tests.unit.registry.tell import s

__all__ = ["account"]

FRESH: Final = '{"type": "record", "name": "Fresh", "fields": []}'
NEXT: Final = '{"type": "record", "name": "Fresh", "fields": [{"name": "a", "type": "int", "default": 1}]}'

Row = Mapping[str, Any]
Spoil = Callable[[Any], Any]
"""What stands in a row of the journal, as another one; None: its schema is lost, and not the row."""


def changed(**members: Any) -> Spoil:
    return lambda row: {name: each for name, each in {**row, **members}.items() if each is not None}


def of_its_commit(**members: Any) -> Spoil:
    return lambda row: {**row, "commit": changed(**members)(row["commit"])}


SPOILED: Final[Mapping[str, Spoil]] = {
    "a kind that is not known": changed(change="Foretold"),
    "what a newer release needs": changed(commit=None),
    "a part that is missing": of_its_commit(change={"head": [".", "spoiled", 0, 0]}),
    "a number that is none": of_its_commit(effects={"moved": {"q|.": "one"}}),
    "a newer form": changed(form=9),
    "an entry that is not known": changed(entries=[{"type": "FORETOLD"}]),
    "no JSON": lambda _: "{",
    "bytes that are not packed": lambda _: b"\0",
}
UNREAD: Final = {"a newer form", "an entry that is not known", "no JSON", "bytes that are not packed"}
OFTEN: Final = {"a part that is missing", "an entry that is not known"}


class Poisoned(Two):
    """B follows A, whose commit of `spoiled` it cannot carry out; `sound` was written behind it."""

    def write(self) -> None:
        before = {*self.rows()}
        ask(self.a, [register("spoiled", FRESH)])
        (self.place,) = {*self.rows()} - before
        self.was = self.rows()[self.place]
        self.key = BodyKey(".", SchemaId(self.form()["entries"][-1]["id"]))

    def rows(self) -> dict[tuple[str, str], Any]:
        """Those in the journal of A, as they are stored."""
        of = stores(self.a)
        items = of.dynamodb.scan(TableName=of.table, ConsistentRead=True)["Items"]
        mine = (item for item in items if item["pk"]["S"].startswith(f"{of.registry}#j#"))
        return {(item["pk"]["S"], item["sk"]["S"]): item for item in mine}

    def form(self) -> Any:
        return unpacked(read_item(self.was)["form"])

    def spoil(self, spoil: Spoil) -> None:
        made = spoil(self.form())
        stored = made if isinstance(made, str | bytes) else packed(made)
        self.put({**self.was, "form": written(stored)})

    def put(self, item: Row) -> None:
        of = stores(self.a)
        of.dynamodb.put_item(TableName=of.table, Item=item)

    def lose_body(self) -> Callable[[], None]:
        """In both regions; yields what puts it back."""
        kept = stores(self.a).bodies.get(self.key)
        for each in (self.a, self.b):
            name = keys.body_object(stores(each).registry, self.key)
            stores(each).s3.delete_object(Bucket=stores(each).bucket, Key=name)
        return lambda: stores(self.a).bodies.put(self.key, kept)

    def damage_body(self) -> Callable[[], None]:
        """Where it is told; in the other region it never was."""
        of, kept = stores(self.a), stores(self.a).bodies.get(self.key)
        of.s3.put_object(Bucket=of.bucket, Key=keys.body_object(of.registry, self.key), Body=b"{")
        return lambda: of.bodies.mend(self.key, kept, None)

    def go_on(self, *, behind: bool = True) -> dict[str, Any]:
        """Others write; what is told at once, and the line of the turn that comes later."""
        ask(self.a, [register("sound", TWO), config("sound", level="FULL"), *[register("spoiled", NEXT)] * behind])
        for event in self.stream(self.a):
            self.invoke(self.b, event)
        self.tick(self.b)
        return self.tick(self.b)

    def check_others_went_on(self) -> None:
        snapshot = stores(self.b).catalog.snapshot(s("sound"))
        assert (snapshot.head.highest, bool(snapshot.chain.own.config)) == (1, True)
        assert stores(self.b).catalog.snapshot(s("spoiled")).head.highest == 0

    @contextmanager
    def pair(self) -> Iterator[TablePair]:
        self.clock.time += rules.KNOWN_MS
        with closing(self.store(self.b)) as here, closing(self.store(self.a)) as there:
            self.opened = here, there
            yield TablePair(here, there)

    def promote(self) -> None:
        with self.pair() as pair:
            here, there = self.opened
            asked: Any = {"rehearse": pair.rehearse, "token": "t", "now": self.clock.now(), "url": "", "at": ""}
            carried_out(promotion.planned(here.region, there.region, pair.drain, **asked))

    def promote_by_force_and_rejoin(self) -> tuple[Rejoined, list[int]]:
        """What came of it, and times of commits that could not be read."""
        reports, unread = list[Rejoined](), list[int]()
        with self.pair() as pair:
            here, there = self.opened
            assert carried_out(promotion.forced(here.region, now=self.clock.now())).changed

        def bring() -> None:
            missing = [*pair.missing()]
            pair.make_way(missing)
            reports.append(merge(missing, there.bodies, Resources(here.catalog, here.bodies, self.clock)))
            unread.extend(pair.unread())
            pair.mark_brought(missing)

        with self.pair() as pair:
            here, there = self.opened
            forget = pair.forget
            assert carried_out(rejoined(here.region, there.region, bring=bring, forget=forget, tables=pair.urls))
        return reports[0], unread


@pytest.fixture
def alone(account: Account) -> Iterator[Poisoned]:
    """B has not begun to follow."""
    with two(account) as (a, b):
        ask(a, HISTORY)
        yield Poisoned(a, b)


@pytest.fixture
def poisoned(alone: Poisoned) -> Poisoned:
    alone.begin()
    alone.write()
    return alone


def each_spoiled() -> list[Any]:
    return [pytest.param(each, marks=() if each in OFTEN else pytest.mark.soak) for each in SPOILED]


@pytest.mark.parametrize("name", each_spoiled())
def test_a_commit_that_cannot_be_carried_out_holds_up_its_own_subject_alone(poisoned: Poisoned, name: str) -> None:
    poisoned.spoil(SPOILED[name])
    told = poisoned.go_on()
    poisoned.check_others_went_on()
    is_unread = name in UNREAD
    assert (told.get("unread", 0), told["unknown"], told["stopped"]) == (is_unread, not is_unread, is_unread)
    assert told["waiting"] == 1 + (not is_unread)
    assert told["waiting_ms"] > 60_000
    assert told["behind_ms"] > 60_000
    with pytest.raises(NotRehearsed, match=r"of subject spoiled\."):
        poisoned.promote()
    poisoned.put(poisoned.was)
    poisoned.tick(poisoned.b)
    assert poisoned.tick(poisoned.b)["behind_ms"] == 0
    check_equal(poisoned.a, poisoned.b)
    poisoned.promote()


@pytest.mark.parametrize("name", each_spoiled())
def test_a_region_whose_journal_cannot_be_read_rejoins_and_tells_what_is_left(poisoned: Poisoned, name: str) -> None:
    poisoned.spoil(SPOILED[name])
    poisoned.go_on()
    report, unread = poisoned.promote_by_force_and_rejoin()
    assert unread == [keys.journal_at(poisoned.place[1])] * (name in UNREAD)
    assert report.commits == 2 - len(unread)
    assert poisoned.tick(poisoned.a)["follows"]
    a, b = (shared(contents(each)) for each in (poisoned.a, poisoned.b))
    apart = {each for each in {*a, *b} if a.get(each) != b.get(each)}
    # The body of what is left was put into one region alone here.
    assert {each for each in apart if not unread or f"{poisoned.key.id:010}" not in each} == set()
    poisoned.clock.time += rules.KNOWN_MS
    assert (poisoned.tick(poisoned.a)["stopped"], poisoned.role(poisoned.a).kind.value) == (0, "follower")


LOST: Final = [Poisoned.lose_body, Poisoned.damage_body]


@pytest.mark.parametrize("lose", LOST)
def test_a_commit_whose_schema_is_lost_waits_until_it_is_back(
    poisoned: Poisoned, lose: Callable[[Poisoned], Callable[[], None]]
) -> None:
    put_back = lose(poisoned)
    told = poisoned.go_on(behind=False)
    poisoned.check_others_went_on()
    assert (told["lost"], told["waiting"], told["stopped"]) == (1, 1, 0)
    assert told["waiting_ms"] > 60_000
    with pytest.raises(NotRehearsed, match=r"1 commits wait for .* a schema that is lost"):
        poisoned.promote()
    put_back()
    poisoned.tick(poisoned.b)
    assert poisoned.tick(poisoned.b)["behind_ms"] == 0
    check_equal(poisoned.a, poisoned.b)
    poisoned.promote()


@pytest.mark.parametrize("lose", LOST)
def test_what_is_lost_in_both_regions_is_told_by_name_when_the_other_one_rejoins(
    poisoned: Poisoned, lose: Callable[[Poisoned], Callable[[], None]]
) -> None:
    lose(poisoned)
    poisoned.go_on(behind=False)
    report, _ = poisoned.promote_by_force_and_rejoin()
    assert report.left == [f"spoiled version 1: what id {poisoned.key.id} means is in neither region"]
    assert poisoned.tick(poisoned.a)["follows"]


def test_a_body_that_is_damaged_where_it_was_handed_over_is_mended_by_its_commit(poisoned: Poisoned) -> None:
    of = stores(poisoned.b)
    of.s3.put_object(Bucket=of.bucket, Key=keys.body_object(of.registry, poisoned.key), Body=b"{")
    assert poisoned.go_on()["behind_ms"] == 0
    check_equal(poisoned.a, poisoned.b)


def test_a_row_that_was_carried_out_before_it_was_damaged_is_in_no_one_s_way(poisoned: Poisoned) -> None:
    poisoned.tick(poisoned.b)
    poisoned.spoil(SPOILED["no JSON"])
    told = poisoned.go_on()
    assert (told.get("unread", 0), told["stopped"], told["behind_ms"]) == (0, 0, 0)


def test_a_row_that_cannot_be_read_holds_up_no_copy(alone: Poisoned) -> None:
    assert alone.tick(alone.a)["armed"]
    alone.write()
    alone.spoil(SPOILED["no JSON"])
    alone.clock.time += rules.KNOWN_MS
    assert alone.tick(alone.b)["follows"]
    told = alone.go_on()
    assert (told["unread"], told["stopped"]) == (1, 1)
    assert stores(alone.b).catalog.snapshot(s("sound")).head.highest == 1
