"""Every stored name, made in one place: distinct names make distinct keys.

A component is percent-encoded, so that no name can leave its place: contexts called `..` or `../../x` are legal and go
nowhere. The default context is `_`, which no other context can be called (their names begin with a dot or are `*`).
"""

import re
from base64 import b32decode, b32encode
from datetime import UTC, datetime
from hashlib import blake2b
from urllib.parse import unquote

from sigla.errors import InvalidSubject
from sigla.model import DEFAULT_CONTEXT, BodyKey, Guid, SchemaId, Subject, Version

LONGEST_NAME = 700
"""Bytes of an encoded qualified name; two names and two numbers fit into one DynamoDB sort key of 1,024."""

LIST_SHARDS = 16
"""For life: the shard of a name is part of where it is listed."""

_FILE_CHUNK = 200
"""Characters of one file name; what is longer continues in a directory below. File systems end at 255 bytes."""
_LONGEST_FILE = 255

DRAFT = ".new"
"""What the name of a file ends with until all of it is there."""

_IN_BASE_32 = "+"
"""What `file_component` never begins with."""

_RESERVED = re.compile("[#/%\x00-\x1f\x7f-\x9f]")
_FOREIGN_TO_PARAMETERS = re.compile("[^A-Za-z0-9_-]")
_FOREIGN_TO_FILES = re.compile("[^a-z0-9_-]")


# --- components ------------------------------------------------------------------------------------------------------


def component(text: str) -> str:
    """Text for one component of an S3 or DynamoDB name; only dots: encoded too, since tools read them as a way up."""
    if text and not text.strip("."):
        return "%2E" * len(text)
    return _RESERVED.sub(lambda found: _percent(found.group()), text)


def file_component(text: str) -> str:
    """Text for one component of a file name: case, dots and everything beyond ASCII survive on any file system."""
    return _FOREIGN_TO_FILES.sub(lambda found: _percent(found.group()).lower(), text)


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def context_component(context: str) -> str:
    return "_" if context == DEFAULT_CONTEXT else component(context)


def context_file(context: str) -> str:
    """A relative directory for a context; a long name becomes several directories, one below the other."""
    encoded = "_" if context == DEFAULT_CONTEXT else file_component(context)
    return "/".join(encoded[at : at + _FILE_CHUNK] for at in range(0, len(encoded), _FILE_CHUNK))


# --- order -----------------------------------------------------------------------------------------------------------


def utf16(text: str) -> bytes:
    """Bytes that compare as the text's UTF-16 code units do: the order of every list."""
    return text.encode("utf-16-be", "surrogatepass")


def sortable(text: str) -> str:
    """Text whose UTF-8 bytes compare as the UTF-16 code units of the original do; a prefix stays a prefix.

    UTF-16 puts U+10000 and above (surrogates, D800–DFFF) before U+E000–U+FFFF, UTF-8 after them. Each of these
    characters gets a leading U+E000 or U+E001 that puts them right.
    """
    if text.isascii():
        return text
    return "".join(_sortable_character(character) for character in text)


def _sortable_character(character: str) -> str:
    if character < "\ue000":
        return character
    return ("\ue001" if character <= "\uffff" else "\ue000") + character


def after(prefix: bytes) -> bytes | None:
    """The smallest bytes greater than everything that starts with the prefix; None if they do not exist."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None


def check_length(subject: Subject) -> None:
    """Raises InvalidSubject if the name is too long to be stored anywhere."""
    if len(sortable(component(subject.qualified)).encode()) > LONGEST_NAME:
        raise InvalidSubject(subject=subject.sent or subject.qualified)


# --- objects in S3 ---------------------------------------------------------------------------------------------------


def schemas_prefix(registry: str) -> str:
    return f"{component(registry)}/schemas/"


def guids_prefix(registry: str) -> str:
    return f"{component(registry)}/guids/"


def body_object(registry: str, key: BodyKey) -> str:
    return f"{schemas_prefix(registry)}{context_component(key.context)}/{key.id:010}.json"


def guid_prefix(registry: str, guid: Guid) -> str:
    return f"{guids_prefix(registry)}{component(guid)}/"


def guid_object(registry: str, guid: Guid, key: BodyKey) -> str:
    return f"{guid_prefix(registry, guid)}{context_component(key.context)}/{key.id:010}"


def handed_ids_prefix(registry: str) -> str:
    """Ids that the other region has handed over, behind the pointers; no guid is called so."""
    return f"{guids_prefix(registry)}handed/"


def handed_id_object(registry: str, key: BodyKey, guid: Guid, over: str = "") -> str:
    """over: as of `ports.handed_ids`."""
    mark = f"{handed_ids_prefix(registry)}{context_component(key.context)}/{key.id:010}/{component(guid)}"
    return f"{mark}/{over}" if over else mark


def api_keys_prefix(registry: str) -> str:
    """What stands before the name of an API key; such a name needs no encoding."""
    return f"{component(registry)}/keys/"


def key_uses_prefix(registry: str) -> str:
    return f"{component(registry)}/key-uses/"


def issuer_keys_object(registry: str, issuer: str) -> str:
    """Where the keys of an issuer of tokens are; its name may be any URL, so that its digest stands for it."""
    return f"{component(registry)}/issuers/{blake2b(issuer.encode(), digest_size=16).hexdigest()}.json"


AUDIT_FOUND = "audit/found.jsonl.gz"
"""What an audit has found, behind the name of a registry: in a bucket and in a directory."""


def audit_object(registry: str) -> str:
    return f"{component(registry)}/{AUDIT_FOUND}"


def handed_prefix(registry: str, epoch: int) -> str:
    """Commits of keys that the primary of an epoch has handed to the other region."""
    return f"{component(registry)}/handed/{epoch:010}/"


def handed_kek_prefix(registry: str, epoch: int, kek: str) -> str:
    return f"{handed_prefix(registry, epoch)}{component(kek)}/"


def handed_object(registry: str, epoch: int, kek: str, number: int) -> str:
    """number: how often the KEK with its DEKs has moved, once that commit is written."""
    return f"{handed_kek_prefix(registry, epoch, kek)}{number:019}.json"


def identity_object(registry: str) -> str:
    return f"{component(registry)}/identity.json"


def journal_prefix(registry: str) -> str:
    return f"{component(registry)}/journal/"


def journal_object(registry: str, year: int, month: int, day: int, sequence: int) -> str:
    return f"{journal_prefix(registry)}{year:04}/{month:02}/{day:02}/{sequence:010}.jsonl"


def segment_object(registry: str, number: int) -> str:
    """number: its time in milliseconds."""
    day = datetime.fromtimestamp(number / 1000, UTC)
    return journal_object(registry, day.year, day.month, day.day, number)


# --- files of the embedded store -------------------------------------------------------------------------------------


def schemas_root(registry: str) -> str:
    return f"{file_component(registry)}/schemas"


def schemas_directory(registry: str, context: str) -> str:
    return f"{schemas_root(registry)}/{context_file(context)}"


def pending_directory(registry: str) -> str:
    return f"{file_component(registry)}/pending"


def body_file(registry: str, key: BodyKey) -> str:
    return f"{schemas_directory(registry, key.context)}/{key.id:010}.json"


def pending_file(registry: str, key: BodyKey, group: int, kind: str) -> str:
    """A body on its way: `new` until its group is committed, `old` for what it replaces. No context has a dot."""
    return f"{pending_directory(registry)}/{context_file(key.context)}/{key.id:010}.{group}.{kind}"


def api_key_file(registry: str, name: str) -> str:
    return f"{file_component(registry)}/keys/{file_component(name)}.json"


def secret_file(registry: str, exporter: str, nonce: str) -> str:
    """Where a name would be too long for a file, each capital being three letters, it stands there in base 32."""
    kept = file_component(nonce)
    name = f"{file_component(exporter)}.{kept}.json"
    if len(f"{name}{DRAFT}") > _LONGEST_FILE:
        name = f"{_IN_BASE_32}{b32encode(exporter.encode()).decode().rstrip('=').lower()}.{kept}.json"
    return f"{secrets_directory(registry)}/{name}"


def secret_of_file(name: str) -> tuple[str, str]:
    """The exporter and the nonce that `secret_file` made the name of. Raises ValueError."""
    exporter, nonce, _ = name.split(".")
    if exporter.startswith(_IN_BASE_32):
        encoded = exporter.removeprefix(_IN_BASE_32).upper()
        return b32decode(encoded + "=" * (-len(encoded) % 8)).decode(), unquote(nonce)
    return unquote(exporter), unquote(nonce)


def secrets_directory(registry: str) -> str:
    return f"{file_component(registry)}/secrets"


# --- parameters of SSM -----------------------------------------------------------------------------------------------


def secret_parameter(table: str, registry: str, exporter: str, nonce: str) -> str:
    """A name that AWS takes, of letters, digits and `_-.`; roles are given all that begins with that of their table."""
    return f"{secrets_path(table, registry)}/{_parameter_component(exporter)}/{nonce}"


def secrets_path(table: str, registry: str) -> str:
    """What the names of all secrets of a registry are below."""
    return f"/sigla/{table}/{_parameter_component(registry)}"


def _parameter_component(text: str) -> str:
    return _FOREIGN_TO_PARAMETERS.sub(lambda found: _percent(found.group()), text).replace("%", ".")


# --- entries of a zone's ring ----------------------------------------------------------------------------------------

_LONGEST_RING_KEY = 250
"""Memcached's limit."""


def ring_namespace(registry: str, *, bucket: str = "", identity: str = "") -> str:
    """What the keys of one deployment's bodies begin with.

    A ring outlives a deployment. So what was put there while the stack had another bucket, or before it was another
    deployment's, stands under keys that no reader asks for any more.
    """
    whose = blake2b(f"{bucket}/{identity}".encode(), digest_size=8).hexdigest()
    return f"{file_component(registry)}@{whose}"


def ring_key(namespace: str, key: BodyKey) -> str:
    """Letters, digits and a few signs, as a file's name; of a longer one the digest, in which there is no slash."""
    name = f"{namespace}/{context_file(key.context)}/{key.id:010}"
    return name if len(name) <= _LONGEST_RING_KEY else blake2b(name.encode(), digest_size=32).hexdigest()


# --- rows in DynamoDB ------------------------------------------------------------------------------------------------

HEAD, SETTINGS, NEXT, ID, HOLDERS = "HEAD", "SETTINGS", "NEXT", "ID", "HOLDERS"
"""Sort keys of which a partition has one.

Among those of a subject, HEAD comes before every version, and SETTINGS between.
"""

ASSOCIATED, ASSOCIATION = "ASSOCIATED", "A#"
"""A resource has the first, each association one that begins with the second; both come before HEAD."""

COMMIT = "C#"
"""What each item of a subject's history begins with; it comes before HEAD."""

LAST, CAUGHT_UP, DELIVERED = "LAST", "CAUGHT_UP", "DELIVERED"
"""Beside each other: the last segment of the journal, how far the journal's rows have been looked through, and the last
segment whose events were delivered."""

BEGUN = "BEGUN"
"""The row of its partition that says since when reads are noted."""

TALLY = "TALLY"
"""The row of its partition that says how many versions the registry holds."""

IDENTITY = "IDENTITY"
"""The row of its partition that says whose the registry is."""

SERVED = "SERVED#"
"""What all others of that partition begin with: registries whose journal the function of this one writes."""

COPYING = "COPYING"
"""The row of its partition that says how far the copy of another table is."""

COMPLETE = "COMPLETE"
"""Beside it: up to which moment a table that follows has what the other one has."""

INSTALLED = "INSTALLED"
"""And which release its stack runs, with which options."""

ALONE = "ALONE"
"""And how long a copy is left to whoever is at it."""

ROLE = "ROLE"
"""The row of a partition by which commits check what the region is."""

HIGHEST = "\U0010ffff"
"""Greater than every character that a sort key goes on with: `sortable` puts U+E000 before the great ones."""

HOLDER = "@"
"""What every holder row begins with, so that HOLDERS comes after them, or is passed by."""


def context_pk(registry: str, context: str) -> str:
    return f"{component(registry)}#x#{context_component(context)}"


def subject_pk(registry: str, subject: Subject) -> str:
    return f"{component(registry)}#s#{_full_name(subject)}"


def version_sk(generation: int, version: Version) -> str:
    return f"V#{generation}#{version:010}"


def commit_sk(at: int, nonce: str) -> str:
    """at: the hybrid time of a commit, as in the key of its journal row."""
    return f"{COMMIT}{journal_sk(at, nonce)}"


def commit_of(sk: str) -> tuple[int, str]:
    """The time and the nonce that `commit_sk` made the key of."""
    at, _, nonce = sk.removeprefix(COMMIT).partition("#")
    return int(at), unquote(nonce)


def settings_pk(registry: str) -> str:
    return f"{component(registry)}#settings"


def settings_sk(scope: Subject) -> str:
    return settings_key(list_sk(scope))


def settings_key(listed: str) -> str:
    """What stands for a key of a list, or for the beginning of one: the global entry's name is empty, and no key is."""
    return f"={listed}"


def content_pk(registry: str, context: str, fingerprint: str) -> str:
    return f"{component(registry)}#f#{context_component(context)}#{component(fingerprint)}"


def subject_of(pk: str) -> Subject:
    """What `subject_pk` made the key of."""
    return Subject(context_of(pk), unquote(pk.split("#")[3]))


def context_of(pk: str) -> str:
    """The context in the key of a subject, of a content, or of itself."""
    context = pk.split("#")[2]
    return DEFAULT_CONTEXT if context == "_" else unquote(context)


def id_pk(registry: str, key: BodyKey) -> str:
    return f"{component(registry)}#i#{context_component(key.context)}#{key.id}"


def id_of(pk: str) -> BodyKey:
    """What `id_pk` made the key of."""
    _, _, context, id = pk.split("#")
    return BodyKey(DEFAULT_CONTEXT if context == "_" else unquote(context), SchemaId(int(id)))


def holder_sk(subject: Subject, version: Version, generation: int) -> str:
    """Sorts by the name's UTF-16 code units: no name that can be registered has a character below the space."""
    return f"{holder_prefix(subject)}{version:010}#{generation:010}"


def holder_prefix(subject: Subject) -> str:
    """What the holder rows of one subject begin with, and of no other."""
    return f"{HOLDER}{sortable(subject.name)}\t"


def referrers_pk(registry: str, subject: Subject) -> str:
    return f"{component(registry)}#r#{_full_name(subject)}"


def referrer_sk(referenced: Version, referrer: Subject, id: SchemaId, version: Version, nonce: str) -> str:
    """nonce: of the registration, so that a claim that came to nothing does not take another one's place."""
    context = context_component(referrer.context)
    return f"{referenced:010}#{context}#{id:010}#{component(referrer.name)}#{version:010}#{component(nonce)}"


def referrer_prefix(referenced: Version) -> str:
    return f"{referenced:010}#"


def name_pk(registry: str, name: str) -> str:
    return f"{component(registry)}#n#{component(name)}"


def list_pk(registry: str, shard: int) -> str:
    return f"{component(registry)}#l#{shard}"


def list_sk(subject: Subject) -> str:
    return sortable(subject.qualified)


def resource_pk(registry: str, id: str) -> str:
    """The partition of a resource's associations; an id may be any text."""
    return f"{component(registry)}#a#{_short(id)}"


def associations_pk(registry: str, name: str | None = None) -> str:
    """The partition of the associations of resources of a name; None: the list of all."""
    return f"{component(registry)}#o" if name is None else f"{component(registry)}#o#{_short(name)}"


def association_sk(*place: str) -> str:
    """Comes before HEAD in the partition of a subject. place: the names that the association is told apart by."""
    return ASSOCIATION + blake2b("\t".join(map(component, place)).encode(), digest_size=16).hexdigest()


def _short(text: str) -> str:
    """Text that fits into a key; a long one is told by its digest, which no component looks like."""
    encoded = component(text)
    if encoded and len(encoded.encode()) <= LONGEST_NAME:
        return encoded
    return "#" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()


def contexts_pk(registry: str) -> str:
    return f"{component(registry)}#c"


def context_sk(context: str) -> str:
    return sortable(context)


def registry_wide_pk(registry: str) -> str:
    return f"{component(registry)}#g"


def region_pk(registry: str, number: int) -> str:
    """One of the partitions that say what the region is, so that commits do not wait for each other there."""
    return f"{component(registry)}#region#{number:02x}"


def journal_pk(registry: str, shard: int) -> str:
    return f"{component(registry)}#j#{shard}"


def journal_sk(at: int, nonce: str) -> str:
    """at: the hybrid time in milliseconds, padded to sort as text until the year 2286."""
    return f"{at:013}#{component(nonce)}"


def journal_at(sk: str) -> int:
    """The time in the key of a journal row."""
    return int(sk.partition("#")[0])


def aside_pk(registry: str) -> str:
    """The partition of commits of another region that wait for others; their sort keys are those of journal rows."""
    return f"{component(registry)}#aside"


def unread_keys_pk(registry: str) -> str:
    """Commits of keys that the primary before has handed over, and that cannot be read."""
    return f"{component(registry)}#unread"


def apart_pk(registry: str) -> str:
    """That of commits of another region that diverge."""
    return f"{component(registry)}#apart"


def copying_pk(registry: str) -> str:
    """Where it stands how far a table that joins has copied the other one."""
    return f"{component(registry)}#copying"


def segments_pk(registry: str) -> str:
    return f"{component(registry)}#segments"


def zones_pk(registry: str) -> str:
    """The partition of the heartbeats' rows; their sort keys are the ids of the zones."""
    return f"{component(registry)}#z"


def keks_pk(registry: str) -> str:
    """The partition of all KEKs, by name."""
    return f"{component(registry)}#keks"


def kek_sk(name: str) -> str:
    return sortable(name)


def deks_pk(registry: str, kek: str) -> str:
    return f"{component(registry)}#deks#{component(kek)}"


def dek_sk(subject: Subject, algorithm: str, version: int) -> str:
    """No subject of a DEK has a control character."""
    return f"{dek_prefix(subject, algorithm)}{version:010}"


def dek_prefix(subject: Subject, algorithm: str) -> str:
    """What the versions under one name begin with, and no others."""
    return f"{sortable(subject.qualified)}\t{algorithm}\t"


def listed_deks_pk(registry: str) -> str:
    """The partition of all DEKs, by the spelling of their subjects."""
    return f"{component(registry)}#spelled-deks"


def listed_dek_sk(spelled: str, pk: str, sk: str) -> str:
    """pk, sk: of the DEK itself, which together would be too long."""
    return f"{sortable(spelled)}\t{blake2b(f'{pk}/{sk}'.encode(), digest_size=16).hexdigest()}"


def exporters_pk(registry: str) -> str:
    """The partition of all exporters, by name."""
    return f"{component(registry)}#exporters"


def principals_pk(registry: str) -> str:
    """The partition of the names of those who changed something."""
    return f"{component(registry)}#principals"


def principal_sk(name: str) -> str:
    return _short(name)


def reads_pk(registry: str, key: BodyKey) -> str:
    """The partition of who read an id."""
    return f"{component(registry)}#reads#{context_component(key.context)}#{key.id}"


def read_sk(by: str, subject: str) -> str:
    """by: a token, which has no `#`. subject: a qualified name, or empty."""
    return f"{by}#{_short(subject)}"


def reads_begun_pk(registry: str) -> str:
    """The partition that says since when reads are noted."""
    return f"{component(registry)}#reads"


def carried_pk(registry: str) -> str:
    """The partition of subjects whose history was carried here, since no list may have them."""
    return f"{component(registry)}#carried"


def identity_pk(registry: str) -> str:
    """The registry's name alone, behind which every other partition has a `#`: functions may write those, not this."""
    return component(registry)


def served_sk(name: str) -> str:
    return f"{SERVED}{component(name)}"


def served_name(sk: str) -> str:
    """The registry that `served_sk` made the key of."""
    return unquote(sk.removeprefix(SERVED))


def registry_of(pk: str) -> str:
    """The registry that a row belongs to, by its partition."""
    return unquote(pk.partition("#")[0])


def _full_name(subject: Subject) -> str:
    return f"{context_component(subject.context)}#{component(subject.name)}"
