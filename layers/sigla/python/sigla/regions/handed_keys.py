"""Keys for field encryption of two regions in AWS: each commit of them stands in the other one before it is made.

What a DEK that is lost has encrypted cannot be read any more. So the commit itself, as journals tell it, is put into
the other region's bucket first, under its number: how often the KEK with its DEKs has moved once it is written.

    put under the next number       others that want the same number find it there, and carry it out: so no commit
                                    comes after one whose writer was cut off, and the list has no choice in it
    carried out here                if the number is still the next one: by the writer, or by who found it; once
    answered

    after a promotion by force      the first question for a key has the rest of its list carried out in the survivor,
                                    in the order of the numbers, deletes as well; `sigla promote` does it for all.
                                    Then the list is ended: the region before, if it lives, commits nothing more
                                    under that KEK

What was put and never committed is carried out by whoever comes next, here or there: its writer was told nothing else
than that it is not known, or to try again. What is damaged or lost is told in the survivor (`Region.kept`), and the
list goes on behind it: the next commit says how the KEK was, and the region before may yet bring the rest. While the
primary lives, what was put, never committed, and damaged since holds up that KEK alone (KeyHeldUp). An operator may
delete it: its writer, if it sleeps, commits it only if the number is still the next one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, NamedTuple, ParamSpec, TypeVar

from sigla.bounded import BoundedMemory
from sigla.changes import Change, DeksChanged, KekChanged
from sigla.errors import Closed, Conflict, FormTooNew, StoreError
from sigla.keks.nouns import CountedDeks, Dek, DekName, Kek, KeysSeen
from sigla.model import BodyKey
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla.ports.handed_keys import HandedKeys, HandedUnread, KeyCommits, KeysStanding
from sigla.ports.in_front import CatalogInFront
from sigla.ports.replaying import Shipment
from sigla.regions.bodies import PATIENCE_S, SILENT_MS
from sigla.regions.refusals import KeyHeldUp, KeyNotInBoth
from sigla.regions.replay import Verdict

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE: Final = 8
"""Commits that are on their way to the other region; further ones wait."""

REMEMBERED: Final = 1_000
"""KEKs of which it is known how often they had moved when they were seen last."""

TRIES: Final = 64
"""So often others may have carried out at the same moment what is carried out here."""

_DONE: Final = (Verdict.CARRY_OUT, Verdict.KNOWN)


class KeyAdoption:
    """What a region that was promoted by force has of keys whose commits did not come. Any thread may use it.

    here: of this region, where the primary before has put it. Raises StoreError.
    """

    def __init__(self, commits: KeyCommits, here: HandedKeys) -> None:
        self._commits = commits
        self._here = here
        self._ended = set[tuple[int, str]]()

    def adopt_all(self) -> int:
        """How many commits were carried out. May be cut off, and be called again."""
        role = self._commits.look("").role
        if role is None or not role.adopts_keys:
            return 0
        return sum(self.adopt(kek, self._commits.look(kek)) for kek in self._here.keks(role.epoch - 1))

    def adopt(self, kek: str, standing: KeysStanding, *, ends: bool = True) -> int:
        """Carries out what the list of a KEK has; how many commits that were. Then the list is ended.

        What is not there or cannot be read is told, and passed by.

        standing: as it was seen. ends: False where a list without anything is left as it is. Raises Closed, Conflict.
        """
        role = standing.role
        if role is None or not role.adopts_keys or (role.epoch, kek) in self._ended:
            return 0
        epoch, done, unread = role.epoch - 1, 0, 0
        for _ in range(TRIES):
            before = standing.number
            for number in self._here.after(epoch, kek, standing.number):
                if number > before + 1:
                    self._commits.tell_unread(epoch, kek, number - 1, many=number - 1 - before)
                before = number
                try:
                    handed = self._here.read(epoch, kek, number)
                    if handed is None:
                        self._ended.add((role.epoch, kek))
                        return done
                    is_here = self._carry_out(handed, role.epoch)
                except HandedUnread:
                    self._commits.tell_unread(epoch, kek, number)
                    unread = number
                    continue
                if not is_here:
                    break
                done += 1
            else:
                standing = self._commits.look(kek)
                if not (ends or standing.number or unread):
                    return done
                if self._here.put(epoch, kek, max(standing.number, unread) + 1, None):
                    self._ended.add((role.epoch, kek))
                    return done
            standing = self._commits.look(kek)
            if standing.role is None or standing.role.epoch != role.epoch:
                raise Conflict
        raise Conflict

    def _carry_out(self, handed: Shipment, epoch: int) -> bool:
        """Whether it is here now; False where another one has moved the KEK meanwhile."""
        verdict = self._commits.carry_out(handed, epoch)
        while verdict is Verdict.EARLY:
            # A command that writes to the stores hands nothing over: what it did there is lost.
            self._commits.pass_over(handed)
            verdict = self._commits.carry_out(handed, epoch)
        return verdict in _DONE


class KeysInStep(CatalogInFront):
    """A `ports.Catalog` whose keys stand in both regions before they are committed. Any thread may use it.

    there: where the other region looks for them. region: its name. url: that of its stores.
    """

    def __init__(
        self,
        catalog: Catalog,
        commits: KeyCommits,
        adoption: KeyAdoption,
        there: HandedKeys,
        *,
        region: str,
        clock: Clock,
        url: str = "",
        patience_s: float = PATIENCE_S,
    ) -> None:
        super().__init__(catalog)
        self._commits = commits
        self._adoption = adoption
        self._there = there
        self._region = region
        self._url = url
        self._clock = clock
        self._patience_s = patience_s
        self._silent_until = 0
        self._moments = BoundedMemory[str, tuple[int, int]](REMEMBERED)
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="handed")

    def close(self) -> None:
        """Waits for what is under way; nothing may be committed afterwards."""
        self._pool.shutdown()

    # --- questions: what was acknowledged before a promotion by force is here ----------------------------------------

    def kek(self, name: str) -> Kek | None:
        return self._standing(name).seen.kek

    def deks_of(self, name: DekName, version: int | None = None) -> KeysSeen:
        if version is not None:
            return self._standing(name.kek, [(name, version)]).seen
        self._standing(name.kek)
        return super().deks_of(name)

    def deks_counted(self, kek: str) -> CountedDeks:
        standing = self._standing(kek)
        return CountedDeks(standing.stored, standing.active)

    def deks(self, kek: str) -> Iterator[Dek]:
        self._standing(kek)
        return super().deks(kek)

    def _standing(self, kek: str, deks: Sequence[tuple[DekName, int]] = ()) -> KeysStanding:
        """In one question, where nothing is to be adopted.

        A region that does not take writes any more answers by what it has.
        """
        standing = self._look(kek, deks)
        if standing.role is not None and standing.role.adopts_keys:
            try:
                if self._adoption.adopt(kek, standing, ends=False):
                    return self._look(kek, deks)
            except Closed:
                return standing
            except Conflict as raced:
                raise StoreError(f"KEK {kek} is written by others, again and again") from raced
        return standing

    def _look(self, kek: str, deks: Iterable[tuple[DekName, int]]) -> KeysStanding:
        standing = self._commits.look(kek, deks)
        self._moments.keep(kek, standing.moment)
        return standing

    # --- changes -----------------------------------------------------------------------------------------------------

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        """Raises KeyNotInBoth where the other region does not take a key in time."""
        if not isinstance(change, KekChanged | DeksChanged):
            return super().commit(change)
        kek = change.name if isinstance(change, KekChanged) else change.kek.name
        standing = self._at_one_moment(kek, change)
        if standing.role is None or not standing.role.writes:
            return super().commit(change)
        if self._adoption.adopt(kek, standing):
            raise Conflict
        if not standing.role.is_followed or standing.role.is_elsewhere(self._url):
            return super().commit(change)
        own = self._commits.foretold(change, standing)
        self._commit_in_both(own, (standing.role.epoch, kek, standing.number + 1))
        return ()

    def _at_one_moment(self, kek: str, change: KekChanged | DeksChanged) -> KeysStanding:
        """How it stands with what is changed, all of it with that number. Raises Conflict.

        DynamoDB may tell a DEK as it was before a commit that the KEK's number counts. While a number that was seen
        before, by whoever, is still that of the KEK, nothing has moved. A change of a KEK rests on one row.
        """
        deks = () if isinstance(change, KekChanged) else [(each.name, each.about.version) for each in change.deks]
        for _ in range(TRIES):
            before = self._moments.get(kek)
            standing = self._look(kek, deks)
            if not deks or standing.moment == before:
                return standing
        raise Conflict

    def _commit_in_both(self, own: Shipment, place: tuple[int, str, int]) -> None:
        """place: in the list: its epoch, its KEK, the next number. Raises KeyHeldUp, KeyNotInBoth, Conflict, Closed."""
        if self._other(self._there.put, *place, own):
            if self._commits.carry_out(own, place[0], is_next=True) not in _DONE:
                raise Conflict
            return
        # Another commit stands there, or this one: if that is made by now, it does not have to be brought.
        verdict = self._commits.verdict(own)
        if verdict is Verdict.DIVERGES:
            raise Conflict
        try:
            handed = own if verdict is Verdict.KNOWN else self._other(self._there.read, *place)
            if handed is None:
                raise Closed  # the other region was promoted, and has ended the list
            if self._commits.carry_out(handed, place[0]) not in _DONE or handed != own:
                raise Conflict
        except HandedUnread as unread:
            raise KeyHeldUp(kek=place[1], region=self._region, number=place[2]) from unread

    def _other(self, ask: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the other region answers in time. Raises KeyNotInBoth; it may yet be done then. Raises HandedUnread."""
        if self._clock.elapsed() < self._silent_until:
            raise KeyNotInBoth(region=self._region)
        try:
            return self._pool.submit(ask, *args, **kwargs).result(self._patience_s)
        except HandedUnread:
            raise
        except (StoreError, TimeoutError) as silent:
            self._silent_until = self._clock.elapsed() + SILENT_MS
            raise KeyNotInBoth(region=self._region) from silent


class HeldUp(NamedTuple):
    """A KEK under which nothing is changed before an operator deletes what was put under its next number, and why."""

    epoch: int
    kek: str
    number: int
    why: HandedUnread


def held_up(primary: KeyCommits, there: HandedKeys) -> Iterator[HeldUp]:
    """there: of the other region. Three or four questions for each KEK that was changed in this epoch.

    What a newer release has put there is waited for, and not deleted. What can be read, and not be carried out, is
    found by its writers alone. Raises StoreError.
    """
    role = primary.look("").role
    if role is None or not role.writes:
        return
    for kek in there.keks(role.epoch):
        number = primary.look(kek).number + 1
        if number not in there.after(role.epoch, kek, number - 1):
            continue
        with suppress(FormTooNew):
            try:
                handed = there.read(role.epoch, kek, number)
                if handed is not None:
                    primary.verdict(handed)
            except HandedUnread as unread:
                yield HeldUp(role.epoch, kek, number, unread)
