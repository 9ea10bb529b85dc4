"""What a served registry does when its role changes while it runs, and something fails at that moment."""

from collections import Counter
from contextlib import ExitStack
from functools import partial
from typing import NoReturn

import pytest

from sigla import second_region
from sigla.auth.guesses import Guesses
from sigla.errors import StoreError
from sigla.observe import Facts
from sigla.regions.nouns import KnownBy, RegionKind, Role, Trace
from sigla.regions.refusals import RegionRefused
from sigla.second_region import keeper
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock
from tests.served_region import region_alone
from tests.waiting import eventually

NOBODY = "http://127.0.0.1:1"


def test_a_primary_that_is_to_follow_goes_on_where_its_disk_failed_at_that_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has no name yet by which it follows, and writes one down: else it would send nothing on until a restart."""
    monkeypatch.setattr(keeper, "LOOK_S", 0.01)
    with EmbeddedStore() as store, ExitStack() as until:
        store.region.set_role(None, Role(1, RegionKind.PRIMARY, pair="p"))
        region = region_alone(store, None, Guesses(FixedClock()), until)
        set_role, failures = store.region.set_role, [StoreError("the disk is full")]

        def failing_once(seen: Role | None, role: Role) -> bool:
            if role.name and failures:
                raise failures.pop()
            return set_role(seen, role)

        monkeypatch.setattr(store.region, "set_role", failing_once)
        set_role(store.region.role(), Role(2, RegionKind.FOLLOWER, peer=KnownBy(url=NOBODY), pair="p"))
        eventually(lambda: region.control.report().problem)
        assert not failures
        assert "127.0.0.1:1 does not answer" in region.control.report().problem


class Broken:
    """Another region that fails where only silence and refusals are foreseen. asked: by which URLs."""

    def __init__(self, asked: list[str], url: str, **_: object) -> None:
        asked.append(url)

    def report(self) -> NoReturn:
        raise ZeroDivisionError


def test_a_failure_that_was_not_foreseen_is_told_once_and_the_other_regions_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is told of the look before the first request as well; a server that knows several regions goes on to each."""
    asked, told = list[str](), list[Facts]()
    monkeypatch.setattr(keeper, "LOOK_S", 0.001)
    monkeypatch.setattr(second_region, "RemoteRegion", partial(Broken, asked))
    with EmbeddedStore() as store, ExitStack() as until:
        out = [Trace(name, f"http://127.0.0.1:{at}", 0) for at, name in enumerate("xy", 1)]
        role = Role(3, RegionKind.PRIMARY, pair="p", reconciled=False, lost="x, y")
        store.region.set_role(None, role.with_trace(out[0]).with_trace(out[1]))
        region_alone(store, None, Guesses(FixedClock()), until, tell=told.append)
        assert {*asked} == {each.url for each in out}
        assert [line["error"] for line in told if line["event"] == "failure"] == ["ZeroDivisionError"]
        eventually(lambda: min(Counter(asked).values()) > 2)
        assert [line["error"] for line in told if line["event"] == "failure"] == ["ZeroDivisionError"]


@pytest.mark.parametrize("is_open", [False, True])
def test_a_closed_primary_counts_what_it_sends_on(is_open: bool) -> None:
    """Clients that still have its URL alone go through it for as long as it is not brought back."""
    with EmbeddedStore() as store, ExitStack() as until:
        store.region.set_role(None, Role(1, RegionKind.PRIMARY, peer=KnownBy(url=NOBODY), pair="p", open=is_open))
        lines = [*region_alone(store, None, Guesses(FixedClock()), until).lines()]
        assert ('sigla_region_forwarded_total{outcome="sent"} 0' in lines) is not is_open


class TookOver:
    """The region that followed, and that was promoted by force while this one did not hear of it."""

    shown = NOBODY

    def __init__(self, *_: object, **__: object) -> None: ...

    def role(self) -> Role:
        return Role(2, RegionKind.PRIMARY, pair="p")

    def report(self) -> NoReturn:
        raise StoreError("no answer")


def test_a_region_that_took_over_is_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server looks as well: the command may not reach that region."""
    monkeypatch.setattr(second_region, "RemoteRegion", TookOver)
    with EmbeddedStore() as store, ExitStack() as until:
        store.region.set_role(None, Role(1, RegionKind.PRIMARY, peer=KnownBy("B"), at=NOBODY, pair="p"))
        control = region_alone(store, None, Guesses(FixedClock()), until).control
        with pytest.raises(RegionRefused, match=r"is the primary of epoch 2\. This region comes back to that one"):
            control.dismiss("B")
        role = store.region.role()
        assert role
        assert (role.epoch, role.writes) == (1, True)


def test_a_primary_whose_disk_is_full_says_that_it_takes_no_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its role says that it takes them, and stays as it is: neither can another one be written down there."""
    with EmbeddedStore() as store, ExitStack() as until:
        store.region.set_role(None, Role(1, RegionKind.PRIMARY, pair="p"))
        control = region_alone(store, None, Guesses(FixedClock()), until).control
        assert control.report().problem == ""
        monkeypatch.setattr(EmbeddedStore, "writable", False)
        assert control.report().problem == "its disk takes no writes, so this region takes none: make room there"
