"""`sigla promote --force` of a primary that was closed: its other region is lost, and one that answers is not."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from sigla.cli import main, rejoin
from sigla.regions import rules
from tests.cli.test_regions import Captured, Urls, planned, register, roles, silent, store, urls

__all__ = ["urls"]


@pytest.fixture(autouse=True)
def at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is forgotten without a wait, and the reports are in a directory of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rejoin, "HEARD_S", 0)


def cut_off(here: str, there: str) -> None:
    """A promotion of the region here, after it has closed the primary there."""
    for url in (here, there):
        with store(url) as held:
            role = held.region.role()
            assert role
            assert held.region.set_role(role, replace(role, token="t", open=url == here))


def lost(url: str) -> AbstractContextManager[None]:
    return silent(url) if url.startswith("dynamodb") else nullcontext()


def test_a_primary_that_a_promotion_has_closed_goes_on_when_the_follower_is_lost(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    cut_off(here, there)
    with lost(here):
        if here.startswith("dynamodb"):
            assert main(["regions", here, there]) == 1
            assert f"If that region is lost: sigla promote '{there}' --force" in capsys.readouterr().err
        assert main(["promote", there, "--force", "--yes"]) == 0
        told = capsys.readouterr()
        assert "is a primary that was closed. It is to take writes again with what it has" in told.err
        assert "is the primary of epoch 3, by force." in told.out
        assert main(["promote", there, "--force", "--yes"]) == 0
        assert capsys.readouterr().out.endswith("already: nothing to do.\n")
    with store(there) as held:
        assert register(held, "new") == 2 * rules.BLOCK + 1
    assert roles(here, there) == [("follower", 1, False), ("primary", 3, True)]
    assert main(["rejoin", here, "--primary", there, "--yes"]) == 0
    assert main(["regions", there]) == 0
    assert "  out  " not in capsys.readouterr().out


def test_a_primary_that_was_passed_over_goes_on_when_the_new_one_is_lost(urls: Urls, capsys: Captured) -> None:
    """The new one is closed when it is back, and rejoins: what it alone has acknowledged is brought."""
    here, there = urls
    assert main(["promote", here, "--primary", there, "--force", "--yes"]) == 0
    with store(here) as held:
        alone = register(held, "alone")
    with lost(here):
        assert main(["promote", there, "--force", "--yes"]) == 0
    assert "is the primary of epoch 3, by force." in capsys.readouterr().out
    assert main(["rejoin", here, "--primary", there, "--yes"]) == 0
    with store(there) as held:
        assert register(held, "alone") == alone
        assert register(held, "new") == 2 * rules.BLOCK + 1


def test_one_whose_other_region_answers_is_not_opened(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    cut_off(here, there)
    assert main(["promote", there, "--primary", here, "--force", "--yes"]) == 2
    told = capsys.readouterr().err
    assert "answers: it is the follower of epoch 1. Its promotion was cut off: `sigla promote" in told
    assert main(planned(here, there)) == 0
    assert main(["promote", here, "--primary", there, "--force", "--yes"]) == 0
    assert roles(here, there) == [("primary", 2, True), ("follower", 2, False)]


def test_a_table_whose_other_region_answers_is_not_opened(urls: Urls, capsys: Captured) -> None:
    """It is known where that is: nothing has to be named."""
    here, there = urls
    if here.startswith("file:"):
        return
    assert main(["promote", here, "--primary", there, "--force", "--yes"]) == 0
    assert main(["promote", there, "--force", "--yes"]) == 2
    assert "This region comes back to that one: `sigla rejoin` with its URL" in capsys.readouterr().err
    assert roles(here, there) == [("primary", 2, True), ("primary", 1, False)]


def test_one_that_may_have_been_given_up_is_not_opened(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    assert main(["promote", here, "--primary", there, "--force", "--yes"]) == 0
    with lost(here):
        assert main(["promote", there, "--force", "--yes"]) == 0
    with store(here) as held:
        role = held.region.role()
        assert role
        assert held.region.set_role(role, replace(role, open=False))
    with lost(there):
        assert main(["promote", here, "--force", "--yes"]) == 2
    assert "comes back by `sigla rejoin` with the region that takes writes" in capsys.readouterr().err
    assert roles(here) == [("primary", 2, False)]


def test_one_that_has_rejoined_is_not_opened(urls: Urls, capsys: Captured) -> None:
    """The region that it has rejoined waits for it no more: another one is told how far that gives ids."""
    here, there = urls
    assert main(["promote", here, "--primary", there, "--force", "--yes"]) == 0
    assert main(["rejoin", there, "--primary", here, "--yes"]) == 0
    with lost(here):
        assert main(["promote", there, "--force", "--yes"]) == 2
    if there.startswith("file:"):
        capsys.readouterr()
        assert main(["regions", there]) == 0
        assert "takes no writes again before `sigla rejoin` has brought it back" in capsys.readouterr().out
