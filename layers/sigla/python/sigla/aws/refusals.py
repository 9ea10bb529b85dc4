"""What AWS says when it will never do what it was asked, and what comes in the place of its answer."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError
from botocore.parsers import ResponseParserError

from sigla.errors import StoreError, Unusable


class NotAws(BotoCoreError):  # type: ignore[misc]  # botocore has no types
    """An answer that AWS did not send: of a proxy that wants a login first, or of an address that is something else."""

    fmt = "the answer does not come from AWS: see AWS_ENDPOINT_URL, and whether a proxy stands in between"


_GONE = frozenset({"NoSuchBucket", "ResourceNotFoundException"})
"""The name does not exist."""

_DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
"""The caller lacks the permission, or is unknown."""

_MISUSED = (NoCredentialsError, ParamValidationError)
"""What botocore says before AWS is asked."""

_UNREADABLE = (ResponseParserError, UnicodeDecodeError, RecursionError)
"""What it raises besides its own errors: a page instead of XML or JSON, and a redirect of S3 that leads to itself."""

SILENT = (BotoCoreError, *_UNREADABLE)
"""What it raises where no answer of AWS has come."""

Failure: TypeAlias = BotoCoreError | ClientError | ResponseParserError | UnicodeDecodeError | RecursionError


def must_be_of_aws(http_response: Any, parsed: Mapping[str, Any], **_: object) -> None:
    """A handler of botocore's event `after-call`: every answer of AWS has an id. Raises NotAws.

    Else an empty answer, or a page, would be a table without rows, and a write that was never done.
    """
    if http_response.status_code < 300 and "RequestId" not in parsed.get("ResponseMetadata", ()):
        http_response.raw.close()
        raise NotAws


def failed(doing: str, failure: Failure) -> StoreError:
    """doing: what was asked, and of whom. To be raised from the failure."""
    if isinstance(failure, (NotAws, *_UNREADABLE)):
        return Unusable(f"{doing}: {NotAws.fmt}")
    code = failure.response["Error"]["Code"] if isinstance(failure, ClientError) else ""
    if code not in _GONE | _DENIED and not isinstance(failure, _MISUSED):
        return StoreError(f"{doing}: {failure}")
    unusable = Unusable(f"{doing}: {failure}")
    unusable.gone = code in _GONE
    return unusable
