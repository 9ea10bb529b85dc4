"""The journal's function over all registries that it serves: for each, what `functions/journal.py` does for one.

    the stream      a batch brings rows of any registry of the table: each registry gets its own rows
    the schedule    and what is caught up by hand: each registry

It serves the registry of its own deployment, and those of which a person said so (`sigla init --journal-of`). Of
others it passes rows by: they have a journal function of their own. Segments and their chain are those of each
registry, and registries are followed side by side, so that none depends on another one.

What fails of one is raised after all others have ended: the batch comes again then, and rows that are told already are
passed by. But a shard of the stream waits for a batch that fails, and others have rows in it: after a quarter of an
hour a registry that goes on failing is left to the schedule, which finds its rows in the table.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import Any, Final

from sigla import keys, observe
from sigla.functions.journal import COUNTED, Event, Unfinished
from sigla.functions.lifecycle import Handler
from sigla.observe import Teller
from sigla.ports.clock import Clock

AT_ONCE: Final = 8
"""Registries that are followed side by side: one that has much to catch up with holds up no other."""
PATIENCE_MS: Final = 900_000
"""For so long the stream waits for a registry that fails while others are served: as long as the schedule takes."""

Done = dict[str, Any]


class ManyRegistries:
    """What Lambda calls.

    own: the registry of the deployment itself, with its identity. begin: makes a follower, of a registry with an
    identity. served: asks for the other ones. tell: takes a line for each failure.
    """

    def __init__(
        self,
        own: tuple[str, str],
        begin: Callable[[str, str], Handler],
        clock: Clock,
        *,
        served: Callable[[], Mapping[str, str]],
        tell: Teller = observe.tell,
    ) -> None:
        self._own = dict([own])
        self._begin = begin
        self._clock = clock
        self._served = served
        self._tell = tell
        self._identities = self._own
        self._followers: dict[tuple[str, str], Handler] = {}

    def __call__(self, event: Event, context: Any = None) -> Done:
        """What was done, of all together. Raises Unfinished, ValueError for a foreign event."""
        shares = self._shares(event)
        followers = {name: self._follower(name) for name in shares}
        if self._identities == self._own and shares:
            (name,) = shares
            return followers[name](shares[name], context)
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="registry") as executor:
            begun = {name: executor.submit(followers[name], share, context) for name, share in shares.items()}
        failures = {name: failure for name, each in begun.items() if (failure := each.exception()) is not None}
        for name, failure in failures.items():
            if not isinstance(failure, Unfinished):  # whose parts are told
                request_id = getattr(context, "aws_request_id", "")
                self._tell(observe.failure(failure, request_id=request_id) | {"registry": name})
            if self._is_left(shares[name]):
                self._tell({"event": "left", "registry": name, "records": len(shares[name]["Records"])})
        if held := [name for name in failures if not self._is_left(shares[name])]:
            raise Unfinished(f"{len(held)} of {len(shares)} registries failed: {', '.join(held)}") from failures[
                held[0]
            ]
        return _sum(each.result() for name, each in begun.items() if name not in failures)

    def _shares(self, event: Event) -> dict[str, Event]:
        """What of the event is each registry's; of those alone that are served."""
        if "Records" not in event:
            self._look()
            return dict.fromkeys(self._identities, event)
        records: dict[str, list[Any]] = {}
        for record in event["Records"]:
            records.setdefault(keys.registry_of(record["dynamodb"]["Keys"]["pk"]["S"]), []).append(record)
        if not records.keys() <= self._identities.keys():
            self._look()
        return {name: {"Records": some} for name, some in records.items() if name in self._identities}

    def _look(self) -> None:
        self._identities = {**self._served(), **self._own}

    def _follower(self, name: str) -> Handler:
        """One that has another identity by now has another follower."""
        whose = name, self._identities[name]
        if whose not in self._followers:
            self._followers[whose] = self._begin(*whose)
        return self._followers[whose]

    def _is_left(self, share: Event) -> bool:
        """Whether all records of a share have waited so long that the schedule has met their rows."""
        written = [record["dynamodb"].get("ApproximateCreationDateTime", inf) for record in share.get("Records", ())]
        return bool(written) and max(written) * 1000 < self._clock.now() - PATIENCE_MS


def _sum(done: Iterable[Done]) -> Done:
    """What several did in one invocation, in the form of what one did."""
    each = list(done)
    counted = {name: sum(facts[name] for facts in each) for name in COUNTED}
    times = {name: max((facts[name] for facts in each), default=0) for name in ("ts", "took_ms", "lag_ms")}
    return {"event": "journal", "registries": len(each), **counted, **times}
