"""A body that was lost from the bucket is put back, whatever happens to the calls that do it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sigla import keys
from sigla.errors import BodyDamaged, Refusal, StoreError
from sigla.model import Body, BodyKey, SchemaId
from sigla.ports.store import Store
from sigla.registry import Registry
from sigla.stores.dynamodb.inventory import AwsInventory
from sigla.stores.s3.objects import Objects
from sigla.upkeep.claiming import has_lost_its_catalog
from sigla.upkeep.flaws import Flaw
from sigla.upkeep.mending import fix
from tests.attack import aws
from tests.attack.aws import failing, faults_of
from tests.attack.ports import At, Call
from tests.attack.stories import BASE, ONE, TWO, USING, register
from tests.build import NOW, FixedClock, StoreOf, a_body
from tests.contract.aws import Account, engine, moto
from tests.contract.engines import BUCKET
from tests.unit.aws.faults import Fault, Killed

__all__ = ["engine", "moto"]

KEY = BodyKey(".", SchemaId(2))
BACK = register("using", USING, "base")
ELSEWHERE = register("another", USING, "base")


class Lost(aws.Store):
    """A registry whose id 2, which references id 1, is damaged as a test likes."""

    def __init__(self, of: Account) -> None:
        super().__init__(of)
        registry = Registry(self.catalog, self.bodies, FixedClock())
        register("base", BASE)(registry)
        BACK(registry)
        self.before = self.bodies.get(KEY)
        self.place = {"Bucket": BUCKET, "Key": keys.body_object(self.stores.registry, KEY)}

    def lose(self) -> None:
        self.stores.s3.delete_object(**self.place)

    def damage(self, content: bytes = b"damaged") -> None:
        self.stores.s3.put_object(**self.place, Body=content)

    def holdings(self, clock: FixedClock) -> Iterator[Store]:
        objects = Objects(self.stores.s3, BUCKET, clock=clock)
        inventory = AwsInventory(objects, self.stores.catalog, clock, registry=self.stores.registry)
        yield StoreOf(self.catalog, self.bodies, self.journal, inventory, clock)
        objects.close()


@pytest.fixture
def lost(moto: Account) -> Iterator[Lost]:
    made = Lost(moto)
    yield made
    made.close()


def meaning(body: Body) -> tuple[object, ...]:
    return body.schema, body.guid, body.targets, body.subject, body.version, body.ts, body.gone, body.compiled


# The others are for long runs.
FAULTS = [pytest.param(each, marks=() if each in (Fault.LOST, Fault.KILLED) else pytest.mark.soak) for each in Fault]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_registration_puts_a_lost_body_back_whatever_fails(lost: Lost, fault: Fault) -> None:
    """Before, after, without an answer: the body is missing or right, and once more makes it right."""

    def struck(call: Call, carry_out: Callable[[], Any]) -> Any:
        return failing(fault)(call, carry_out) if fault in faults_of(call) else carry_out()

    for number in range(40):
        lost.lose()
        between = At(number, struck)
        told = True
        try:
            assert BACK(Registry(*lost.watched(between), FixedClock())).id == 2
        except (StoreError, Refusal, Killed):
            told = False
        if told:
            assert meaning(lost.bodies.get(KEY)) == meaning(lost.before)
        assert BACK(Registry(*lost.instance(), FixedClock())).id == 2
        assert meaning(lost.bodies.get(KEY)) == meaning(lost.before)
        assert lost.bodies.named(lost.before.guid) == (KEY,)
        if not between.acted:
            break
    else:
        pytest.fail("it asks too often")
    lost.check()


def test_who_registers_it_elsewhere_puts_it_back_as_who_had_it_first(lost: Lost) -> None:
    """Its birth is in the catalog."""
    lost.lose()
    assert ELSEWHERE(Registry(*lost.instance(), FixedClock(NOW + 1))).id == 2
    assert meaning(lost.bodies.get(KEY)) == meaning(lost.before)
    lost.check()


def test_a_damaged_body_is_restored_from_the_newest_sound_version(lost: Lost) -> None:
    """By a scrub that is asked to; what others wrote over it, and what was invalid then already, is passed by."""
    for holdings in lost.holdings(FixedClock()):
        lost.damage()
        registry = Registry(lost.catalog, lost.bodies, FixedClock())
        with pytest.raises(BodyDamaged):
            BACK(registry)
        lost.damage(b"")
        for _ in range(2):
            assert fix(holdings, Flaw("UNREADABLE_OBJECT", *KEY))
            assert lost.bodies.get(KEY) == lost.before
        assert BACK(registry).id == 2
        lost.check()


def test_a_lost_body_is_restored_from_beneath_its_delete_marker(lost: Lost) -> None:
    """The bucket's policy lets no principal delete; an administrator can take the policy away."""
    for holdings in lost.holdings(FixedClock()):
        lost.lose()
        assert fix(holdings, Flaw("META_NO_OBJECT", *KEY))
        assert lost.bodies.get(KEY) == lost.before


def test_what_agrees_with_itself_and_not_with_its_versions_is_not_restored(lost: Lost) -> None:
    """A sound body of other content may have stood there longer than the right one; the catalog tells them apart."""
    for holdings in lost.holdings(FixedClock()):
        lost.bodies.mend(KEY, a_body("other"), lost.before)
        assert fix(holdings, Flaw("HASH_MISMATCH", *KEY, "using"))
        assert lost.bodies.get(KEY) == lost.before


def test_where_no_version_is_sound_nothing_is_written(lost: Lost) -> None:
    """It says that it could not."""
    key = BodyKey(".", SchemaId(1))
    place = {"Bucket": BUCKET, "Key": keys.body_object(lost.stores.registry, key)}
    for version in lost.stores.s3.list_object_versions(Bucket=BUCKET, Prefix=place["Key"])["Versions"]:
        lost.stores.s3.delete_object(**place, VersionId=version["VersionId"])
    lost.stores.s3.put_object(**place, Body=b"damaged")
    for holdings in lost.holdings(FixedClock()):
        assert not fix(holdings, Flaw("UNREADABLE_OBJECT", *key))
    assert lost.stores.s3.get_object(**place)["Body"].read() == b"damaged"


def test_a_tombstone_that_was_damaged_is_restored_as_one(lost: Lost) -> None:
    """The newest sound version may be from before the delete: the catalog says what the body has to say."""
    registry = Registry(lost.catalog, lost.bodies, FixedClock())
    record = register("gone", ONE)(registry)
    key = BodyKey(".", record.id)
    place = {"Bucket": BUCKET, "Key": keys.body_object(lost.stores.registry, key)}
    for permanent in (False, True):
        registry.delete_version(record.subject, record.version, permanent=permanent)
    versions = lost.stores.s3.list_object_versions(Bucket=BUCKET, Prefix=place["Key"])["Versions"]
    newest = next(each for each in versions if each["IsLatest"])
    lost.stores.s3.delete_object(**place, VersionId=newest["VersionId"])
    lost.stores.s3.put_object(**place, Body=b"damaged")
    for holdings in lost.holdings(FixedClock()):
        assert fix(holdings, Flaw("UNREADABLE_OBJECT", *key))
    assert lost.bodies.get(key).gone


def test_a_table_that_knows_nothing_beside_a_bucket_with_bodies_is_told(lost: Lost, moto: Account) -> None:
    """Mostly it is the wrong table; a fresh place has neither, and one that is at work has both."""
    register("base", TWO, force=True)(Registry(lost.catalog, lost.bodies, FixedClock()))
    for holdings in lost.holdings(FixedClock()):
        assert not has_lost_its_catalog(holdings)
        with moto.stores() as empty:
            beside = StoreOf(empty.catalog, lost.bodies, lost.journal, holdings.inventory, holdings.clock)
            assert has_lost_its_catalog(beside)
