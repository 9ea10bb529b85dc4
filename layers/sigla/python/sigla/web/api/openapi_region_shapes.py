"""The objects of `/regions`, as `openapi_shapes` has those of the rest of the API."""

from typing import Any, Final

from sigla.regions.nouns import RegionKind
from sigla.web.api.wire.regions import WAYS

Shape = dict[str, Any]

TEXT: Shape = {"type": "string"}
NUMBER: Shape = {"type": "integer"}
FLAG: Shape = {"type": "boolean"}
ROLE: Shape = {"$ref": "#/components/schemas/Role"}
ROLE_OR_NULL: Shape = {"anyOf": [ROLE, {"type": "null"}]}


def _object(members: dict[str, Shape], *required: str) -> Shape:
    shape: Shape = {"type": "object", "properties": members}
    return {**shape, "required": list(required)} if required else shape


PLACE: Final = _object({"position": NUMBER, "hash": TEXT}, "position", "hash")
REGION_SHAPES: Final[dict[str, Shape]] = {
    "Role": _object(
        {
            "epoch": NUMBER,
            "kind": {"enum": [each.value for each in RegionKind]},
            "peer": TEXT,
            "open": FLAG,
            "token": TEXT,
            "reconciled": FLAG,
            "armed": NUMBER,
            "at": TEXT,
            "name": TEXT,
            "lost": TEXT,
            "pair": TEXT,
            "adopts": FLAG,
            "traces": TEXT,
            "turn": NUMBER,
        },
        "epoch",
        "kind",
    ),
    "Region": _object(
        {
            "role": ROLE_OR_NULL,
            "journal": PLACE,
            "newest": NUMBER,
            "behind": {"type": ["integer", "null"]},
            "problem": TEXT,
            "installed": _object({"release": TEXT, "options": {"type": "object", "additionalProperties": TEXT}}),
            "out": {
                "type": "array",
                "items": _object({"name": TEXT, "url": TEXT, "seen": NUMBER, "abandoned": FLAG}, "name", "url", "seen"),
            },
            "run": TEXT,
        },
        "role",
        "journal",
    ),
    "RoleRequest": _object({"seen": ROLE_OR_NULL, "role": ROLE}, "role"),
    "RoleChanged": _object({"changed": FLAG}, "changed"),
    "RegionRequest": _object({"url": TEXT}, "url"),
    "DismissalRequest": _object({"follower": TEXT}, "follower"),
    "AbandonmentRequest": _object({"region": TEXT}),
    "RegionReached": _object({"why": TEXT}, "why"),
    "PromotionRequest": _object({"way": {"enum": [*WAYS]}, "url": TEXT, "primary": TEXT, "run": TEXT}),
    "RejoinRequest": _object({"url": TEXT, "follow": TEXT, "end": {"anyOf": [PLACE, {"type": "null"}]}}, "url"),
    "Rejoined": _object(
        {
            "changed": FLAG,
            "commits": NUMBER,
            "report": {"type": "object"},
            "left": {"type": "array", "items": TEXT},
            "end": PLACE,
            "waits": TEXT,
        },
        "changed",
    ),
    "Promoted": _object(
        {
            "role": ROLE,
            "changed": FLAG,
            "brought": NUMBER,
            "other": TEXT,
            "closed": TEXT,
            "given_up": FLAG,
            "adopted": {"type": "array", "items": TEXT},
            "without_ids": {"type": "array", "items": TEXT},
        },
        "role",
        "changed",
    ),
}
