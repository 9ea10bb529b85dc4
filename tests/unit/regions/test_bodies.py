"""A new body stands in both regions before its id is given, or it is said that it does not."""

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from sigla.errors import BodyMissing, Conflict, StoreError, Taken
from sigla.model import Body, BodyKey, Guid, SchemaId
from sigla.ports.in_front import BodiesInFront
from sigla.regions.bodies import OUT_OF_STEP, SILENT_MS, AdoptedAnew, BodiesInStep
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.refusals import BodyNotInBoth
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, a_body, a_draft, a_text
from tests.unit.registry.tell import s

KEY = BodyKey(".", SchemaId(1))


class Link(BodiesInFront):
    """The bodies of the other region, as they are reached from here."""

    cut = False
    slow: threading.Event | None = None

    def put(self, key: BodyKey, body: Body) -> None:
        if self.cut:
            raise StoreError("no way there")
        if self.slow:
            self.slow.wait()
        super().put(key, body)

    def last(self, context: str) -> SchemaId:
        if self.cut:
            raise StoreError("no way there")
        return super().last(context)


class Marks(set[tuple[BodyKey, Guid, str]]):
    """A `ports.HandedIds` of the other region."""

    def mark(self, key: BodyKey, guid: Guid, over: str = "") -> None:
        self.add((key, guid, over))

    def is_marked(self, key: BodyKey, guid: Guid, over: str = "") -> bool:
        return (key, guid, over) in self


@dataclass
class Regions:
    here: EmbeddedStore
    there: EmbeddedStore
    link: Link
    marks: Marks = field(default_factory=Marks)
    told: list[dict[str, Any]] = field(default_factory=list)
    opened: list[BodiesInStep] = field(default_factory=list)
    clock: FixedClock = field(default_factory=FixedClock)
    is_followed: bool = True

    def in_step(self, *, required: bool = False, patience_s: float = 10) -> BodiesInStep:
        made = BodiesInStep(
            self.here.bodies,
            self.link,
            self.marks,
            region="B",
            required=required,
            tell=self.told.append,
            clock=self.clock,
            is_followed=lambda: self.is_followed,
            patience_s=patience_s,
        )
        self.opened.append(made)
        return made

    def close(self) -> None:
        """Waits for what is on its way, which a store that is closed under it would not survive."""
        if self.link.slow:
            self.link.slow.set()
        for each in self.opened:
            each.close()


@pytest.fixture
def regions() -> Iterator[Regions]:
    with (
        EmbeddedStore() as here,
        EmbeddedStore() as there,
        closing(Regions(here, there, Link(there.bodies))) as regions,
    ):
        yield regions


def test_a_body_stands_in_both_when_its_put_returns(regions: Regions) -> None:
    body = a_body()
    bodies = regions.in_step()
    bodies.put(KEY, body)
    bodies.put(KEY, body)
    bodies.close()
    assert regions.here.bodies.get(KEY) == regions.there.bodies.get(KEY) == body
    assert not regions.told


@pytest.mark.parametrize("trouble", ["cut", "slow"])
def test_a_body_that_the_other_region_does_not_take_is_told_or_refused(regions: Regions, trouble: str) -> None:
    """An operator chooses what is worse: no new schemas, or one that the survivor of a disaster may lack."""
    regions.link.cut = trouble == "cut"
    regions.link.slow = threading.Event() if trouble == "slow" else None
    with pytest.raises(BodyNotInBoth) as refused:
        regions.in_step(required=True, patience_s=0.01).put(KEY, a_body())
    assert refused.value.code == 50002
    best = regions.in_step(patience_s=0.01)
    best.put(BodyKey(".", SchemaId(2)), a_body())
    assert regions.told == [{"event": OUT_OF_STEP, "context": ".", "id": 2, "region": "B"}]
    if regions.link.slow:
        regions.link.slow.set()
    best.close()


def test_what_stands_here_keeps_a_body_out_of_the_other_region(regions: Regions) -> None:
    """It would stand there for ever, under an id that means something else here."""
    regions.here.bodies.put(KEY, a_body(a_text("Standing")))
    bodies = regions.in_step()
    with pytest.raises(Taken):
        bodies.put(KEY, a_body(a_text("New")))
    bodies.close()
    with pytest.raises(BodyMissing):
        regions.there.bodies.get(KEY)


def test_ids_that_mean_something_in_the_other_region_are_passed_over(regions: Regions) -> None:
    """Also where this one does not know them, as behind a bucket that was lost."""
    for id in (1, 2, 3):
        regions.there.bodies.put(BodyKey(".", SchemaId(id)), a_body(a_text(f"T{id}")))
    bodies = regions.in_step()
    registry = Registry(regions.here.catalog, bodies, FixedClock())
    assert registry.register(s("a"), a_draft(a_text("A"))).id == 4
    regions.link.cut = True
    assert bodies.last(".") == 4
    assert registry.register(s("b"), a_draft(a_text("B"))).id == 5
    bodies.close()
    assert [each["id"] for each in regions.told] == [5]


def test_one_that_was_silent_is_not_waited_for_again_for_some_seconds(regions: Regions) -> None:
    bodies = regions.in_step()
    regions.link.cut = True
    bodies.put(KEY, a_body())
    regions.link.cut = False
    bodies.put(BodyKey(".", SchemaId(2)), a_body(a_text("B")))
    assert [each["id"] for each in regions.told] == [1, 2]
    regions.clock.time += SILENT_MS
    bodies.put(BodyKey(".", SchemaId(3)), a_body(a_text("C")))
    bodies.close()
    assert [*regions.there.inventory.bodies()] == [BodyKey(".", SchemaId(3))]


def test_a_body_of_one_who_was_refused_stands_in_both_before_another_adopts_it(regions: Regions) -> None:
    """The id that a client brings is the same when it asks again."""
    bodies = regions.in_step(required=True)
    regions.link.cut = True
    with pytest.raises(BodyNotInBoth):
        bodies.put(KEY, a_body())
    regions.clock.time += SILENT_MS
    with pytest.raises(BodyNotInBoth):
        bodies.put(KEY, a_body())
    regions.link.cut = False
    regions.clock.time += SILENT_MS
    with pytest.raises(Taken):
        bodies.put(KEY, replace(a_body(), nonce="another"))
    bodies.close()
    assert regions.there.bodies.get(KEY) == regions.here.bodies.get(KEY)


PRIMARY = Role(1, RegionKind.PRIMARY, peer=KnownBy("B"))


def test_what_an_import_adopts_is_written_anew(regions: Regions) -> None:
    """Whoever had decided to replace it finds another one: a replay that has slept since this region followed."""
    assert regions.here.region.set_role(None, PRIMARY)
    body, bodies = a_body(brought=True), AdoptedAnew(regions.here.bodies, regions.here.region)
    bodies.put(KEY, body)
    for nonce in ("second", "third"):
        with pytest.raises(Taken) as taken:
            bodies.put(KEY, replace(body, nonce=nonce))
        assert taken.value.standing.schema == body.schema
        assert regions.here.bodies.get(KEY) == replace(body, nonce=nonce)
    with pytest.raises(Conflict):
        regions.here.bodies.mend(KEY, a_body(a_text("Other")), body)


def test_a_registry_that_never_followed_writes_nothing_anew(regions: Regions) -> None:
    body, bodies = a_body(brought=True), AdoptedAnew(regions.here.bodies, regions.here.region)
    bodies.put(KEY, body)
    with pytest.raises(Taken):
        bodies.put(KEY, replace(body, nonce="second"))
    assert regions.here.bodies.get(KEY) == body


def test_what_was_replaced_before_an_import_could_adopt_it_is_taken(regions: Regions) -> None:
    class ReplacedMeanwhile(BodiesInFront):
        def mend(self, key: BodyKey, body: Body, seen: Body | None) -> None:
            super().mend(key, a_body(a_text("Other")), seen)
            super().mend(key, body, seen)

    assert regions.here.region.set_role(None, PRIMARY)
    body = a_body(brought=True)
    regions.here.bodies.put(KEY, body)
    with closing(regions.in_step(required=True)) as bodies:
        bodies._bodies = AdoptedAnew(ReplacedMeanwhile(regions.here.bodies), regions.here.region)
        with pytest.raises(Taken) as taken:
            bodies.put(KEY, replace(body, nonce="second"))
    assert taken.value.standing.schema == a_body(a_text("Other")).schema
    with pytest.raises(BodyMissing):
        regions.there.bodies.get(KEY)


def test_a_region_that_was_passed_over_gets_none(regions: Regions) -> None:
    regions.is_followed = False
    regions.link.cut = True
    bodies = regions.in_step(required=True)
    bodies.put(KEY, a_body())
    assert bodies.last(".") == 1
    bodies.close()


def test_an_id_that_is_brought_is_marked_where_the_other_region_has_its_content(regions: Regions) -> None:
    """Also where that has it of an import that was refused there. One that is drawn needs no mark."""
    drawn, refused, other = (BodyKey(".", SchemaId(id)) for id in (2, 3, 4))
    body = a_body(brought=True)
    regions.there.bodies.put(refused, replace(body, nonce="of the other region"))
    regions.there.bodies.put(other, a_body(a_text("Other"), brought=True))
    with closing(regions.in_step(required=True)) as bodies:
        bodies.put(KEY, body)
        bodies.put(drawn, a_body())
        for key in (refused, other):
            with pytest.raises(Taken):
                bodies.put(key, body)
    assert regions.marks == {(KEY, body.guid, ""), (refused, body.guid, "")}


def test_an_id_that_comes_back_is_marked_over_whatever_the_other_region_has_under_it(regions: Regions) -> None:
    """The tombstone that stands there, or the body that will be one. One that is drawn comes not back."""
    body, ids = a_body(brought=True), (2, 3, 4)
    missing, living, gone = (BodyKey(".", SchemaId(id)) for id in ids)
    for key in (KEY, missing, living, gone):
        regions.here.bodies.put(key, replace(body, nonce="here", gone=True))
    regions.there.bodies.put(living, replace(body, nonce="living"))
    regions.there.bodies.put(gone, replace(body, nonce="gone", gone=True))
    with closing(regions.in_step(required=True)) as bodies:
        for key, put in ((missing, body), (living, body), (gone, body), (KEY, a_body())):
            with pytest.raises(Taken):
                bodies.put(key, put)
    marked = {(missing, body.nonce), (living, "living"), (gone, "gone")}
    assert {(key, over) for key, _, over in regions.marks if over} == marked
    with pytest.raises(BodyMissing):
        regions.there.bodies.get(KEY)


def test_an_import_that_the_other_region_did_not_take_leaves_no_mark(regions: Regions) -> None:
    regions.link.cut = True
    with closing(regions.in_step(required=True)) as bodies, pytest.raises(BodyNotInBoth):
        bodies.put(KEY, a_body(brought=True))
    assert not regions.marks
