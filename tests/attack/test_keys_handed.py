"""Keys for field encryption of two servers, attacked: what the primary has acknowledged is in the survivor.

Commits come to the follower as far as a test lets them; what is handed over before they are made comes always.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from threading import Thread

import pytest

from sigla.errors import StoreError
from sigla.keks.nouns import DEFAULT_ALGORITHM
from sigla.keks.refusals import KeyExists
from sigla.ports.replaying import Shipment
from sigla.regions.followed import Taking
from sigla.regions.following import catch_up
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.refusals import KeyDeletedBefore, KeyNotInBoth
from sigla.registry import Registry, Resources
from sigla.stores.sqlite import promoting
from sigla.stores.sqlite.handed_keys import HandedKeys
from sigla.stores.sqlite.promoting import promote_by_force
from sigla.upkeep import adopting
from tests.attack.keys import KEYS, LIFE, Keys, dek, deks_deleted, deks_purged, kek, kek_deleted, kek_purged, keys_of
from tests.attack.region_sites import Link, Site, Taker, role_of
from tests.attack.replay import always, embedded
from tests.attack.world import Embedded, Verb
from tests.build import a_draft, a_text
from tests.unit.registry.tell import s

DEK = ("k", "s", DEFAULT_ALGORITHM, 1)


class Way(Taker):
    """answers: whether A hears that B has kept something; reaches: whether B hears of it at all."""

    answers = reaches = True

    def take(self, shipments: Sequence[Shipment]) -> Taking:
        taken = super().take(shipments) if self.reaches else Taking.SILENT
        return taken if self.answers else Taking.SILENT


class Servers:
    """A writes, and B follows it."""

    def __init__(self) -> None:
        self.a, self.b = Site(store=Embedded()), Site(store=Embedded())
        assert embedded(self.a).region.set_role(None, Role(1, RegionKind.PRIMARY, peer=KnownBy("b")))
        assert embedded(self.b).region.set_role(None, Role(1, RegionKind.FOLLOWER, peer=KnownBy(url="http://a")))
        link = Link(embedded(self.b).region, random.Random(1), lambda: 0.0)
        self.way = Way(lambda: self.b, link, lambda: 1)
        self.a.hands_over(self.way, required=False)

    def ask(self, *verbs: Verb) -> None:
        """All in one group, as of clients that come at the same moment."""
        self.a.clock.time += 7
        with embedded(self.a).group():
            for verb in verbs:
                self.step(verb)

    def ask_each(self, verbs: Iterable[Verb]) -> None:
        for verb in verbs:
            self.ask(verb)

    def step(self, verb: Verb) -> None:
        with embedded(self.a).step():
            verb(self.a.registry)

    def follow(self) -> None:
        with embedded(self.b).group():
            catch_up(embedded(self.a).shipper(), embedded(self.b).replayer(always))

    def promote(self) -> Keys:
        """What the survivor has."""
        promote_by_force(embedded(self.b), now=0)
        return keys_of(self.b.store.catalog)

    @property
    def keys(self) -> Keys:
        return keys_of(self.a.store.catalog)


@contextmanager
def two_servers(*verbs: Verb) -> Iterator[Servers]:
    """Whose follower has what these have come to."""
    servers = Servers()
    try:
        servers.ask_each(verbs)
        servers.follow()
        yield servers
    finally:
        servers.a.store.close()
        servers.b.store.close()


def check_has(survivor: Keys, lost: Keys) -> None:
    """Each key of the lost region is that one, and active if it was; a delete may be missing."""
    for name, key in lost.items():
        assert survivor[name][:-1] == key[:-1], name
        assert not survivor[name][-1] or key[-1], name


@pytest.mark.parametrize("came", range(len(LIFE) + 1))
def test_all_that_became_of_keys_but_deletes_is_in_the_survivor(came: int) -> None:
    """However many of the commits have come there."""
    for end in range(came, len(LIFE) + 1):
        with two_servers(*LIFE[:came]) as servers:
            servers.ask_each(LIFE[came:end])
            lost = servers.keys
            check_has(servers.promote(), lost)


def stopped(servers: Servers, verb: Verb, *, reaches: bool) -> None:
    """It is asked for, and A does not hear that B has it; whether B has."""
    servers.way.reaches, servers.way.answers = reaches, False
    with suppress(KeyNotInBoth):
        servers.ask(verb)
    servers.way.reaches = servers.way.answers = True


@pytest.mark.parametrize("verb", range(len(LIFE)))
@pytest.mark.parametrize("reaches", [False, True], ids=["lost", "kept, and not told"])
def test_what_was_refused_takes_no_key_from_the_survivor(verb: int, reaches: bool) -> None:
    with two_servers(*LIFE[: verb + 1]) as undisturbed:
        done = undisturbed.keys
    for came in (0, verb):
        with two_servers(*LIFE[:came]) as servers:
            servers.ask_each(LIFE[came:verb])
            stopped(servers, LIFE[verb], reaches=reaches)
            lost, found = servers.keys, servers.promote()
            for name, key in lost.items():
                check_has(found, {name: done[name] if reaches and found[name] == done.get(name) else key})
        with two_servers(*LIFE[:came]) as servers:
            servers.ask_each(LIFE[came:verb])
            stopped(servers, LIFE[verb], reaches=reaches)
            if servers.keys != done:
                servers.ask(LIFE[verb])
            assert servers.keys == done
            check_has(servers.promote(), done)


def test_a_key_that_was_refused_does_not_take_the_place_of_one_that_was_made_since() -> None:
    """Their places in the journal are in another order than they were told in: a group was longer than the next one."""
    with two_servers(kek("k")) as servers:
        stopped(servers, together(registered("first"), dek("k", "s", material="refused")), reaches=True)
        servers.ask(dek("k", "s", material="made"))
        assert servers.promote()[DEK] == ("made", False)
    with two_servers(kek("k")) as servers:
        stopped(servers, dek("k", "s", material="refused"), reaches=True)
        servers.ask(registered("first"))
        servers.ask(dek("k", "s", material="made"))
        assert servers.promote()[DEK] == ("made", False)


def test_a_key_that_was_refused_is_not_one_that_came_by_the_journal() -> None:
    """Another commit has its place there."""
    with two_servers(kek("k")) as servers:
        stopped(servers, dek("k", "s", material="refused"), reaches=True)
        servers.ask(registered("first"))
        servers.ask(dek("k", "s", material="made"))
        servers.follow()
        assert servers.promote()[DEK] == ("made", False)


def test_what_the_journal_has_told_is_not_done_once_more() -> None:
    """A key is handed over, and deleted for good since."""
    with two_servers(kek("k")) as servers:
        servers.ask_each((dek("k", "s"), deks_deleted("k", "s"), deks_purged("k", "s")))
        servers.follow()
        assert DEK not in servers.promote()


def test_a_kek_that_was_made_anew_has_no_dek_of_the_one_before() -> None:
    """It could not be unwrapped, and clients would find it."""
    with two_servers(*KEYS) as servers:
        servers.ask_each((deks_deleted("k", "s"), deks_purged("k", "s"), kek_deleted("k"), kek_purged("k")))
        servers.ask_each((kek("k", kms_key_id="another"), dek("k", "s", 2, material="new")))
        lost = servers.keys
        assert servers.promote() == lost


def test_a_key_is_not_made_anew_in_the_group_in_which_it_is_deleted_for_good() -> None:
    """What the other region kept of a group that was then refused would take the place of a key that stands."""
    with two_servers(kek("k"), dek("k", "s", material="old"), deks_deleted("k", "s", 1)) as servers:
        with embedded(servers.a).group():
            servers.step(deks_purged("k", "s", 1))
            with pytest.raises(KeyDeletedBefore):
                servers.step(dek("k", "s", material="new"))
            servers.step(dek("k", "other"))
        assert DEK not in servers.keys
        assert len(servers.keys) == 2
        servers.ask(dek("k", "s", material="new"))
        lost = servers.keys
        check_has(servers.promote(), lost)


def test_a_group_that_makes_and_deletes_keys_in_any_order_is_carried_out() -> None:
    with two_servers(kek("k")) as servers:
        servers.ask(dek("k", "s"), deks_deleted("k", "s"), deks_purged("k", "s"), dek("k", "s", material="new"))
        assert servers.promote()[DEK] == ("new", False)


# --- the promotion ---------------------------------------------------------------------------------------------------


def test_nobody_meets_a_primary_without_the_keys_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who makes the same key at the survivor comes after them."""
    with two_servers(kek("k")) as servers:
        servers.ask(dek("k", "s", material="new"))
        told = list[str]()

        def make() -> None:
            try:
                dek("k", "s", material="of B")(servers.b.registry)
            except KeyExists:
                told.append("exists")

        client = Thread(target=make)

        def adopt(*args: object) -> None:
            assert role_committed(servers.b) is RegionKind.FOLLOWER
            client.start()
            client.join(0.2)
            assert client.is_alive(), "it waits"
            adopting.adopt_keys(*args)  # type: ignore[arg-type]  # as it was called

        monkeypatch.setattr(promoting, "adopt_keys", adopt)
        assert servers.promote()[DEK] == ("new", False)
        client.join()
        assert told == ["exists"]


def role_committed(site: Site) -> RegionKind:
    """As other threads see it."""
    found = list[RegionKind]()
    reader = Thread(target=lambda: found.append(role_of(site).kind))
    reader.start()
    reader.join()
    return found[0]


@pytest.mark.parametrize("number", range(3))
def test_a_promotion_that_is_cut_off_is_none(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """And has all keys when it is run again."""
    with two_servers(kek("k"), dek("k", "s", material="old")) as servers:
        servers.ask_each((deks_deleted("k", "s"), deks_purged("k", "s"), dek("k", "s", material="new"), kek("other")))
        lost, before = servers.keys, keys_of(servers.b.store.catalog)

        def cut(shipments: Iterable[Shipment], here: Resources) -> None:
            adopting.adopt_keys(islice(shipments, number), here)
            raise StoreError("the disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(promoting, "adopt_keys", cut)
            with pytest.raises(StoreError):
                servers.promote()
        assert role_of(servers.b).kind is RegionKind.FOLLOWER
        assert keys_of(servers.b.store.catalog) == before
        check_has(servers.promote(), lost)


def test_what_a_crash_leaves_of_handed_keys_is_not_adopted_in_a_later_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    with two_servers(kek("k")) as servers:
        servers.ask_each((*map(registered, ("a", "b", "c", "d", "e")), dek("k", "s", material="first")))
        with monkeypatch.context() as patched:
            patched.setattr(HandedKeys, "forget", lambda _: None)  # the process ends just before
            assert servers.promote()[DEK] == ("first", False)
        for verb in (deks_deleted("k", "s"), deks_purged("k", "s")):
            verb(servers.b.registry)
        role = role_of(servers.b)
        follower = replace(role, epoch=3, kind=RegionKind.FOLLOWER, peer=KnownBy(url="http://c"), reconciled=True)
        assert embedded(servers.b).region.set_role(role, follower)
        assert DEK not in servers.promote()


def test_a_file_of_keys_that_is_damaged_is_named_and_the_region_goes_on_following() -> None:
    with two_servers(kek("k")) as servers:
        servers.ask(dek("k", "s"))
        (file,) = embedded(servers.b).path.glob("*/handed/*.json")
        file.write_bytes(file.read_bytes()[:-9])
        with pytest.raises(StoreError, match=f"cannot be read from {file} .*move it away to go on without them"):
            servers.promote()
        assert role_of(servers.b).kind is RegionKind.FOLLOWER
        file.unlink()
        assert DEK not in servers.promote()


def registered(subject: str) -> Verb:
    return lambda registry: registry.register(s(subject), a_draft(a_text(subject.title())))


def together(*verbs: Verb) -> Verb:
    def ask(registry: Registry) -> None:
        for verb in verbs:
            verb(registry)

    return ask
