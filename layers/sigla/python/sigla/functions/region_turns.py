"""What a region does for the other one, each minute, depends on what it is.

    primary     it looks at the other region's role. A greater epoch there closes this one: it was
                promoted. Now and then each ceiling is told again
    joining     it goes on with the copy of the other region's table, and follows once that is complete
    follower    it compares the two journals, and carries out what is missing here
    no role     nothing

In between a follower is woken by its bucket, where the other region puts what it has committed (`shipping`). Each turn
may be cut off, repeated, and done by several at once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, assert_never
from urllib.parse import unquote_plus

from sigla import keys, observe
from sigla.errors import Closed, StoreError
from sigla.model import DEFAULT_CONTEXT
from sigla.observe import Facts, Teller
from sigla.regions import giving
from sigla.regions.following import deliver
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.refusals import NoBlock
from sigla.regions.replay import Verdict
from sigla.regions.shipped import shipments_in
from sigla.regions.shipping import NotAllowed
from sigla.stores.dynamodb.comparing import JournalComparison
from sigla.stores.dynamodb.copying import TableCopy
from sigla.stores.dynamodb.journal import time_of

if TYPE_CHECKING:
    from sigla.stores.dynamodb.store import AwsStore

WORK_MS: Final = 50_000
"""How long a turn works: the next one comes after a minute, and goes on."""
OFTEN_MS: Final = 60_000
SELDOM_MS: Final = 1_800_000
"""How often ceilings are told again, and how often a comparison looks far back."""
COUNTED: Final = (Verdict.CARRY_OUT, Verdict.EARLY, Verdict.DIVERGES, Verdict.UNKNOWN)


class RegionTurns:
    """What Lambda calls. here, there: the registry in both regions. tell: takes the line of each turn.

    thorough: each turn does what else is done now and then.
    """

    def __init__(
        self,
        here: "AwsStore",
        there: "AwsStore",
        *,
        registry: str,
        tell: Teller = observe.tell,
        thorough: bool = False,
    ) -> None:
        self._here = here
        self._there = there
        self._registry = registry
        self._tell = tell
        self._thorough = thorough
        self._clock = here.clock

    def __call__(self, event: Any = None, context: Any = None) -> Facts:  # noqa: ARG002 - as Lambda calls
        """What was done. event: of the schedule, or of the bucket, for what the other region has put there.

        Raises StoreError where the own region does not answer, ValueError for what the other one cannot have told.
        """
        begun, role = self._clock.elapsed(), self._here.region.role()
        facts: Facts = {"event": "region", "registry": self._registry, "ts": self._clock.now()}
        if role is None:
            return facts
        names = [*_objects_told(event)]
        try:
            did = self._hear(role, names) if names else self._turn(role, begun + WORK_MS)
        except NotAllowed:
            # A change of the role was cut off, or another one is under way: the same call finishes it, or finds that.
            did = {"refused": not self._here.region.set_role(role, role)}
        facts |= {"role": role.kind.value, "epoch": role.epoch, **did}
        facts["took_ms"] = self._clock.elapsed() - begun
        self._tell(facts)
        return facts

    def _turn(self, role: Role, until: float) -> Facts:
        match role.kind:
            case RegionKind.PRIMARY:
                return self._lead(role)
            case RegionKind.JOINING:
                return self._join(role, until)
            case RegionKind.FOLLOWER:
                return self._follow(role, until)
            case _:
                assert_never(role.kind)

    # --- primary -----------------------------------------------------------------------------------------------------

    def _lead(self, role: Role) -> Facts:
        """The other region's silence hinders nothing: a commit rests on the role here."""
        try:
            theirs = self._there.region.role()
        except StoreError:
            return {"silent": True}
        if theirs is not None and theirs.epoch > role.epoch:
            if role.open:
                self._here.region.set_role(role, replace(role, open=False))
            return {"closed": True}
        if self._is_seldom() and role.writes and theirs is not None and theirs.kind is RegionKind.FOLLOWER:
            return {"ceilings": self._tell_ceilings()}
        return {}

    def _tell_ceilings(self) -> int:
        """For how many contexts the other region knows how far ids are given, and that is far enough for now."""
        told = 0
        for context in (DEFAULT_CONTEXT, *self._here.catalog.contexts()):
            try:
                giving.carried_out(giving.kept_ahead(self._here.region, self._there.region, context))
            except (Closed, NoBlock):
                break
            told += 1
        return told

    # --- joining -----------------------------------------------------------------------------------------------------

    def _join(self, role: Role, until: float) -> Facts:
        here, there = self._here, self._there
        if role.token:  # its catalog is being forgotten (`regions.rejoining`)
            return {"copied": False}
        if not TableCopy(there.tools, here.tools, there.objects, here.objects, self._clock).go_on(until):
            return {"copied": False}
        theirs = there.region.role()
        if theirs is None or theirs.kind is not RegionKind.PRIMARY:
            return {"copied": True}
        following = replace(role, kind=RegionKind.FOLLOWER, epoch=theirs.epoch, armed=theirs.armed)
        return {"copied": True, "follows": here.region.set_role(role, following)}

    # --- follower ----------------------------------------------------------------------------------------------------

    def _follow(self, role: Role, until: float) -> Facts:
        comparison = JournalComparison(self._here, self._there, role)
        verdicts = comparison.catch_up(until, far=self._is_seldom())
        now, waits = self._clock.now(), comparison.waits()
        return {
            **_counted(verdicts),
            "waiting": waits.waiting,
            "waiting_ms": 0 if waits.oldest is None else max(1, now - waits.oldest),
            "apart": waits.apart,
            "behind_ms": max(0, now - comparison.complete_up_to()),
        }

    def _hear(self, role: Role, names: Sequence[str]) -> Facts:
        """Carries out what the other region has told, if this one follows it still. What comes too early waits."""
        prefix = keys.shipped_prefix(self._registry, role.epoch)
        if role.kind is not RegionKind.FOLLOWER or not all(name.startswith(prefix) for name in names):
            return {"passed_by": len(names)}
        found = zip(names, self._here.objects.read_many(names), strict=True)
        shipments = [each for name, stored in found if stored for each in shipments_in(name, stored.content)]
        now = self._clock.now()
        verdicts = deliver(shipments, JournalComparison(self._here, self._there, role).replayer)
        oldest = min((time_of(each.position) for each in shipments), default=now)
        return _counted(verdicts) | {"lag_ms": max(0, self._clock.now() - oldest)}

    def _is_seldom(self) -> bool:
        return self._thorough or self._clock.now() % SELDOM_MS < OFTEN_MS


def _counted(verdicts: Counter[Verdict]) -> Facts:
    return {verdict.name.lower(): verdicts[verdict] for verdict in COUNTED}


def _objects_told(event: Any) -> Iterator[str]:
    """The names of objects in an event of a bucket, in which they are as in URLs."""
    for record in (event or {}).get("Records", ()):
        yield unquote_plus(record["s3"]["object"]["key"])
