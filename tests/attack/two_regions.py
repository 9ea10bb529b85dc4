"""Two regions that live through anything: writes at both, a bad link, promotions that are cut off, a lost region.

What was acknowledged, by whomever, is remembered. Nothing else is known here but what is promised: an id means one
thing for ever; a follower has what its primary had; nothing is lost by a plan, nor for good by force.
"""

import random
from collections import Counter as Tally
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, Final

from sigla.errors import Refusal, SchemaNotFound, StoreError
from sigla.model import BodyKey, Draft, Schema, Subject
from sigla.regions import promotion
from sigla.regions.followed import hear
from sigla.regions.following import catch_up
from sigla.regions.giving import Course, carried_out
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.refusals import NotPromoted
from sigla.regions.rejoining import rejoined
from sigla.regions.replay import Verdict
from sigla.regions.shipping import NotAllowed
from sigla.registry import Resources
from sigla.rules import names
from sigla.stores.sqlite.promoting import DirectoryPair, promote_by_force
from sigla.upkeep.rejoining import merge
from tests.attack.keys import dek, deks_deleted, deks_purged, kek
from tests.attack.region_sites import Link, Site, Taker, as_compared, copy_bodies, hear_name, role_of
from tests.attack.replay import TRAFFIC, always, check_equal, embedded
from tests.attack.world import Embedded, World

BLOCK: Final = 12
"""For 100,000: ids come to an end often."""
CONTEXTS: Final = ("", ":.a:", ":.imported:")
SUBJECTS: Final = tuple(f"{context}s{number}" for context in CONTEXTS for number in range(4))


class CutOff(Exception):
    """The process ends."""


@dataclass
class Acknowledged:
    """at: the directory. row: of its journal, with which it was committed."""

    key: BodyKey
    schema: Schema
    at: World
    row: int


@dataclass
class TwoRegions:
    """here: was promoted last, or is the first primary. there: follows it, or was passed over.

    required: whether nothing new is acknowledged that the other region does not have.
    """

    seed: int
    required: bool
    here: Site = field(default_factory=lambda: Site(store=Embedded()))
    there: Site = field(default_factory=lambda: Site(store=Embedded()))
    failing: float = 0.05
    stands_in_both: dict[BodyKey, bool] = field(default_factory=dict)
    """Ids, whether the other region was to have them when they were acknowledged first."""
    meanings: dict[BodyKey, Schema] = field(default_factory=dict)
    acknowledged: list[Acknowledged] = field(default_factory=list)
    tally: Tally[str] = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.numbers = count()
        assert embedded(self.here).region.set_role(None, Role(1, RegionKind.PRIMARY, peer=KnownBy("there")))
        assert embedded(self.there).region.set_role(None, Role(1, RegionKind.FOLLOWER, peer=KnownBy(url="http://here")))
        self._link()

    def _link(self) -> None:
        for one, other in ((self.here, self.there), (self.there, self.here)):
            link = Link(embedded(other).region, self.dice, lambda: self.failing)
            embedded(one).follow_ceilings(link)
            epoch = partial(lambda site: role_of(site).epoch, one)
            one.hands_over(Taker(partial(lambda site: site, other), link, epoch), required=self.required)

    def close(self) -> None:
        for world in (self.here, self.there):
            world.store.close()

    # --- what happens ------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """One request, or one thing that becomes of a region."""
        (what,) = self.dice.choices(list(WHAT), weights=[often for often, _ in WHAT.values()])
        for world in (self.here, self.there):
            world.clock.time += 7
        WHAT[what][1](self)
        self.tally[what] += 1

    def register(self) -> None:
        """At either: whoever may not take it says so."""
        world = self.dice.choice((self.here, self.here, self.here, self.there))
        number = self.dice.choice((next(self.numbers), self.dice.randrange(40)))
        text = f'{{"type":"record","name":"R","fields":[{{"name":"f{number}","type":"int","default":0}}]}}'
        subject = names.subject(self.dice.choice(SUBJECTS))
        wanted: dict[str, Any] = {}
        if subject.context == ".imported":
            wanted = {"id": self.dice.randrange(1, 9 * BLOCK), "version": self.dice.randrange(1, 50)}
        self.ask(world, lambda registry: registry.register(subject, Draft(text, **wanted)), subject)

    def other_traffic(self) -> None:
        """Deletes, config, modes, keys, associations, exporters, imports: what the other attacks are made of."""
        world = self.dice.choice((self.here, self.here, self.here, self.there))
        self.ask(world, self.dice.choice(TRAFFIC), None)

    def make_key(self) -> None:
        """A KEK and a DEK under it, which stay."""
        name = f"kek{next(self.numbers)}"
        self.ask(self.here, kek(name), None)
        self.ask(self.here, dek(name, "orders"), None)

    def make_key_anew(self) -> None:
        """One that was made before, by another DEK of the same number."""
        made = [each.name for each in self.here.store.catalog.keks() if each.name.startswith("kek")]
        if made:
            name, material = self.dice.choice(made), f"m{next(self.numbers)}"
            for verb in (deks_deleted(name, "orders"), deks_purged(name, "orders")):
                self.ask(self.here, verb, None)
            self.ask(self.here, dek(name, "orders", material=material), None)

    def ask(self, world: Site, verb: Callable[[Any], Any], subject: Subject | None) -> None:
        before, counted, is_followed = embedded(world).journal.end(), world.over.out_of_step, world.over.hands
        try:
            with embedded(world).group(), embedded(world).step():
                record = verb(world.registry)
        except (Refusal, StoreError) as refused:
            self.tally[f"  refused: {type(refused).__name__}"] += 1
            return
        end, role = embedded(world).journal.end(), role_of(world)
        assert role.writes or end == before, "a region that takes no writes has acknowledged one"
        self.tally["  acknowledged" if end > before else "  known"] += 1
        if subject is not None:
            key = BodyKey(subject.context, record.id)
            schema = world.store.bodies.get(key).schema
            self.note(key, schema)
            is_in_step = is_followed and world.over.out_of_step == counted
            assert is_in_step or not (self.required and is_followed), "it is refused, and not counted"
            self.tally["  out of step"] += is_followed and not is_in_step
            self.stands_in_both.setdefault(key, is_in_step)
            self.acknowledged.append(Acknowledged(key, schema, world, end))

    def read(self) -> None:
        """By id, at either, of what either has acknowledged: that, or nothing."""
        if self.acknowledged:
            one = self.dice.choice(self.acknowledged[-200:])
            world = self.dice.choice((self.here, self.there))
            with suppress(Refusal):
                found = world.registry.schema_by_id(one.key.id, subject=Subject(one.key.context, ""))
                assert found.schema == one.schema

    def follow(self) -> None:
        """Some rows, or all that there are; it may be cut off before one of them."""
        if self.follows:
            ends_at = self.dice.choice((None, None, self.dice.randrange(1, 6)))
            calls = count(1)

            def allowed() -> None:
                if next(calls) == ends_at:
                    raise CutOff

            with suppress(CutOff):
                self.catch_up(allowed)

    def catch_up(self, allowed: Callable[[], None] = always) -> None:
        hear_name(self.here)
        with embedded(self.there).group():
            done = catch_up(embedded(self.here).shipper(), embedded(self.there).replayer(allowed))
        assert done.stopped in (None, Verdict.KNOWN), done
        if allowed is always:
            assert embedded(self.there).journal.last_place() == embedded(self.here).journal.last_place()

    def promote(self) -> None:
        """By plan, and cut off somewhere: then it is run again, taken back, or left for another day."""
        if not self.follows:
            return
        for _ in range(3):
            done = self.cut(lambda: self.planned(self.dice.getrandbits(30)))
            if done:
                break
            if self.dice.random() < 0.3:
                self.cut(lambda: promotion.undone(embedded(self.there).region, embedded(self.here).region))
            elif self.is_cut_off and self.dice.random() < 0.5:
                self.tally["opened by force"] += promote_by_force(embedded(self.here), now=0).changed
                break
        if role_of(self.there).kind is RegionKind.PRIMARY:
            carried_out(self.planned(0))
            self.tally["promoted"] += 1
            self.turn_round()
            self.check_all_is_there(self.here)

    def planned(self, token: int) -> Course[Any]:
        drain = DirectoryPair(embedded(self.there), embedded(self.here)).drain
        return promotion.planned(
            embedded(self.there).region,
            embedded(self.here).region,
            drain,
            rehearse=partial(hear_name, self.here),
            token=f"{token}",
            now=0,
            url="http://other",
        )

    def force(self) -> None:
        """The primary is lost, or seems to be: it goes on, until it hears of the other one, or for ever."""
        if role_of(self.there).kind is RegionKind.FOLLOWER:
            known, followed = embedded(self.there).journal.end(), self.follows
            promote_by_force(embedded(self.there), now=0)
            self.tally["promoted by force"] += 1
            self.turn_round()
            if followed:  # nothing is handed to one that was left behind
                self.check_keys(self.there, self.here)
            for one in self.acknowledged:
                if one.at is self.there and (one.row <= known or self.stands_in_both[one.key]):
                    self.check_readable(one, self.here)
                    self.tally["  read by its body alone"] += one.row > known

    def fence(self) -> None:
        """The one that was passed over hears of it."""
        if self.is_apart:
            with suppress(NotPromoted):
                carried_out(promotion.closed(embedded(self.there).region, role_of(self.here).epoch - 1))

    def rejoin(self) -> None:
        """What only the other one had is brought, cut off anywhere, and a new directory follows from the beginning."""
        if not self.is_apart:
            return
        if role_of(self.there).epoch > role_of(self.here).epoch:
            self.turn_round()  # both were opened by force: the later one goes on
        pair = DirectoryPair(embedded(self.here), embedded(self.there))
        here = embedded(self.here)

        def bring() -> None:
            missing = [*pair.missing()]
            merge(missing, embedded(self.there).bodies, Resources(here.catalog, here.bodies, self.here.clock))

        while not self.cut(lambda: rejoined(here.region, embedded(self.there).region, bring=bring, forget=None)):
            self.register()
        if role_of(self.here).reconciled:
            self.tally["rejoined"] += 1
            self.check_all_is_there(self.here)
            self.join()

    def abandon(self) -> None:
        """The region that was passed over never comes back: what only it had is lost, and that alone."""
        if self.is_apart:
            carried_out(promotion.abandoned(embedded(self.here).region))
            self.tally["abandoned"] += 1
            here = self.here.meanings()
            self.acknowledged = [one for one in self.acknowledged if one.key in here]
            self.meanings = {key: schema for key, schema in self.meanings.items() if key in here}
            self.join()

    def join(self) -> None:
        """An empty directory follows: it hears how far ids are given before it is a follower."""
        self.there.store.close()
        self.there = Site(store=Embedded())
        self._link()
        here, there = embedded(self.here).region, embedded(self.there).region
        epoch = role_of(self.here).epoch
        joining = Role(epoch, RegionKind.JOINING, peer=KnownBy("here"))
        assert there.set_role(None, joining)
        seen = there.role()
        assert seen
        hear(there, epoch, {context: counter.ceiling for context, counter in here.counters()})
        assert there.set_role(seen, Role(epoch, RegionKind.FOLLOWER, peer=KnownBy(url="http://here")))
        ours = role_of(self.here)
        assert here.set_role(ours, replace(ours, peer=KnownBy("there")))
        self.catch_up()
        copy_bodies(self.here, self.there)

    def turn_round(self) -> None:
        self.here, self.there = self.there, self.here

    def cut(self, course: Callable[[], Course[Any]]) -> bool:
        """Carries a course out, or cuts it off before or after one of its requests. Whether it came to its end."""
        number, after = self.dice.randrange(24), self.dice.random() < 0.5
        going = course()
        go: Callable[[], Any] = partial(next, going)
        try:
            for at in count():
                request = go()
                if at == number and not after:
                    return False
                answer = request()
                if at == number:
                    return False
                if self.dice.random() < 0.3:
                    self.register()
                go = partial(going.send, answer)
        except StopIteration:
            return True
        except (NotPromoted, NotAllowed, StoreError) as refused:
            self.tally[f"  refused: {type(refused).__name__}"] += 1
        return False

    # --- what is promised --------------------------------------------------------------------------------------------

    @property
    def follows(self) -> bool:
        """One that its primary has left behind, when that was opened by force, is told nothing any more."""
        return role_of(self.there).follows(role_of(self.here))

    @property
    def is_cut_off(self) -> bool:
        """Whether a promotion has closed the primary, and nothing else as yet."""
        return role_of(self.here).is_closed and self.follows

    @property
    def is_apart(self) -> bool:
        """Whether the other one was passed over by force."""
        return not role_of(self.here).reconciled

    def note(self, key: BodyKey, schema: Schema) -> None:
        assert self.meanings.setdefault(key, schema) == schema, f"{key} has two meanings, by seed {self.seed}"

    def check_readable(self, one: Acknowledged, at: World) -> None:
        found = at.registry.schema_by_id(one.key.id, subject=Subject(one.key.context, ""))
        assert found.schema == one.schema, f"{one.key} by seed {self.seed}"

    def check_keys(self, lost: World, at: World) -> None:
        """Each DEK of a region that is lost is here: that one, if it was never wrapped anew."""
        for of in lost.store.catalog.keks():
            for key in lost.store.catalog.deks(of.name):
                found = at.store.catalog.deks_of(key.name, key.version).deks
                assert found, f"{key.name} by seed {self.seed}"
                assert found[0].material == key.material or not of.name.startswith("kek"), f"{key} by seed {self.seed}"
                assert not found[0].deleted or key.deleted, f"{key.name} by seed {self.seed}"
                self.tally["  keys of a lost region"] += 1

    def check_all_is_there(self, world: World) -> None:
        """Each id that was acknowledged can be read, and means what it did."""
        for one in self.acknowledged:
            self.check_readable(one, world)

    def check(self) -> None:
        """At the end of a life, and now and then: bodies of both, whoever acknowledged them; equal once in step."""
        for world in (self.here, self.there):
            for key in embedded(world).inventory.bodies():
                with suppress(SchemaNotFound):
                    self.note(key, world.registry.schema_by_id(key.id, subject=Subject(key.context, "")).schema)
        if self.follows:
            self.catch_up()
            for world in (self.here, self.there):
                world.check_sound(imported=True)
            self._check_equal()

    def _check_equal(self) -> None:
        with as_compared(self.here, self.there, self.stands_in_both.keys()):
            check_equal(self.here, self.there)


WHAT: Final[dict[str, tuple[float, Callable[[TwoRegions], None]]]] = {
    "register": (450, TwoRegions.register),
    "other traffic": (150, TwoRegions.other_traffic),
    "make key": (12, TwoRegions.make_key),
    "make key anew": (12, TwoRegions.make_key_anew),
    "read": (400, TwoRegions.read),
    "follow": (80, TwoRegions.follow),
    "promote": (6, TwoRegions.promote),
    "force": (5, TwoRegions.force),
    "fence": (4, TwoRegions.fence),
    "rejoin": (8, TwoRegions.rejoin),
    "abandon": (3, TwoRegions.abandon),
    "check": (0.5, TwoRegions.check),
}
"""What happens, and how often in 1,000 steps or so."""


def lived(seed: int, steps: int) -> Tally[str]:
    """A life of two regions, in either mode of bodies. How often what happened."""
    regions = TwoRegions(seed, required=seed % 2 == 0)
    try:
        regions.here.registry.change_mode(names.subject(":.imported:"), "IMPORT")
        for _ in range(steps):
            regions.step()
        regions.check()
    finally:
        regions.close()
    return regions.tally
