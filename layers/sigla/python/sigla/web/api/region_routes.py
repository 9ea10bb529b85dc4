"""What a server is of two regions, and what an administrator makes of it: a row each, as in `routes`."""

from typing import Final

from sigla.auth.permissions import ADMIN, READ
from sigla.regions.refusals import NoRegionHere, RegionNotDone, RegionRefused
from sigla.web.api.endpoints import regions
from sigla.web.api.route import Body, Route

REGION: Final = (NoRegionHere, RegionRefused, RegionNotDone)

# fmt: off
REGION_ROUTES: Final = (
    Route("GET", "/regions", READ, regions.show, "What this server is of two regions", "Region", of_server=True,
          registry_wide=True, refuses=(NoRegionHere,)),
    Route("PUT", "/regions/role", ADMIN, regions.set_role, "Put a role in the place of the one that was seen",
          "RoleChanged", body=Body("RoleRequest", "setRole"), of_server=True, registry_wide=True,
          refuses=(NoRegionHere,)),
    Route("POST", "/regions/reach", ADMIN, regions.reach, "Why this server could not follow the one at a URL",
          "RegionReached", body=Body("RegionRequest", "reachRegion"), of_server=True, registry_wide=True,
          refuses=(NoRegionHere,)),
    Route("POST", "/regions/promote", ADMIN, regions.promote, "Make the follower the primary", "Promoted",
          body=Body("PromotionRequest", "promoteRegion"), of_server=True, registry_wide=True, refuses=REGION),
    Route("POST", "/regions/rejoin", ADMIN, regions.rejoin, "Bring a region back that was passed over", "Rejoined",
          body=Body("RejoinRequest", "rejoinRegion"), of_server=True, registry_wide=True, refuses=REGION),
    Route("POST", "/regions/abandon", ADMIN, regions.abandon, "Give up a region that does not come back", "Promoted",
          body=Body("AbandonmentRequest", "abandonRegion"), of_server=True, registry_wide=True, refuses=REGION),
    Route("POST", "/regions/dismiss", ADMIN, regions.dismiss, "Give up the region that follows, for another one",
          "Promoted", body=Body("DismissalRequest", "dismissRegion"), of_server=True, registry_wide=True,
          refuses=REGION),
)
# fmt: on
