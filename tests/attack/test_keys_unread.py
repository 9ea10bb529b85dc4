"""Keys that were handed over and cannot be read in the survivor: that is told, and everything else is there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import orjson
import pytest

from sigla import keys
from sigla.errors import Closed, FormTooNew
from sigla.ports.handed_keys import HandedUnread
from sigla.regions.handed_keys import HeldUp, held_up
from sigla.regions.refusals import KeyHeldUp
from tests.attack.aws_replay import stores
from tests.attack.keys import dek, kek
from tests.attack.test_aws_copying import account
from tests.attack.test_keys_in_step import TwoTables, material, two_tables
from tests.contract.aws import Account
from tests.unit.aws.faults import Killed

__all__ = ["account"]

Spoil = Callable[[Any], bytes | None]


def with_row(change: Callable[[Any], object]) -> Spoil:
    """The same object, with another row in it."""
    return lambda form: orjson.dumps({**form, "row": orjson.dumps(change(orjson.loads(form["row"]))).decode()})


SPOILED: Final[dict[str, Spoil]] = {
    "lost": lambda _: None,
    "no JSON": lambda _: b"{",
    "a list": lambda _: b"[]",
    "a row that is none": with_row(lambda _: 7),
    "a kind that is not known": with_row(lambda row: {**row, "change": "Foretold"}),
    "a part that is missing": with_row(lambda row: {**row, "commit": {}}),
}
UNREAD: Final = "{} of keys under KEK k are lost or cannot be read: the other region may bring them when it rejoins"


@contextmanager
def handed_over(account: Account) -> Iterator[TwoTables]:
    """Nothing of it has come by the journal."""
    with two_tables(account) as regions:
        regions.ask(regions.a, kek("k"), dek("k", "s", material="first"), dek("k", "late", material="late"))
        regions.ask(regions.a, kek("other"))
        yield regions


def place_of(regions: TwoTables, number: int) -> dict[str, str]:
    of = stores(regions.b)
    return {"Bucket": of.bucket, "Key": keys.handed_object(of.registry, 1, "k", number)}


def spoil(regions: TwoTables, number: int, made: Spoil) -> None:
    of, place = stores(regions.b), place_of(regions, number)
    stored = made(orjson.loads(of.s3.get_object(**place)["Body"].read()))
    if stored is None:
        of.s3.delete_object(**place)
    else:
        of.s3.put_object(**place, Body=stored)


def held_up_keys(regions: TwoTables) -> list[HeldUp]:
    return [*held_up(regions.store(regions.a).key_commits, regions.store(regions.b).handed_keys)]


def told(regions: TwoTables) -> list[str]:
    return [f"{number} {what}" for what, number in regions.store(regions.b).region.kept().items() if number]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("name", SPOILED)
def test_one_that_cannot_be_read_is_told_and_holds_up_nothing(account: Account, name: str, number: int) -> None:
    """The first of a list, one in the middle, or the last, of which nothing tells once it is lost."""
    with handed_over(account) as regions:
        spoil(regions, number, SPOILED[name])
        regions.promote_by_force()
        is_unseen = name == "lost" and number == 3
        for _ in range(2):  # done again, it changes nothing
            found = regions.adopted()
            subjects = {key[1] for key in found if isinstance(key, tuple)}
            assert subjects == {"s", "late"} - {{2: "s", 3: "late"}.get(number)}
            assert {"k", "other"} <= found.keys()
            assert told(regions) == ([] if is_unseen else [UNREAD.format(1)])
        with regions.registry(regions.b) as registry:
            dek("k", "anew", material="anew")(registry)
        if not is_unseen:
            with pytest.raises(Closed):
                regions.ask(regions.a, dek("k", "more"))


def test_whoever_asks_for_a_key_is_answered_as_well(account: Account) -> None:
    with handed_over(account) as regions:
        spoil(regions, 1, SPOILED["no JSON"])
        regions.promote_by_force()
        with regions.registry(regions.b) as registry:
            assert material(registry) == "first"
        assert told(regions) == [UNREAD.format(1)]


@pytest.mark.parametrize("name", [name for name in SPOILED if name != "lost"])
def test_one_that_was_never_committed_holds_up_its_kek_alone_until_it_is_deleted(account: Account, name: str) -> None:
    """While the primary lives: a function was cut off behind it, and it is damaged since."""
    with handed_over(account) as regions:

        def cut_off(call: Any, carry_out: Callable[[], Any]) -> Any:
            if call.name == "dynamodb.transact_write_items":
                raise Killed
            return carry_out()

        with regions.registry(regions.a, cut_off, lambda _, carry_out: carry_out()) as registry, pytest.raises(Killed):
            dek("k", "cut off")(registry)
        spoil(regions, 4, SPOILED[name])
        with regions.registry(regions.a) as registry:
            for subject in ("one", "another"):
                with pytest.raises(KeyHeldUp, match=r"KEK k .*region there .*number 4 of the KEK") as refused:
                    dek("k", "new")(registry)
                assert isinstance(refused.value.__cause__, HandedUnread)
                dek("other", subject)(registry)
            is_found = name != "a kind that is not known"  # by carrying it out alone: the log tells of that
            assert [each[:3] for each in held_up_keys(regions)] == [(1, "k", 4)] * is_found
            stores(regions.b).s3.delete_object(**place_of(regions, 4))
            assert not held_up_keys(regions)
            dek("k", "new", material="new")(registry)
        regions.promote_by_force()
        found = regions.adopted()
        assert {key[1] for key in found if isinstance(key, tuple)} == {"s", "late", "one", "another", "new"}
        assert told(regions) == []


def test_what_a_newer_release_has_handed_over_is_waited_for(account: Account) -> None:
    """It can be read after an upgrade: nothing goes on without it."""
    with handed_over(account) as regions:
        spoil(regions, 2, lambda form: orjson.dumps({**form, "form": 9}))
        regions.promote_by_force()
        with pytest.raises(FormTooNew):
            regions.adopted()
        assert told(regions) == []
