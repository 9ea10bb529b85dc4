"""Two regions in tables, their functions and their operator; what is under way may be paused at any request."""

import argparse
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import pytest

from sigla import opening
from sigla.cli import promote, regions, rejoin
from sigla.cli.misuse import Misuse, Refused
from sigla.errors import Refusal, StoreError
from sigla.functions import replay
from sigla.functions.replay import Replaying
from sigla.model import Draft, Subject
from sigla.region_parts import OtherRegionParts
from sigla.regions.bodies import AdoptedAnew
from sigla.regions.installed import Installed
from sigla.regions.nouns import RegionKind, Role
from sigla.registry import Registry
from sigla.rules import names
from sigla.settings import Address, Settings
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.store import AwsStore
from tests.attack.paused_stores import Account, Client, Moment, Paused
from tests.attack.repeatable import InTurn, repeat
from tests.build import FixedClock
from tests.contract.aws import of_two_parts

MINUTE_MS: Final = 60_000
PLACES: Final = {"A": "eu-west-1", "B": "eu-central-1"}
OTHER: Final = {"A": "B", "B": "A"}
INSTALLED: Final = Installed("1.0.0", {})
CRASHED: Final = 99
"""The exit status of a command that ended with a traceback."""


class Cut(Exception):
    """What is under way ends here."""


def unpaused(_: str) -> None:
    """Goes on."""


@dataclass(frozen=True)
class PausedClock:
    """That of one process. Sleeping is a request as well, as far as others may come in between."""

    clock: FixedClock
    paused: Paused

    def now(self) -> int:
        return self.clock.now()

    def elapsed(self) -> int:
        return self.clock.elapsed()

    def sleep(self, seconds: float) -> None:
        self.paused("sleep")
        self.clock.time += round(seconds * 1000)


class Ack(NamedTuple):
    """What a region has acknowledged, in which epoch. id: 0 for a subject that was deleted for good."""

    site: str
    table: str
    epoch: int
    subject: Subject
    version: int
    id: int
    text: str


class Outcome(NamedTuple):
    """What became of a command. roles: those of tables since it began. wrote: what it has written itself."""

    words: tuple[str, ...]
    status: int
    said: str
    roles: list[tuple[str, Role]]
    wrote: list[tuple[str, Role]]


@dataclass
class Known:
    """Beside what the tables have.

    sites: table and bucket that the stack of each region has by now. forced: epochs that a promotion by force began.
    given_up: tables that were abandoned, replaced, or restored to an earlier moment.
    """

    time: int = FixedClock().time
    named: int = 0
    sites: dict[str, tuple[str, str]] = field(default_factory=dict)
    acks: list[Ack] = field(default_factory=list)
    roles: list[tuple[str, Role]] = field(default_factory=list)
    forced: list[int] = field(default_factory=list)
    given_up: set[str] = field(default_factory=set)

    def copied(self) -> "Known":
        kept = {name: getattr(self, name).copy() for name in ("sites", "acks", "roles", "forced", "given_up")}
        return replace(self, **kept)


class Land:
    def __init__(self) -> None:
        self.account, self.clock, self.known = Account(), FixedClock(), Known()
        self.functions: dict[str, Function] = {}
        self.backup: Moment = ({}, {})
        for which in PLACES:
            self.build(which)

    def copied(self) -> tuple[Moment, Known]:
        self.known.time = self.clock.time
        return self.account.copied(), self.known.copied()

    def put_back(self, copied: tuple[Moment, Known]) -> None:
        self.account.put_back(copied[0])
        self.known = copied[1].copied()
        self.clock.time = self.known.time
        self.functions.clear()

    # --- places ------------------------------------------------------------------------------------------------------

    def build(self, which: str) -> None:
        """An empty stack."""
        table = self._named(which)
        self.account.tables.add(table)
        self.account.buckets.objects[f"bucket-of-{table}"] = {}
        self.known.sites[which] = table, f"bucket-of-{table}"

    def rebuild(self, which: str) -> None:
        """In the place of one that is lost."""
        self.known.given_up.add(self.known.sites[which][0])
        self.build(which)
        self.functions.clear()

    def restore(self, which: str) -> None:
        """The table as it was, under another name; both stacks are deployed with it.

        One that the backup does not have is younger: it is restored as it stands.
        """
        table, bucket = self.known.sites[which]
        self.known.given_up.add(table)
        new = self._named(which)
        self.account.tables.add(new, self.backup[0].get(table) or self.account.tables.copied()[table])
        self.known.sites[which] = new, bucket
        self.functions.clear()

    def _named(self, which: str) -> str:
        self.known.named += 1
        return f"{which}-{self.known.named}"

    def url(self, which: str) -> str:
        table, bucket = self.known.sites[which]
        return f"dynamodb+s3://{table}/{bucket}?region={PLACES[which]}"

    def store(
        self,
        place: tuple[str, str],
        paused: Paused,
        there: AwsStore | None = None,
        *,
        silent: frozenset[str] = frozenset(),
        wrote: list[tuple[str, Role]] | None = None,
    ) -> AwsStore:
        def dynamodb(name: str, asked: Any) -> Any:
            self.clock.time += 1
            answer = self.account.dynamodb(name, asked)
            if name == "update_item" and "role" in asked["ExpressionAttributeNames"].values():
                self._note_role(asked["TableName"], wrote)
            return answer

        clients: Any = SimpleNamespace(
            dynamodb=Client("dynamodb", dynamodb, paused, silent),
            s3=Client("s3", self.account.s3, paused, silent),
            region=PLACES[place[0][0]],
        )
        return AwsStore(clients, *place, PausedClock(self.clock, paused), there=there)

    def _note_role(self, table: str, wrote: list[tuple[str, Role]] | None) -> None:
        if (role := self.role_of(table)) is not None:
            self.known.roles.append((table, role))
            if wrote is not None:
                wrote.append((table, role))

    def role_of(self, table: str) -> Role | None:
        clients: Any = SimpleNamespace(
            dynamodb=Client("dynamodb", self.account.dynamodb, unpaused, frozenset()), region=PLACES[table[0]]
        )
        return AwsStore(clients, table, "", self.clock).region.role()

    def role(self, which: str) -> Role:
        role = self.role_of(self.known.sites[which][0])
        assert role
        return role

    # --- what goes on by itself --------------------------------------------------------------------------------------

    def function(self, which: str) -> "Function":
        """That which clients of this region reach."""
        if which not in self.functions:
            self.functions[which] = Function(self, which)
        return self.functions[which]

    def turn(self, paused: Paused = unpaused, which: str = "AB") -> None:
        """A minute, in which the function of each region comes."""
        for each in which:
            self.clock.time += MINUTE_MS // 2
            there = self.store(self.known.sites[OTHER[each]], paused)
            here = self.store(self.known.sites[each], paused, there)
            told: Any = None  # what is told at once is left to the turns
            becomes = RegionKind.PRIMARY if each == "A" else RegionKind.FOLLOWER
            named: Any = {"registry": "default", "becomes": becomes, "installed": INSTALLED}
            Replaying(here, there, told, **named, tell=lambda _: None)({"source": "aws.events"})


class Function:
    """An environment of the registry's function, which remembers what it has read. peer: that of the stage file."""

    def __init__(self, land: Land, which: str, paused: Paused = unpaused, *, peer: bool = True) -> None:
        self.land, self.which, self.place = land, which, land.known.sites[which]
        if not peer:
            self.here = land.store(self.place, paused)
            self.registry = Registry(
                self.here.catalog, AdoptedAnew(self.here.bodies, self.here.region), self.here.clock
            )
            return
        there = land.store(land.known.sites[OTHER[which]], paused)
        self.here = land.store(self.place, paused, there)
        role: Any = {"region_role": "primary" if which == "A" else "follower", "region_peer": land.url(OTHER[which])}
        parts = OtherRegionParts.of(Settings(store=land.url(which), **role), self.here, there)
        registry = Registry(parts.keys, parts.in_step, self.here.clock)
        self.registry = replace(registry, catalog=parts.catalog(registry))
        parts.standing.kind()

    def register(self, subject: str, text: str, **more: Any) -> None:
        named = names.subject(subject)
        with suppress(Refusal, StoreError):
            record = self.registry.register(named, Draft(text, **more))
            self._note(named, int(record.version or 0), int(record.id or 0), text)

    def purge(self, subject: str) -> None:
        named = names.subject(subject)
        with suppress(Refusal, StoreError):
            with suppress(Refusal):
                self.registry.delete_subject(named)
            self.registry.delete_subject(named, permanent=True)
            self._note(named, 0, 0, "")

    def _note(self, subject: Subject, version: int, id: int, text: str) -> None:
        role = self.land.role_of(self.place[0])
        epoch = role.epoch if role else 0
        self.land.known.acks.append(Ack(self.which, self.place[0], epoch, subject, version, id, text))


# --- the operator ----------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    for each in (promote, regions, rejoin):
        each.add_to(commands)
    return parser


PARSER: Final = _parser()
_opening: list[Callable[[Address], AwsStore]] = []
"""How the commands that are under way open a region; the last one runs."""


def command(land: Land, *words: str, paused: Paused = unpaused, silent: frozenset[str] = frozenset()) -> Outcome:
    """As an operator runs it, who says yes. silent: what does not answer."""
    for table, _ in land.known.sites.values():
        land._note_role(table, None)
    begun, wrote, out = len(land.known.roles) - 2, list[tuple[str, Role]](), io.StringIO()
    args = PARSER.parse_args([*words, "--yes"])
    args.report = SimpleNamespace(open=lambda *_, **__: io.StringIO(), exists=lambda: True)
    _opening.append(lambda address: land.store(address.names, paused, silent=silent, wrote=wrote))
    try:
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            status = args.run(args)
    except (Misuse, Refused) as why:
        status = why.status
        out.write(str(why))
    except Cut:
        raise
    except Exception as crash:  # noqa: BLE001 - whatever an operator would see as a traceback
        status = CRASHED
        out.write(repr(crash))
    finally:
        _opening.pop()
    return Outcome(words, status, out.getvalue(), land.known.roles[begun:], wrote)


@contextmanager
def _opened(address: Address) -> Iterator[AwsStore]:
    yield _opening[-1](address)


@contextmanager
def in_one_thread() -> Iterator[None]:
    """All of it, with few copies of a role and few parts of a list."""
    with pytest.MonkeyPatch.context() as patched:
        of_two_parts(patched)
        repeat(patched).seed(1)
        patched.setattr(fence, "COPIES", 2)
        patched.setattr(opening, "region", _opened)
        patched.setattr(replay, "SELDOM_MS", 1)
        patched.setattr(promote, "ThreadPoolExecutor", InTurn)
        yield
