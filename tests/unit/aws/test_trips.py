"""Round trips are counted: each verb, on an instance as the function is wired, asks AWS what the table says, and when.

Moto answers in this process, one call at a time or several: nothing here writes twice in the same moment.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.trips import TRIPS
from sigla.associations.nouns import Selection
from sigla.associations.verbs import reading
from sigla.aws.secrets import AwsSecrets
from sigla.cache.members.local import LocalMember
from sigla.cache.ring import Ring
from sigla.cache.speakers import Speakers
from sigla.changes import Author
from sigla.changes.kinds import DAY_MS
from sigla.errors import SchemaNotFound
from sigla.exporters.verbs import asking
from sigla.model import LATEST, BodyKey, Draft, Page, SchemaId, Search, Show, Version
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.marks import Marks
from sigla.ports.reads import Read
from sigla.registry import Registry
from sigla.registry.attributed import attributed
from sigla.rules import names
from sigla.stores.dynamodb.marks import BucketMark, TableMark
from sigla.stores.ownership import OwnBodies, OwnCatalog, Ownership
from sigla.stores.s3.objects import Objects
from tests.attack.associations import weak
from tests.attack.exporters import MASKED, NEXT, THERE, created, deleted, paused, restarted, resumed, updated
from tests.attack.stories import BASE, ONE, TWO, USING, config, register
from tests.attack.world import Verb
from tests.build import FixedClock, tiers_before
from tests.contract.aws import Account, AwsStores
from tests.contract.engines import BUCKET, in_process
from tests.contract.tables import Tables
from tests.unit.aws.metering import metered

A, ALL = names.subject("a"), Page()
GUID = "4b77c730-6bf0-4b39-46f6-8f30c367cb3f"
"""Of ONE, by the recipe of rules/guid.py."""
A_MINUTE_S = 60
IDENTITY = "a" * 32
PAGE = Path(__file__).parents[3] / "docs" / "architecture.md"


@pytest.fixture(scope="module")
def moto() -> Iterator[Account]:
    """Without the locks of others: calls that are made side by side have to be so here."""
    with in_process(tables=Tables()) as clients, closing(Objects(clients.s3, BUCKET, clock=FixedClock())) as objects:
        yield Account(clients, clients.dynamodb, clients.s3, objects)


@contextmanager
def instance(
    stores: AwsStores, clock: FixedClock, ring: LocalMember | None = None, *, looking: bool = False
) -> Iterator[Registry]:
    """One that has just begun. ring: of its zone, with one member, if it has one. looking: at whose the data is."""
    with ExitStack() as opened:
        catalog: Catalog = opened.enter_context(stores.another_catalog())
        bodies: Bodies = stores.bodies
        if looking:
            ownership = opened.enter_context(owning(stores, clock))
            catalog, bodies = OwnCatalog(catalog, ownership), OwnBodies(bodies, ownership)
        tiers = tiers_before(bodies, clock, ring=Ring({"one": ring} if ring else {}, clock))
        speakers = Speakers(catalog, tiers, clock, remembered_ms=1000 * A_MINUTE_S)
        secrets = AwsSecrets(stores.clients, stores.table, registry=stores.registry)
        yield Registry(
            opened.enter_context(closing(speakers)),
            tiers,
            clock,
            secrets=secrets,
            principals=stores.principals,
            reads=stores.reads,
        )


@contextmanager
def owning(stores: AwsStores, clock: FixedClock) -> Iterator[Ownership]:
    """The ownership of the deployment that the registry's table and bucket are of."""
    with closing(Objects(stores.s3, BUCKET, clock=clock)) as objects:
        table = TableMark(stores.dynamodb, stores.table, clock, registry=stores.registry)
        marks = Marks(table, BucketMark(objects, BUCKET, registry=stores.registry))
        for mark in marks:
            mark.write(IDENTITY, "")
        with closing(Ownership(IDENTITY, marks, clock)) as ownership:
            yield ownership


@dataclass(frozen=True)
class Case:
    """before: what others have done. warm: what the same instance was asked before. later: seconds in between.

    zone: whether all of them are in one zone, with a ring. looking: whether the instance looks whose the data is.
    """

    verb: Verb
    before: tuple[Verb, ...] = ()
    warm: tuple[Verb, ...] = ()
    later: float = 0
    zone: bool = False
    looking: bool = False


def by_id(id: int = 1, subject: str | None = None) -> Verb:
    scope = None if subject is None else names.subject(subject)
    return lambda registry: registry.schema_by_id(SchemaId(id), subject=scope)


def by_guid(registry: Registry) -> object:
    return registry.schema_by_guid(GUID)


def version(number: Version) -> Verb:
    return lambda registry: registry.version(A, number)


def subjects(prefix: str = "") -> Verb:
    return lambda registry: registry.subjects(Search(name_prefix=prefix), show=Show.ACTIVE, page=ALL)


def delete_version(*, permanent: bool = False) -> Verb:
    return lambda registry: registry.delete_version(A, Version(1), permanent=permanent)


def delete_subject(*, permanent: bool = False) -> Verb:
    return lambda registry: registry.delete_subject(A, permanent=permanent)


def subject_of(topic: str) -> Verb:
    return lambda registry: reading.of_name(registry, "-", topic, Selection("topic", ("value",)), ALL)


def by_a_key(verb: Verb) -> Verb:
    """The verb as a key asks for it, whose token the journal names."""
    return lambda registry: verb(attributed(registry, Author("orders-team", "api", "request-1", "192.0.2.1")))


def history(registry: Registry) -> object:
    return registry.names_of({entry.by for entry in registry.subject_history(A, page=ALL)})


def noting(principal: str, id: int = 1) -> Verb:
    read = Read(BodyKey(".", SchemaId(id)), "", principal)
    return lambda registry: registry.reads.note([read], registry.clock.now(), DAY_MS)


ORDERS = register("a", ONE)
KNOWN = (ORDERS,)
BASED = (register("base", BASE),)
STOPPED = (created(), paused())

CASES: dict[str, Case] = {
    "read by id": Case(by_id(), KNOWN),
    "read by id, and whose it is": Case(by_id(), KNOWN, looking=True),
    "read by id again": Case(by_id(), KNOWN, (by_id(),)),
    "read by id after a minute": Case(by_id(), KNOWN, (by_id(),), later=A_MINUTE_S),
    "read by id in a warm zone": Case(by_id(), (ORDERS, by_id()), zone=True),
    "read an unknown id": Case(by_id(9), KNOWN),
    "read by id for a subject": Case(by_id(1, "a"), KNOWN),
    "read by id for a subject again": Case(by_id(1, "a"), KNOWN, (by_id(1, "a"),)),
    "read by id for a subject that has not got it": Case(by_id(1, "b"), KNOWN),
    "read by guid": Case(by_guid, KNOWN),
    "read by guid again": Case(by_guid, KNOWN, (by_guid,)),
    "read by guid what only a named context has": Case(by_guid, (register(":.eu:a", ONE),)),
    "note a read that is noted today": Case(noting(""), (noting(""),), (noting("", 2),)),
    "note the first read of a day": Case(noting(""), (), (noting("", 2),)),
    "note the first read of a key": Case(noting("billing"), (), (noting("", 2),)),
    "read the usage of a subject": Case(lambda registry: registry.usage(A), (ORDERS, noting(""))),
    "read the latest version": Case(version(LATEST), KNOWN),
    "read the latest version again": Case(version(LATEST), KNOWN, (version(LATEST),)),
    "read a version": Case(version(Version(1)), KNOWN),
    "look a schema up": Case(lambda registry: registry.lookup(A, Draft(ONE)), KNOWN),
    "list the versions of a subject": Case(lambda registry: registry.versions(A, page=ALL), KNOWN),
    "read the history of a subject": Case(history, KNOWN),
    "read the history of a subject, with names": Case(history, (by_a_key(ORDERS),)),
    "read a config": Case(lambda registry: registry.config(A, default_to_global=True)),
    "read a config, and whose it is": Case(lambda registry: registry.config(A, default_to_global=True), looking=True),
    "register a known schema": Case(ORDERS, KNOWN),
    "register a known schema again": Case(ORDERS, KNOWN, (ORDERS,)),
    "register a known schema, spelled otherwise": Case(register("a", f" {ONE}"), KNOWN),
    "register a known schema, spelled otherwise, again": Case(register("a", f" {ONE}"), KNOWN, (by_id(),)),
    "register a known schema by an alias": Case(register("b", ONE), (ORDERS, config("b", alias="a"))),
    "register a first version": Case(ORDERS),
    "register a first version, and whose it is": Case(ORDERS, looking=True),
    "register a first version in a named context": Case(register(":.c:a", ONE)),
    "register a next version": Case(register("a", TWO), KNOWN, (by_id(),)),
    "register a next version, cold": Case(register("a", TWO), KNOWN),
    "register a first version, by a new key": Case(by_a_key(ORDERS)),
    "register a next version, by a key": Case(by_a_key(register("a", TWO)), (by_a_key(ORDERS),), (by_id(),)),
    "register a next version, by a key again": Case(
        by_a_key(register("a", TWO)), KNOWN, (by_id(), by_a_key(register("b", BASE)))
    ),
    "register a schema with a reference": Case(register("using", USING, "base"), BASED, (by_id(),)),
    "register a schema with a reference, cold": Case(register("using", USING, "base"), BASED),
    "register a schema that another subject has": Case(register("b", ONE), KNOWN),
    "check a schema against the latest version": Case(lambda registry: registry.check(A, Draft(TWO)), KNOWN),
    "list subjects": Case(subjects(), KNOWN),
    "list subjects, and whose it is": Case(subjects(), KNOWN, looking=True),
    "list subjects by a prefix": Case(subjects("a"), KNOWN),
    "list schemas by a prefix": Case(lambda registry: registry.schemas(Search(name_prefix="a"), page=ALL), KNOWN),
    "list who uses an id": Case(
        lambda registry: registry.holders_of(SchemaId(1), subject=None, deleted=False, page=ALL), KNOWN
    ),
    "find the subject of a topic": Case(subject_of("t"), (ORDERS, weak("t", "a"))),
    "associate a topic": Case(weak("t", "a"), KNOWN),
    "associate a topic with a subject that others use": Case(
        weak("t", "a"), (ORDERS, weak("u", "a"), weak("v", "a"), weak("w", "a"))
    ),
    "list exporters": Case(asking.exporter_names, (created(),)),
    "read an exporter": Case(lambda registry: asking.read_exporter(registry, "e"), (created(),)),
    "read the status of an exporter": Case(lambda registry: asking.read_progress(registry, "e"), (created(),)),
    "create an exporter": Case(created(config=THERE)),
    "create an exporter with credentials": Case(created()),
    "change an exporter": Case(updated(subjects=("a",)), STOPPED),
    "change the credentials of an exporter": Case(updated(config=NEXT), STOPPED),
    "change the config of an exporter, not its credentials": Case(updated(config=MASKED), STOPPED),
    "pause an exporter": Case(paused(), (created(),)),
    "pause an exporter that is paused": Case(paused(), STOPPED),
    "resume an exporter": Case(resumed(), STOPPED),
    "reset an exporter": Case(restarted(), STOPPED),
    "delete an exporter": Case(deleted(), STOPPED),
    "change a config": Case(config("a", level="FULL")),
    "delete a version": Case(delete_version(), KNOWN),
    "delete a version for good": Case(delete_version(permanent=True), (ORDERS, delete_version())),
    "delete a subject": Case(delete_subject(), KNOWN),
    "delete a subject for good": Case(delete_subject(permanent=True), (ORDERS, delete_subject())),
}


def test_every_row_of_the_table_is_counted() -> None:
    assert CASES.keys() == TRIPS.keys()


@pytest.mark.parametrize("name", CASES)
def test_a_verb_asks_what_the_table_says(moto: Account, name: str) -> None:
    """Round by round: what is told to be side by side is under way at the same time."""
    case, told, clock = CASES[name], TRIPS[name], FixedClock()
    with ExitStack() as opened:
        stores = opened.enter_context(moto.stores())
        ring = LocalMember(clock) if case.zone else None
        for verb in case.before:
            clock.sleep(1)  # a commit in the same millisecond as another instance's would have to be tried twice
            verb(opened.enter_context(instance(stores, clock, ring)))
        registry = opened.enter_context(instance(stores, clock, ring, looking=case.looking))
        for verb in case.warm:
            verb(registry)
        clock.sleep(1 + case.later)
        with metered(moto.clients, told.rounds) as meter, suppress(SchemaNotFound):
            case.verb(registry)
    assert meter.seen == tuple(tuple(sorted(each)) for each in told.rounds)
    assert (meter.read, meter.write) == (told.read, told.write)


def test_calls_that_wait_for_each_other_are_not_taken_for_one_round(moto: Account) -> None:
    """The meter would tell: nothing comes together that is not under way at the same time."""
    together = (("BatchGetItem", "Query"),)
    with moto.stores() as stores, instance(stores, FixedClock()) as registry:
        ORDERS(registry)
        with metered(moto.clients, together, 0.01) as meter:
            registry.versions(A, page=ALL)
    assert meter.seen != together


def listed(calls: Mapping[str, int], *, s3: bool) -> str:
    wanted = {name: number for name, number in calls.items() if ("Object" in name) == s3}
    return ", ".join(name if number == 1 else f"{number} {name}" for name, number in wanted.items())


def test_the_page_tells_what_is_counted() -> None:
    """A part of the table is in docs/architecture.md, for those who reckon with latency or costs."""
    page = PAGE.read_text(encoding="utf-8")
    table = page[page.index("\n## What AWS is asked\n") :].split("\n## ")[1]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    for row in rows:
        name = row.split(" | ")[0].removeprefix("| ")
        told = TRIPS[name]
        dynamodb, s3 = listed(told.calls, s3=False), listed(told.calls, s3=True)
        assert row == f"| {name} | {dynamodb} | {s3} | {told.read} + {told.write} | {told.serial} |"
    assert len(rows) > 10
