"""Commits on their way to another region, as JSON: each with its row, and the bodies that it brings.

{"form": 1, "position": 7168000000000000, "row": "…", "bodies": [{"context": ".", "id": 7, "body": "…"}]}
"""

from typing import Any

from sigla import records
from sigla.errors import FormTooNew
from sigla.forms import FORM, SHIPPED_LINE, newer
from sigla.model import Body, BodyKey, SchemaId
from sigla.ports.replaying import Shipment


def shipment_form(shipment: Shipment) -> dict[str, Any]:
    """A commit as JSON has it."""
    bodies = [
        {"context": key.context, "id": key.id, "body": records.body_bytes(key, body).decode()}
        for key, body in shipment.bodies.items()
    ]
    return {FORM: SHIPPED_LINE, "position": shipment.position, "row": shipment.form.decode(), "bodies": bodies}


def shipment_of(form: Any, where: str) -> Shipment:
    """where: the form is, for people. Raises FormTooNew, ValueError, and what a form of another shape raises."""
    if number := newer(form, SHIPPED_LINE):
        raise FormTooNew(where, number, SHIPPED_LINE)
    return Shipment(int(form["position"]), form["row"].encode(), dict(map(_told_body, form["bodies"])))


def _told_body(form: Any) -> tuple[BodyKey, Body]:
    key = BodyKey(str(form["context"]), SchemaId(form["id"]))
    return key, records.body(key, form["body"].encode())
