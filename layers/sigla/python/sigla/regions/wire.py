"""Commits on their way to another region, as bytes: what `ports.primary.NextTold` is over HTTP."""

from typing import Any

import orjson

from sigla import records
from sigla.model import Body, BodyKey, SchemaId
from sigla.ports.primary import NextTold
from sigla.ports.replaying import Shipment


def told_bytes(told: NextTold) -> bytes:
    return orjson.dumps(
        {
            "end": told.end,
            "now": told.now,
            "ceilings": told.ceilings,
            "commits": [_form(each) for each in told.shipments],
        }
    )


def told_of(form: bytes) -> NextTold:
    """Raises ValueError for other bytes."""
    found = orjson.loads(form)
    try:
        ceilings = {str(context): SchemaId(ceiling) for context, ceiling in found["ceilings"].items()}
        return NextTold([_shipment(each) for each in found["commits"]], int(found["end"]), int(found["now"]), ceilings)
    except (LookupError, TypeError, AttributeError) as wrong:
        raise ValueError("this is not what a primary tells") from wrong


def _form(shipment: Shipment) -> dict[str, Any]:
    bodies = [
        {"context": key.context, "id": key.id, "body": records.body_bytes(key, body).decode()}
        for key, body in shipment.bodies.items()
    ]
    return {"position": shipment.position, "row": shipment.form.decode(), "bodies": bodies}


def _shipment(form: Any) -> Shipment:
    return Shipment(int(form["position"]), form["row"].encode(), dict(map(_body, form["bodies"])))


def _body(form: Any) -> tuple[BodyKey, Body]:
    key = BodyKey(str(form["context"]), SchemaId(form["id"]))
    return key, records.body(key, form["body"].encode())
