"""What a directory hands to the region that follows, and what it asks of its own tables for that."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from sigla.errors import IdUsedUp
from sigla.ports.replaying import Shipment
from sigla.regions.followed import Taking
from sigla.regions.handing import HandsOver
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.refusals import BodyApart, BodyNotInBoth
from sigla.registry import Registry
from sigla.stores.sqlite.handing import EmbeddedHanding
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, a_draft, a_text
from tests.unit.registry.tell import s

FOLLOWED = Role(1, RegionKind.PRIMARY, peer=KnownBy("second"))


class Follower:
    def __init__(self, taking: Taking = Taking.KEPT) -> None:
        self.taking, self.is_silent = taking, False
        self.taken: list[Sequence[Shipment]] = []

    def take(self, shipments: Sequence[Shipment]) -> Taking:
        self.taken.append(shipments)
        return self.taking


@contextmanager
def handing(
    follower: Follower, role: Role | None, lines: list[dict[str, Any]] | None = None, *, required: bool = False
) -> Iterator[tuple[EmbeddedStore, Registry]]:
    with EmbeddedStore() as store:
        if role is not None:
            assert store.region.set_role(None, role)
        tell = (lines if lines is not None else []).append
        store.hand_over(HandsOver(follower, store.region.role(), required=required, tell=tell))
        yield store, Registry(store.catalog, store.bodies, FixedClock())


def test_a_group_is_handed_over_as_one() -> None:
    follower = Follower()
    with handing(follower, FOLLOWED) as (store, registry):
        with store.group():
            for name in ("A", "B"):
                with store.step():
                    registry.register(s(name), a_draft(a_text(name)))
            assert not follower.taken
        (taken,) = follower.taken
        assert [key.id for each in taken for key in each.bodies] == [1, 2]
        registry.register(s("again"), a_draft(a_text("A")))
        assert len(follower.taken) == 1, "what a version holds is there"


@pytest.mark.parametrize("role", [None, Role(1, RegionKind.PRIMARY)], ids=["one region", "no follower"])
def test_who_is_not_followed_asks_its_tables_nothing_more(role: Role | None, monkeypatch: pytest.MonkeyPatch) -> None:
    follower, asked = Follower(Taking.SILENT), list[str]()
    monkeypatch.setattr(EmbeddedHanding, "_bringing", lambda *_: asked.append("rows"))
    with handing(follower, role, required=True) as (_, registry):
        assert registry.register(s("a"), a_draft(a_text("A"))).id == 1
    assert (asked, follower.taken) == ([], [])


def test_one_that_is_to_follow_and_has_not_asked_yet_is_not_waited_for() -> None:
    """It could not: its name would be written down by the writer that waits for it."""
    follower, lines = Follower(), list[dict[str, Any]]()
    to_come = Role(2, RegionKind.PRIMARY, peer=KnownBy(url="http://first"), token="by plan")
    with handing(follower, to_come, lines) as (_, registry):
        registry.register(s("a"), a_draft(a_text("A")))
    assert [line["event"] for line in lines] == ["bodies_out_of_step"]
    with handing(follower, to_come, required=True) as (_, registry), pytest.raises(BodyNotInBoth):
        registry.register(s("a"), a_draft(a_text("A")))
    assert not follower.taken


@pytest.mark.parametrize("taking, refusal", [(Taking.SILENT, BodyNotInBoth), (Taking.APART, BodyApart)])
def test_what_is_refused_leaves_no_version_and_uses_its_id_up(taking: Taking, refusal: type[Exception]) -> None:
    follower = Follower(taking)
    with handing(follower, FOLLOWED, required=True) as (store, registry):
        with pytest.raises(refusal), store.group(), store.step():
            registry.register(s("a"), a_draft(a_text("A")))
        assert store.count() == 0
        follower.taking = Taking.KEPT
        assert registry.register(s("a"), a_draft(a_text("B"))).id == 2
        assert registry.register(s("b"), a_draft(a_text("A"))).id == 3


def test_what_an_import_that_was_refused_has_left_is_not_told_to_be_deleted() -> None:
    follower = Follower(Taking.SILENT)
    with handing(follower, FOLLOWED, required=True) as (store, registry):
        registry.change_mode(s("a"), "IMPORT")
        with pytest.raises(BodyNotInBoth), store.group(), store.step():
            registry.register(s("a"), a_draft(a_text("A"), id=7, version=1))
        follower.taking = Taking.KEPT
        with pytest.raises(IdUsedUp, match="deleted for good, or whose registration was cut off"):
            registry.register(s("a"), a_draft(a_text("B"), id=7, version=1))
        assert registry.register(s("a"), a_draft(a_text("A"), id=7, version=1)).id == 7


def test_what_is_known_to_be_refused_hinders_no_other_of_its_group() -> None:
    follower = Follower(Taking.SILENT)
    with handing(follower, FOLLOWED, required=True) as (store, registry):
        follower.is_silent = True
        with store.group():
            with pytest.raises(BodyNotInBoth), store.step():
                registry.register(s("a"), a_draft(a_text("A")))
            with store.step():
                registry.change_mode(s("b"), "READONLY")
        assert registry.mode(s("b")) == "READONLY"
    assert not follower.taken
