"""Keys of AWS KMS, by their ARN: Encrypt and Decrypt, without an encryption context."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from botocore.exceptions import ClientError, NoCredentialsError, PartialCredentialsError

from sigla.aws.clients import Clients
from sigla.aws.refusals import SILENT
from sigla.effort import waiting
from sigla.ports.kms import KmsDenied, KmsFailed, KmsKey
from sigla.settings import InvalidSetting

_ARN = re.compile(r"arn:aws[a-z-]*:kms:(?P<region>[a-z]{2,}(-[a-z]+)+-\d+):\d{12}:(key|alias)/[\w/-]+", re.ASCII)

ID, SECRET = "access.key.id", "secret.access.key"
"""Properties with credentials of the KEK's own, by Confluent's names. Without them the server's own are used."""

REFUSED = ("profile", "role.arn", "role.external.id", "role.session.name")
"""Properties that Confluent's clients know, too. A KEK must not choose which of the server's identities it borrows."""

_DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
_WITHOUT_CREDENTIALS = (NoCredentialsError, PartialCredentialsError)


class AwsKey:
    """One key, as a `KeyService`. arn: also of an alias, which Decrypt takes as well."""

    def __init__(self, client: Any, arn: str) -> None:
        self._client = client
        self._arn = arn

    def wrap(self, raw: bytes) -> bytes:
        """Raises KmsFailed, KmsDenied."""
        return self._ask("Encrypt", partial(self._client.encrypt, Plaintext=raw), "CiphertextBlob")

    def unwrap(self, wrapped: bytes) -> bytes:
        """With this key alone, whatever other key the bytes say. Raises KmsFailed, KmsDenied."""
        return self._ask("Decrypt", partial(self._client.decrypt, CiphertextBlob=wrapped), "Plaintext")

    def _ask(self, action: str, call: Any, wanted: str) -> bytes:
        try:
            with waiting():
                answer: bytes = call(KeyId=self._arn)[wanted]
        except ClientError as failure:
            raise _problem(action, failure.response.get("Error", {})) from failure
        except _WITHOUT_CREDENTIALS as failure:
            raise KmsDenied(f"AWS KMS cannot be called: {_without_stop(failure)}") from failure
        except SILENT as failure:
            raise KmsFailed(f"AWS KMS did not answer {action}: {type(failure).__name__}") from failure
        return answer


def aws_key(key: KmsKey, clients: Clients) -> AwsKey:
    """The key, in the region that its ARN names. Raises KmsFailed where the ARN or the properties are wrong."""
    arn = _ARN.fullmatch(key.id)
    if arn is None:
        raise KmsFailed(f"Invalid kmsKeyId '{key.id}': expected the ARN of a key, arn:aws:kms:REGION:ACCOUNT:key/ID")
    if refused := sorted(key.props.keys() & set(REFUSED)):
        raise KmsFailed(f"The server takes no {', '.join(refused)} in kmsProps: give {ID} and {SECRET}, or neither")
    try:
        client = clients.kms(arn["region"], *_credentials(key.props))
    except InvalidSetting as problem:
        raise KmsFailed(_without_stop(problem)) from problem
    return AwsKey(client, key.id)


def _credentials(props: Mapping[str, str | None]) -> tuple[str | None, str | None]:
    """Those of the KEK; neither: the server's own. Raises KmsFailed where one is missing, or empty."""
    id, secret = props.get(ID) or None, props.get(SECRET) or None
    if (id is None) != (secret is None):
        raise KmsFailed(f"{ID} and {SECRET} belong together in kmsProps: give both, or neither")
    return id, secret


def _problem(action: str, error: Mapping[str, str]) -> KmsFailed:
    """What AWS says of a denial names the role and the account of the server, so only its code is passed on."""
    code = error.get("Code", "an unknown error")
    if code in _DENIED:
        return KmsDenied(f"AWS KMS denied {action}: {code}")
    said = error.get("Message", "")
    return KmsFailed(f"AWS KMS failed to {action.lower()}: {code}{': ' if said else ''}{said}")


def _without_stop(problem: Exception) -> str:
    return str(problem).rstrip(".")
