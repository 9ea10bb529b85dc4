"""The objects of the API as JSON Schema, for the published document. Other members of requests are ignored."""

from typing import Any

from sigla.associations.nouns import LIFECYCLES, OPERATIONS
from sigla.contract import CONFIG, ENTITY_KINDS, ENVIRONMENTS, INTEGERS, RULE_KINDS, RULE_MODES
from sigla.exporters.nouns import ContextType, ExporterState
from sigla.keks.nouns import Algorithm
from sigla.web.api.openapi_console_shapes import CONSOLE_SHAPES
from sigla.web.api.openapi_region_shapes import REGION_SHAPES

Shape = dict[str, Any]

TEXT: Shape = {"type": "string"}
NUMBER: Shape = {"type": "integer"}
FLAG: Shape = {"type": "boolean"}
TEXT_OR_NULL: Shape = {"type": ["string", "null"]}
NUMBER_OR_NULL: Shape = {"type": ["integer", "null"], "minimum": INTEGERS[0], "maximum": INTEGERS[-1]}
FLAG_OR_NULL: Shape = {"type": ["boolean", "null"]}


def _ref(name: str) -> Shape:
    return {"$ref": f"#/components/schemas/{name}"}


def _or_null(name: str) -> Shape:
    return {"anyOf": [_ref(name), {"type": "null"}]}


def _list(items: Shape) -> Shape:
    return {"type": "array", "items": items}


def _list_or_null(items: Shape) -> Shape:
    return {"type": ["array", "null"], "items": items}


def _map(values: Shape) -> Shape:
    return {"type": ["object", "null"], "additionalProperties": values}


def _object(*required: str, **members: Shape) -> Shape:
    shape: Shape = {"type": "object", "properties": members}
    return {**shape, "required": list(required)} if required else shape


_SCHEMA: dict[str, Shape] = {
    "guid": {"type": "string", "format": "uuid"},
    "schemaType": {"type": "string", "examples": ["AVRO", "JSON", "PROTOBUF"]},
    "schema": TEXT,
    "references": _list(_ref("SchemaReference")),
    "metadata": _ref("Metadata"),
    "ruleSet": _ref("RuleSet"),
}
_HISTORY: dict[str, Shape] = {"ts": NUMBER, "deleted": FLAG}
_VERSION: dict[str, Shape] = {"version": NUMBER, "deleted": FLAG}
_DAY: Shape = {**TEXT, "format": "date"}
_READ = _object("day", "by", day=_DAY, by=TEXT, name=TEXT, subject=TEXT)
_TIME: Shape = {**TEXT, "format": "date-time"}
_RECORDS = _object("topic", "rows", topic=TEXT, rows=NUMBER, last=_TIME, retentionMs=NUMBER)
_READS: dict[str, Shape] = {"reads": _list(_READ), "records": _list(_RECORDS), "more": FLAG}
_VERSION_USAGE = _object("version", "id", "deleted", "reads", "records", id=NUMBER, **_READS, **_VERSION)
_SUBJECT_VERSION: dict[str, Shape] = {"subject": TEXT, "version": NUMBER}
_COMPARED = _object(
    "version",
    "id",
    "guid",
    "schemaType",
    "deleted",
    version=NUMBER,
    id=NUMBER,
    deleted=FLAG,
    **{key: _SCHEMA[key] for key in ("guid", "schemaType")},
)
_READING = _object(
    "compatible",
    "findings",
    compatible=FLAG,
    findings=_list(_object("message", rule=TEXT, path=TEXT, message=TEXT, line=NUMBER, column=NUMBER)),
)
_OF_KIND: dict[str, Shape] = {
    "text": TEXT_OR_NULL,
    "flag": FLAG_OR_NULL,
    "metadata": _or_null("Metadata"),
    "rule set": _or_null("RuleSet"),
}
_ALGORITHMS = [each.value for each in Algorithm]
_SETTINGS: dict[str, Shape] = {field.wire: _OF_KIND[field.kind] for field in CONFIG if field.name != "level"}
_LEVEL: Shape = {"type": ["string", "null"], "examples": ["BACKWARD", "FULL_TRANSITIVE", "NONE"]}

_RESOURCE: dict[str, Shape] = {
    "resourceName": TEXT,
    "resourceNamespace": TEXT,
    "resourceId": TEXT,
    "resourceType": TEXT,
}
_NAMED: dict[str, Shape] = dict.fromkeys(_RESOURCE, TEXT_OR_NULL)
_LIFECYCLE: Shape = {"enum": sorted(LIFECYCLES)}
_WANTED: dict[str, Shape] = {
    "subject": TEXT_OR_NULL,
    "associationType": TEXT_OR_NULL,
    "lifecycle": {"enum": [*sorted(LIFECYCLES), None]},
    "frozen": FLAG_OR_NULL,
    "schema": _or_null("RegisterSchemaRequest"),
    "normalize": FLAG_OR_NULL,
}
_CONTEXT_TYPES = [each.value for each in ContextType]
_EXPORTER_OFFERED: dict[str, Shape] = {
    "subjects": _list_or_null(TEXT),
    "contextType": {"enum": [*_CONTEXT_TYPES, None]},
    "context": TEXT_OR_NULL,
    "subjectRenameFormat": TEXT_OR_NULL,
    "kekRenameFormat": TEXT_OR_NULL,
}

SHAPES: dict[str, Shape] = {
    **CONSOLE_SHAPES,
    **REGION_SHAPES,
    "Empty": {"type": "object"},
    "Words": _map(TEXT),
    "Text": {"description": "The text of the schema as it is; of Avro and JSON Schema that is JSON"},
    "Name": TEXT,
    "Number": NUMBER,
    "Names": _list(TEXT),
    "Numbers": _list(NUMBER),
    "Error": _object("error_code", "message", error_code=NUMBER, message=TEXT),
    "SchemaReference": _object(name=TEXT_OR_NULL, subject=TEXT_OR_NULL, version=NUMBER_OR_NULL),
    "Metadata": _object(tags=_map(_list(TEXT)), properties=_map(TEXT), sensitive=_list_or_null(TEXT)),
    "Rule": _object(
        name=TEXT_OR_NULL,
        doc=TEXT_OR_NULL,
        kind={"enum": [*RULE_KINDS, None]},
        mode={"enum": [*RULE_MODES, None]},
        type=TEXT_OR_NULL,
        tags=_list_or_null(TEXT),
        params=_map(TEXT),
        expr=TEXT_OR_NULL,
        onSuccess=TEXT_OR_NULL,
        onFailure=TEXT_OR_NULL,
        disabled=FLAG_OR_NULL,
    ),
    "RuleSet": _object(
        migrationRules=_list_or_null(_ref("Rule")),
        domainRules=_list_or_null(_ref("Rule")),
        encodingRules=_list_or_null(_ref("Rule")),
        enableAt={"enum": [*ENVIRONMENTS, None]},
    ),
    "SchemaTags": _object(
        "schemaEntity",
        schemaEntity=_object("entityPath", "entityType", entityPath=TEXT, entityType={"enum": [*ENTITY_KINDS]}),
        tags=_list_or_null(TEXT),
    ),
    "RegisterSchemaRequest": _object(
        schema=TEXT_OR_NULL,
        schemaType={"type": ["string", "null"], "default": "AVRO", "examples": ["AVRO", "JSON", "PROTOBUF"]},
        references=_list_or_null(_ref("SchemaReference")),
        metadata=_or_null("Metadata"),
        ruleSet=_or_null("RuleSet"),
        version=NUMBER_OR_NULL,
        id=NUMBER_OR_NULL,
        schemaTagsToAdd=_list_or_null(_ref("SchemaTags")),
        schemaTagsToRemove=_list_or_null(_ref("SchemaTags")),
        propagateSchemaTags=FLAG_OR_NULL,
    ),
    "TagSchemaRequest": _object(
        newVersion=NUMBER_OR_NULL,
        tagsToAdd=_list_or_null(_ref("SchemaTags")),
        tagsToRemove=_list_or_null(_ref("SchemaTags")),
        metadata=_or_null("Metadata"),
        ruleSet=_or_null("RuleSet"),
        rulesToMerge=_or_null("RuleSet"),
        rulesToRemove=_list_or_null(TEXT),
    ),
    "ConfigUpdateRequest": _object(compatibility=_LEVEL, **_SETTINGS),
    "Config": _object(compatibilityLevel=_LEVEL, **_SETTINGS),
    "Settings": _list(
        _object("subject", subject=TEXT, config=_object(compatibilityLevel=_LEVEL, **_SETTINGS), mode=TEXT)
    ),
    "Mode": _object(mode={"type": ["string", "null"], "examples": ["READWRITE", "READONLY", "IMPORT"]}),
    "ModeRequest": _object("mode", mode={"type": ["string", "null"], "examples": ["READWRITE"]}),
    "Registration": _object("id", "guid", "schemaType", id=NUMBER, version=NUMBER, **_SCHEMA, **_HISTORY),
    "Schema": _object(
        "subject",
        "version",
        "id",
        "guid",
        "schemaType",
        id=NUMBER,
        **_SUBJECT_VERSION,
        **_SCHEMA,
        schemaTags=_list(_ref("SchemaTags")),
        aliases=_list(TEXT),
        **_HISTORY,
    ),
    "Schemas": _list(_ref("Schema")),
    "SchemaById": _object(
        "guid",
        "schemaType",
        **_SUBJECT_VERSION,
        **_SCHEMA,
        schemaTags=_list(_ref("SchemaTags")),
        maxId=NUMBER,
        **_HISTORY,
    ),
    "CreateKekRequest": _object(
        "name",
        "kmsType",
        "kmsKeyId",
        name=TEXT,
        kmsType={**TEXT, "examples": ["aws-kms", "azure-kms", "gcp-kms", "hcvault"]},
        kmsKeyId=TEXT,
        kmsProps=_map(TEXT_OR_NULL),
        doc=TEXT_OR_NULL,
        shared=FLAG_OR_NULL,
        deleted=FLAG_OR_NULL,
    ),
    "UpdateKekRequest": _object(kmsProps=_map(TEXT_OR_NULL), doc=TEXT_OR_NULL, shared=FLAG_OR_NULL),
    "Kek": _object(
        "name",
        "kmsType",
        "kmsKeyId",
        "kmsProps",
        "shared",
        name=TEXT,
        kmsType=TEXT,
        kmsKeyId=TEXT,
        kmsProps=_map(TEXT_OR_NULL),
        doc=TEXT,
        shared=FLAG,
        **_HISTORY,
    ),
    "CreateDekRequest": _object(
        subject=TEXT_OR_NULL,
        version=NUMBER_OR_NULL,
        algorithm={"enum": [*_ALGORITHMS, None]},
        encryptedKeyMaterial=TEXT_OR_NULL,
        deleted=FLAG_OR_NULL,
    ),
    "Dek": _object(
        "kekName",
        "subject",
        "version",
        "algorithm",
        "encryptedKeyMaterial",
        kekName=TEXT,
        **_SUBJECT_VERSION,
        algorithm={"enum": _ALGORITHMS},
        encryptedKeyMaterial=TEXT,
        keyMaterial=TEXT,
        **_HISTORY,
    ),
    "History": _list(
        _object(
            "at",
            "commit",
            "about",
            at={"type": "string", "format": "date-time"},
            by=TEXT,
            name=TEXT,
            change=TEXT,
            via=_object(way=TEXT, request=TEXT, address=TEXT, asker=TEXT, forwarder=TEXT),
            was=TEXT,
            **{"is": TEXT},
            commit=TEXT,
            about=_list(_object("type", type=TEXT, name=TEXT, version=NUMBER, id=NUMBER, gone=FLAG, subject=TEXT)),
            more=NUMBER,
        )
    ),
    "Usage": _object(
        "subject",
        "versions",
        "limits",
        subject=TEXT,
        counting=FLAG,
        since=_DAY,
        audit=_object("at", "places", at=_TIME, places=_list(TEXT)),
        versions=_list(_VERSION_USAGE),
        limits=_list(TEXT),
    ),
    "Difference": _object(
        "subject",
        "old",
        "new",
        "sameness",
        "changes",
        "backward",
        "forward",
        "full",
        subject=TEXT,
        old=_COMPARED,
        new=_COMPARED,
        sameness=TEXT,
        changes=_list(
            _object(
                "path",
                "kind",
                "what",
                "documentation",
                "breaks",
                path=TEXT,
                kind=TEXT,
                what=TEXT,
                inside=TEXT,
                was=TEXT,
                documentation=FLAG,
                breaks=_object("backward", "forward", backward=_list(TEXT), forward=_list(TEXT)),
                **{"is": TEXT},
            )
        ),
        backward=_READING,
        forward=_READING,
        full=FLAG,
    ),
    "SubjectVersions": _list(_object("subject", "version", **_SUBJECT_VERSION)),
    "KnownContents": _list(
        _object(
            "guid",
            "id",
            "subject",
            "version",
            guid=_SCHEMA["guid"],
            id=NUMBER,
            deleted=FLAG,
            displaced=FLAG,
            **_SUBJECT_VERSION,
        )
    ),
    "ContextIds": _list(_object("context", "id", context=TEXT, id=NUMBER)),
    "Verdict": _object("is_compatible", is_compatible=FLAG, messages=_list(TEXT)),
    "Associations": _list(
        _object(
            "subject",
            "guid",
            "resourceId",
            **_RESOURCE,
            subject=TEXT,
            guid={"type": "string", "format": "uuid"},
            associationType=TEXT,
            lifecycle=_LIFECYCLE,
            createTs=NUMBER,
            updateTs=NUMBER,
        )
    ),
    "Association": _object(**_RESOURCE, associations=_list(_ref("AssociationInfo"))),
    "AssociationInfo": _object(
        "subject", subject=TEXT, associationType=TEXT, lifecycle=_LIFECYCLE, schema=_ref("Schema")
    ),
    "AssociationWanted": _object(**_WANTED),
    "AssociationRequest": _object(**_NAMED, associations=_list_or_null(_ref("AssociationWanted"))),
    "AssociationOperation": _object(
        "opType", opType={"enum": sorted(OPERATIONS)}, cascadeLifecycle=FLAG_OR_NULL, **_WANTED
    ),
    "AssociationBatch": _object(
        requests=_list_or_null(_object(**_NAMED, associations=_list_or_null(_ref("AssociationOperation"))))
    ),
    "AssociationBatchGet": _object(
        requests=_list_or_null(
            _object(**_NAMED, associationTypes=_list_or_null(TEXT), lifecycle={"enum": [*sorted(LIFECYCLES), None]})
        )
    ),
    "AssociationResults": _object("results", results=_list(_object(result=_ref("Association"), error=_ref("Error")))),
    "CreateExporterRequest": _object("name", "config", name=TEXT, config=_map(TEXT), **_EXPORTER_OFFERED),
    "UpdateExporterRequest": _object(config=_map(TEXT), **_EXPORTER_OFFERED),
    "ExporterName": _object("name", name=TEXT),
    "ExporterConfig": _map(TEXT),
    "Exporter": _object(
        "name",
        "subjects",
        "contextType",
        "config",
        name=TEXT,
        subjects=_list(TEXT),
        contextType={"enum": _CONTEXT_TYPES},
        context=TEXT,
        subjectRenameFormat=TEXT,
        kekRenameFormat=TEXT,
        config=_map(TEXT),
    ),
    "ExporterStatus": _object(
        "name",
        "state",
        "offset",
        "ts",
        "trace",
        name=TEXT,
        state={"enum": [each.value for each in ExporterState]},
        offset=NUMBER,
        ts=NUMBER,
        trace=TEXT,
    ),
    "ServerClusterId": _object("scope", scope=_object(path=_list(TEXT), clusters=_map(TEXT))),
    "ServerVersion": _object("version", "commitId", version=TEXT, commitId=TEXT),
    "Deployment": _object("attributes", attributes=_list(TEXT)),
    "Zones": _list(
        _object(
            "id", "url", "healthy", "checked", id=TEXT, name=TEXT, url=TEXT, healthy=FLAG, checked=NUMBER, reason=TEXT
        )
    ),
}
