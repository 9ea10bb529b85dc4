"""Is this data ours? A deployment that was pointed at another table must not give ids away twice.

Each deployment has an identity, and its table and its bucket bear it, by a person's act (`claiming`). A catalog that
bears another one, or none, is neither believed nor written to: ids are told by their bodies alone, as where it is
silent. Bodies are told unless they bear another one, or none beside a catalog that is known to be ours: what stands
there under an id is of other records.

Asked beside the first question, and never again once it is so; else again after a while, so that a person can cure it.
Both stores are looked at then; what only the catalog tells waits for the catalog's look alone.
"""

import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, ParamSpec, TypeVar

from sigla import observe
from sigla.errors import ForeignData, StoreError
from sigla.observe import Teller
from sigla.ports.audits import Audits
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock, Moment
from sigla.ports.marks import Mark, Marks
from sigla.ports.reads import Read, Reads
from sigla.ports.tally import VersionTally
from sigla.ports.zones import Zone, Zones

AGAIN_MS: Final = 30_000
"""For so long a store that is not ours is not looked at again."""

PATIENCE_S = 1.0
"""As long as `cache.speakers` waits for a catalog, whose answer a read by id can do without."""

EVENT: Final = "foreign-data"
"""The event of the line that a look leaves which finds another identity, or none."""

P = ParamSpec("P")
T = TypeVar("T")


class Ownership:
    """Whether catalog and bodies are those of this deployment. Any thread may ask.

    identity: of the deployment. tell: takes the line of each look that finds something else; it may be set later.
    patience_s: how long a read of a body waits for the catalog's look.
    """

    def __init__(
        self,
        identity: str,
        marks: Marks,
        clock: Clock,
        *,
        tell: Teller = observe.tell,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.tell = tell
        self._patience_s = patience_s
        self._identity = identity
        self._pool = ThreadPoolExecutor(len(marks), thread_name_prefix="marks")
        self._bodies, self._catalog = (
            _Looked(mark, identity, clock, self._pool, self._told) for mark in (marks.bodies, marks.catalog)
        )

    def close(self) -> None:
        """Waits for what is under way; nothing may be asked afterwards."""
        self._pool.shutdown()

    @property
    def is_foreign(self) -> bool:
        """Whether the last look at one of the stores found another identity, or none."""
        return self._catalog.is_foreign or self._bodies.is_foreign

    def asking(self, ask: Callable[P, T]) -> Callable[P, T]:
        """The same question to the catalog, asked beside the look: no answer is heard before that.

        The bodies are looked at as well, and not waited for. So their silence keeps no caller from the lists, and an
        alarm rings before a write is refused. Raises ForeignData, and then without asking where it is known already.
        """

        def asked(*args: P.args, **kwargs: P.kwargs) -> T:
            if self._is_ours:
                return ask(*args, **kwargs)
            self._bodies.begin()
            look = self._catalog.begin()
            look.check(wait=False)
            try:
                return ask(*args, **kwargs)
            finally:
                look.check()

        return asked

    def listing(self, ask: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
        """The same for a list, which asks nothing before its first item is wanted: that is fetched beside the look."""

        def begun(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
            items = ask(*args, **kwargs)
            return chain(list(islice(items, 1)), items)

        return self.asking(begun)

    def reading(self, read: Callable[P, T]) -> Callable[P, T]:
        """The same question to the bodies, likewise; but these need not bear any identity, as those of old releases.

        Beside a table that is known to be ours they must: then it is the bucket that is a wrong one. So where they bear
        none, the table's look is waited for, but not long.
        """

        def asked(*args: P.args, **kwargs: P.kwargs) -> T:
            if self._bodies.is_ours:
                return read(*args, **kwargs)
            look = self._bodies.begin()
            look.check(wait=False, bare=not self._catalog.is_ours)
            try:
                return read(*args, **kwargs)
            finally:
                look.check(bare=look.found.result() == "" and not self._catalog_vouches())

        return asked

    def doing(self, do: Callable[P, T]) -> Callable[P, T]:
        """The same change, begun only where all is ours. Raises ForeignData."""

        def done(*args: P.args, **kwargs: P.kwargs) -> T:
            if not self._is_ours:
                for look in (self._bodies.begin(), self._catalog.begin()):
                    look.check()
            return do(*args, **kwargs)

        return done

    def _catalog_vouches(self) -> bool:
        """Whether the catalog is ours, as far as it says so in time: what an id means must not depend on it."""
        with suppress(StoreError, TimeoutError):
            return self._catalog.begin().found.result(self._patience_s) == self._identity
        return False

    @property
    def _is_ours(self) -> bool:
        return self._catalog.is_ours and self._bodies.is_ours

    def _told(self, foreign: ForeignData) -> None:
        message = f"Nothing is written, since {foreign}: deploy with the right one, or see sigla init."
        self.tell({"event": EVENT, "store": foreign.kind, "found": foreign.found, "message": message})


class OwnCatalog:
    """A `ports.Catalog` in front of a `Catalog`: what it tells and takes is of this deployment, or it is refused."""

    state: Final = None
    """What was found before the catalog was another's must not be told again."""

    def __init__(self, catalog: Catalog, ownership: Ownership) -> None:
        asking, listing, doing = ownership.asking, ownership.listing, ownership.doing
        self.snapshot = asking(catalog.snapshot)
        self.history = asking(catalog.history)
        self.candidates = asking(catalog.candidates)
        self.commits_about = listing(catalog.commits_about)
        self.id_of = asking(catalog.id_of)
        self.ids_of = asking(catalog.ids_of)
        self.standing = asking(catalog.standing)
        self.speaker = asking(catalog.speaker)
        self.holders = asking(catalog.holders)
        self.displaced = asking(catalog.displaced)
        self.check_absent = catalog.check_absent
        self.referrers = listing(catalog.referrers)
        self.subjects = listing(catalog.subjects)
        self.versions = listing(catalog.versions)
        self.look = asking(catalog.look)
        self.settings = listing(catalog.settings)
        self.contexts = asking(catalog.contexts)
        self.contexts_of = asking(catalog.contexts_of)
        self.versions_below = listing(catalog.versions_below)
        self.rows_of = asking(catalog.rows_of)
        self.contexts_after = listing(catalog.contexts_after)
        self.holders_after = listing(catalog.holders_after)
        self.referrers_after = listing(catalog.referrers_after)
        self.keks_after = listing(catalog.keks_after)
        self.associations_after = listing(catalog.associations_after)
        self.max_id = asking(catalog.max_id)
        self.kek = asking(catalog.kek)
        self.deks_of = asking(catalog.deks_of)
        self.deks_counted = asking(catalog.deks_counted)
        self.keks = listing(catalog.keks)
        self.deks = listing(catalog.deks)
        self.deks_listed = listing(catalog.deks_listed)
        self.associations_of_resource = asking(catalog.associations_of_resource)
        self.associations_of_subject = asking(catalog.associations_of_subject)
        self.associations_named = listing(catalog.associations_named)
        self.exporter = asking(catalog.exporter)
        self.exporters = listing(catalog.exporters)
        self.progress = asking(catalog.progress)
        self.advance = doing(catalog.advance)
        self.next_id = doing(catalog.next_id)
        self.raise_counter = doing(catalog.raise_counter)
        self.admit = doing(catalog.admit)
        self.rehearse = asking(catalog.rehearse)
        self.commit = doing(catalog.commit)


class OwnBodies:
    """A `ports.Bodies` in front of a `Bodies`; likewise."""

    def __init__(self, bodies: Bodies, ownership: Ownership) -> None:
        reading, doing = ownership.reading, ownership.doing
        self.get = reading(bodies.get)
        self.get_many = reading(bodies.get_many)
        self.named = reading(bodies.named)
        self.last = reading(bodies.last)
        self.next_above = reading(bodies.next_above)
        self.put = doing(bodies.put)
        self.bury = doing(bodies.bury)
        self.revive = doing(bodies.revive)
        self.mend = doing(bodies.mend)


class OwnZones:
    """A `ports.Zones` in front of a `Zones`: another deployment's zones have other schemas under the same ids.

    Callers that ask for the directory are about to choose an endpoint, and get an empty one rather than a refusal.
    """

    def __init__(self, zones: Zones, ownership: Ownership) -> None:
        self.beat = ownership.doing(zones.beat)
        self._list = ownership.asking(zones.list)

    def list(self) -> tuple[Zone, ...]:
        try:
            return self._list()
        except ForeignData:
            return ()


class OwnTally:
    """A `ports.VersionTally` in front of a `VersionTally`: nothing is counted in the data of another deployment."""

    def __init__(self, tally: VersionTally, ownership: Ownership) -> None:
        self.add = ownership.doing(tally.add)
        self.recount = ownership.doing(tally.recount)


class OwnReads:
    """A `ports.Reads` in front of a `Reads`: nothing is noted in the data of another deployment."""

    def __init__(self, reads: Reads, ownership: Ownership) -> None:
        self.is_narrowed = reads.is_narrowed
        self._note = ownership.doing(reads.note)
        self._ownership = ownership
        self.last = ownership.asking(reads.last)
        self.some = ownership.asking(reads.some)
        self.since = ownership.asking(reads.since)
        self.count_of = ownership.asking(reads.count_of)

    def note(self, reads: Collection[Read], now: int, kept_ms: int) -> None:
        """Looks at no mark again: the read that is noted has, and has told what it found. Raises StoreError."""
        if self._ownership.is_foreign:
            raise StoreError("what is stored is another deployment's")
        self._note(reads, now, kept_ms)


class OwnAudits:
    """A `ports.Audits` in front of an `Audits`: of the data of another deployment nothing is told."""

    def __init__(self, audits: Audits, ownership: Ownership) -> None:
        self.put = ownership.doing(audits.put)
        self.get = ownership.asking(audits.get)
        self.shows = audits.shows


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at a mark. found: what it bears, sooner or later."""

    mark: Mark
    identity: str
    found: "Future[str]"

    def check(self, *, wait: bool = True, bare: bool = False) -> None:
        """Without waiting, what is not known yet is not complained about. bare: a store without any identity will do.

        Raises ForeignData, StoreError.
        """
        if (wait or self.found.done()) and (foreign := self.foreign()) and (foreign.found or not bare):
            raise foreign

    def foreign(self) -> ForeignData | None:
        found = self.found.result()
        if found == self.identity:
            return None
        return ForeignData(self.mark.kind, self.mark.name, found, self.identity)


class _Looked:
    """Whoever comes first looks at a mark; others wait for the same answer."""

    def __init__(
        self, mark: Mark, identity: str, clock: Clock, pool: ThreadPoolExecutor, told: Callable[[ForeignData], None]
    ) -> None:
        self.is_ours = False
        self._mark = mark
        self._identity = identity
        self._clock = clock
        self._pool = pool
        self._told = told
        self._lock = threading.Lock()
        self._last: _Look | None = None
        self._since = Moment.of(clock)

    @property
    def is_foreign(self) -> bool:
        last = self._last
        if last is None or not last.found.done() or last.found.exception() is not None:
            return False
        return last.foreign() is not None

    def begin(self) -> _Look:
        """One that is under way or good still, else another: what failed is tried again at once."""
        with self._lock:
            if self._last is None or self._is_over(self._last.found):
                self._last = _Look(self._mark, self._identity, self._pool.submit(self._find))
            return self._last

    def _is_over(self, found: "Future[str]") -> bool:
        if not found.done() or self.is_ours:
            return False
        return found.exception() is not None or not self._since.is_younger(AGAIN_MS, self._clock)

    def _find(self) -> str:
        found = self._mark.read()
        self._since = Moment.of(self._clock)
        self.is_ours = found == self._identity
        if not self.is_ours:
            self._told(ForeignData(self._mark.kind, self._mark.name, found, self._identity))
        return found
