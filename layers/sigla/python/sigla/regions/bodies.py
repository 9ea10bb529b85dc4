"""Bodies of two regions: what a new id means stands in both before any commit names it.

The own place comes first. Where that has another content under the id, nothing is put into the other one: what is put
there is never replaced, and would be in the way of the body that the id has here.

An id that is drawn has one content in both, whoever is refused. One that is brought may have two: an import that was
refused here has left its body, and another one of the same id leaves its own in the other region. So such a body means
something only by its commit, or by a mark that this region sets there behind it (`ports.handed_ids`).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final, ParamSpec, TypeVar

from sigla.errors import Conflict, StoreError, Taken
from sigla.model import Body, BodyKey, SchemaId
from sigla.ports.bodies import Bodies
from sigla.ports.clock import Clock
from sigla.ports.handed_ids import HandedIds
from sigla.ports.in_front import BodiesInFront
from sigla.ports.regions import Region
from sigla.regions.refusals import BodyNotInBoth

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_S: Final = 2.0
"""For so long a registration waits for the other region."""

SILENT_MS: Final = 5_000
"""For so long one that did not answer is not asked again."""

AT_ONCE: Final = 8
"""Bodies that are on their way to the other region; further ones wait."""

OUT_OF_STEP: Final = "bodies_out_of_step"
"""The event of a line for each body that the other region did not take in time."""


class AdoptedAnew(BodiesInFront):
    """A `ports.Bodies` in front of a region's, which writes anew what an import adopts.

    A replay that has slept since this region followed may have decided to replace it, as what means nothing, and finds
    another one. A registry without a role has never followed, and pays nothing for it.
    """

    def __init__(self, here: Bodies, region: Region) -> None:
        super().__init__(here)
        self._region = region

    def put(self, key: BodyKey, body: Body) -> None:
        """Raises Taken, also where the replay came first."""
        try:
            self._bodies.put(key, body)
        except Taken as taken:
            standing = taken.standing
            is_adopted = body.brought and standing.schema == body.schema and not standing.gone
            if is_adopted and self._region.met() is not None:
                try:
                    self._bodies.mend(key, replace(standing, nonce=body.nonce), standing)
                except Conflict:
                    raise Taken(self._bodies.get(key)) from None
            raise


class BodiesInStep(BodiesInFront):
    """A `ports.Bodies` in front of this region's, which puts into the other region's as well. Any thread may use it.

    required: a body that the other region does not take in time is refused (BodyNotInBoth). Otherwise the registration
    goes on, and `tell` gets a line: the journal brings the body there later. One that was silent is not asked again for
    some seconds. handed: the marks of the other one. region: its name. is_followed: whether that is to have bodies, as
    the roles said a while ago; is_followed_now: as they say, which is asked where it does not answer: it may have been
    given up.

    Not for a directory, in whose unit of work nothing may wait for a network.
    """

    def __init__(
        self,
        here: Bodies,
        there: Bodies,
        handed: HandedIds,
        *,
        region: str,
        required: bool,
        tell: Callable[[dict[str, Any]], None],
        clock: Clock,
        is_followed: Callable[[], bool] = lambda: True,
        is_followed_now: Callable[[], bool] = lambda: True,
        patience_s: float = PATIENCE_S,
    ) -> None:
        super().__init__(here)
        self._there = there
        self._handed = handed
        self._region = region
        self._required = required
        self._tell = tell
        self._clock = clock
        self._is_followed = is_followed
        self._is_followed_now = is_followed_now
        self._silent_until = 0
        self._patience_s = patience_s
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="bodies")

    def close(self) -> None:
        """Waits for what is under way; nothing may be put afterwards."""
        self._pool.shutdown()

    def put(self, key: BodyKey, body: Body) -> None:
        """Raises Taken also where the other region has another body under the key, BodyNotInBoth."""
        try:
            self._bodies.put(key, body)
        except Taken as taken:
            if taken.standing.schema == body.schema:
                if not taken.standing.gone:
                    self._adopt(key, taken.standing)
                elif body.brought and not body.gone:
                    self._put_there(key, body, comes_back=True)
            raise
        self._put_there(key, body)

    def _adopt(self, key: BodyKey, standing: Body) -> None:
        """Whoever adopts it may be the first whose registration comes to its end: so it is put into both as well."""
        try:
            self._put_there(key, standing)
        except Taken as there:
            if there.standing.schema != standing.schema:
                raise

    def last(self, context: str) -> SchemaId:
        """That of both, as far as the other region tells its own: numbers up to there are passed over."""
        own = self._bodies.last(context)
        if not self._is_followed():
            return own
        try:
            return max(own, self._other(self._there.last, context))
        except (StoreError, TimeoutError):
            return own

    def _put_there(self, key: BodyKey, body: Body, *, comes_back: bool = False) -> None:
        if not self._is_followed():
            return
        try:
            self._other(self._hand, key, body, comes_back=comes_back)
        except Taken:
            raise
        except (StoreError, TimeoutError) as silent:
            if not self._is_followed_now():
                return
            if self._required:
                raise BodyNotInBoth(region=self._region) from silent
            self._tell({"event": OUT_OF_STEP, "context": key.context, "id": key.id, "region": self._region})

    def _hand(self, key: BodyKey, body: Body, *, comes_back: bool) -> None:
        """comes_back: the id was deleted for good here; there it is a tombstone by now, or becomes one.

        Raises StoreError, Taken; not where that is the same content of an id that comes back: what stands here tells.
        """
        try:
            self._there.put(key, body)
        except Taken as taken:
            # One of an import that was refused there, which is this one from now on; or one that was deleted.
            if taken.standing.schema == body.schema:
                self._mark(key, taken.standing, comes_back=comes_back or taken.standing.gone)
                if comes_back:
                    return
            raise
        self._mark(key, body, comes_back=comes_back)

    def _mark(self, key: BodyKey, there: Body, *, comes_back: bool) -> None:
        if there.brought:
            self._handed.mark(key, there.guid)
        if comes_back:
            self._handed.mark(key, there.guid, there.nonce)

    def _other(self, ask: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the other region answers in time. Raises TimeoutError, and what it raises; it may yet be done then."""
        if self._clock.elapsed() < self._silent_until:
            raise TimeoutError
        try:
            return self._pool.submit(ask, *args, **kwargs).result(self._patience_s)
        except Taken:
            raise
        except (StoreError, TimeoutError):
            self._silent_until = self._clock.elapsed() + SILENT_MS
            raise
