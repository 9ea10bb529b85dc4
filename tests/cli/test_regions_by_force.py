"""`sigla promote --force`, of directories and tables: what it says of the other region, and of what may be missing."""

import shlex
from collections.abc import Iterator

import pytest

from sigla import opening
from sigla.cli import main, promote
from sigla.errors import StoreError
from sigla.model import BodyKey, SchemaId
from sigla.regions import rules
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.refusals import NoBlock
from sigla.stores.dynamodb.store import AwsStore
from tests.build import a_body, a_text
from tests.cli.test_regions import Captured, Urls, called, planned, register, roles, silent, store, urls
from tests.unit.registry.tell import s

__all__ = ["urls"]


def test_by_force_it_says_whether_the_other_region_is_closed_and_what_may_be_missing(
    urls: Urls, capsys: Captured
) -> None:
    here, there = urls
    asked = ["promote", here, "--primary", there, "--force", "--yes"]
    assert main(asked) == 0
    told = capsys.readouterr()
    assert "The other region is closed." in told.out
    assert "The newest commit here: " in told.out
    assert "No new id" not in told.out
    assert f"When it is there again: {shlex.join(['sigla', 'rejoin', there, '--primary', here])}\n" in told.out
    assert "cannot go back" in told.err
    assert roles(here, there) == [("primary", 2, True), ("primary", 1, False)]
    assert main(asked) == 0
    assert capsys.readouterr().out.endswith("already: nothing to do.\n")
    assert main(planned(here, there)) == 2
    assert "was promoted by force" in capsys.readouterr().err
    assert main(["regions", here]) == 0
    assert f"  out      {called(there)}: what is missing here may be there\n" in capsys.readouterr().out
    with silent(there):
        assert main(["regions", "abandon", here, "--yes"]) == 0
    assert "is given up. Imports into " in capsys.readouterr().out
    assert main(["regions", "abandon", here, "--yes"]) == 0
    assert capsys.readouterr().out.startswith("Nothing is left to be given up")


def test_by_force_a_primary_that_is_lost_is_not_needed(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    assert main(["promote", here, "--force", "--yes"]) == 0
    told = capsys.readouterr().out
    assert "was not asked to close" in told
    other = there if there.startswith("dynamodb") else "URL"
    assert f"When it is there again: {shlex.join(['sigla', 'rejoin', other, '--primary', here])}\n" in told
    assert roles(here, there) == [("primary", 2, True), ("primary", 1, True)]


def test_by_force_ids_are_named_whose_versions_did_not_come(urls: Urls, capsys: Captured) -> None:
    """As often as it is asked, until the other region is back or given up. Nothing else is named."""
    here, there = urls
    with store(here) as held:
        for id, name, fields in (
            (5001, "News", {}),
            (5002, "Refused", {"brought": True}),
            (5003, "Brought", {"brought": True}),
            (5004, "Gone", {"gone": True}),
            # A server has brought that to life when its import was acknowledged.
            (5005, "Back again", {"gone": isinstance(held, AwsStore)}),
        ):
            key, body = BodyKey(".", SchemaId(id)), a_body(a_text(name), subject=s("news"), **fields)
            held.bodies.put(key, body)
            if isinstance(held, AwsStore) and name == "Brought":
                held.handed_ids.mark(key, body.guid)
            elif isinstance(held, AwsStore) and name == "Back again":
                held.handed_ids.mark(key, body.guid, body.nonce)
            elif name == "Refused" and not isinstance(held, AwsStore):
                held.bodies.bury(key)  # as a server does itself
    asked = ["promote", here, "--force", "--yes"]
    for _ in range(2):
        assert main(asked) == 0
        told = [line.split()[1] for line in capsys.readouterr().out.splitlines() if "was registered for news" in line]
        assert told == ["5001", "5003", "5005"]
    with silent(there):
        assert main(["regions", "abandon", here, "--yes"]) == 0
    assert main(asked) == 0
    assert "was registered for" not in capsys.readouterr().out


def test_by_force_contexts_are_named_that_get_no_new_id(urls: Urls, capsys: Captured) -> None:
    """The other region was granted more than this epoch's block: it may have given all of that."""
    here, there = urls
    with store(here) as held:
        seen = held.region.look(".").counter
        assert held.region.raise_for(".", 1, seen, SchemaId(rules.granted(2)))
    asked = ["promote", here, "--force", "--yes"]
    for _ in range(2):
        assert main(asked) == 0
        *_, last = capsys.readouterr().out.splitlines()
        assert last.startswith("No new id is given in context . until the other region has rejoined, or is given up")
    with store(here) as held, pytest.raises(NoBlock):
        register(held, "new")
    with silent(there):
        assert main(["regions", "abandon", here, "--yes"]) == 0
    capsys.readouterr()
    assert main(asked) == 0
    assert "No new id" not in capsys.readouterr().out
    with store(here) as held:
        assert register(held, "new")


def test_a_promotion_by_force_is_done_where_its_ids_cannot_be_looked_for(
    urls: Urls, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = urls

    def failing(*_: object) -> Iterator[str]:
        raise StoreError("S3 does not answer")
        yield ""

    monkeypatch.setattr(opening, "adopted_ids", failing)
    assert main(["promote", here, "--force", "--yes"]) == 0
    assert "(S3 does not answer): run the command again" in capsys.readouterr().out
    with store(here) as held:
        role = held.region.role()
        assert role is not None
        assert role.writes


def test_a_primary_that_does_not_answer_is_waited_for_a_moment(capsys: Captured) -> None:
    class Silent:
        def role(self) -> Role | None:
            raise StoreError("no answer")

        def set_role(self, seen: Role | None, role: Role) -> bool:
            raise AssertionError((seen, role))

    told = promote._close(Silent(), Role(1, RegionKind.FOLLOWER))
    assert (
        told == "The other region could not be closed (no answer): it may take writes until it is told of this epoch."
    )
