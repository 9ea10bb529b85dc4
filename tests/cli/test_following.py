"""`sigla regions follow`: a registry in AWS gets a second region, which is kept in step, and is promoted one day."""

from collections.abc import Iterator

import pytest

from sigla.cli import following, main
from sigla.regions import rules
from sigla.regions.nouns import RegionKind, Role
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.actions import update
from sigla.stores.dynamodb.store import AwsStore
from tests.cli.test_regions import Captured, Urls, register, roles, store
from tests.contract.aws import make_table, of_two_parts
from tests.contract.engines import BUCKET, REGION, in_process
from tests.unit.registry.tell import s

FOLLOW = ("--once", "--yes")


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[Urls]:
    """An empty store, and one with schemas; neither has a role."""
    of_two_parts(monkeypatch)
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
        assert held.region.set_role(role, Role(role.epoch, role.kind, peer=role.peer, armed=earlier))


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
    with store(there) as held:
        register(held, "meanwhile")
    long_ago(there)
    assert main(asked) == 0
    assert "The copy is complete." in capsys.readouterr().out
    with store(there) as held:
        register(held, "late")
    assert main(asked) == 0
    assert "1 commits brought; complete up to 0 s ago." in capsys.readouterr().out
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
        assert held.region.set_role(None, Role(1, RegionKind.PRIMARY, peer="another"))
    assert main(["regions", "follow", here, there, *FOLLOW]) == 2
    assert "has a second region already" in capsys.readouterr().err


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
