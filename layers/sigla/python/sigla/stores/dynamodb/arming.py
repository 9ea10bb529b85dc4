"""A registry in a table gets a second region, in another table: its first one, or one in the place of what is lost."""

from typing import TYPE_CHECKING

from sigla.model import DEFAULT_CONTEXT
from sigla.regions.arming import armed
from sigla.regions.giving import carried_out
from sigla.regions.names import drawn_name, drawn_pair

if TYPE_CHECKING:
    from sigla.stores.dynamodb.store import AwsStore


def give_second_region(here: "AwsStore", there: "AwsStore") -> None:
    """there: has nothing yet, which is for the caller to look at.

    Raises AlreadyARegion, HasAFollower, NotTheFollower, ToAbandon, StoreError.
    """
    contexts = [DEFAULT_CONTEXT, *here.catalog.contexts()]
    names = drawn_name(here.place), drawn_name(there.place)
    urls = here.url, there.url
    course = armed(here.region, there.region, contexts, names=names, urls=urls, pair=drawn_pair(), now=here.clock.now())
    carried_out(course)
