"""Every refusal the registry can give: a name, Confluent's number, a sentence. The one place where they are worded.

The core raises a name with its facts (`raise SubjectNotFound(subject=subject)`); `web.app` answers, once: the HTTP
status is the first three digits of the number. Texts are contract, oddities included; docs/api.md lists them all.

    Exception
    ├─ Refusal                 an answer to the client; 4xx, or 5xx where storage is silent
    ├─ Malformed               a language could not understand a text; becomes InvalidSchema
    ├─ CheckAbandoned          a comparison that makes no sense; becomes a message of the check
    └─ StoreError
       ├─ Conflict             the world moved between ask and commit; decide again
       ├─ Closed               writes are taken in another region, or in none at this moment
       ├─ Taken                another body stands under this key
       ├─ Unusable             nothing comes of asking again
       │  └─ FormTooNew        a newer release wrote what is stored: it is neither read nor written over
       ├─ RowUnreadable        a row of the journal is not one
       ├─ BodyLost             what an id means cannot be read: nothing stands there, or not what was put there
       ├─ IssuerSilent         whose token it is cannot be told: the keys of its issuer cannot be read
       ├─ ForeignData          a store is not known to be this deployment's: it is neither believed nor written to
       └─ OutcomeUnknown       the store did not say whether it committed; look at the nonce
"""

from typing import ClassVar, Final, Self

from sigla.forms import too_new
from sigla.model import Body, BodyKey, Subject, Version


class Refusal(Exception):
    """An answer that says no. `code` is Confluent's error_code, `text` a template over the facts given."""

    code: ClassVar[int]
    text: ClassVar[str]

    def __init__(self, **facts: object) -> None:
        super().__init__()
        self.facts = facts

    @property
    def message(self) -> str:
        return self.text.format(**self.facts)

    @property
    def status(self) -> int:
        return int(str(self.code)[:3])

    def __str__(self) -> str:
        return self.message


class Unauthorized(Refusal):
    # The sentence of Confluent's servers: clients and their users look for it.
    code, text = 401, "Unauthorized"

    def __init__(self, schemes: tuple[str, ...]) -> None:
        """schemes: of credentials that would be taken."""
        super().__init__()
        self.schemes = schemes


class Denied(Refusal):
    code, text = 40301, "User is denied operation {operation} on Subject: {subject}"


class IdOutOfReach(Denied):
    text = (
        "User is denied operation Write on Subject: {subject}: id {id} is more than {furthest} above {highest}, the "
        "highest id of its context; only a key for all subjects may import it"
    )


class DeniedEverywhere(Denied):
    text = "User is denied operation {operation}"


class SubjectNotFound(Refusal):
    code, text = 40401, "Subject '{subject}' not found."


class VersionNotFound(Refusal):
    code, text = 40402, "Version {version} not found."


class SchemaNotFound(Refusal):
    code, text = 40403, "Schema not found"


class SchemaNamedNotFound(SchemaNotFound):
    text = "Schema {key} not found"


class SubjectSoftDeleted(Refusal):
    # The missing space after "deleted." is Confluent's own; clients see this text.
    code, text = 40404, "Subject '{subject}' was soft deleted.Set permanent=true to delete permanently"


class SubjectNotSoftDeleted(Refusal):
    code, text = 40405, "Subject '{subject}' was not deleted first before being permanently deleted"


class VersionSoftDeleted(Refusal):
    code, text = (
        40406,
        "Subject '{subject}' Version {version} was soft deleted.Set permanent=true to delete permanently",
    )


class VersionNotSoftDeleted(Refusal):
    code, text = 40407, "Subject '{subject}' Version {version} was not deleted first before being permanently deleted"


class LevelNotConfigured(Refusal):
    code, text = 40408, "Subject '{subject}' does not have subject-level compatibility configured"


class ModeNotConfigured(Refusal):
    code, text = 40409, "Subject '{subject}' does not have subject-level mode configured"


class Incompatible(Refusal):
    """Its fact `objections` is what `rules.compatibility` found, for who shows where in a file it is."""

    code = 40901
    text = (
        'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: [{details}]'
    )


class PreconditionFailed(Refusal):
    code, text = 412, "'{scope}' is not as If-Match says"


class InvalidSchema(Refusal):
    code, text = 42201, "{reason}"


class EmptySchema(InvalidSchema):
    text = "Empty schema"


class InvalidSchemaType(InvalidSchema):
    text = "Invalid schema type {type}"


class VersionOutOfOrder(InvalidSchema):
    text = "Version is not one more than previous version"


class InvalidVersion(Refusal):
    code = 42202
    text = (
        "The specified version '{version}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"'
    )


class InvalidLevel(Refusal):
    code = 42203
    text = (
        "Invalid compatibility level. Valid values are none, backward, forward, full, "
        "backward_transitive, forward_transitive, and full_transitive"
    )


class InvalidMode(Refusal):
    code, text = 42204, "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD."


class ForwardOnlyGlobal(InvalidMode):
    text = "Forward mode only supported on global level"


class OperationNotPermitted(Refusal):
    code = 42205


# In the sentences of 42205 the default context is the empty string, hence two spaces in a row.
class ReadOnly(OperationNotPermitted):
    text = "Subject {subject} in context {context} is in read-only mode"


class NotInImportMode(OperationNotPermitted):
    text = "Subject {subject} in context {context} is not in import mode"


class NotInReadWriteMode(OperationNotPermitted):
    text = "Subject {subject} in context {context} is not in read-write mode"


class IdTaken(OperationNotPermitted):
    text = "Overwrite new schema with id {id} in context {context} is not permitted."


class IdUsedUp(IdTaken):
    text = (
        f"{IdTaken.text} It belonged to another schema, which was deleted for good, or whose registration was cut off, "
        "and records may bear it still: import into a new context, or into a registry of a new name or directory."
    )


class IdsExhausted(OperationNotPermitted):
    text = "No id is left in context {context}"


class ModeImmutable(OperationNotPermitted):
    text = "Mode changes are not allowed"


class ImportIntoExisting(OperationNotPermitted):
    text = "Cannot import since found existing subjects"


class Referenced(Refusal):
    # The doubled braces are literal braces on the wire.
    code = 42206
    text = "One or more references exist to the schema {{magic=1,keytype=SCHEMA,subject={subject},version={version}}}."


class InvalidSubject(Refusal):
    code, text = 42208, "The specified subject '{subject}' is not a valid."


class SchemaTooLarge(Refusal):
    code, text = 42209, "Register operation failed because schema is too large"


class InvalidRuleSet(Refusal):
    code, text = 42210, "{reason}"


class ContextNotEmpty(Refusal):
    code, text = 42211, "The specified context '{context}' is not empty."


class QuotaReached(Refusal):
    """Its fact `again_s` says after how many seconds it may be otherwise."""

    code, text = 429, "The registry may hold {most} {what}, and has no room for more: ask its operator"


class StoreFailed(Refusal):
    code, text = 50001, "{operation} failed while talking to the store"


class BodyNotRead(StoreFailed):
    text = "{operation} failed while talking to the store: {lost}"


class NotDone(Refusal):
    """Nothing was written, for a reason that passes."""

    code = 50002


class TimedOut(NotDone):
    text = "{operation} timed out"


class IssuerNotAsked(NotDone):
    text = "{operation} was refused: the keys of the issuer of its token cannot be read"


class DataIsForeign(NotDone):
    text = "{operation} was refused: {why}"


class Malformed(ValueError):
    """A text that is not a schema of its language; `reason` says why in one sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CheckAbandoned(Exception):
    """A comparison that cannot be carried out; `message` is the only item of the check's list."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class StoreError(Exception):
    """A store could not do what it was asked."""


class Unusable(StoreError):
    """The store does not exist, or the caller may not use it: asking again would not help. gone: the former."""

    gone: bool = False


class FormTooNew(Unusable):
    """What is stored has a form that only a newer release knows. what: as people call it; why: what to do about it."""

    def __init__(self, what: str, form: int, known: int) -> None:
        self.why = too_new(form, known)
        super().__init__(f"{what} {self.why}")


class Conflict(StoreError):
    """What was seen is no longer so: nothing was written; ask and decide again."""


class Closed(StoreError):
    """Writes are not taken in this region: it follows another one, or is about to. Nothing was written."""

    def __init__(self) -> None:
        super().__init__("this region takes no writes: another one does, or will")


class Taken(StoreError):
    """Another body stands under the key; `standing` is that body. Nothing was written."""

    def __init__(self, standing: Body) -> None:
        super().__init__("another body stands under this key")
        self.standing = standing


class RowUnreadable(StoreError):
    """A row of the journal that no release has written. position: where it stands; rows after it can still be read."""

    def __init__(self, position: int) -> None:
        super().__init__(f"the journal's row at position {position} cannot be read: sigla scrub names the remedy")
        self.position = position


class BodyLost(StoreError):
    """What an id means cannot be told. key: the id. holder: a version that has it, where that is known."""

    why: ClassVar[str]

    def __init__(self, key: BodyKey, holder: str = "") -> None:
        has = f", which {holder} has," if holder else ""
        super().__init__(f"the body of id {key.id} in context {key.context}{has} {self.why}")
        self.key = key
        self.holder = holder

    def held_by(self, subject: Subject, version: Version) -> Self:
        """The same, told with the version that was asked for."""
        return type(self)(self.key, f"{subject} version {version}")


class BodyMissing(BodyLost):
    """Nothing stands under the key."""

    why = "is missing"


class BodyDamaged(BodyLost):
    """What stands under the key is not its body: no body at all, another id's, or content with another guid.

    body: what stands there, where that is this id's body but for its guid.
    """

    why = "is damaged"

    def __init__(self, key: BodyKey, holder: str = "", body: Body | None = None) -> None:
        super().__init__(key, holder)
        self.body = body


GARBLED: Final = "?"
"""What a store bears if something else stands in the place of its identity: that differs from an empty place."""


def borne(found: str) -> str:
    """What a store bears, in words."""
    if found == GARBLED:
        return "something else in the place of an identity"
    return f"the identity {found}" if found else "no identity"


class ForeignData(StoreError):
    """A store bears no identity, or that of another deployment: what it says may be about other ids.

    kind, name: of the store, as people call it (the table orders). found: what it bears; empty: nothing; or GARBLED.
    """

    def __init__(self, kind: str, name: str, found: str, identity: str) -> None:
        super().__init__(f"the {kind} {name} has {borne(found)}, and this deployment is {identity}")
        self.kind = kind
        self.found = found

    @property
    def why(self) -> str:
        """The same for clients, who need neither names nor identities, and what an operator can do."""
        bears = borne(self.found) if self.found in ("", GARBLED) else "the identity of another deployment"
        return (
            f"the registry's {self.kind} has {bears}, so its ids may be those of another registry; "
            f"an operator deploys with the right {self.kind}, or says with sigla init that it is this one"
        )


class IssuerSilent(StoreError):
    """The keys of an issuer of tokens cannot be read; why is half a sentence, behind its name."""


class OutcomeUnknown(StoreError):
    """The store was asked to commit and did not say whether it did."""
