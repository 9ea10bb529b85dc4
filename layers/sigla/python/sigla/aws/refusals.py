"""What AWS says when it will never do what it was asked."""

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError

from sigla.errors import StoreError, Unusable

_FOR_GOOD = frozenset(
    {
        # There is none of that name.
        "NoSuchBucket",
        "ResourceNotFoundException",
        # Who asks may not, or nobody knows him.
        "AccessDenied",
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)

_MISUSED = (NoCredentialsError, ParamValidationError)
"""What botocore says before AWS is asked."""


def failed(doing: str, failure: BotoCoreError | ClientError) -> StoreError:
    """doing: what was asked, and of whom. To be raised from the failure."""
    denied = isinstance(failure, ClientError) and failure.response["Error"]["Code"] in _FOR_GOOD
    kind = Unusable if denied or isinstance(failure, _MISUSED) else StoreError
    return kind(f"{doing}: {failure}")
