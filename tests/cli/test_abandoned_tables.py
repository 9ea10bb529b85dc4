"""`sigla regions abandon` of a table looks whether the other region answers: what comes back loses nothing."""

from contextlib import closing
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from sigla.aws.clients import Clients
from sigla.cli import main
from sigla.errors import Unusable
from sigla.regions.nouns import KnownBy
from tests.cli.test_regions import Urls, roles, silent, store, urls
from tests.contract.engines import REGION

__all__ = ["urls"]

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def passed_over(urls: Urls, capsys: Captured) -> Urls:
    """B went on as the primary by force. Gives B and A."""
    here, _ = urls
    assert main(["promote", here, "--force", "--yes"]) == 0
    capsys.readouterr()
    return urls


def abandon(here: str) -> int:
    return main(["regions", "abandon", here, "--yes"])


def is_out(here: str) -> bool:
    with store(here) as held:
        role = held.region.role()
        assert role is not None
        return bool(role.out)


@pytest.mark.parametrize("urls", ["tables"], indirect=True)
def test_a_region_that_answers_is_not_given_up(passed_over: Urls, capsys: Captured) -> None:
    here, there = passed_over
    before = roles(here, there)
    assert abandon(here) == 2
    told = capsys.readouterr().err
    assert f"Nothing was changed. '{there}' answers: it is the primary of epoch 1." in told
    assert f"`sigla rejoin '{there}' --primary` with the URL of this registry" in told
    assert "or delete its stack with its table first" in told
    assert roles(here, there) == before
    assert is_out(here)


@pytest.mark.parametrize("urls", ["tables"], indirect=True)
def test_whose_table_is_deleted_is_given_up(passed_over: Urls, capsys: Captured) -> None:
    here, there = passed_over
    with closing(Clients(region=REGION)) as clients:
        clients.dynamodb.delete_table(TableName=urlsplit(there).netloc)
    assert abandon(here) == 0
    assert "is given up" in capsys.readouterr().out
    assert not is_out(here)


@pytest.mark.parametrize("urls", ["tables"], indirect=True)
def test_a_region_that_may_not_be_asked_is_not_given_up(passed_over: Urls, capsys: Captured) -> None:
    """It may take writes all the while."""
    here, there = passed_over
    with silent(there, Unusable):
        assert abandon(here) == 2
    assert "can come back is not known (reading a role: no answer): see to that first" in capsys.readouterr().err
    assert is_out(here)
    with silent(there):
        assert abandon(here) == 0


@pytest.mark.parametrize("urls", ["tables"], indirect=True)
def test_another_registry_in_the_place_of_the_one_that_is_lost_is_no_matter(passed_over: Urls) -> None:
    """Names are drawn at random: two regions of one registry know each other by them, and no others do."""
    here, there = passed_over
    with store(there) as held:
        role = held.region.role()
        assert role is not None
        assert held.region.set_role(role, replace(role, peer=KnownBy("another-7"), name="another-8"))
    assert abandon(here) == 0
    assert not is_out(here)


@pytest.mark.parametrize("urls", ["tables"], indirect=True)
def test_the_region_that_goes_on_is_named_where_it_is_the_other_one(passed_over: Urls, capsys: Captured) -> None:
    """Whoever took over was given up while it was silent, and is to come back itself."""
    here, there = passed_over
    assert main(["regions", "dismiss", there, "--yes"]) == 2
    assert "answers: it is the primary of epoch 2. This region comes back to that one" in capsys.readouterr().err
    with silent(here):
        assert main(["regions", "dismiss", there, "--yes"]) == 0
    capsys.readouterr()
    assert abandon(here) == 2
    told = capsys.readouterr().err
    assert "answers: it is the primary of epoch 3. This region comes back to that one" in told
    assert f"`sigla rejoin` with its URL, --primary '{there}'" in told
    assert is_out(here)
