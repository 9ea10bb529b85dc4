"""What a registry in AWS is made of besides, where it has another region: bodies in both, and what is not here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sigla import observe
from sigla.ports.catalog import Catalog
from sigla.ports.region_views import RegionViews
from sigla.regions.absence import NothingConcluded
from sigla.regions.adoption import AdoptedIds, given_before, out_since
from sigla.regions.bodies import AdoptedAnew, BodiesInStep
from sigla.regions.handed_keys import KeysInStep
from sigla.regions.moved import Moved
from sigla.regions.standing import RegionStanding
from sigla.registry import Registry
from sigla.settings import FOLLOWER, REQUIRED, Settings

if TYPE_CHECKING:
    from sigla.aws.clients import Clients
    from sigla.stores.dynamodb.store import AwsStore


@dataclass(frozen=True, slots=True)
class OtherRegionParts:
    """standing: which of the two this is. in_step, keys: the bodies and the keys of both; closed by whoever made it.

    brought_back: as `web.two_regions.AskedRegion` has it.
    """

    store: "AwsStore"
    standing: RegionStanding
    in_step: BodiesInStep
    keys: KeysInStep
    brought_back: Callable[[Moved], bool]

    def close(self) -> None:
        """Waits for what is under way."""
        self.in_step.close()
        self.keys.close()

    @classmethod
    def of(cls, settings: Settings, store: "AwsStore", there: "AwsStore") -> Self:
        standing = RegionStanding(
            store.region.state,
            store.clock,
            follows=settings.region_role == FOLLOWER,
            url=there.url,
            met=store.region.met,
        )
        in_step = BodiesInStep(
            AdoptedAnew(store.bodies, store.region),
            there.bodies,
            there.handed_ids,
            region=settings.peer.region or "",
            required=settings.region_bodies == REQUIRED,
            tell=observe.tell,
            clock=store.clock,
            is_followed=standing.is_followed,
            is_followed_now=standing.is_followed_now,
        )
        keys = KeysInStep(
            store.catalog,
            store.key_commits,
            store.key_adoption,
            there.handed_keys,
            region=settings.peer.region or "",
            clock=store.clock,
            url=there.url,
        )

        def brought_back(moved: Moved) -> bool:
            from sigla.stores.dynamodb.bringing import BroughtBack  # for who follows, and sends a write on

            return BroughtBack(store, there)(moved)

        return cls(store, standing, in_step, keys, brought_back)

    def catalog(self, registry: Registry) -> Catalog:
        """That of the registry, of which nothing is concluded from absence, and in which ids may be adopted."""
        concluding = NothingConcluded(registry.catalog, lambda: not self.standing.concludes_now())
        look, marked = self.store.region.look, self.store.handed_ids.is_marked
        before, out = given_before(look), out_since(look)
        adopts, buried = self.standing.adopts, self.store.catalog.buried
        return AdoptedIds(
            concluding,
            registry.bodies,
            before,
            adopts,
            is_out=out,
            is_marked=marked,
            buried=buried,
            replays_sleep=True,
        )


def region_views(settings: Settings, store: "AwsStore", clients: "Clients") -> RegionViews:
    """What people see of the two."""
    from sigla.stores.dynamodb.region_views import AwsRegionViews  # for people alone

    address = settings.address
    url = address.url if address.region else f"{address.url}?region={clients.dynamodb.meta.region_name}"
    peer = store.there.region if store.there else None
    return AwsRegionViews(store.tools, store.clock, peer, (url, settings.region_peer))
