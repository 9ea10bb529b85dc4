"""A mistyped URL names a region of another registry: no command of two regions changes anything, or compares them.

Tables tell that by names and URLs, directories by what was drawn when the registry got its first follower.
"""

import json
from dataclasses import replace

import pytest

from sigla.cli import main
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.stores.dynamodb.actions import delete
from sigla.stores.dynamodb.store import AwsStore
from sigla.stores.sqlite.store import EmbeddedStore
from tests.cli.test_regions import Captured, Urls, planned, roles, store, urls

__all__ = ["urls"]

ELSEWHERE, HERE = (f"dynamodb+s3://{name}/bucket?region=us-east-1" for name in ("elsewhere", "here"))


def of_another(url: str, kind: RegionKind) -> Role:
    """The region at a URL is one of a registry that the other URL's region has never heard of."""
    with store(url) as held:
        seen = held.region.role()
        assert seen
        role = replace(seen, kind=kind, name="X", peer=KnownBy("Y"), at=ELSEWHERE, pair="x" * url.startswith("file:"))
        assert held.region.set_role(seen, role)
        return role


def of_one(url: str) -> None:
    with store(url) as held:
        seen = held.region.role()
        assert seen
        role = replace(seen, pair="b" * url.startswith("file:"), peer=KnownBy(url=HERE), traces="")
        assert held.region.set_role(seen, role)


@pytest.mark.parametrize("way", [(), ("--undo",), ("--force",)], ids=["planned", "undo", "force"])
def test_a_promotion_of_two_registries_is_refused(urls: Urls, way: tuple[str, ...], capsys: Captured) -> None:
    here, there = urls
    of_one(here)
    of_another(there, RegionKind.PRIMARY)
    before = roles(here, there)
    words = ["promote", here, "--primary", there, "--yes", *way] if way else planned(here, there)
    assert main(words) == 2
    assert "These are regions of two registries, which know nothing of each other" in capsys.readouterr().err
    assert roles(here, there) == before


@pytest.mark.parametrize("kind", [RegionKind.PRIMARY, RegionKind.FOLLOWER])
def test_a_region_of_another_registry_forgets_nothing(urls: Urls, kind: RegionKind, capsys: Captured) -> None:
    here, there = urls
    assert main(["promote", here, "--force", "--yes"]) == 0
    of_one(here)
    of_another(there, kind)
    before = roles(here, there)
    assert main(["rejoin", there, "--primary", here, "--yes"]) == 2
    assert "These are regions of two registries" in capsys.readouterr().err
    assert roles(here, there) == before


def test_regions_of_two_registries_are_shown_and_not_compared(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    assert main(["regions", here, there]) == 0
    capsys.readouterr()
    of_one(here)
    of_another(there, RegionKind.PRIMARY)
    assert main(["regions", here, there]) == 2
    told = capsys.readouterr()
    assert "These are not regions of one registry" in told.err
    assert told.out.count("  role ") == 2
    assert "A forced promotion would lose" not in told.out
    assert main(["regions", here, there, "--json"]) == 2
    report = json.loads(capsys.readouterr().out)
    assert [region["role"] for region in report["regions"]] == ["follower", "primary"]
    assert report["one_registry"] is False
    assert "missing" not in report


@pytest.mark.parametrize("which", [0, 1])
def test_one_without_a_second_region_is_no_region_of_the_other_one(urls: Urls, which: int, capsys: Captured) -> None:
    """Whichever of both it is: its data name no other region, and what it lacks is not compared."""
    with store(urls[which]) as held:
        if isinstance(held, AwsStore):
            held.tools.table.write_all([delete(held.tools.places.role())])
        elif isinstance(held, EmbeddedStore):
            with held.group():
                held._unit.connection.execute("DELETE FROM region")
    assert main(["regions", *urls]) == 2
    told = capsys.readouterr()
    assert "These are not regions of one registry" in told.err
    assert "none, as of a registry without a second region" in told.out
    assert "A forced promotion would lose" not in told.out
