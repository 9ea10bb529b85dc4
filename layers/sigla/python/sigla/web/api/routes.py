"""Every route of the API, one row each: what is asked, by whom it may be asked, how it can be answered.

The app dispatches by this table, reads queries by it, and `openapi` publishes it. To add a route, add a row and an
endpoint. A `Query` in a row is an argument of the endpoint.
"""

from sigla import errors
from sigla.associations.nouns import NONE, STRONG, WEAK
from sigla.associations.refusals import (
    AssociationExists,
    AssociationFrozen,
    AssociationNotFound,
    IncompatibleAssociation,
    InvalidAssociation,
    NoActiveVersion,
    ReferencedByOthers,
    SubjectAssociated,
    SubjectOwned,
)
from sigla.auth.permissions import ADMIN, DELETE, OPEN, READ, WRITE
from sigla.exporters import refusals as exporter_refusals
from sigla.keks import refusals as key_refusals
from sigla.web.api.console_routes import CONSOLE_ROUTES
from sigla.web.api.endpoints import associations, exporters, keks, schemas, server, settings, subjects
from sigla.web.api.parameters import (
    BEGINS,
    DEFAULT_TO_GLOBAL,
    DELETED,
    DELETED_ONLY,
    DRAFT,
    EXPORTER_ASKS,
    FIND_TAGS,
    FORCE,
    FORMAT,
    ID_SCOPE,
    NO_SUBJECT,
    NO_VERSION,
    NORMALIZE,
    PAGED,
    PAGED_SCHEMAS,
    PERMANENT,
    REFERENCE_FORMAT,
    TOKENS,
    VERBOSE,
)
from sigla.web.api.queries import FLAG, TEXT, TEXTS, Query, Text, TextIfGiven, Word, Words
from sigla.web.api.region_routes import REGION_ROUTES
from sigla.web.api.route import Body, Route
from sigla.web.api.wire.keks import ALGORITHMS

RESOURCE_TYPE, ASSOCIATION_TYPE = Query("resourceType"), Query("associationType", TEXTS)
ASSOCIATIONS = (
    RESOURCE_TYPE,
    ASSOCIATION_TYPE,
    Query("lifecycle", Word(frozenset({STRONG, WEAK}))),
    *PAGED_SCHEMAS,
)
ALGORITHM = Query("algorithm", Word(ALGORITHMS), "The key's algorithm; AES256_GCM if it is not given")
TEST_SHARING = Query("testSharing", FLAG, "Try a shared KEK with its key service first")

ASSOCIATION_CONTEXT = Query("context", TEXT, "The context of the subjects, as `:.name:`")
DRY_RUN = Query("dryRun", FLAG, "Check everything and write nothing")

NO_ID = (errors.SchemaNotFound,)
OFFER = (errors.InvalidSchema, errors.InvalidRuleSet)
REGISTRATION = (*OFFER, errors.InvalidSubject, errors.OperationNotPermitted, errors.Incompatible, errors.SchemaTooLarge)
SHOWN = (errors.InvalidSchema,)
ASSOCIATION = (
    IncompatibleAssociation,
    AssociationExists,
    SubjectAssociated,
    SubjectOwned,
    NoActiveVersion,
    errors.InvalidSchema,
    errors.OperationNotPermitted,
    ReferencedByOthers,
    InvalidAssociation,
)
KEKS = "/dek-registry/v1/keks"
DEKS = f"{KEKS}/{{kek}}/deks"
DEK_VERSION = f"{DEKS}/{{subject}}/versions/{{version}}"
NO_KEY = (key_refusals.KeyNotFound, key_refusals.InvalidKeyField)
KMS = (key_refusals.KmsFailed, key_refusals.KmsDenied)
NEW_KEY = (key_refusals.InvalidKeyField, key_refusals.KeyExists, *KMS)
NO_KEY_VERSION = (*NO_KEY, errors.InvalidVersion)
EXPORTER = "/exporters/{exporter}"
NO_EXPORTER = (exporter_refusals.ExporterNotFound,)
NOT_PAUSED = (*NO_EXPORTER, exporter_refusals.ExporterNotPaused)
EXPORTER_SETTINGS = (exporter_refusals.InvalidExporterConfig, exporter_refusals.InvalidExporterSubjects)

# fmt: off
ROUTES = (
    Route("GET", "/", OPEN, server.root, "Whether the registry answers", "Empty", (EXPORTER_ASKS,)),
    Route("POST", "/", OPEN, server.post_root, "Whether the registry answers", "Empty", body=Body("Words")),
    Route("GET", "/v1/metadata/id", OPEN, server.metadata_id, "Which cluster this is", "ServerClusterId"),
    Route("GET", "/v1/metadata/version", OPEN, server.metadata_version, "Which API this is", "ServerVersion"),
    Route("GET", "/v1/metadata/deployment", OPEN, server.metadata_deployment, "How this is deployed", "Deployment"),
    # Open: who is about to choose an endpoint has nothing yet, and it tells no more than DNS and a request would.
    Route("GET", "/zones", OPEN, server.zones, "The zones that have endpoints of their own", "Zones"),

    Route("GET", "/contexts", READ, server.contexts, "The contexts", "Names",
          query=(*PAGED, Query("contextPrefix", TEXT, "Only those that begin so")), lists=True),
    Route("DELETE", "/contexts/{context}", ADMIN, server.drop_context, "Take an empty context off the list", "Nothing",
          status=204, refuses=(errors.ContextNotEmpty,), operation="Delete context operation"),

    Route("GET", "/schemas", READ, schemas.schemas, "Schemas of many subjects", "Schemas",
          query=(Query("subjectPrefix", TEXT, BEGINS), DELETED,
                 Query("latestOnly", FLAG, "Only the highest version of each subject"),
                 Query("aliases", FLAG, "Also what aliases lead to"),
                 Query("ruleType", TEXT, "Only those with a rule of this type"),
                 Query("resourceType", TextIfGiven()), ASSOCIATION_TYPE,
                 Query("lifecycle", Words(frozenset({NONE, STRONG, WEAK}))), *PAGED_SCHEMAS), lists=True),
    Route("GET", "/schemas/types", OPEN, schemas.schema_types, "The schema languages", "Names"),
    Route("GET", "/schemas/ids/{id}", READ, schemas.schema_by_id, "What an id means", "SchemaById", validated=True,
          query=(ID_SCOPE, FORMAT, REFERENCE_FORMAT, FIND_TAGS,
                 Query("fetchMaxId", FLAG, "Also tell the highest id")), refuses=(*NO_ID, *SHOWN)),
    Route("GET", "/schemas/ids/{id}/schema", READ, schemas.text_by_id, "The text an id means", "Text", validated=True,
          query=(ID_SCOPE, FORMAT), refuses=(*NO_ID, *SHOWN)),
    Route("GET", "/schemas/ids/{id}/subjects", READ, schemas.subjects_by_id, "Who uses an id", "Names", validated=True,
          query=(ID_SCOPE, DELETED, *PAGED), refuses=NO_ID, lists=True),
    Route("GET", "/schemas/ids/{id}/versions", READ, schemas.versions_by_id, "Which versions have an id",
          "SubjectVersions", validated=True, query=(ID_SCOPE, DELETED, *PAGED), refuses=NO_ID, lists=True),
    Route("GET", "/schemas/guids", READ, schemas.known_contents, "Which contents a context knows, by which ids",
          "KnownContents", query=(Query("guids", TEXT, "GUIDs, with commas between them"), ID_SCOPE), lists=True),
    Route("GET", "/schemas/guids/{guid}", READ, schemas.schema_by_guid, "What a GUID means", "SchemaById",
          validated=True, query=(FORMAT,), refuses=(*NO_ID, *SHOWN)),
    Route("GET", "/schemas/guids/{guid}/ids", READ, schemas.ids_by_guid, "Under which ids a GUID is known",
          "ContextIds", validated=True),

    Route("GET", "/subjects", READ, subjects.subjects, "The subjects", "Names",
          query=(Query("subjectPrefix", Text(":*:"), BEGINS), DELETED, DELETED_ONLY, *PAGED), lists=True),
    Route("POST", "/subjects/{subject}", READ, subjects.lookup, "Which version is this schema?", "Schema",
          body=Body(DRAFT, "lookUpSchemaUnderSubject"), query=(NORMALIZE, DELETED, FORMAT),
          refuses=(*NO_SUBJECT, *NO_ID, *OFFER), operation="Lookup schema operation"),
    Route("DELETE", "/subjects/{subject}", DELETE, subjects.delete_subject, "Delete every version", "Numbers",
          query=(PERMANENT,), refuses=(*NO_SUBJECT, errors.SubjectSoftDeleted, errors.SubjectNotSoftDeleted,
                                       errors.OperationNotPermitted, errors.Referenced),
          conditional=True, operation="Delete subject operation"),
    Route("GET", "/subjects/{subject}/metadata", READ, subjects.metadata, "The latest version with these properties",
          "Schema", query=(Query("key", TEXTS), Query("value", TEXTS), FORMAT, DELETED),
          refuses=(*NO_SUBJECT, *NO_ID, *SHOWN), lists=True),
    Route("GET", "/subjects/{subject}/history", READ, subjects.history, "What became of a subject, newest first",
          "History", query=(TOKENS, *PAGED_SCHEMAS), refuses=NO_SUBJECT, lists=True),
    Route("GET", "/subjects/{subject}/usage", READ, subjects.usage, "Who read its versions last, and what is not known",
          "Usage", query=(Query("version", TEXT, "This version alone"),), refuses=NO_VERSION, lists=True),
    Route("GET", "/subjects/{subject}/diff/{old}/{new}", READ, subjects.diff, "What is between two versions",
          "Difference", query=(DELETED,), refuses=(*NO_VERSION, *SHOWN), parses=True,
          operation="Compare versions operation"),
    Route("GET", "/subjects/{subject}/versions", READ, subjects.versions, "The versions of a subject", "Numbers",
          query=(DELETED, DELETED_ONLY, Query("deletedAsNegative", FLAG, "All, soft-deleted ones negated"), *PAGED),
          refuses=NO_SUBJECT, lists=True),
    Route("POST", "/subjects/{subject}/versions", WRITE, subjects.register, "Register a schema", "Registration",
          body=Body(DRAFT, "register"),
          query=(NORMALIZE, FORMAT, Query("force", FLAG, "Without the compatibility check", access=ADMIN)),
          refuses=REGISTRATION, conditional=True, operation="Register operation"),
    Route("GET", "/subjects/{subject}/versions/{version}", READ, subjects.version, "A version of a subject", "Schema",
          query=(FORMAT, REFERENCE_FORMAT, DELETED, FIND_TAGS), refuses=(*NO_VERSION, *SHOWN)),
    Route("DELETE", "/subjects/{subject}/versions/{version}", DELETE, subjects.delete_version, "Delete a version",
          "Number", query=(PERMANENT,), refuses=(*NO_VERSION, errors.VersionSoftDeleted, errors.VersionNotSoftDeleted,
                                                 errors.OperationNotPermitted, errors.Referenced),
          conditional=True, operation="Delete Schema Version operation"),
    Route("GET", "/subjects/{subject}/versions/{version}/schema", READ, subjects.version_text, "The text of a version",
          "Text", query=(FORMAT, DELETED), refuses=(*NO_VERSION, *SHOWN)),
    Route("GET", "/subjects/{subject}/versions/{version}/referencedby", READ, subjects.referenced_by,
          "Which ids reference a version", "Numbers", query=(DELETED, *PAGED_SCHEMAS), refuses=NO_VERSION, lists=True),
    Route("POST", "/subjects/{subject}/versions/{version}/tags", WRITE, subjects.tag,
          "Register a version like this one with other tags, metadata or rules", "Registration",
          body=Body("TagSchemaRequest", "modifyTags"), refuses=(*NO_VERSION, *REGISTRATION),
          operation="Register operation"),

    Route("POST", "/compatibility/subjects/{subject}/versions", READ, subjects.check, "Would this be accepted?",
          "Verdict", body=Body(DRAFT, "testCompatibilityForSubject"),
          query=(NORMALIZE, VERBOSE), refuses=OFFER,
          operation="Compatibility check"),
    Route("POST", "/compatibility/subjects/{subject}/versions/{version}", READ, subjects.check,
          "Is this compatible with that version?", "Verdict", body=Body(DRAFT, "testCompatibilityBySubjectName"),
          query=(NORMALIZE, VERBOSE),
          refuses=(errors.VersionNotFound, errors.InvalidVersion, *OFFER), operation="Compatibility check"),

    Route("GET", "/config", READ, settings.config, "Config of the default context", "Config",
          query=(DEFAULT_TO_GLOBAL,)),
    Route("PUT", "/config", ADMIN, settings.change_config, "Change config of the default context",
          "ConfigUpdateRequest", body=Body("ConfigUpdateRequest", "updateTopLevelConfig"),
          refuses=(errors.InvalidLevel, errors.InvalidRuleSet, errors.OperationNotPermitted),
          conditional=True, operation="Update config operation"),
    Route("DELETE", "/config", ADMIN, settings.drop_config, "Forget config of the default context", "Config",
          refuses=(errors.OperationNotPermitted,), conditional=True, operation="Delete config operation"),
    Route("GET", "/config/{subject}", READ, settings.config, "Config of a subject or a context", "Config",
          query=(DEFAULT_TO_GLOBAL,), refuses=(errors.LevelNotConfigured,)),
    Route("PUT", "/config/{subject}", ADMIN, settings.change_config, "Change config of a subject or a context",
          "ConfigUpdateRequest", body=Body("ConfigUpdateRequest", "updateSubjectLevelConfig"),
          refuses=(errors.InvalidLevel, errors.InvalidRuleSet, errors.InvalidSubject, errors.OperationNotPermitted),
          conditional=True, operation="Update config operation"),
    Route("DELETE", "/config/{subject}", ADMIN, settings.drop_config, "Forget config of a subject or a context",
          "Config", refuses=(*NO_SUBJECT, errors.OperationNotPermitted), conditional=True,
          operation="Delete config operation"),

    Route("GET", "/settings", READ, settings.listed_settings, "Config and mode of many subjects and contexts",
          "Settings", query=(Query("subjectPrefix", TEXT, BEGINS), *PAGED_SCHEMAS), lists=True),

    *CONSOLE_ROUTES,

    Route("GET", "/mode", READ, settings.mode, "Mode of the default context", "Mode", query=(DEFAULT_TO_GLOBAL,)),
    Route("PUT", "/mode", ADMIN, settings.change_mode, "Set the mode of the default context", "Mode",
          body=Body("ModeRequest", "updateTopLevelMode"), query=(FORCE,),
          refuses=(errors.InvalidMode, errors.OperationNotPermitted, errors.Referenced),
          conditional=True, operation="Update mode operation"),
    Route("DELETE", "/mode", ADMIN, settings.drop_mode, "Forget the mode of the default context", "Mode",
          query=(Query("recursive", FLAG, "And those of its subjects"),), refuses=(errors.OperationNotPermitted,),
          conditional=True, operation="Delete mode operation"),
    Route("GET", "/mode/{subject}", READ, settings.mode, "Mode of a subject or a context", "Mode",
          query=(DEFAULT_TO_GLOBAL,), refuses=(errors.ModeNotConfigured,)),
    Route("PUT", "/mode/{subject}", ADMIN, settings.change_mode, "Set the mode of a subject or a context", "Mode",
          body=Body("ModeRequest", "updateMode"), query=(FORCE,),
          refuses=(errors.InvalidMode, errors.InvalidSubject, errors.OperationNotPermitted, errors.Referenced),
          conditional=True, operation="Update mode operation"),
    Route("DELETE", "/mode/{subject}", ADMIN, settings.drop_mode, "Forget the mode of a subject or a context", "Mode",
          query=(Query("recursive", FLAG, "And those of a context's subjects"),),
          refuses=(*NO_SUBJECT, errors.OperationNotPermitted), conditional=True, operation="Delete mode operation"),

    Route("GET", KEKS, READ, keks.kek_names, "The names of key encryption keys (KEKs)", "Names", lists=True,
          query=(Query("subjectPrefix", TEXTS, "Only KEKs with a DEK whose subject begins so"), DELETED, *PAGED)),
    Route("POST", KEKS, WRITE, keks.create_kek, "Create a KEK", "Kek", body=Body("CreateKekRequest", "createKek"),
          query=(TEST_SHARING,), refuses=NEW_KEY, operation="Create key operation"),
    Route("GET", f"{KEKS}/{{kek}}", READ, keks.show_kek, "A KEK", "Kek", query=(DELETED,), refuses=NO_KEY),
    Route("PUT", f"{KEKS}/{{kek}}", WRITE, keks.update_kek, "Change a KEK", "Kek", registry_wide=True,
          body=Body("UpdateKekRequest", "putKek"), query=(TEST_SHARING,),
          refuses=(*NO_KEY, *KMS), operation="Update key operation"),
    Route("DELETE", f"{KEKS}/{{kek}}", DELETE, keks.delete_kek, "Delete a KEK", "Nothing", registry_wide=True,
          query=(PERMANENT,), status=204, operation="Delete key operation",
          refuses=(*NO_KEY, key_refusals.KeyNotSoftDeleted, key_refusals.KekInUse)),
    Route("POST", f"{KEKS}/{{kek}}/undelete", WRITE, keks.undelete_kek, "Undelete a KEK", "Nothing", status=204,
          registry_wide=True, refuses=NO_KEY, operation="Undelete key operation"),
    Route("POST", f"{KEKS}/{{kek}}/test", WRITE, keks.try_kek, "Try a shared KEK with its key service", "Kek",
          registry_wide=True, refuses=(*NO_KEY, *KMS), operation="Test key operation"),
    Route("GET", DEKS, READ, keks.dek_subjects, "The subjects of a KEK's data keys (DEKs)", "Names", lists=True,
          query=(DELETED, *PAGED), refuses=NO_KEY),
    Route("POST", DEKS, WRITE, keks.create_dek_named, "Create a DEK of the subject that the body names", "Dek",
          body=Body("CreateDekRequest", "createDek"), refuses=(*NO_KEY_VERSION, *NEW_KEY),
          operation="Create key operation"),
    Route("GET", f"{DEKS}/{{subject}}", READ, keks.show_first_dek, "The first version of a DEK", "Dek",
          query=(ALGORITHM, DELETED), refuses=(*NO_KEY, *KMS), lists=True),
    Route("POST", f"{DEKS}/{{subject}}", WRITE, keks.create_dek, "Create a DEK", "Dek",
          body=Body("CreateDekRequest", "createDekWithSubject"),
          query=(Query("rewrap", FLAG, "Put this material in the place of what stands"),),
          refuses=(*NO_KEY_VERSION, *NEW_KEY), operation="Create key operation"),
    Route("DELETE", f"{DEKS}/{{subject}}", DELETE, keks.delete_deks, "Delete every version of a DEK", "Nothing",
          query=(ALGORITHM, PERMANENT), status=204, refuses=(*NO_KEY, key_refusals.KeyNotSoftDeleted),
          operation="Delete key operation"),
    Route("POST", f"{DEKS}/{{subject}}/undelete", WRITE, keks.undelete_deks, "Undelete every version of a DEK",
          "Nothing", query=(ALGORITHM,), status=204, refuses=(*NO_KEY, key_refusals.KekSoftDeleted),
          operation="Undelete key operation"),
    Route("GET", f"{DEKS}/{{subject}}/versions", READ, keks.dek_versions, "The versions of a DEK", "Numbers",
          query=(ALGORITHM, DELETED, *PAGED), refuses=NO_KEY, lists=True),
    Route("GET", DEK_VERSION, READ, keks.show_dek, "A version of a DEK", "Dek", query=(ALGORITHM, DELETED), lists=True,
          refuses=(*NO_KEY_VERSION, *KMS)),
    Route("DELETE", DEK_VERSION, DELETE, keks.delete_deks, "Delete a version of a DEK", "Nothing", status=204,
          query=(ALGORITHM, PERMANENT), refuses=(*NO_KEY_VERSION, key_refusals.KeyNotSoftDeleted),
          operation="Delete key operation"),
    Route("POST", f"{DEK_VERSION}/undelete", WRITE, keks.undelete_deks, "Undelete a version of a DEK", "Nothing",
          query=(ALGORITHM,), status=204, refuses=(*NO_KEY_VERSION, key_refusals.KekSoftDeleted),
          operation="Undelete key operation"),

    # The clients of 2026 ask for every topic, and write a warning where there is no such path.
    Route("GET", "/associations/subjects/{subject}", READ, associations.of_subject, "The topics of a subject",
          "Associations", query=ASSOCIATIONS, lists=True),
    Route("GET", "/associations/resources/{resource}", READ, associations.of_resource,
          "The subjects of a topic, by its id", "Associations", query=ASSOCIATIONS),
    Route("GET", "/associations/resources/{namespace}/{resource}", READ, associations.of_name,
          "The subjects of a topic, by its name; `-` is any", "Associations", query=ASSOCIATIONS, lists=True),
    Route("POST", "/associations", WRITE, associations.create, "Associate a new topic, with its schemas", "Association",
          body=Body("AssociationRequest", "createAssociation"), query=(ASSOCIATION_CONTEXT, DRY_RUN),
          refuses=ASSOCIATION, operation="Create association operation"),
    Route("PUT", "/associations/resources/{resource}", WRITE, associations.update,
          "Associate a topic, or register its next schemas", "Association",
          body=Body("AssociationRequest", "createOrUpdateAssociation"), query=(ASSOCIATION_CONTEXT, DRY_RUN),
          refuses=ASSOCIATION, operation="Update association operation"),
    Route("DELETE", "/associations/resources/{resource}", DELETE, associations.delete,
          "Delete the associations of a topic", "Nothing", status=204,
          query=(RESOURCE_TYPE, ASSOCIATION_TYPE,
                 Query("cascadeLifecycle", FLAG, "Strong ones too, with their subjects for good", access=ADMIN),
                 DRY_RUN),
          refuses=(AssociationNotFound, AssociationFrozen, errors.OperationNotPermitted, errors.Referenced),
          operation="Delete association operation"),
    Route("POST", "/associations:batchGet", READ, associations.batch_get, "The associations of many topics",
          "AssociationResults", status=207, body=Body("AssociationBatchGet", "batchGetAssociations"),
          query=(Query("includeSchemas", FLAG, "With the newest version of each subject"),),
          refuses=(InvalidAssociation,), lists=True),
    Route("POST", "/associations:batchMutate", WRITE, associations.batch_mutate,
          "Change the associations of many topics", "AssociationResults", status=207,
          body=Body("AssociationBatch", "mutateAssociations"), query=(ASSOCIATION_CONTEXT, DRY_RUN),
          refuses=(InvalidAssociation,), operation="Association batch operation"),

    # An exporter sends what is registered to an address of its own: it is for whoever reaches everything.
    Route("GET", "/exporters", READ, exporters.exporter_names, "The names of exporters", "Names", registry_wide=True),
    Route("POST", "/exporters", ADMIN, exporters.create_exporter, "Export to another registry from now on",
          "ExporterName", body=Body("CreateExporterRequest", "createExporter"), registry_wide=True,
          refuses=(exporter_refusals.InvalidExporterName, *EXPORTER_SETTINGS, exporter_refusals.ExporterExists,
                   exporter_refusals.TooManyExporters), operation="Create exporter operation"),
    Route("GET", EXPORTER, READ, exporters.show_exporter, "An exporter", "Exporter", registry_wide=True,
          refuses=NO_EXPORTER),
    Route("PUT", EXPORTER, ADMIN, exporters.update_exporter, "Change a paused exporter", "ExporterName",
          body=Body("UpdateExporterRequest", "putExporter"), registry_wide=True,
          refuses=(*NOT_PAUSED, *EXPORTER_SETTINGS), operation="Update exporter operation"),
    Route("DELETE", EXPORTER, ADMIN, exporters.delete_exporter, "Delete a paused exporter", "Nothing", status=204,
          registry_wide=True, refuses=NOT_PAUSED, operation="Delete exporter operation"),
    Route("GET", f"{EXPORTER}/config", READ, exporters.show_config, "The settings of an exporter", "ExporterConfig",
          registry_wide=True, refuses=NO_EXPORTER),
    Route("PUT", f"{EXPORTER}/config", ADMIN, exporters.update_config, "Replace the settings of a paused exporter",
          "ExporterName", body=Body("ExporterConfig", "putExporterConfig"), registry_wide=True,
          refuses=(*NOT_PAUSED, exporter_refusals.InvalidExporterConfig), operation="Update exporter operation"),
    Route("GET", f"{EXPORTER}/config/clusterlink", READ, exporters.show_cluster_link,
          "The settings of a cluster link that follow from an exporter", "ExporterConfig", registry_wide=True,
          refuses=NO_EXPORTER),
    Route("GET", f"{EXPORTER}/status", READ, exporters.show_status, "What an exporter does", "ExporterStatus",
          registry_wide=True, refuses=NO_EXPORTER),
    Route("PUT", f"{EXPORTER}/pause", ADMIN, exporters.pause_exporter, "Pause an exporter", "ExporterName",
          registry_wide=True, refuses=NO_EXPORTER, operation="Update exporter operation"),
    Route("PUT", f"{EXPORTER}/resume", ADMIN, exporters.resume_exporter, "Let an exporter go on", "ExporterName",
          registry_wide=True, refuses=NO_EXPORTER, operation="Update exporter operation"),
    Route("PUT", f"{EXPORTER}/reset", ADMIN, exporters.reset_exporter, "Let a paused exporter begin at the start",
          "ExporterName", registry_wide=True, refuses=NOT_PAUSED, operation="Update exporter operation"),
    *REGION_ROUTES,
)
# fmt: on
