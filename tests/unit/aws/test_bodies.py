"""Bodies in S3: how many calls they cost, and what every failure of a call leaves behind."""

import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla import keys
from sigla.errors import BodyDamaged, BodyMissing, StoreError, Taken
from sigla.model import Body, BodyKey, SchemaId
from sigla.stores.s3.bodies import AwsBodies, _pointed
from sigla.stores.s3.objects import PAGE, TRIES, Objects, Page
from tests.build import FixedClock, a_body, a_guid, put_all
from tests.contract.engines import BUCKET, OneAtATime, in_process
from tests.unit.aws.faults import Call, Fault, Faults, Killed, no_fault, once
from tests.unit.aws.journaling import at_any_call

ONE = BodyKey(".", SchemaId(1))
TWO = BodyKey(".", SchemaId(2))


_registries = (f"registry-{number}" for number in itertools.count(1))


class Account:
    """Bodies of a fresh registry; `faults` has what was called and decides what fails."""

    def __init__(self, s3: Any, faults: Faults) -> None:
        self.s3 = s3
        self.registry = next(_registries)
        self.clock = FixedClock()
        self.client = OneAtATime(s3)
        self.faults = faults
        self.objects = Objects(self.client, BUCKET, clock=self.clock)
        self.bodies = AwsBodies(self.objects, registry=self.registry)

    def called(self, does: Callable[[], object]) -> dict[str, int]:
        """How often each operation is called meanwhile."""
        before = len(self.faults.calls)
        does()
        operations = [call.operation for call in self.faults.calls[before:]]
        return {name: operations.count(name) for name in sorted(operations)}


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    with in_process() as clients:
        yield clients.s3


@pytest.fixture(scope="module")
def faults(s3: Any) -> Faults:
    return Faults(s3)


@pytest.fixture
def account(s3: Any, faults: Faults) -> Iterator[Account]:
    made = Account(s3, faults)
    yield made
    faults.plan = no_fault
    made.objects.close()


# --- what it costs ---------------------------------------------------------------------------------------------------


def test_every_verb_costs_what_is_budgeted(account: Account) -> None:
    """Writing two puts, reading one get; by content one list and a look at each body it points to."""
    bodies, body = account.bodies, a_body("t")
    assert account.called(lambda: bodies.put(ONE, body)) == {"PutObject": 2}
    assert account.called(lambda: bodies.get(ONE)) == {"GetObject": 1}
    assert account.called(lambda: bodies.put(ONE, body)) == {"GetObject": 1, "PutObject": 2}
    bodies.put(TWO, a_body("t"))
    assert account.called(lambda: bodies.get_many([ONE, TWO, ONE])) == {"GetObject": 2}
    assert account.called(lambda: bodies.get_many([])) == {}
    assert account.called(lambda: bodies.named(body.guid)) == {"GetObject": 2, "ListObjectsV2": 1}
    assert account.called(lambda: bodies.last(".")) == {"ListObjectsV2": 1}
    assert account.called(lambda: bodies.bury(ONE)) == {"GetObject": 1, "PutObject": 1}
    assert account.called(lambda: bodies.bury(ONE)) == {"GetObject": 1}
    assert account.called(lambda: bodies.revive(ONE, body)) == {"GetObject": 2, "PutObject": 3}
    assert account.called(lambda: bodies.revive(ONE, body)) == {"GetObject": 2, "PutObject": 2}


@pytest.mark.parametrize("verb", ["put", "get_many"])
def test_what_can_be_done_side_by_side_is(account: Account, verb: str) -> None:
    """Each of two calls waits for the other to begin: one after the other they would never end."""
    put_all(account.bodies, ".", [1, 2])
    both = threading.Barrier(2, timeout=10)

    operation = "put_object" if verb == "put" else "get_object"
    call = getattr(account.client, operation)

    def meet(**parameters: object) -> Any:
        both.wait()
        return call(**parameters)

    # Before the lock that keeps this account's calls apart.
    account.client.__dict__[operation] = meet
    if verb == "put":
        account.bodies.put(BodyKey(".", SchemaId(3)), a_body())
    else:
        assert len(account.bodies.get_many([ONE, TWO])) == 2


# --- what failures leave ---------------------------------------------------------------------------------------------

OLD, NEW = a_body("t"), a_body("t")
TOMBSTONE = replace(OLD, gone=True)


def _buried(bodies: AwsBodies) -> None:
    bodies.put(ONE, OLD)
    bodies.bury(ONE)


VERBS: dict[str, tuple[Callable[[AwsBodies], object], Callable[[AwsBodies], object], Body | None, Body]] = {
    "put": (lambda _: None, lambda bodies: bodies.put(ONE, OLD), None, OLD),
    "bury": (lambda bodies: bodies.put(ONE, OLD), lambda bodies: bodies.bury(ONE), OLD, TOMBSTONE),
    "revive": (_buried, lambda bodies: bodies.revive(ONE, NEW), TOMBSTONE, NEW),
    "revive the very body": (_buried, lambda bodies: bodies.revive(ONE, OLD), TOMBSTONE, OLD),
    "revive what is not there": (lambda _: None, lambda bodies: bodies.revive(ONE, NEW), None, NEW),
}
"""By name: what was before, the verb, the body before and after."""

Which = Callable[[Call], bool]


def _body_put(call: Call) -> bool:
    return call.operation == "PutObject" and "/schemas/" in call.path


def _pointer_put(call: Call) -> bool:
    return call.operation == "PutObject" and "/guids/" in call.path


def _get(call: Call) -> bool:
    return call.operation == "GetObject"


def _put_over_what_was_read() -> Which:
    read: list[Call] = []

    def wanted(call: Call) -> bool:
        if _get(call):
            read.append(call)
        return bool(read) and _body_put(call)

    return wanted


CALLS: dict[str, Callable[[], Which]] = {
    "body": lambda: _body_put,
    "pointer": lambda: _pointer_put,
    "get": lambda: _get,
    "replacement": _put_over_what_was_read,
}


# Done or not, known or not, and told to come again: the others leave what one of these leaves.
@pytest.mark.parametrize("fault", at_any_call(Fault.SILENT, Fault.LOST, Fault.UNDECIDED, Fault.KILLED_AFTER))
@pytest.mark.parametrize("where", CALLS)
@pytest.mark.parametrize("verb", VERBS)
def test_a_failure_leaves_nothing_or_all_and_a_retry_heals(
    account: Account, verb: str, where: str, fault: Fault
) -> None:
    """Whatever the call: the body is what it was or what it shall be, and content never leads to a wrong id."""
    prepare, does, before, after = VERBS[verb]
    prepare(account.bodies)
    account.faults.plan = once(CALLS[where](), fault)
    told = True
    try:
        does(account.bodies)
    except (StoreError, Killed):
        told = False
    account.faults.plan = no_fault

    def standing() -> Body | None:
        try:
            return account.bodies.get(ONE)
        except BodyMissing:
            return None

    assert standing() in ([after] if told else [before, after])
    assert account.bodies.named(OLD.guid) in ([(ONE,)] if told else [(), (ONE,)])
    does(account.bodies)
    assert standing() == after
    assert account.bodies.named(OLD.guid) == (ONE,)


@pytest.mark.parametrize("fault", [Fault.UNREACHED, Fault.THROTTLED, Fault.KILLED], ids=lambda fault: fault.name)
def test_a_body_without_its_pointer_gets_it_from_who_adopts_it(account: Account, fault: Fault) -> None:
    """Another writer of the same content meets the orphan, and takes its id."""
    account.faults.plan = once(_pointer_put, fault)
    with pytest.raises((StoreError, Killed)):
        account.bodies.put(ONE, OLD)
    assert account.bodies.named(OLD.guid) == ()
    with pytest.raises(Taken):
        account.bodies.put(ONE, NEW)
    assert account.bodies.named(OLD.guid) == (ONE,)


def test_a_pointer_to_what_another_writer_won_is_not_believed(account: Account) -> None:
    """One to a body that is not there may be right: it was never written, or is lost, and whoever reads it is told."""
    account.bodies.put(ONE, a_body("a"))
    with pytest.raises(Taken):
        account.bodies.put(ONE, a_body("b"))
    account.faults.plan = once(_body_put, Fault.UNREACHED)
    with pytest.raises(StoreError):
        account.bodies.put(TWO, a_body("b"))
    assert account.bodies.named(a_guid("a")) == (ONE,)
    assert account.bodies.named(a_guid("b")) == (TWO,)
    with pytest.raises(BodyMissing):
        account.bodies.get(TWO)


@pytest.mark.parametrize("verb", VERBS)
def test_who_writes_at_the_same_moment_is_waited_for(account: Account, verb: str) -> None:
    """S3 answers 409 while another write is under way; trying again settles it."""
    prepare, does, _, after = VERBS[verb]
    prepare(account.bodies)
    account.faults.plan = once(_body_put, Fault.UNDECIDED)
    does(account.bodies)
    assert account.bodies.get(ONE) == after
    assert len(account.clock.slept) == 1


def test_it_does_not_wait_for_ever(account: Account) -> None:
    """After some seconds of pauses the writer is told."""
    account.faults.plan = lambda call: Fault.UNDECIDED if call.operation == "PutObject" else None
    with pytest.raises(StoreError, match=f"{TRIES} times"):
        account.bodies.put(ONE, OLD)
    assert sum(account.clock.slept) < 2 * 6.4  # the body's and the pointer's
    assert len(account.clock.slept) == 2 * (TRIES - 1)


def test_a_tombstone_is_put_only_over_the_body_that_was_seen(account: Account) -> None:
    """Between look and write another brings it back to life; the second look sees that."""
    account.bodies.put(ONE, OLD)
    revived = replace(NEW, ts=OLD.ts + 1)
    # Not through the lock that the first writer holds.
    other = AwsBodies(Objects(account.s3, BUCKET, clock=account.clock), registry=account.registry)

    def meanwhile(call: Call) -> None:
        if call.operation == "PutObject":
            account.faults.plan = no_fault
            other.bury(ONE)
            other.revive(ONE, revived)

    account.faults.plan = meanwhile
    account.bodies.bury(ONE)
    assert account.bodies.get(ONE) == replace(revived, gone=True)


# --- what S3 may be like ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"no JSON"])
def test_an_object_that_is_no_body_is_a_failure_of_the_store(account: Account, content: bytes) -> None:
    """It is there, so it is not "not found"."""
    account.s3.put_object(Bucket=BUCKET, Key=keys.body_object(account.registry, ONE), Body=content)
    with pytest.raises(BodyDamaged, match=r"id 1 in context \. is damaged"):
        account.bodies.get(ONE)


@pytest.mark.parametrize("fault", [Fault.UNREACHED, Fault.SILENT, Fault.THROTTLED], ids=lambda fault: fault.name)
def test_silence_is_never_taken_for_absence(account: Account, fault: Fault) -> None:
    """Each read says that the store failed."""
    account.bodies.put(ONE, OLD)
    account.faults.plan = lambda _: fault
    reads: list[Callable[[], object]] = [
        lambda: account.bodies.get(ONE),
        lambda: account.bodies.get_many([ONE, TWO]),
        lambda: account.bodies.named(OLD.guid),
        lambda: account.bodies.last("."),
    ]
    for read in reads:
        with pytest.raises(StoreError) as failure:
            read()
        assert failure.value.__cause__ is not None


def test_a_bucket_that_is_not_there_is_a_failure_of_the_store(account: Account) -> None:
    """Not an empty registry."""
    elsewhere = AwsBodies(Objects(account.client, "elsewhere", clock=account.clock))
    with pytest.raises(StoreError):
        elsewhere.get(ONE)
    with pytest.raises(StoreError):
        elsewhere.last(".")


def test_registries_share_a_bucket_and_nothing_else(account: Account) -> None:
    """Each has its own ids and contents."""
    other = AwsBodies(account.objects, registry=next(_registries))
    account.bodies.put(ONE, OLD)
    assert other.last(".") == 0
    assert other.named(OLD.guid) == ()
    other.put(ONE, a_body("b"))
    assert account.bodies.get(ONE) == OLD


def test_a_list_of_many_pages_is_read_to_its_end(account: Account) -> None:
    """Here two names make a page."""

    def short(params: dict[str, Any], **_: object) -> None:
        params["MaxKeys"] = 2

    for id in (7, 1, 30, 4, 2):
        account.bodies.put(BodyKey(".eu", SchemaId(id)), a_body("t"))
    account.s3.meta.events.register("provide-client-params.s3.ListObjectsV2", short)
    try:
        assert [key.id for key in account.bodies.named(a_guid("t"))] == [1, 2, 4, 7, 30]
        assert account.bodies.last(".eu") == 30
    finally:
        account.s3.meta.events.unregister("provide-client-params.s3.ListObjectsV2", short)


class Shelf(Objects):
    """The bodies of a context by their ids alone; counts how often it was listed."""

    def __init__(self, ids: range | set[int]) -> None:
        self.ids = ids if isinstance(ids, range) else sorted(ids)
        self.listed = 0

    def page(self, prefix: str, *, after: str = "", most: int = PAGE) -> Page:
        self.listed += 1
        low = int(after.removeprefix(prefix).removesuffix(".json")) if after else -1
        if isinstance(self.ids, range):
            start = max(low + 1, self.ids.start)
            found = list(range(start, min(start + most + 1, self.ids.stop)))
        else:
            found = [id for id in self.ids if id > low]
        return Page(tuple(f"{prefix}{id:010}.json" for id in found[:most]), len(found) > most)


IDS = st.one_of(st.integers(0, 5000), st.integers(0, 2**31 - 1), st.just(2**31 - 1))


@given(st.sets(IDS), st.lists(st.tuples(IDS, st.integers(1, 3000)), max_size=2))
def test_the_last_of_any_ids_is_found_in_few_listings(loose: set[int], runs: list[tuple[int, int]]) -> None:
    """Dense, sparse, or high because of an import."""
    dense = {id for first, length in runs for id in range(first, min(first + length, 2**31))}
    shelf = Shelf(loose | dense)
    assert AwsBodies(shelf).last(".") == max(loose | dense, default=0)
    assert shelf.listed <= 45


@pytest.mark.parametrize("stored, listings", [(0, 1), (1_000, 1), (1_001, 3), (20_000, 11), (1_000_000, 21)])
def test_the_last_of_dense_ids_costs_listings_by_their_logarithm(stored: int, listings: int) -> None:
    """A counter that is older than its bodies is put right in a second or two."""
    shelf = Shelf(range(1, stored + 1))
    assert AwsBodies(shelf).last(".") == stored
    assert shelf.listed <= listings


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.integers(0, 2**31 - 1))
def test_a_pointer_is_read_as_it_was_named(name: str, id: int) -> None:
    """Whatever the context is called."""
    for context in (".", f".{name}"):
        key = BodyKey(context, SchemaId(id))
        pointer = keys.guid_object("r", a_guid("t"), key)
        assert _pointed(pointer.removeprefix(keys.guid_prefix("r", a_guid("t")))) == key
