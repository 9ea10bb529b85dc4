"""A registry gets a second region: the other one joins, and ids are given as before."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace

import pytest

from sigla.errors import StoreError
from sigla.model import SchemaId
from sigla.ports.regions import Peer, Region
from sigla.regions import giving, promotion, rules
from sigla.regions.arming import armed
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.refusals import AlreadyARegion, HasAFollower, NoBlock, NotTheFollower, ToAbandon
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import NOW
from tests.contract.aws import AwsStores
from tests.contract.conftest import Stores

BLOCK = 6
NAMES, URLS = ("a-1", "b-1"), ("dynamodb+s3://a", "dynamodb+s3://b")
CONTEXTS = (".", ".small", ".new")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "BLOCK", BLOCK)
    monkeypatch.setattr(fence, "COPIES", 3)


@pytest.fixture
def there(stores: Stores) -> Iterator[Region]:
    """The region of another registry in a store of the same kind, with nothing in it."""
    with EmbeddedStore() as embedded:
        other: Region = embedded.region
        if isinstance(stores, AwsStores):
            other = AwsRegion.of(stores.dynamodb, stores.table, SystemClock(), registry=f"{stores.registry}-b")
        yield other


def arm(stores: Stores, there: Region) -> None:
    giving.carried_out(armed(stores.region, there, CONTEXTS, names=NAMES, urls=URLS, pair="p", now=NOW))


def kinds(stores: Stores, there: Region) -> list[tuple[str, int, str]]:
    return [(role.kind.value, role.epoch, str(role.peer)) for role in (stores.region.role(), there.role()) if role]


def test_ids_are_given_while_the_other_region_joins(stores: Stores, there: Region) -> None:
    """Also where those of the first block are used up: the other one knows of a block more, and would begin above."""
    stores.catalog.raise_counter(".", SchemaId(20))
    stores.catalog.raise_counter(".small", SchemaId(2))
    arm(stores, there)
    assert kinds(stores, there) == [("primary", 1, "b-1"), ("joining", 0, URLS[0])]
    drawn = [giving.carried_out(giving.drawn(stores.region, there, ".")) for _ in range(BLOCK)]
    assert drawn == [21, 22, 23, 24, 25, 26]
    told = there.look(".").counter
    assert told is not None
    assert told.ceiling >= drawn[-1]
    assert giving.carried_out(giving.drawn(stores.region, there, ".small")) == 3
    assert there.look(".small").counter is None


def test_whoever_is_promoted_begins_above_what_was_told(stores: Stores, there: Region) -> None:
    stores.catalog.raise_counter(".", SchemaId(20))
    arm(stores, there)
    joining = there.role()
    assert joining is not None
    assert there.set_role(joining, replace(joining, kind=RegionKind.PRIMARY, epoch=2))
    assert giving.carried_out(giving.drawn(there, stores.region, ".")) > 20 + BLOCK


def test_arming_that_is_cut_off_anywhere_is_done_again(stores: Stores, there: Region) -> None:
    """Before each request, and after it: the same two roles, and a ceiling that the other region knows of."""
    stores.catalog.raise_counter(".", SchemaId(20))
    for cut in range(100):
        course = armed(stores.region, there, CONTEXTS, names=NAMES, urls=URLS, pair=f"p{cut}", now=NOW)
        try:
            answer = None
            for _ in range(cut):
                answer = course.send(answer)()
        except StopIteration:
            break
    assert kinds(stores, there) == [("primary", 1, "b-1"), ("joining", 0, URLS[0])]
    assert len({role.pair for role in (stores.region.role(), there.role()) if role}) == 1
    own, told = stores.region.look(".").counter, there.look(".").counter
    assert own is not None
    assert told is not None
    assert (own.next, own.ceiling) == (20, told.ceiling)
    assert own.ceiling > own.next


@pytest.mark.parametrize("kind, epoch", [(RegionKind.FOLLOWER, 1), (RegionKind.PRIMARY, 2), (RegionKind.JOINING, 2)])
def test_a_region_that_was_one_before_is_not_armed(stores: Stores, there: Region, kind: RegionKind, epoch: int) -> None:
    """It may have given ids: it joins by another way."""
    assert there.set_role(None, Role(epoch, kind, peer=KnownBy(url=URLS[0])))
    with pytest.raises(AlreadyARegion):
        arm(stores, there)
    assert stores.region.role() is None


@pytest.mark.parametrize(
    "role, refusal",
    [
        (Role(1, RegionKind.PRIMARY, peer=KnownBy("b-0"), at="B"), HasAFollower),
        (Role(2, RegionKind.PRIMARY, peer=KnownBy(url="dynamodb+s3://b"), token="planned"), HasAFollower),
        (Role(2, RegionKind.PRIMARY, peer=KnownBy(url="dynamodb+s3://b"), reconciled=False), ToAbandon),
        (Role(3, RegionKind.PRIMARY, open=False), NotTheFollower),
        (Role(3, RegionKind.FOLLOWER, peer=KnownBy(url="dynamodb+s3://b")), NotTheFollower),
    ],
)
def test_a_region_that_has_another_one_is_not_armed(
    stores: Stores, there: Region, role: Role, refusal: type[Exception]
) -> None:
    """One that follows, or that was passed over and may have what this one lacks."""
    assert stores.region.set_role(None, role)
    with pytest.raises(refusal):
        arm(stores, there)
    assert there.role() is None


# --- once more -------------------------------------------------------------------------------------------------------


def lose(stores: Stores, there: Region) -> None:
    """The registry has had a second region, which was given up. Ids are used up to the end of what it may give."""
    arm(stores, there)
    dismissed(stores)


def dismissed(stores: Stores) -> None:
    role = stores.region.role()
    assert role is not None
    assert giving.carried_out(promotion.dismissed(stores.region, str(role.peer))).changed


def follow(stores: Stores, region: Region) -> None:
    """It is complete, as after its copy."""
    ours, theirs = stores.region.role(), region.role()
    assert ours is not None
    assert theirs is not None
    for context in CONTEXTS:
        counter = stores.region.look(context).counter
        seen = region.look(context).counter
        ceiling = rules.raised(rules.ceiling_of(counter, ours.epoch), seen, ours.epoch)
        assert region.copy_ceiling(context, ours.epoch, seen, ceiling)
    following = replace(theirs, kind=RegionKind.FOLLOWER, epoch=ours.epoch)
    assert region.set_role(theirs, following)


def third(stores: Stores) -> AbstractContextManager[Region]:
    @contextmanager
    def opened() -> Iterator[Region]:
        with EmbeddedStore() as embedded:
            if isinstance(stores, AwsStores):
                yield AwsRegion.of(stores.dynamodb, stores.table, SystemClock(), registry=f"{stores.registry}-c")
            else:
                yield embedded.region

    return opened()


@pytest.mark.parametrize("used", [0, 4, 5 * BLOCK])
def test_a_region_that_is_lost_is_followed_by_another_and_no_id_is_given_twice(
    stores: Stores, there: Region, used: int
) -> None:
    """The lost one was promoted by force, and gives all that it can; so does the new one, in its turn."""
    if used:
        stores.catalog.raise_counter(".", SchemaId(used))
    arm(stores, there)
    follow(stores, there)
    given = [*drawn_until_refused(there, None, before=promoted_by_force)]
    dismissed(stores)
    with third(stores) as new:
        armed_again(stores, new)
        assert kinds(stores, new) == [("primary", 3, "c-1"), ("joining", 0, URLS[0])]
        given += [giving.carried_out(giving.drawn(stores.region, new, ".")) for _ in range(3)]
        follow(stores, new)
        given += [giving.carried_out(giving.drawn(stores.region, new, ".")) for _ in range(4 * BLOCK)]
        given += drawn_until_refused(new, None, before=promoted_by_force)
        given += drawn_until_refused(stores.region, None)
    assert len(given) == len(set(given))
    assert min(given) > used


def armed_again(stores: Stores, new: Region) -> None:
    giving.carried_out(
        armed(stores.region, new, CONTEXTS, names=("a-2", "c-1"), urls=(URLS[0], "dynamodb+s3://c"), pair="q", now=NOW),
    )


def promoted_by_force(region: Region) -> None:
    giving.carried_out(promotion.forced(region, now=2 * rules.KNOWN_MS + NOW))


def drawn_until_refused(
    region: Region, peer: Peer | None, before: Callable[[Region], None] = lambda _: None
) -> Iterator[int]:
    """All that a region gives which reaches no other one."""
    before(region)
    with suppress(NoBlock):
        while True:
            yield giving.carried_out(giving.drawn(region, peer, "."))


def test_arming_once_more_that_is_cut_off_anywhere_is_done_again(stores: Stores, there: Region) -> None:
    """Also where ids of the block are used up: after it they go on though the new region joins."""
    stores.catalog.raise_counter(".", SchemaId(20))
    lose(stores, there)
    with third(stores) as new:
        for cut in range(100):
            course = armed(
                stores.region,
                new,
                CONTEXTS,
                names=(f"a{cut}", f"c{cut}"),
                urls=(URLS[0], "dynamodb+s3://c"),
                pair=f"p{cut}",
                now=NOW,
            )
            try:
                answer = None
                for _ in range(cut):
                    answer = course.send(answer)()
            except StopIteration:
                break
        ours, theirs = stores.region.role(), new.role()
        assert ours is not None
        assert theirs is not None
        assert (ours.peer.name, ours.epoch, ours.name, theirs.kind.value) == (theirs.name, 3, "a-1", "joining")
        ids = [giving.carried_out(giving.drawn(stores.region, new, ".")) for _ in range(BLOCK)]
        told = new.look(".").counter
        assert told is not None
        assert 20 < min(ids) <= max(ids) <= told.ceiling


def test_a_region_that_was_given_up_is_not_armed_again(stores: Stores, there: Region) -> None:
    """While it joined, or followed: it begins with nothing, or rejoins."""
    lose(stores, there)
    with pytest.raises(AlreadyARegion):
        arm(stores, there)
    follow(stores, there)
    with pytest.raises(AlreadyARegion):
        arm(stores, there)


def test_a_region_that_was_passed_over_and_abandoned_makes_room(stores: Stores, there: Region) -> None:
    forced = Role(2, RegionKind.PRIMARY, peer=KnownBy(url="dynamodb+s3://b"), name="a-1", reconciled=False, adopts=True)
    assert stores.region.set_role(None, forced)
    giving.carried_out(promotion.abandoned(stores.region, forgets=True))
    arm(stores, there)
    assert kinds(stores, there) == [("primary", 4, "b-1"), ("joining", 0, URLS[0])]


def test_a_silent_region_leaves_the_registry_without_a_role(stores: Stores, there: Region) -> None:
    """The role is the last thing that it gets: until then it is the registry of before."""

    class Silent:
        def __getattr__(self, name: str) -> object:
            raise StoreError("silent")

    with pytest.raises(StoreError):
        giving.carried_out(armed(stores.region, Silent(), CONTEXTS, names=NAMES, urls=URLS, pair="p", now=NOW))  # type: ignore[arg-type]  # it answers nothing
    assert stores.region.role() is None
    assert there.role() is None
