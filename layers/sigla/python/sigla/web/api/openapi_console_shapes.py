"""The objects of `/console/api/`, as `openapi_shapes` has those of the rest of the API."""

from typing import Any, Final

Shape = dict[str, Any]

TEXT: Shape = {"type": "string"}
NUMBER: Shape = {"type": "integer"}
FLAG: Shape = {"type": "boolean"}


def _list(items: Shape) -> Shape:
    return {"type": "array", "items": items}


def _object(members: dict[str, Shape], *optional: str) -> Shape:
    """Every member is required, but for those that are named again."""
    return {
        "type": "object",
        "properties": members,
        "required": [name for name in members if name not in optional],
    }


_PROBLEM: Final = _object(
    {
        "rule": TEXT,
        "code": NUMBER,
        "message": TEXT,
        "detail": TEXT,
        "line": NUMBER,
        "column": NUMBER,
        "path": TEXT,
        "reader": {"enum": ["new", "old"]},
        "against": NUMBER,
        "remedy": TEXT,
    },
    "path",
    "reader",
    "against",
    "remedy",
)

_FINDING: Final = _object(
    {"rule": TEXT, "path": TEXT, "message": TEXT, "line": NUMBER, "column": NUMBER}, "rule", "path", "line", "column"
)
_READING: Final = _object({"compatible": FLAG, "findings": _list(_FINDING)})
_APPLIED: Final = _object(
    {
        "level": TEXT,
        "against": {"enum": ["latest", "all"]},
        "from": TEXT,
        "group": TEXT,
        "version": NUMBER,
        "backward": _READING,
        "forward": _READING,
    },
    "from",
    "group",
    "version",
    "backward",
    "forward",
)

_REGION: Final = _object(
    {
        "url": TEXT,
        "registry": TEXT,
        "role": {"enum": ["primary", "follower", "joining"]},
        "epoch": NUMBER,
        "writes": FLAG,
        "name": TEXT,
        "peer": TEXT,
        "reconciled": FLAG,
        "out": _list(_object({"name": TEXT, "url": TEXT}, "url")),
        "behind": NUMBER,
        "problem": TEXT,
        "setting": TEXT,
        "commits": NUMBER,
        "newest": NUMBER,
        "waiting": _list(
            _object({"why": TEXT, "number": NUMBER, "more": FLAG, "oldest": NUMBER, "subjects": _list(TEXT)})
        ),
        "ids": _list(_object({"context": TEXT, "given": NUMBER, "ceiling": NUMBER})),
        "moreContexts": FLAG,
    },
    "url",
    "registry",
    "name",
    "peer",
    "behind",
    "problem",
    "setting",
    "commits",
    "newest",
    "ids",
)
_API_KEY: Final[dict[str, Shape]] = {
    "key": TEXT,
    "role": {"enum": ["reader", "writer", "admin"]},
    "delete": FLAG,
    "subjects": _list(TEXT),
    "created": NUMBER,
    "expires": {"type": ["integer", "null"]},
    "former": _list(NUMBER),
    "by": {"type": ["string", "null"]},
    "revoked": _object({"at": NUMBER, "by": TEXT}),
}

_FOUND_SUBJECT: Final = _object(
    {"subject": TEXT, "version": NUMBER, "id": NUMBER, "schemaType": TEXT, "deleted": FLAG},
    "version",
    "id",
    "schemaType",
    "deleted",
)

_REFERRER: Final = _object({"subject": TEXT, "version": NUMBER, "id": NUMBER, "deleted": FLAG, "referenced": NUMBER})
_TOLD_VERSION: Final = _object({"version": NUMBER, "deleted": FLAG})


def _part(items: Shape) -> Shape:
    return _object({"found": _list(items), "after": TEXT}, "after")


def _items_of(name: str) -> Shape:
    """What a list of the API has."""
    return {"$ref": f"#/components/schemas/{name}/items"}


def _member_of(name: str, member: str) -> Shape:
    """What an answer of the API has there."""
    return {"$ref": f"#/components/schemas/{name}/properties/{member}"}


CONSOLE_SHAPES: Final[dict[str, Shape]] = {
    "RegionShown": _REGION,
    "OtherRegionShown": _object(
        {"url": TEXT, "region": _REGION, "why": TEXT, "lacking": _list(TEXT)}, "url", "region", "why", "lacking"
    ),
    "FoundSubjects": _list(_FOUND_SUBJECT),
    "SearchedSubjects": _object({"found": _list(_FOUND_SUBJECT), "searched": NUMBER, "through": TEXT}, "through"),
    "VersionPart": _object(
        {
            "subject": TEXT,
            "name": TEXT,
            "found": _list(_TOLD_VERSION),
            "after": TEXT,
            "latest": NUMBER,
            "near": _list(_TOLD_VERSION),
        },
        "after",
        "latest",
        "near",
    ),
    "ReferrerPart": _part(_REFERRER),
    "UsagePart": _object(
        {
            "subject": TEXT,
            "found": _member_of("Usage", "versions"),
            "after": TEXT,
            "counting": FLAG,
            "since": TEXT,
            "audit": _member_of("Usage", "audit"),
            "limits": _list(TEXT),
        },
        "after",
        "counting",
        "since",
        "audit",
    ),
    "Stakes": _object(
        {
            "subject": TEXT,
            "latest": NUMBER,
            "versions": _object({"stored": NUMBER, "active": NUMBER, "highest": NUMBER, "more": FLAG}),
            "referrers": _object({"found": _list(_REFERRER), "more": FLAG}),
            "reads": _object(
                {
                    "versions": NUMBER,
                    "readers": NUMBER,
                    "more": FLAG,
                    "since": TEXT,
                    "last": _object({"day": TEXT, "by": TEXT, "name": TEXT, "subject": TEXT}, "name", "subject"),
                },
                "more",
                "since",
                "last",
            ),
        },
        "latest",
    ),
    "NamePart": _part(_object({"by": TEXT, "name": TEXT})),
    "ContextPart": _part(TEXT),
    "SettingsPart": _part(_items_of("Settings")),
    "HolderPart": _part(_items_of("SubjectVersions")),
    "KekPart": _part({"$ref": "#/components/schemas/Kek"}),
    "AssociationPart": _part(_items_of("Associations")),
    "InForce": _object(
        {
            "subject": TEXT,
            "config": {"$ref": "#/components/schemas/Config"},
            "mode": TEXT,
            "from": {"type": "object", "additionalProperties": TEXT},
        }
    ),
    "DraftVerdict": _object(
        {
            "accepted": FLAG,
            "new": FLAG,
            "subject": TEXT,
            "version": NUMBER,
            "id": NUMBER,
            "guid": {"type": "string", "format": "uuid"},
            "schema": TEXT,
            "problems": _list(_PROBLEM),
            "applied": _APPLIED,
        },
        "applied",
        "new",
        "subject",
        "version",
        "id",
        "guid",
        "schema",
    ),
    "Graph": _object(
        {
            "subject": TEXT,
            "nodes": _list(
                _object({"subject": TEXT, "version": NUMBER, "id": NUMBER, "deleted": FLAG}, "id", "deleted")
            ),
            "edges": _list(_object({"from": NUMBER, "to": NUMBER, "name": TEXT}, "name")),
            "more": FLAG,
            "ends": _list(TEXT),
        },
        "ends",
    ),
    "SchemaFieldPart": _part(
        _object(
            {"depth": NUMBER, "name": TEXT, "what": TEXT, "path": TEXT, "type": TEXT, "doc": TEXT, "since": NUMBER},
            "type",
            "doc",
            "since",
        )
    ),
    "RecordToDecode": _object(
        {"record": TEXT, "form": {"enum": ["hex", "base64"]}, "id": NUMBER, "context": TEXT}, "form", "id", "context"
    ),
    "DecodedRecord": _object(
        {
            "bytes": TEXT,
            "frame": {"type": "object"},
            "schema": {"type": "object"},
            "value": TEXT,
            "failure": _object({"reason": TEXT, "detail": TEXT, "at": NUMBER}, "at"),
        },
        "frame",
        "schema",
        "value",
        "failure",
    ),
    "ApiKeys": _list(
        _object(
            {**_API_KEY, "used": {"type": ["string", "null"]}, "damaged": TEXT},
            *(name for name in _API_KEY if name != "key"),
            *("used", "damaged"),
        )
    ),
    "ApiKeyRequest": _object(
        {"key": TEXT, "role": TEXT, "delete": FLAG, "subjects": _list(TEXT), "expiresInSeconds": NUMBER},
        *("role", "delete", "subjects", "expiresInSeconds"),
    ),
    "ApiKeyRotation": _object({"formerSeconds": NUMBER}),
    "ApiKeySecret": _object({**_API_KEY, "secret": TEXT}, "revoked"),
    "ApiKeyUse": _object(
        {
            "key": TEXT,
            "days": NUMBER,
            "secrets": NUMBER,
            "administrators": NUMBER,
            "acceptedForSeconds": NUMBER,
            "used": TEXT,
            "reads": NUMBER,
        },
        "used",
        "reads",
    ),
    "ApiKeyRevoked": _object({"key": TEXT, "acceptedForSeconds": NUMBER}),
    "Caller": _object({"name": TEXT, "may": _list(TEXT), "everything": FLAG, "has": _list(TEXT)}),
}
