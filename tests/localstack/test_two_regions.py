"""Both stacks of a registry in two regions of one LocalStack: deployed, in step, promoted, lost, and rejoined."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.localstack.two_regions import Region, fixed, in_step, twenty_minutes_later, two_regions
from tests.protocol.rounds import in_javascript, in_python, nobody_is_primary

pytestmark = [pytest.mark.localstack, pytest.mark.soak]

NOT_THERE = (None, -1)
"""What Confluent's clients in Python and JavaScript say of an answer that is not a registry's: a region is lost."""


@pytest.fixture(scope="module")
def two() -> Iterator[tuple[Region, Region]]:
    with two_regions() as regions:
        yield regions


def test_two_stacks_are_a_registry_in_two_regions(two: tuple[Region, Region], tmp_path: Path) -> None:
    """No deployment between them, and no command but those of the run book."""
    first, second = two
    # A registry that was alone is armed, and goes on meanwhile.
    assert first.register("orders", "Alone") == 1
    status, told = second.door.ask("GET", "/subjects")
    assert (status, told["error_code"]) == (500, 50003), "it has no role yet, and sends nothing on"
    assert first.turn()["role"] == "primary"
    assert first.register("orders-2", "Meanwhile") == 2
    assert second.turn()["role"] == "joining"
    twenty_minutes_later(first)
    second.becomes("follower")
    # In step, whatever is done.
    assert first.register("orders", "Alone") == 1
    assert second.register("payments", "InStep") == 3
    assert second.door.ask("GET", "/schemas/ids/3") == first.door.ask("GET", "/schemas/ids/3")
    assert first.door.ask("PUT", "/config/payments", {"compatibility": "FULL"})[0] == 200
    assert first.door.ask("DELETE", "/subjects/orders-2")[0] == 200
    told = second.turn()
    assert (told["role"], told["waiting"], told["stopped"]) == ("follower", 0, 0)
    assert second.reads() == first.reads()
    # A planned promotion: the other one follows by itself.
    told_by = second.sigla("promote", second.url, "--primary", first.url, "--yes")
    assert "epoch 2" in told_by
    given = second.register("after", "Promoted")
    assert given > 100_000
    assert (second.turn()["role"], first.turn()["role"]) == ("primary", "follower")
    assert first.reads() == second.reads()
    assert first.door.ask("GET", f"/schemas/ids/{given}")[0] == 200
    # A region that is lost, and acknowledged what the other one may never have heard of.
    late = second.register("late", "Lost")
    second.is_lost()
    first.sigla("promote", first.url, "--force", "--yes")
    kept = first.register("kept", "Kept")
    assert kept > max(late, given)
    second.is_back()
    assert second.turn()["closed"] == 1
    assert second.door.ask("POST", "/subjects/later/versions", fixed("Later"))[0] >= 500
    # It comes back, and brings that.
    second.sigla("rejoin", second.url, "--primary", first.url, "--yes", "--report", str(tmp_path / "report"))
    assert first.door.ask("GET", f"/schemas/ids/{late}")[0] == 200
    second.becomes("follower")
    assert second.reads() == first.reads()
    assert second.door.ask("GET", f"/schemas/ids/{kept}")[1] == first.door.ask("GET", f"/schemas/ids/{kept}")[1]


def test_clients_of_confluent_hear_no_wrong_answer_while_the_stacks_change_places(
    two: tuple[Region, Region], tmp_path: Path
) -> None:
    """With the URLs of both, the follower's first: by plan and back, by force, rejoined, and back again."""
    a, b = in_step(*two)
    with ExitStack() as running:
        urls = f"{b.function},{a.function}"
        clients = [running.enter_context(begun(urls, b.door.key)) for begun in (in_python, in_javascript)]
        for client in clients:
            client.goes_on()
        for follower, primary in ((b, a), (a, b)):
            with nobody_is_primary(clients):
                follower.sigla("promote", follower.url, "--primary", primary.url, "--yes")
            primary.becomes("follower")
        with nobody_is_primary(clients, *NOT_THERE):
            a.is_lost()
            b.sigla("promote", b.url, "--force", "--yes")
        a.is_back()
        rejoined = a.account.sigla(
            *("rejoin", a.url, "--primary", b.url, "--yes"), *("--report", str(tmp_path / "report"))
        )
        assert rejoined.returncode in (0, 1), rejoined.stderr
        a.becomes("follower")
        with nobody_is_primary(clients):
            a.sigla("promote", a.url, "--primary", b.url, "--yes")
        b.becomes("follower")
    for client in clients:
        assert client.failures == []
        for id, schema in client.meaning.items():
            for region in (a, b):
                status, told = region.door.ask("GET", f"/schemas/ids/{id}")
                assert (status, json.loads(told["schema"])) == (200, json.loads(schema)), (region.name, id, told)
