"""What a follower is told over HTTP, as bytes: a `ports.primary.NextTold`."""

import orjson

from sigla.model import SchemaId
from sigla.ports.primary import NextTold
from sigla.regions.shipped import shipment_form, shipment_of


def told_bytes(told: NextTold) -> bytes:
    commits = [shipment_form(each) for each in told.shipments]
    return orjson.dumps({"end": told.end, "waited": told.waited_ms, "ceilings": told.ceilings, "commits": commits})


def told_of(form: bytes) -> NextTold:
    """Raises ValueError for other bytes, FormTooNew."""
    found = orjson.loads(form)
    try:
        ceilings = {str(context): SchemaId(ceiling) for context, ceiling in found["ceilings"].items()}
        commits = [shipment_of(each, "a commit of the primary") for each in found["commits"]]
        return NextTold(commits, int(found["end"]), int(found["waited"]), ceilings)
    except (LookupError, TypeError, AttributeError) as wrong:
        raise ValueError("this is not what a primary tells") from wrong
