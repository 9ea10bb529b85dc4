"""What the console asks beyond the API, a row each, as in `routes`."""

from typing import Final

from sigla.auth.permissions import ADMIN, READ
from sigla.auth.refusals import ApiKeyExists, ApiKeyNotChanged, ApiKeyNotFound, InvalidApiKey
from sigla.errors import SchemaNotFound
from sigla.languages import LANGUAGES
from sigla.web.api.endpoints import console
from sigla.web.api.parameters import (
    BEGINS,
    DELETED,
    DRAFT,
    ID_SCOPE,
    NO_SUBJECT,
    NO_VERSION,
    NORMALIZE,
    PAGED_SCHEMAS,
    TOKENS,
)
from sigla.web.api.queries import FLAG, TEXT, TEXTS, Limit, Query, Text, Word
from sigla.web.api.route import Body, Route

MOST_NODES: Final = 500
KEYS: Final = "/console/api/keys"
PART: Final = (
    Query("after", TEXT, "What comes after this place, as the part before told it"),
    Query("limit", Limit(100), "How many to tell at most"),
)

# fmt: off
CONSOLE_ROUTES: Final = (
    Route("GET", "/console/api/subjects", READ, console.found, "Subjects by a part of their names", "FoundSubjects",
          query=(Query("subjectPrefix", Text(":*:"), BEGINS), Query("contains", TEXT, "A part of the name"),
                 Query("type", Word(frozenset(LANGUAGES))), DELETED, Query("after", TEXT, "What comes after this one"),
                 Query("names", FLAG, "Their names alone, of any type"), *PAGED_SCHEMAS), lists=True),
    Route("GET", "/console/api/search", READ, console.search, "Subjects by a part of their names, one look far",
          "SearchedSubjects",
          query=(Query("subjectPrefix", Text(":*:"), BEGINS), Query("contains", TEXT, "A part of the name"),
                 Query("type", Word(frozenset(LANGUAGES))), DELETED, Query("after", TEXT, "What comes after this one"),
                 Query("limit", Limit(20), "How many to tell at most")), lists=True),
    Route("GET", "/console/api/in-force/{subject}", READ, console.in_force,
          "Config and mode that apply to a subject or a context, and where each comes from", "InForce"),
    Route("POST", "/console/api/subjects/{subject}/verdict", READ, console.verdict,
          "What would registering this come to?", "DraftVerdict", body=Body(DRAFT, "register"), query=(NORMALIZE,),
          operation="Compatibility check"),
    Route("GET", "/console/api/graph", READ, console.graph, "Whom a subject references, and who references it",
          "Graph", query=(Query("subject", TEXT, "Its name"), Query("version", TEXT, "One version alone"),
                          Query("limit", Limit(MOST_NODES), "How many versions to tell at most"),
                          Query("step", FLAG, "What is next to it alone, and where that goes on"),
                          Query("at", TEXTS, "What is next to these ends, as a step told them; five at most")),
          refuses=NO_VERSION, lists=True),
    Route("GET", "/console/api/subjects/{subject}/stakes", READ, console.stakes,
          "What hangs on a subject: its versions, who references it, and who reads it", "Stakes",
          query=(Query("version", TEXT, "Who references and reads this version alone"), TOKENS), refuses=NO_SUBJECT,
          lists=True),
    Route("GET", "/console/api/subjects/{subject}/fields/{version}", READ, console.fields,
          "The fields of a version, and since which version they are there", "SchemaFieldPart",
          query=(Query("after", TEXT, "Look on from this version, as the part before told it"),), refuses=NO_VERSION,
          lists=True, parses=True),
    Route("POST", "/console/api/decode", READ, console.decode, "What a record says, byte by byte", "DecodedRecord",
          body=Body("RecordToDecode", "decode"), operation="Decode operation"),
    Route("GET", "/console/api/subjects/{subject}/versions", READ, console.version_part,
          "The versions of a subject, from the newest on, a part of the list", "VersionPart",
          query=(Query("version", TEXT, "Tell whether this one is there, and which one is before it"), *PART),
          refuses=NO_SUBJECT, lists=True),
    Route("GET", "/console/api/subjects/{subject}/usage", READ, console.usage_part,
          "Who read the versions of a subject last, from the newest on, a part of the list", "UsagePart",
          query=(TOKENS, *PART), refuses=NO_SUBJECT, lists=True),
    Route("GET", "/console/api/subjects/{subject}/referrers", READ, console.referrer_part,
          "Who references a subject, a part of the list", "ReferrerPart",
          query=(Query("version", TEXT, "Who references this version alone"), *PART), refuses=NO_SUBJECT, lists=True),
    Route("GET", "/console/api/names", READ, console.token_names,
          "Names behind tokens, looked for in a part of all names", "NamePart",
          query=(Query("token", TEXTS, "One of them"), Query("after", TEXT, "Look on behind this name"),
                 Query("limit", Limit(1000), "Among how many names to look")), lists=True),
    Route("GET", "/console/api/contexts", READ, console.context_part, "Contexts, a part of the list", "ContextPart",
          query=PART, lists=True),
    Route("GET", "/console/api/settings", READ, console.settings_part,
          "Config and mode of subjects and contexts, a part of the list", "SettingsPart",
          query=(Query("subjectPrefix", Text(":*:"), BEGINS), *PART), lists=True),
    Route("GET", "/console/api/ids/{id}", READ, console.holder_part, "Which versions have an id, a part of the list",
          "HolderPart", query=(ID_SCOPE, *PART), refuses=(SchemaNotFound,), lists=True),
    Route("GET", "/console/api/keks", READ, console.kek_part, "Key encryption keys, a part of the list", "KekPart",
          query=PART, lists=True),
    Route("GET", "/console/api/associations", READ, console.association_part,
          "Which topics have which subjects, a part of the list", "AssociationPart", query=PART, lists=True),
    Route("GET", "/console/api/log", ADMIN, console.log, "Every change of the registry, newest first", "History",
          query=(Query("subject", TEXT, "Only what is about this subject"), *PAGED_SCHEMAS), registry_wide=True,
          lists=True),
    Route("GET", "/console/api/regions", ADMIN, console.own_region, "What this region is, and what waits there",
          "RegionShown", registry_wide=True, of_server=True, in_console=True),
    Route("GET", "/console/api/regions/other", ADMIN, console.other_region,
          "What the other region is, and what this one or that one lacks", "OtherRegionShown", registry_wide=True,
          of_server=True, in_console=True),
    Route("GET", KEYS, ADMIN, console.key_list, "API keys, and their use", "ApiKeys",
          query=(Query("revoked", FLAG, "Revoked ones too"),), registry_wide=True, of_server=True, in_console=True,
          lists=True),
    Route("POST", KEYS, ADMIN, console.make_key, "Make an API key; its secret is told once", "ApiKeySecret",
          body=Body("ApiKeyRequest", "createKey"), registry_wide=True, of_server=True, in_console=True,
          refuses=(ApiKeyExists, InvalidApiKey)),
    Route("GET", f"{KEYS}/{{key}}/use", ADMIN, console.key_use, "What a change of an API key would meet", "ApiKeyUse",
          registry_wide=True, of_server=True, in_console=True, refuses=(ApiKeyNotFound,), lists=True),
    Route("POST", f"{KEYS}/{{key}}/rotate", ADMIN, console.rotate_key,
          "Give an API key a new secret, which is told once", "ApiKeySecret", body=Body("ApiKeyRotation", "rotateKey"),
          registry_wide=True, of_server=True, in_console=True, refuses=(ApiKeyNotFound, ApiKeyNotChanged)),
    Route("DELETE", f"{KEYS}/{{key}}", ADMIN, console.revoke_key, "Revoke an API key", "ApiKeyRevoked",
          registry_wide=True, of_server=True, in_console=True, refuses=(ApiKeyNotFound, ApiKeyNotChanged)),
    Route("GET", "/console/api/caller", READ, console.caller, "The caller, and what it may do", "Caller"),
)
# fmt: on
