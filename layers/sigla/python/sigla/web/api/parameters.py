"""The parameters that several routes have, and the refusals."""

from sigla import errors
from sigla.auth.permissions import ADMIN
from sigla.contract import HIGHEST
from sigla.web.api.queries import FLAG, TEXT, TEXTS, Limit, Offset, Query

OFFSET = Query("offset", Offset(), "How many to skip")
PAGED = (OFFSET, Query("limit", Limit(HIGHEST), "How many to tell at most"))
PAGED_SCHEMAS = (OFFSET, Query("limit", Limit(1000), "How many to tell at most"))
TOKENS = Query("tokens", FLAG, "Without names: `/console/api/names` tells them")
DELETED = Query("deleted", FLAG, "Soft-deleted ones too")
DELETED_ONLY = Query("deletedOnly", FLAG, "Soft-deleted ones alone")
PERMANENT = Query("permanent", FLAG, "Remove for good what is soft-deleted", access=ADMIN)
NORMALIZE = Query("normalize", FLAG, "Compare and store in normal form")
FORMAT = Query(
    "format",
    TEXT,
    "How to show the schema: `resolved` (Avro), `serialized`, `ignore_extensions` (Protobuf)",
    parses=True,
)
REFERENCE_FORMAT = Query("referenceFormat", TEXT, "`qualified`: references with their context")
FIND_TAGS = Query("findTags", TEXTS, "Also tell what carries one of these inline tags; `*` is any", parses=True)
ID_SCOPE = Query("subject", TEXT, "Where the id is to be understood: a subject, or a context as `:.name:`")
FORCE = Query("force", FLAG, "Also over existing schemas")
VERBOSE = Query("verbose", FLAG, "Say why not")
BEGINS = "Only subjects that begin so; `:*:` before it means every context"
DEFAULT_TO_GLOBAL = Query("defaultToGlobal", FLAG, "Tell what is in force where nothing is set")

EXPORTER_ASKS = Query("exporter", TEXT, "What an exporter asks, to find out whether it would write to its own source")

NO_SUBJECT = (errors.SubjectNotFound,)
NO_VERSION = (*NO_SUBJECT, errors.VersionNotFound, errors.InvalidVersion)
DRAFT = "RegisterSchemaRequest"
"""The body of every request that brings a schema."""
