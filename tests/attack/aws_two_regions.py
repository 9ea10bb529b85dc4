"""Two regions in AWS that live through anything: as `two_regions`, over two tables, two buckets and two links.

Links lose calls, or are cut, in either direction; what is under way is ended before or after any of its calls.
"""

from collections import Counter as Tally
from collections.abc import Callable
from functools import partial
from itertools import count, islice
from typing import Any, Final

from sigla.errors import Refusal, StoreError
from sigla.functions.replay import SOURCE, Replaying
from sigla.model import BodyKey, Draft, Subject
from sigla.regions import promotion, rules
from sigla.regions.giving import Course, carried_out
from sigla.regions.nouns import Joins, RegionKind
from sigla.regions.refusals import NotPromoted
from sigla.regions.rejoining import rejoined
from sigla.regions.shipping import NotAllowed
from sigla.registry import Resources
from sigla.rules import names
from sigla.stores.dynamodb.arming import give_second_region
from sigla.stores.dynamodb.promoting import TablePair
from sigla.stores.dynamodb.region_turns import RegionTurns
from sigla.upkeep.rejoining import merge
from tests.attack.aws_sites import ENDS, EVERYTHING_TOLD, Killing, Link, Skewed, TableSite
from tests.attack.aws_two_promised import SKEW_MS, Acknowledged, TwoPromised
from tests.attack.replay import TRAFFIC
from tests.attack.two_regions import BLOCK, SUBJECTS
from tests.build import FixedClock
from tests.contract.aws import Account

MINUTE_MS: Final = 60_000
FAILING: Final = 0.02


class TwoTables(TwoPromised):
    """Two tables that are written to, cut off from each other, promoted, brought back and given up."""

    def __init__(self, account: Account, seed: int, *, required: bool) -> None:
        super().__init__(seed)
        self.account, self.required = account, required
        self.numbers = count()
        self.opened: list[TableSite] = []
        self.clock = FixedClock()
        self.here, self.there = self.fresh(), self.fresh()
        self.begin()
        self.pass_time(rules.KNOWN_MS + 2 * SKEW_MS)
        self.turned(self.there)
        assert self.there.role.follows(self.here.role)

    def fresh(self) -> TableSite:
        site = TableSite(self.account, self.name, Skewed(self.clock, self.dice.choice((-SKEW_MS, 0, SKEW_MS))))
        self.opened.append(site)
        return site

    def link(self) -> None:
        for one, other in ((self.here, self.there), (self.there, self.here)):
            one.connect(other, Link(self.dice, FAILING), required=self.required)

    def begin(self) -> None:
        """The second region joins, empty as it is."""
        self.link()
        self.mended()
        assert self.here.there
        give_second_region(self.here.aws, self.here.there)

    def close(self) -> None:
        for site in self.opened:
            site.close()

    # --- what happens ------------------------------------------------------------------------------------------------

    def step(self) -> None:
        (what,) = self.dice.choices(list(WHAT), weights=[often for often, _ in WHAT.values()])
        self.pass_time(7)
        WHAT[what][1](self)
        self.tally[what] += 1

    def pass_time(self, ms: int) -> None:
        self.clock.time += ms

    def weather(self) -> None:
        """Each direction for itself: as ever, cut, or so bad that most calls fail."""
        for site in self.sites:
            assert site.link
            site.link.is_cut = self.dice.random() < 0.15
            site.link.failing = self.dice.choice((0.0, FAILING, FAILING, 0.3))

    def mended(self) -> None:
        for site in self.sites:
            assert site.link
            site.link.mend()

    def killing(self, often: float = 0.3, calls: int = 60) -> Killing | None:
        return Killing(self.dice.randrange(calls), self.dice.choice(ENDS)) if self.dice.random() < often else None

    def register(self) -> None:
        """At either: whoever may not take it says so."""
        site = self.dice.choice((self.here, self.here, self.here, self.there))
        number = self.dice.choice((next(self.numbers), self.dice.randrange(40)))
        text = f'{{"type":"record","name":"R","fields":[{{"name":"f{number}","type":"int","default":0}}]}}'
        subject = names.subject(self.dice.choice(SUBJECTS))
        wanted: dict[str, Any] = {}
        if subject.context == ".imported":
            wanted = {"id": self.dice.randrange(1, 9 * BLOCK), "version": self.dice.randrange(1, 50)}
        self.ask(site, lambda registry: registry.register(subject, Draft(text, **wanted)), subject)

    def other_traffic(self) -> None:
        site = self.dice.choice((self.here, self.here, self.here, self.there))
        self.ask(site, self.dice.choice(TRAFFIC), None)

    def ask(self, site: TableSite, verb: Callable[[Any], Any], subject: Subject | None) -> None:
        role, is_followed, commits, told = site.role, site.is_followed(), site.gate.commits, len(site.told)
        try:
            record = verb(site.registry)
        except (Refusal, StoreError) as refused:
            self.tally[f"  refused: {type(refused).__name__}"] += 1
            return
        has_written = site.gate.commits > commits
        assert role.writes or not has_written, "a region that takes no writes has acknowledged one"
        self.tally["  acknowledged" if has_written else "  known"] += 1
        if subject is not None and has_written:
            key = BodyKey(subject.context, record.id)
            schema = site.aws.bodies.get(key).schema
            self.note(key, schema)
            is_in_step = is_followed and len(site.told) == told
            assert is_in_step or not (self.required and is_followed), "it is refused, and not counted"
            # A later version with the same id puts nothing there: the first answer is what was promised.
            self.stands_in_both.setdefault(key, is_in_step)
            self.acknowledged.append(Acknowledged(key, schema, site, site.clock.now()))

    def change_key(self) -> None:
        """At either, and the process may end meanwhile."""
        site = self.dice.choice((self.here, self.here, self.here, self.there))
        self.keys.change(site, self.killing(0.1, 12), is_latest=site is self.here)

    def tell(self) -> None:
        """Commits are named to the follower: late, twice, in any order, not all."""
        if self.there.role.kind is RegionKind.FOLLOWER:
            rows = islice(self.here.aws.journal.rows(self.here.clock.now() - MINUTE_MS), 40)
            named = [[at, row["nonce"]] for at, row, _ in rows]
            some = self.dice.choices(named, k=min(len(named), self.dice.randrange(1, 12))) if named else []
            event = {"source": SOURCE, "detail": {"epoch": self.here.role.epoch, "commits": some}}
            with self.there.killed(self.killing()):
                self.replaying(self.there)(event)

    def turn(self) -> None:
        """The clock comes in either region; a primary that was passed over hears of it so."""
        self.pass_time(self.dice.choice((0, MINUTE_MS)))
        site = self.dice.choice(self.sites)
        with site.killed(self.killing()):
            self.turned(site, far=self.dice.random() < 0.3)

    def turned(self, site: TableSite, *, far: bool = True) -> dict[str, Any]:
        assert site.there
        did = dict(RegionTurns(site.aws, site.there, far=far)())
        assert not did.get("apart"), f"commits diverge, by seed {self.seed}: {did}"
        if "behind_ms" in did:
            self.check_complete(site)
        return did

    def replaying(self, site: TableSite) -> Replaying:
        assert site.there
        told: Any = None  # a follower tells nothing
        named: Any = {"registry": self.name, "becomes": RegionKind.FOLLOWER, "installed": None}
        return Replaying(site.aws, site.there, told, **named, tell=lambda _: None)

    def promote(self) -> None:
        """By plan, and cut off somewhere: then it is run again, taken back, or left for another day."""
        if self.there.role.kind is not RegionKind.FOLLOWER:
            return
        for _ in range(3):
            if self.cut(lambda: self.planned(f"{self.dice.getrandbits(30)}", rehearses=self.dice.random() < 0.5)):
                break
            if self.dice.random() < 0.3:
                self.cut(lambda: promotion.undone(self.there.aws.region, self.peer_of(self.there)))
        if self.there.role.writes:
            self.mended()
            carried_out(self.planned("end", rehearses=False))
            self.tally["promoted"] += 1
            self.turn_round()
            self.check_all_is_there(self.here)

    def planned(self, token: str, *, rehearses: bool) -> Course[Any]:
        assert self.there.there
        pair = TablePair(self.there.aws, self.there.there)
        rehearse = pair.rehearse if rehearses else tuple
        now, region = self.there.clock.now(), self.there.aws.region
        peer, (here, there) = self.peer_of(self.there), pair.urls
        return promotion.planned(region, peer, pair.drain, rehearse=rehearse, token=token, now=now, url=here, at=there)

    def peer_of(self, site: TableSite) -> Any:
        assert site.there
        return site.there.region

    def force(self) -> None:
        """The primary is lost, or seems to be: it goes on, until it hears of the other one, or for ever."""
        if self.there.role.kind is RegionKind.FOLLOWER:
            known = [one for one in self.acknowledged if self.there.is_known(one.key)]
            carried_out(promotion.forced(self.there.aws.region, now=self.there.clock.now()))
            self.tally["promoted by force"] += 1
            self.there.untold |= {"contexts"}  # the commit that has listed one may be lost, and later ones in it not
            self.turn_round()
            self.adopts_keys(self.killing(0.5))
            for one in self.acknowledged:
                if one in known or (one.at is self.there and self.stands_in_both[one.key]):
                    self.check_readable(one, self.here)
                    self.tally["  read by its body alone"] += one not in known

    def adopts_keys(self, killing: Killing | None = None) -> bool:
        """As commands of the run book do: whether to its end. The next question for a key does what is left."""
        with self.here.killed(killing):
            self.here.aws.key_adoption.adopt_all()
            return True
        return False

    def rejoin(self) -> None:
        """What only the other one had is brought, cut off anywhere; it forgets its catalog, and joins."""
        if self.here.role.reconciled and self.there.role.joins is not Joins.FORGETS:
            return
        aws, there = self.here.aws, self.here.there
        assert there
        pair = TablePair(aws, there)

        def bring() -> None:
            aws.key_adoption.adopt_all()
            missing = [*pair.missing()]
            pair.make_way(missing)
            merge(missing, there.bodies, Resources(aws.catalog, self.here.bodies, self.here.clock))
            pair.mark_brought(missing)

        for _ in range(3):
            if self.cut(lambda: rejoined(aws.region, there.region, bring=bring, forget=pair.forget, tables=pair.urls)):
                break
            self.register()
        if self.here.role.reconciled and self.there.role.kind is RegionKind.JOINING:
            self.tally["rejoined"] += 1
            self.there.untold |= EVERYTHING_TOLD  # what it was filled with
            self.check_all_is_there(self.here)

    def abandon(self) -> None:
        """The region that was passed over never comes back: what only it had is lost; an empty table joins."""
        if self.here.role.reconciled or self.there.role.kind is not RegionKind.PRIMARY or not self.adopts_keys():
            return
        carried_out(promotion.abandoned(self.here.aws.region, forgets=True))
        self.tally["abandoned"] += 1
        self.keys.check(self.here)
        for one in filter(lambda each: self.stands_in_both[each.key], self.acknowledged):
            self.check_readable(one, self.here)
        self.meanings = {key: schema for key, schema in self.meanings.items() if self.meaning(key, self.here)}
        self.acknowledged = [one for one in self.acknowledged if one.key in self.meanings]
        self.there = self.fresh()
        self.there.untold |= EVERYTHING_TOLD
        self.begin()

    def turn_round(self) -> None:
        self.here, self.there = self.there, self.here

    def cut(self, course: Callable[[], Course[Any]]) -> bool:
        """Carries a course out, with requests of others in between, or ends it. Whether it came to its end."""
        number, came_to_end = self.dice.randrange(24), False
        killing = self.killing(0.4, 200)
        with self.there.killed(killing), self.here.killed(killing):
            going = course()
            go: Callable[[], Any] = partial(next, going)
            try:
                for at in count():
                    request = go()
                    try:
                        go = partial(going.send, request())
                    except StoreError as silent:
                        go = partial(going.throw, silent)
                    if at == number:
                        return False
                    if self.dice.random() < 0.3 and killing is None:
                        self.register()
            except StopIteration:
                came_to_end = True
            except (NotPromoted, NotAllowed) as refused:
                self.tally[f"  not done: {type(refused).__name__}"] += 1
        return came_to_end

    def check(self) -> None:
        """Bodies of both, whoever acknowledged them; equal once in step."""
        for site in self.sites:
            for key in site.aws.inventory.bodies():
                if (schema := self.meaning(key, site)) is not None:
                    self.note(key, schema)
        self.mended()
        self.pass_time(MINUTE_MS)
        if self.there.role.kind is RegionKind.JOINING and not self.there.role.joins:
            self.turned(self.there)
            assert self.there.role.follows(self.here.role), f"it has not joined, by seed {self.seed}"
        if self.there.role.follows(self.here.role):
            self.turned(self.there)
            did = self.turned(self.there)
            assert not did["waiting"], f"by seed {self.seed}: {did}"
            self.check_equal()
            self.tally["equal"] += 1


WHAT: Final[dict[str, tuple[float, Callable[[TwoTables], None]]]] = {
    "register": (380, TwoTables.register),
    "other traffic": (150, TwoTables.other_traffic),
    "read": (300, TwoTables.read),
    "change key": (120, TwoTables.change_key),
    "read key": (80, TwoTables.read_key),
    "ask for what is unknown": (10, TwoTables.ask_for_unknown),
    "tell": (60, TwoTables.tell),
    "turn": (50, TwoTables.turn),
    "weather": (40, TwoTables.weather),
    "promote": (6, TwoTables.promote),
    "force": (5, TwoTables.force),
    "rejoin": (8, TwoTables.rejoin),
    "abandon": (2, TwoTables.abandon),
    "check": (2, TwoTables.check),
}
"""What happens, and how often in 1,000 steps or so."""


def lived(account: Account, seed: int, steps: int, of: type[TwoTables] = TwoTables) -> Tally[str]:
    """A life of two regions, in either mode of bodies. How often what happened."""
    regions = of(account, seed, required=seed % 2 == 0)
    try:
        regions.here.registry.change_mode(names.subject(":.imported:"), "IMPORT")
        for _ in range(steps):
            regions.step()
        regions.check()
    finally:
        regions.close()
    return regions.tally
