"""Builders: a test names what it is about and takes the rest as it comes."""

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from io import StringIO
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import orjson

from sigla import records
from sigla.auth.credentials import BASIC
from sigla.auth.permissions import Principal
from sigla.cache.memory import Memory
from sigla.cache.ring import Ring
from sigla.cache.single_flight import SingleFlight
from sigla.cache.tiers import Tiers
from sigla.changes import Head, Imported, ImportedVersion, Registered
from sigla.model import (
    Body,
    BodyKey,
    Draft,
    Guid,
    Row,
    Schema,
    SchemaId,
    Subject,
    Target,
    Version,
)
from sigla.ports.audits import Audits, NoAudits
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla.ports.inventory import Inventory
from sigla.ports.journal import Journal
from sigla.ports.log import Link, Log, LogEntry, Misfit, RecentLog
from sigla.ports.marks import Marks, Served
from sigla.ports.principals import NoPrincipals, Principals
from sigla.ports.reads import NoReads, Reads
from sigla.ports.regions import Region
from sigla.ports.secrets import NoSecrets, Secrets
from sigla.ports.zones import Zones
from sigla.regions.nouns import RegionSeen
from sigla.rules.guid import guid_of

NOW = 1_700_000_000_000
_counter = itertools.count(1)


class Terminal(StringIO):
    """A terminal: what is written is looked at."""

    def isatty(self) -> bool:
        return True


@dataclass
class FixedClock:
    """A clock that a test moves by hand; sleeping moves it too and is remembered.

    set_by: milliseconds by which an administrator has set the time of day, which nothing else notices.
    """

    time: int = NOW
    slept: list[float] = field(default_factory=list)
    set_by: int = 0

    def now(self) -> int:
        return self.time + self.set_by

    def elapsed(self) -> int:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += round(seconds * 1000)


@dataclass(eq=False)
class MemoryMark:
    """A `ports.Mark` in memory. looks: how often it was read. failure: what reading it raises."""

    kind: str
    name: str = "orders"
    identity: str = ""
    looks: int = 0
    failure: Exception | None = None

    def read(self) -> str:
        self.looks += 1
        if self.failure:
            raise self.failure
        return self.identity

    def write(self, identity: str, seen: str) -> bool:
        if self.identity != seen:
            return False
        self.identity = identity
        return True


class NoLog:
    """A `ports.Log` that tells nothing."""

    link = "row"

    def links(self) -> Iterator[Link]:
        return iter(())

    def end(self) -> Link | None:
        return None

    def newest(self) -> int:
        return 0

    def misfits(self) -> Iterator[Misfit]:
        return iter(())

    def entries(self, since: int = 0) -> Iterator[LogEntry]:
        del since
        return iter(())


@dataclass(frozen=True)
class StoreOf:
    """A `ports.Store` put together of the parts of others."""

    catalog: Catalog
    bodies: Bodies
    journal: Journal
    inventory: Inventory
    clock: Clock
    marks: Marks | None = None
    zones: Zones | None = None
    secrets: Secrets = field(default_factory=NoSecrets)
    principals: Principals = field(default_factory=NoPrincipals)
    reads: Reads = field(default_factory=NoReads)
    audits: Audits = field(default_factory=NoAudits)
    log: Log = field(default_factory=NoLog)
    recent_log: RecentLog | None = None
    served: Served | None = None

    @property
    def region(self) -> Region:
        """What is put together like this is of no second region: nothing more is asked of it."""
        return cast("Region", SimpleNamespace(look=lambda _: RegionSeen(None, None)))

    def mark(self) -> str:
        """It meets itself nowhere."""
        return ""

    def group(self) -> AbstractContextManager[None]:
        return nullcontext()

    def unsettled(self, _: BodyKey) -> bool:
        return False

    def on_replaced(self, tell: Callable[[set[BodyKey]], None]) -> None:
        """Nothing is replaced later than it was told."""


def tiers_before(
    behind: Bodies,
    clock: Clock | None = None,
    *,
    ring: Ring | None = None,
    unsettled: Callable[[BodyKey], bool] = lambda _: False,
) -> Tiers:
    """What an instance has in front of a store: memory that is empty, and a zone's ring, if one is given."""
    clock = clock or FixedClock()
    flight = SingleFlight(ring or Ring({}, clock), clock)
    return Tiers(Memory(2**24, clock), flight, behind, unsettled=unsettled)


def a_nonce() -> str:
    return f"nonce-{next(_counter)}"


def a_subject(name: str = "orders-value", context: str = ".") -> Subject:
    return Subject(context, name)


def a_text(name: str = "Order") -> str:
    return f'{{"type":"record","name":"{name}","fields":[]}}'


def a_schema(text: str | None = None, **fields: Any) -> Schema:
    return Schema(**{"type": "AVRO", "text": a_text() if text is None else text} | fields)


def a_draft(text: str | None = None, **fields: Any) -> Draft:
    return Draft(text=a_text() if text is None else text, **fields)


def a_guid(text: str) -> Guid:
    """The GUID of a schema that is this text and nothing else."""
    return Guid(str(UUID(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest())))


def a_body(text: str | None = None, **fields: Any) -> Body:
    schema = fields.pop("schema", None) or a_schema(text)
    defaults: dict[str, Any] = {
        "schema": schema,
        "guid": guid_of(schema),
        "targets": (),
        "subject": a_subject(),
        "version": Version(1),
        "ts": NOW,
        "nonce": a_nonce(),
    }
    return Body(**defaults | fields)


def in_the_former_form(body: Body) -> bytes:
    """As releases before 2026-11-22 stored it: it neither names its id nor bears a digest."""
    form = orjson.loads(records.body_bytes(BodyKey(".", SchemaId(1)), body))
    return orjson.dumps({name: value for name, value in form.items() if name not in ("context", "id", "digest")})


def a_row(version: int = 1, id: int = 1, text: str | None = None, **fields: Any) -> Row:
    defaults: dict[str, Any] = {
        "version": Version(version),
        "id": SchemaId(id),
        "guid": a_guid(a_text() if text is None else text),
        "type": "AVRO",
        "references": (),
        "deleted": False,
        "ts": NOW,
        "revision": 1,
    }
    return Row(**defaults | fields)


def a_registered(head: Head, *, id: int = 1, text: str | None = None, **fields: Any) -> Registered:
    """The next version of the head's subject, or the `version` given."""
    version = fields.pop("version", head.highest + 1)
    row = a_row(version, id, text, ts=fields.get("ts", NOW), revision=head.revision + 1)
    defaults: dict[str, Any] = {"head": head, "row": row, "ts": NOW, "nonce": a_nonce()}
    return Registered(**defaults | fields)


def an_import(head: Head, *versions: ImportedVersion, **fields: Any) -> Imported:
    """These versions, with the revision that they get."""
    written = tuple(replace(each, row=replace(each.row, revision=head.revision + 1)) for each in versions)
    defaults: dict[str, Any] = {"head": head, "versions": written, "ts": NOW, "nonce": a_nonce()}
    return Imported(**defaults | fields)


def registered(catalog: Catalog, subject: Subject, *, id: int = 1, text: str | None = None, **fields: Any) -> Row:
    """Commits the next version of a subject and says what was stored."""
    change = a_registered(catalog.snapshot(subject).head, id=id, text=f"text {id}" if text is None else text, **fields)
    catalog.commit(change)
    return change.row


def a_target(subject: Subject, row: Row) -> Target:
    return Target(subject.context, subject.name, row.version, row.id)


def put_all(bodies: Bodies, context: str, ids: Sequence[int]) -> None:
    """A body for each id, with the text that `registered` gives it."""
    for id in ids:
        bodies.put(BodyKey(context, SchemaId(id)), a_body(f"text {id}"))


@dataclass(frozen=True)
class Recognises:
    """An `Authenticator` by a function from the header to a principal."""

    by: Callable[[bytes | None], Principal | None]
    schemes: tuple[str, ...] = (BASIC,)

    def __call__(self, header: bytes | None) -> Principal | None:
        return self.by(header)
