"""Two copies of one warmed function go on from the same moment: nothing drawn or remembered before may be common."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.functions.other_process import ROOT, account, alone, aws


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with aws() as url:
        yield url


@pytest.fixture(scope="module")
def facts(endpoint: str) -> Any:
    """What `restored.py` tells, run once."""
    environment = alone() | account(endpoint) | {"SIGLA_LOG_READS": "0.5"}
    ran = subprocess.run(
        [sys.executable, "-m", "tests.functions.restored"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(ran.stdout)


@pytest.fixture
def copies(facts: Any) -> tuple[Any, Any]:
    assert facts["warm"]["status"] == 200
    one, other = facts["restored"]
    return one, other


def test_copies_draw_each_their_own(copies: tuple[Any, Any]) -> None:
    """Pauses, nonces and request ids; two writers who pause alike meet again and again."""
    one, other = copies
    assert not set(one["drawn"]) & set(other["drawn"])


def test_copies_open_connections_of_their_own(facts: Any, copies: tuple[Any, Any]) -> None:
    """Two who write into one connection read each other's answers."""
    assert facts["warm"]["connections"], "the function was warm"
    for copy in copies:
        assert not copy["connections"]["before"]
    one, other = (set(copy["connections"]["after"]) for copy in copies)
    assert one
    assert other
    assert not one & other


def test_a_key_that_was_accepted_before_is_asked_for_again(copies: tuple[Any, Any]) -> None:
    """A snapshot may be months old; a revoked key is refused by every copy."""
    assert [copy["left"] for copy in copies] == [401, 401]


def test_a_copy_remembers_no_body(facts: Any, copies: tuple[Any, Any]) -> None:
    """The key, the row and the body are read again; of them the warm function asked for the row alone."""
    assert facts["warm"]["calls"] == 1
    assert [copy["first"]["calls"] for copy in copies] == [3, 3]


def test_the_first_request_of_a_copy_is_a_cold_start(copies: tuple[Any, Any]) -> None:
    """Whoever looks for slow requests finds those that were the first."""
    assert [(copy["first"]["cold"], copy["cold starts"]) for copy in copies] == [(True, 1), (True, 1)]


def test_what_one_copy_writes_the_other_reads(copies: tuple[Any, Any]) -> None:
    one, other = copies
    assert (one["written"], other["written"]) == (200, 200)
    assert one["seen"] == ["orders"]
    assert other["seen"] == ["of-1", "orders"]


def test_each_copy_draws_which_reads_it_logs(copies: tuple[Any, Any]) -> None:
    """Else all of them would leave out the same reads, and the sample would not be one."""
    one, other = copies
    assert one["reads"] != other["reads"]
    assert {True, False} == set(one["reads"]) == set(other["reads"])
