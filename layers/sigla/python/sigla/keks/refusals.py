"""The refusals that only keys have; `errors` has those that everything has. docs/api.md lists them all."""

from sigla.errors import Refusal


class KeyNotFound(Refusal):
    # The name of the KEK where that is missing, else the subject, never the version.
    code, text = 40470, "Key '{key}' not found"


class KeyNotSoftDeleted(Refusal):
    code, text = 40471, "Key '{key}' was not deleted first before being permanently deleted"


class KekSoftDeleted(Refusal):
    code, text = 40472, "Key '{key}' must be undeleted first"


class KeyExists(Refusal):
    code, text = 40971, "Key '{key}' already exists; use a different value"


class InvalidKeyField(Refusal):
    code, text = 42271, "Invalid or missing value for field '{field}' of key"


class KekInUse(Refusal):
    code, text = 42272, "One or more references exist to the key '{key}'"


class KmsFailed(Refusal):
    """The key service did not do what it was asked; cause: in its driver's words."""

    code = 50070


class NotWrapped(KmsFailed):
    text = "Could not generate encrypted dek for {subject}: {cause}"


class NotUnwrapped(KmsFailed):
    text = "Could not generate raw dek for {subject}: {cause}"


class KmsDenied(Refusal):
    """The key service refused access to its key."""

    code = 40370


class DeniedToWrap(KmsDenied):
    text = NotWrapped.text


class DeniedToUnwrap(KmsDenied):
    text = NotUnwrapped.text
