"""What a person sees of two regions whose data are in tables: a `ports.RegionViews`.

Two rounds of questions, none of them strongly consistent: what is shown is a moment old when it is read.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import Final

from sigla import keys
from sigla.errors import FormTooNew, StoreError
from sigla.journal import UnknownCommit
from sigla.model import DEFAULT_CONTEXT
from sigla.ports.clock import Clock
from sigla.ports.region_views import MOST_CONTEXTS, MOST_WAITING, OtherRegionView, RegionView, WaitingCommits
from sigla.ports.regions import Peer
from sigla.regions import rules
from sigla.regions.installed import names_another, told_of_setting
from sigla.regions.replay import WAIT
from sigla.stores.dynamodb.items import is_listed
from sigla.stores.dynamodb.journal import time_of
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.regions import counter_of
from sigla.stores.dynamodb.told_commits import ToldCommit
from sigla.stores.dynamodb.values import Item, unpacked

DIVERGES: Final = "diverge: they were made of something else than what stands here"
DEFAULT_REGISTRY: Final = "default"
_SUBJECTS: Final = 3


class AwsRegionViews:
    """peer: the other region; None where it is not asked from here. urls: of this one and of that one, for commands."""

    def __init__(self, tools: Tools, clock: Clock, peer: Peer | None, urls: tuple[str, str]) -> None:
        self._tools = tools
        self._clock = clock
        self._peer = peer
        self._urls = urls

    def is_there(self) -> bool:
        fence = self._tools.fence
        return fence.known is not None or (not fence.is_alone and fence.read() is not None)

    def here(self) -> RegionView | None:
        table, places = self._tools.table, self._tools.places
        role_row, complete, own = places.role(), places.complete(), places.counter(DEFAULT_CONTEXT)
        registry = places.registry
        with ThreadPoolExecutor(4, thread_name_prefix="regions") as pool:
            rows = pool.submit(table.get_many, [role_row, complete, own], consistent=False)
            contexts = pool.submit(self._first, keys.contexts_pk(registry), MOST_CONTEXTS + 1)
            kept = [
                (why, pool.submit(self._first, pk(registry), MOST_WAITING + 1))
                for why, pk in ((WAIT, keys.aside_pk), (DIVERGES, keys.apart_pk))
            ]
            found, named = rows.result(), [item["context"] for item in contexts.result() if is_listed(item)]
            waiting = [_waiting(why, some.result()) for why, some in kept if some.result()]
        role = self._tools.fence.role_on(found.get(role_row))
        if role is None:
            return None
        shown = named[: MOST_CONTEXTS - 1]
        found |= table.get_many([places.counter(context) for context in shown], consistent=False)
        counters = [(each, counter_of(found.get(places.counter(each)))) for each in (DEFAULT_CONTEXT, *shown)]
        complete_at = int(found.get(complete, {}).get("at", 0))
        return RegionView(
            url=self._urls[0],
            role=role,
            behind=max(0, self._clock.now() - complete_at) if complete_at and not role.writes else None,
            waiting=waiting,
            ids=[(context, rules.as_of(counter, role.epoch)) for context, counter in counters],
            more_contexts=len(named) > len(shown),
            registry="" if registry == DEFAULT_REGISTRY else registry,
            setting=told_of_setting(self._urls[1], role.other_url) if names_another(role, self._urls[1]) else "",
        )

    def other(self) -> OtherRegionView:
        if self._peer is None:
            return OtherRegionView("", None, "This function is not told where the other region is.")
        try:
            seen = self._peer.look(DEFAULT_CONTEXT)
        except StoreError as silence:
            return OtherRegionView(self._urls[1], None, f"It does not answer ({silence}).")
        if seen.role is None:
            return OtherRegionView(self._urls[1], None, "It has no role yet.")
        ids = [(DEFAULT_CONTEXT, rules.as_of(seen.counter, seen.role.epoch))]
        return OtherRegionView(self._urls[1], RegionView(self._urls[1], seen.role, ids=ids, more_contexts=True))

    def _first(self, pk: str, number: int) -> list[Item]:
        """Some items of a partition, in one call."""
        return [*islice(self._tools.table.query(pk, page=number, consistent=False), number)]


def _waiting(why: str, found: list[Item]) -> WaitingCommits:
    """found: not empty."""
    counted, first = found[:MOST_WAITING], found[0]
    return WaitingCommits(why, len(counted), len(found) > len(counted), time_of(first["position"]), _subjects_of(first))


def _subjects_of(item: Item) -> list[str]:
    with suppress(UnknownCommit, FormTooNew):
        told = ToldCommit.of_row(time_of(item["position"]), unpacked(item["row"]))
        return [head[0].qualified for head in told.heads[:_SUBJECTS]]
    return []
