"""What a registry in AWS does for its other region: a turn each minute, and at once what one of the two has to tell.

    the clock      a turn (`stores.dynamodb.region_turns`). Where no region has a role yet, the one that is to be the
                   primary gives both theirs; a primary whose other region was given up, to one that is empty
    the stream     a primary names its new commits to the other region, on that one's bus of events
    the bus        a follower reads the commits that are named from the other one's table, and carries them out

The turn is what nothing gets lost by; what is told at once makes it faster, may come late, twice or never, and is
believed in nothing: who tells of commits that are not there changes nothing. Each may be cut off, and come to several
instances at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import orjson
from botocore.exceptions import ClientError

from sigla import keys, observe
from sigla.aws.refusals import SILENT, failed
from sigla.errors import FormTooNew, RowUnreadable, StoreError
from sigla.functions.journal import SCHEDULES, rows_inserted
from sigla.journal import row_at
from sigla.observe import Facts, Teller
from sigla.regions.following import deliver
from sigla.regions.installed import Installed
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.refusals import NotPromoted
from sigla.regions.shipping import NotAllowed
from sigla.stores.dynamodb.arming import give_second_region
from sigla.stores.dynamodb.comparing import CommitName, JournalComparison
from sigla.stores.dynamodb.installed import tell_installed
from sigla.stores.dynamodb.region_turns import STOPS, RegionTurns, counted
from sigla.stores.dynamodb.values import unpacked

if TYPE_CHECKING:
    from sigla.stores.dynamodb.store import AwsStore

SOURCE: Final = "sigla.region"
COMMITTED: Final = "Committed"
"""Source and kind of an event that names commits."""

OFTEN_MS: Final = 60_000
SELDOM_MS: Final = 1_800_000
"""How often the clock comes, and how often a turn does all that is done now and then."""

ALONE_MS: Final = 900_000
"""For so long an instance may be at a copy: then Lambda has ended it."""


class OtherRegionTold:
    """The bus of events in the other region. client: of EventBridge, there. table: of the registry, there."""

    def __init__(self, client: Any, table: str, registry: str) -> None:
        self._client = client
        self._told = {"table": table, "registry": registry}

    def tell(self, epoch: int, commits: Sequence[CommitName]) -> None:
        """commits: those of one batch of the stream, each some 50 bytes of 256 KB. Raises StoreError."""
        detail = orjson.dumps(self._told | {"epoch": epoch, "commits": commits}).decode()
        try:
            answer = self._client.put_events(Entries=[{"Source": SOURCE, "DetailType": COMMITTED, "Detail": detail}])
        except (*SILENT, ClientError) as silence:
            raise failed("telling the other region", silence) from silence
        for refused in answer["Entries"]:
            if "ErrorCode" in refused:
                raise StoreError(f"telling the other region: {refused['ErrorCode']}: {refused.get('ErrorMessage')}")


class Replaying:
    """What Lambda calls.

    here, there: the registry in both regions, as the settings say. becomes: what this one is to be while its data do
    not say. installed: what the stack runs. told: tells the other region. tell: takes the line of each invocation.
    """

    def __init__(
        self,
        here: "AwsStore",
        there: "AwsStore",
        told: OtherRegionTold,
        *,
        registry: str,
        becomes: RegionKind,
        installed: Installed,
        tell: Teller = observe.tell,
    ) -> None:
        self._here = here
        self._there = there
        self._told = told
        self._registry = registry
        self._becomes = becomes
        self._installed = installed
        self._has_told_installed = False
        self._tell = tell
        self._clock = here.clock

    def __call__(self, event: Mapping[str, Any], context: Any = None) -> Facts:
        """What was done. What does not answer is told, and the clock comes again. Raises ValueError."""
        begun = self._clock.elapsed()
        facts: Facts = {"event": "region", "registry": self._registry, "ts": self._clock.now()}
        try:
            facts |= self._done(event)
        except StoreError as failure:
            self._tell(observe.failure(failure, request_id=getattr(context, "aws_request_id", "")))
            facts["silent"] = 1
        facts["took_ms"] = self._clock.elapsed() - begun
        self._tell(facts)
        return facts

    def _done(self, event: Mapping[str, Any]) -> Facts:
        if "Records" in event:
            return self._name_commits(event)
        if event.get("source") == SOURCE:
            return self._hear(event["detail"])
        if event.get("source") in SCHEDULES:
            return self._turn()
        raise ValueError(f"neither of a stream, nor of a region, nor of a schedule: an event with {sorted(event)}")

    # --- the clock ---------------------------------------------------------------------------------------------------

    def _turn(self) -> Facts:
        is_seldom = self._clock.now() % SELDOM_MS < OFTEN_MS
        did = dict[str, Any](RegionTurns(self._here, self._there, far=is_seldom, alone_ms=ALONE_MS)())
        if not did:
            return self._begin()
        if is_seldom or not self._has_told_installed:
            tell_installed(self._here.tools, self._installed)
            self._has_told_installed = True
        if did.get("alone"):
            return self._begin_again()
        flags = {name: int(value) for name, value in did.items() if isinstance(value, bool)}
        stopped = sum(flags.get(name, 0) for name in STOPS) + did.get("apart", 0) + did.get("unread", 0)
        return {**did, **flags, "stopped": stopped}

    def _begin(self) -> Facts:
        """Both regions get their roles, if this is the one to say so. Nothing is written where anything is in the way.

        What is to follow is empty: a registry that has schemas of its own follows none.
        """
        if self._becomes is not RegionKind.PRIMARY:
            return {"role": "none"} | ({} if self._here.catalog.is_empty() else self._stopped("it is not empty"))
        return self._give_second_region("none")

    def _begin_again(self) -> Facts:
        """A primary that no region follows any more gets the one of the settings, if that is new."""
        return self._give_second_region(RegionKind.PRIMARY.value)

    def _give_second_region(self, kind: str) -> Facts:
        if self._there.region.role() is None and not self._there.catalog.is_empty():
            return self._stopped("the other region has schemas of its own", kind)
        try:
            give_second_region(self._here, self._there)
        except NotPromoted as wrong:
            return self._stopped(str(wrong), kind)
        return {"role": RegionKind.PRIMARY.value, "armed": 1}

    def _stopped(self, why: str, kind: str = "none") -> Facts:
        return {"role": kind, "stopped": 1, "why": why}

    # --- what is told at once ----------------------------------------------------------------------------------------

    def _name_commits(self, event: Mapping[str, Any]) -> Facts:
        """Nothing of a registry without a second region, nor of what this one was told itself."""
        told = [(at, row) for at, row in self._rows_in(event) if "epoch" in row]
        role = self._here.region.role() if told else None
        if role is None or role.kind is not RegionKind.PRIMARY or role.is_alone or role.is_elsewhere(self._there.url):
            return {"named": 0}
        names = [(at, str(row["nonce"])) for at, row in told if row["epoch"] == role.epoch]
        if names:
            self._told.tell(role.epoch, names)
        return {"named": len(names)}

    def _rows_in(self, event: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Those that can be read, each with its time: the other region meets the rest in its turn, and tells of it."""
        for item in rows_inserted(event, self._registry):
            at = keys.journal_at(item["sk"])
            with suppress(RowUnreadable, FormTooNew):
                yield at, row_at(at, partial(unpacked, item.get("form", "")))

    def _hear(self, told: Mapping[str, Any]) -> Facts:
        """lag_ms: how old the oldest commit was when all of them were here."""
        role = self._here.region.role()
        names = list(_names_in(told))
        if role is None or role.kind is not RegionKind.FOLLOWER or told.get("epoch") != role.epoch or not names:
            return {"passed_by": len(names)}
        return self._carry_out(role, names)

    def _carry_out(self, role: Role, names: Sequence[CommitName]) -> Facts:
        comparison = JournalComparison(self._here, self._there, role)
        try:
            verdicts = deliver(comparison.named(names), comparison.replayer)
        except NotAllowed:  # it was promoted meanwhile
            return {"passed_by": len(names)}
        return counted(verdicts) | {"lag_ms": max(0, self._clock.now() - min(at for at, _ in names))}


def _names_in(told: Mapping[str, Any]) -> Iterator[CommitName]:
    """Raises ValueError for what no region tells."""
    try:
        for at, nonce in told["commits"]:
            yield int(at), str(nonce)
    except (LookupError, TypeError) as wrong:
        raise ValueError("this is not what a region tells") from wrong
