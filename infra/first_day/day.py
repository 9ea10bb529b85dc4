"""One run: what is asked, what it may write, what came out, and how all that it wrote goes again.

It writes into a context of its own, whose ids are its own, too: ids of other contexts are neither used up nor changed.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeVar
from urllib.parse import quote

from infra.first_day.asking import Answer, Door, Failed, NotAsked

CONTEXT: Final = ".sigla-first-day"
PREFIX: Final = f":{CONTEXT}:"
"""The prefix of every subject that is written; a key may be limited to it."""
WITHIN: Final = f"/contexts/{CONTEXT}"

LOOKS_EVERY_S: Final = 5.0

Tell = Callable[[str], None]
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Account:
    """The stack in its account. outputs: of CloudFormation. client: of a service, by boto3's name for it.

    emulated: it is LocalStack.
    """

    stack: str
    outputs: Mapping[str, str]
    client: Callable[..., Any]
    emulated: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """Milliseconds that clients have seen at a door."""

    door: str
    what: str
    ms: tuple[float, ...]

    def quantile(self, share: float) -> float:
        """The smallest that is not exceeded by the share of them."""
        ranked = sorted(self.ms)
        return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


@dataclass
class Day:
    """samples: requests of each kind that are timed. burst: requests at once at most, 0 for none. job: start one.

    tell: what is going on, for a person who waits. sleep: takes seconds. run: names what this run writes. slowest_ms:
    the default of watch.p99_ms, above which each door's alarm on latency rings.
    """

    doors: tuple[Door, ...]
    account: Account | None
    samples: int
    burst: int
    job: bool
    tell: Tell
    sleep: Callable[[float], None] = time.sleep
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    run: str = field(default_factory=lambda: secrets.token_hex(4))
    figures: list[Figure] = field(default_factory=list)
    wrote: bool = False
    slowest_ms: float = 2000.0
    _ids: dict[Door, int] = field(default_factory=dict)

    def schema(self, name: str) -> dict[str, str]:
        """A registration of a text that no other run has."""
        record = {"type": "record", "name": "FirstDay", "doc": f"{self.run} {name}", "fields": []}
        return {"schema": json.dumps(record)}

    def subject(self, path: str) -> str:
        """A subject of this run as it stands in a path. path: its name, as it is sent."""
        return f"{PREFIX}{self.run}-{path}"

    def register(self, door: Door, path: str, schema: Mapping[str, str]) -> Answer:
        """Registers under a subject of this run."""
        self.wrote = True
        return door.ask("POST", f"/subjects/{self.subject(path)}/versions", schema)

    def id_at(self, door: Door) -> int:
        """The id of a schema that was registered by this door. Raises Failed."""
        if door not in self._ids:
            answer = self.register(door, f"known-{door.name}", self.schema(door.name)).expect(200).json()
            self._ids[door] = int(answer["id"])
        return self._ids[door]

    def until(self, look: Callable[[], Found], patience_s: float) -> Found:
        """The first thing found that is one, or the last look's."""
        for _ in range(int(patience_s / LOOKS_EVERY_S)):
            if found := look():
                return found
            self.sleep(LOOKS_EVERY_S)
        return look()

    # --- clearing up -------------------------------------------------------------------------------------------------

    def clear_up(self) -> None:
        """Removes for good all that is in the context, which belongs to this run alone.

        Raises Failed with what is left.
        """
        if not self.wrote:
            return
        self.tell(f"Removing what was written in the context {CONTEXT} …")
        problems = []
        for door in self.doors:
            try:
                self._clear_up_by(door)
            except Failed as failure:
                problems.append(f"{door.name}: {failure}")
            else:
                return
        raise Failed(f"what was written is still in the context {CONTEXT} ({'; '.join(problems)})")

    def _clear_up_by(self, door: Door) -> None:
        with door.line() as line:
            there = line.ask("GET", f"/subjects?subjectPrefix={quote(PREFIX, safe='')}&deleted=true").expect(200).json()
            for name in there:
                path = f"/subjects/{quote(name, safe='')}"
                soft = line.ask("DELETE", path)
                if soft.status != 404:  # it may have been deleted softly before
                    soft.expect(200)
                line.ask("DELETE", f"{path}?permanent=true").expect(200)
            line.ask("DELETE", WITHIN).expect(204)


# --- what is asked ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Check:
    """A row of the table. name: a sentence that is true of a registry that is well.

    ask: a function of the day and of a door or the account; what it returns are figures, or nothing to say. It raises
    Failed or NotAsked. each_door: it asks every door; else the account. hidden: why an emulator cannot show it.
    """

    name: str
    ask: Callable[[Day, Any], str]
    each_door: bool = False
    hidden: str = ""


PASS, FAIL, NOT_ASKED = "pass", "FAIL", "  - "
NO_STACK: Final = "it needs a stack: STAGE=NAME, or --stack NAME"


@dataclass(frozen=True, slots=True)
class Result:
    """where: the door's name, or `account`."""

    verdict: str
    where: str
    name: str
    detail: str

    def __str__(self) -> str:
        return f"{self.verdict}  {self.where:<9} {self.name}{f': {self.detail}' if self.detail else ''}"


def asked(check: Check, day: Day) -> Iterable[Result]:
    """What came of a check: a result for each door, or one for the account."""
    if not check.each_door:
        yield _asked(check, day, day.account, "account")
        return
    for door in day.doors:
        yield _asked(check, day, door, door.name)


def _asked(check: Check, day: Day, where: Door | Account | None, name: str) -> Result:
    if where is None:
        return Result(NOT_ASKED, name, check.name, f"not asked, {NO_STACK}")
    if check.hidden and day.account and day.account.emulated:
        return Result(NOT_ASKED, name, check.name, f"not asked, {check.hidden}")
    day.tell(f"{name}: {check.name} …")
    try:
        return Result(PASS, name, check.name, check.ask(day, where))
    except Failed as failure:
        return Result(FAIL, name, check.name, str(failure))
    except NotAsked as reason:
        return Result(NOT_ASKED, name, check.name, f"not asked, {reason}")
