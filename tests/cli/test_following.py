"""`sigla regions follow`: a registry in AWS gets a second region, which is kept in step, and is promoted one day."""

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from sigla.aws.clients import Clients
from sigla.cli import following, main, rejoin
from sigla.model import SchemaId
from sigla.regions import rules
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.actions import update
from sigla.stores.dynamodb.copying import TableCopy
from sigla.stores.dynamodb.store import AwsStore
from tests.cli.test_regions import Captured, Urls, register, roles, silent, store
from tests.contract.aws import make_table, of_two_parts
from tests.contract.engines import BUCKET, REGION, in_process
from tests.unit.registry.tell import s

FOLLOW = ("--once", "--yes")


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[Urls]:
    """An empty store, and one with schemas; neither has a role."""
    of_two_parts(monkeypatch)
    monkeypatch.setattr(rejoin, "HEARD_S", 0)
    monkeypatch.setattr(fence, "COPIES", 2)
    with in_process() as clients:
        clients.s3.create_bucket(Bucket="other")
        here, there = (
            f"dynamodb+s3://{make_table(clients.dynamodb)}/{bucket}?region={REGION}" for bucket in ("other", BUCKET)
        )
        with store(there) as held:
            register(held, "orders")
        yield here, there


def long_ago(url: str) -> None:
    """Every writer knows of the role."""
    with store(url) as held:
        role = held.region.role()
        assert isinstance(role, Role)
        earlier = SystemClock().now() - rules.KNOWN_MS
        assert held.region.set_role(role, replace(role, armed=earlier))


def roles_of_both(*urls: str) -> list[Role | None]:
    found = []
    for url in urls:
        with store(url) as held:
            found.append(held.region.role())
    return found


def versions(url: str, name: str) -> int:
    with store(url) as held:
        return len(held.catalog.history(s(name)))


def test_a_registry_gets_a_second_region_that_is_promoted(tables: Urls, capsys: Captured) -> None:
    """With nothing but commands: it joins, follows, and takes over with all that was acknowledged."""
    here, there = tables
    asked = ["regions", "follow", here, there, *FOLLOW]
    assert main(asked) == 0
    assert "begins 20 minutes after" in capsys.readouterr().out
    assert roles(here, there) == [("joining", 0, False), ("primary", 1, True)]
    assert main(["regions", here, there]) == 0
    assert "it can be promoted once its copy is complete" in capsys.readouterr().out
    with store(there) as held:
        register(held, "meanwhile")
    long_ago(there)
    assert main(asked) == 0
    assert "The copy is complete." in capsys.readouterr().out
    with store(there) as held:
        register(held, "late")
    assert main(asked) == 0
    assert "1 commits brought; complete up to " in capsys.readouterr().out
    assert [versions(here, name) for name in ("orders", "meanwhile", "late")] == [1, 1, 1]
    assert main(["promote", here, "--primary", there, "--yes"]) == 0
    assert roles(here, there) == [("primary", 2, True), ("follower", 2, False)]
    assert main(asked) == 2
    assert "name the stores the other way round" in capsys.readouterr().err
    with store(here) as held:
        register(held, "after")
    assert main(["regions", "follow", there, here, *FOLLOW]) == 0
    assert versions(there, "after") == 1


def test_it_asks_and_changes_nothing_without_an_answer(tables: Urls, capsys: Captured) -> None:
    here, there = tables
    assert main(["regions", "follow", here, there, "--once"]) == 2
    assert "add --yes" in capsys.readouterr().err
    assert roles_of_both(here, there) == [None, None]


def test_a_store_with_schemas_joins_nothing(tables: Urls, capsys: Captured) -> None:
    here, there = tables
    with store(here) as held:
        register(held, "own")
    assert main(["regions", "follow", here, there, *FOLLOW]) == 2
    assert "has schemas of its own" in capsys.readouterr().err
    assert roles_of_both(here, there) == [None, None]


def test_a_registry_has_one_second_region(tables: Urls, capsys: Captured) -> None:
    """A store that is new in its place may not be told what the one before had given."""
    here, there = tables
    with store(there) as held:
        assert held.region.set_role(None, Role(1, RegionKind.PRIMARY, peer=KnownBy("another")))
    assert main(["regions", "follow", here, there, *FOLLOW]) == 2
    assert "Region another follows this registry already" in capsys.readouterr().err


def test_it_goes_on_each_minute_until_it_is_interrupted(
    tables: Urls, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tables
    pauses = iter([None, KeyboardInterrupt()])

    def sleep(_: SystemClock, seconds: float) -> None:
        assert seconds == following.PERIOD_S
        if (end := next(pauses)) is not None:
            raise end

    monkeypatch.setattr(SystemClock, "sleep", sleep)
    assert main(["regions", "follow", here, there, "--yes"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_copy_says_how_far_it_is_and_goes_on_without_a_pause(
    tables: Urls, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tables
    assert main(["regions", "follow", here, there, *FOLLOW]) == 0
    long_ago(there)
    capsys.readouterr()
    carry_out, moments = TableCopy.go_on, iter([0])

    def interrupted(_: SystemClock, __: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TableCopy, "go_on", lambda copy, until: carry_out(copy, next(moments, until)))
    monkeypatch.setattr(SystemClock, "sleep", interrupted)
    assert main(["regions", "follow", here, there, "--yes"]) == 0
    begun, done = capsys.readouterr().out.splitlines()
    assert begun.endswith("Copying: 0 subjects and 0 objects are here so far.")
    assert done.endswith("The copy is complete.")


def test_what_diverges_is_told_by_the_exit_status(tables: Urls, capsys: Captured) -> None:
    here, there = tables
    asked = ["regions", "follow", here, there, *FOLLOW]
    assert main(asked) == 0
    long_ago(there)
    assert main(asked) == 0
    with store(here) as held:
        assert isinstance(held, AwsStore)
        held.tools.table.update(update(held.tools.places.settings(s("orders")), {"moves": 99}))
    with store(there) as held:
        Registry(held.catalog, held.bodies, SystemClock()).change_mode(s("orders"), "READONLY")
    capsys.readouterr()
    assert main(asked) == 1
    assert "1 diverge." in capsys.readouterr().out


# --- a region that is lost -------------------------------------------------------------------------------------------


@pytest.fixture
def third(tables: Urls) -> str:
    """Another empty store."""
    del tables  # made by then
    clients = Clients(region=REGION)
    clients.s3.create_bucket(Bucket="third")
    return f"dynamodb+s3://{make_table(clients.dynamodb)}/third?region={REGION}"


def followed(here: str, there: str) -> None:
    """Twenty minutes after the first role."""
    asked = ["regions", "follow", here, there, *FOLLOW]
    assert main(asked) == 0
    long_ago(there)
    for _ in range(2):
        assert main(asked) == 0
    assert roles(here, there)[0][0] == "follower"


def test_a_follower_that_is_lost_makes_room_for_another_and_rejoins_when_it_is_back(
    tables: Urls, third: str, capsys: Captured
) -> None:
    """Ids go on meanwhile, also beyond a block; those of the lost one, which was promoted, are given by no other."""
    here, there = tables
    followed(here, there)
    assert main(["regions", "follow", third, there, *FOLLOW]) == 2
    assert "`sigla regions dismiss` makes room for another" in capsys.readouterr().err
    assert main(["regions", "dismiss", there]) == 2
    told = capsys.readouterr().err
    assert "add --yes" in told
    assert here in told, "people know it by its URL"
    assert main(["regions", "dismiss", there, "--yes"]) == 0
    assert "another region may follow, by `regions.peer`" in capsys.readouterr().out
    with store(there) as held:
        assert register(held, "alone") == 2 * rules.BLOCK + 1
        held.catalog.raise_counter(".", SchemaId(9 * rules.BLOCK))
        assert register(held, "beyond") == 9 * rules.BLOCK + 1
    assert main(["regions", "follow", here, there, *FOLLOW]) == 2
    assert "`sigla rejoin` has it follow again" in capsys.readouterr().err
    assert main(["promote", here, "--primary", there, "--force", "--yes"]) == 2
    assert "its primary answers, and is in epoch 3" in capsys.readouterr().err
    assert main(["promote", here, "--force", "--yes"]) == 0, "it cannot know"
    with store(here) as held:
        assert register(held, "apart") == rules.BLOCK + 1
    followed_by_third(third, there)
    assert main(["rejoin", here, "--primary", there, "--yes"]) == 2
    assert "follows this registry already" in capsys.readouterr().err
    assert roles(here) == [("primary", 2, True)], "nothing was changed"
    assert main(["regions", "dismiss", there, "--yes"]) == 0
    assert main(["rejoin", here, "--primary", there, "--yes", "--report", os.devnull]) == 0
    assert [versions(there, name) for name in ("alone", "beyond", "apart")] == [1, 1, 1]
    for _ in range(2):
        assert main(["regions", "follow", here, there, *FOLLOW]) == 0
    assert roles(here, there, third) == [("follower", 5, False), ("primary", 5, True), ("follower", 3, False)]
    assert versions(here, "beyond") == 1
    assert main(["promote", here, "--primary", there, "--yes"]) == 0


def followed_by_third(third: str, there: str) -> None:
    for _ in range(2):
        assert main(["regions", "follow", third, there, *FOLLOW]) == 0
    assert versions(third, "beyond") == 1
    assert roles(third, there) == [("follower", 3, False), ("primary", 3, True)]


def test_a_follower_that_was_given_up_and_wrote_nothing_rejoins(tables: Urls, capsys: Captured) -> None:
    """It has nothing to be brought, and imports of all ids are taken again."""
    here, there = tables
    followed(here, there)
    assert main(["regions", "dismiss", there, "--yes"]) == 0
    with store(there) as held:
        register(held, "alone")
    assert main(["rejoin", here, "--primary", there, "--yes"]) == 0
    assert "joins" in capsys.readouterr().out
    with store(there) as held:
        role = held.region.role()
        assert role is not None
        assert (role.reconciled, role.lost, role.is_followed) == (True, "", True)
    for _ in range(2):
        assert main(["regions", "follow", here, there, *FOLLOW]) == 0
    assert roles(here, there) == [("follower", 3, False), ("primary", 3, True)]
    assert versions(here, "alone") == 1
    assert main(["rejoin", here, "--primary", there, "--yes"]) == 0
    assert "joins or follows already" in capsys.readouterr().out


@pytest.mark.parametrize("is_filled", [False, True])
def test_a_region_that_was_given_up_while_it_joined_comes_back(is_filled: bool, tables: Urls, capsys: Captured) -> None:
    """For the first time, or after it had rejoined: it does not go on by itself, and is told so."""
    here, there = tables
    follow, come_back = ["regions", "follow", here, there, *FOLLOW], ["rejoin", here, "--primary", there, "--yes"]
    if is_filled:
        followed(here, there)
        assert main(["regions", "dismiss", there, "--yes"]) == 0
        assert main(come_back) == 0
    else:
        assert main(follow) == 0
    assert main(["regions", "dismiss", there, "--yes"]) == 0
    assert roles(here)[0][0] == "joining"
    capsys.readouterr()
    assert main(follow) == 2
    assert "`sigla rejoin` has it follow again" in capsys.readouterr().err
    assert main(come_back) == 0
    assert "joins or follows already" not in capsys.readouterr().out
    long_ago(there)
    for _ in range(2):
        assert main(follow) == 0
    assert [role for role, *_ in roles(here, there)] == ["follower", "primary"]
    assert versions(here, "orders") == 1
    assert main(come_back) == 0
    assert "joins or follows already" in capsys.readouterr().out


def test_whoever_took_over_gets_a_second_region_once_the_first_one_is_abandoned(
    tables: Urls, third: str, capsys: Captured
) -> None:
    here, there = tables
    followed(here, there)
    assert main(["promote", here, "--force", "--yes"]) == 0
    assert main(["regions", "follow", third, here, *FOLLOW]) == 2
    assert "sigla regions abandon" in capsys.readouterr().err
    with silent(there):
        assert main(["regions", "abandon", here, "--yes"]) == 0
    told = capsys.readouterr().out
    assert "is given up" in told
    assert "If its stack comes back, keep clients away from it" in told
    with store(here) as held:
        held.catalog.raise_counter(".", SchemaId(9 * rules.BLOCK))
        register(held, "alone")
    for _ in range(2):
        assert main(["regions", "follow", third, here, *FOLLOW]) == 0
    assert roles(third, here) == [("follower", 4, False), ("primary", 4, True)]
    assert versions(third, "alone") == 1


def test_a_follower_that_takes_over_and_back_is_given_up_like_any_other(
    tables: Urls, third: str, capsys: Captured
) -> None:
    """Also after a promotion that was taken back."""
    here, there = tables
    followed(here, there)
    assert main(["promote", here, "--primary", there, "--yes"]) == 0
    with store(here) as one, store(there) as other:
        ours, theirs = one.region.role(), other.region.role()
        assert ours is not None
        assert theirs is not None
        assert one.region.set_role(ours, replace(ours, open=False, token="again"))
        assert other.region.set_role(theirs, replace(theirs, token="again"))
    assert main(["promote", there, "--primary", here, "--undo"]) == 0
    assert main(["regions", "follow", third, here, *FOLLOW]) == 2
    assert "makes room for another" in capsys.readouterr().err
    assert main(["regions", "dismiss", here, "--yes"]) == 0
    for _ in range(2):
        assert main(["regions", "follow", third, here, *FOLLOW]) == 0
    assert roles(third, here, there) == [("follower", 4, False), ("primary", 4, True), ("follower", 2, False)]


@pytest.mark.parametrize(
    "urls, word",
    [
        (["file:a", "dynamodb+s3://t/b"], "is a directory"),
        (["dynamodb+s3://t/b"], "the store of the follower and that of the primary"),
    ],
)
def test_misuse_is_refused_in_a_sentence(urls: list[str], word: str, capsys: Captured) -> None:
    assert main(["regions", "follow", *urls, *FOLLOW]) == 2
    assert word in capsys.readouterr().err
