"""Credentials of exporters in the parameter store of AWS (SSM), a SecureString each."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote

import orjson
from botocore.exceptions import ClientError

from sigla import keys
from sigla.aws.clients import Clients
from sigla.aws.refusals import SILENT, failed
from sigla.effort import waiting
from sigla.errors import StoreError
from sigla.exporters.nouns import Credentials
from sigla.ports.secrets import KeptSecret, SecretName

_MISSING = "ParameterNotFound"

Result = TypeVar("Result")


class AwsSecrets:
    """A `Secrets`. table: of the registry; a role that may use it may use the parameters below its name.

    key: the ARN of the KMS key that encrypts what is put; empty: that of AWS for the parameter store, `aws/ssm`.
    """

    def __init__(self, clients: Clients, table: str, *, registry: str = "default", key: str = "") -> None:
        self._clients = clients
        self._table = table
        self._registry = registry
        self._by_key = {"KeyId": key} if key else {}

    def put(self, name: SecretName, credentials: Credentials) -> None:
        """Also over what an answer that got lost has left."""
        text = orjson.dumps(dict(credentials.settings)).decode()
        self._ask(
            f"writing the credentials of the exporter {name.exporter}",
            lambda ssm: ssm.put_parameter(
                Name=self._parameter(name),
                Value=text,
                Type="SecureString",
                Tier="Standard",
                Overwrite=True,
                **self._by_key,
            ),
        )

    def get(self, name: SecretName) -> Credentials | None:
        found = self._ask(
            f"reading the credentials of the exporter {name.exporter}",
            lambda ssm: ssm.get_parameter(Name=self._parameter(name), WithDecryption=True),
        )
        if found is None:
            return None
        try:
            return Credentials(orjson.loads(found["Parameter"]["Value"]))
        except ValueError as damage:
            raise StoreError(f"the credentials of the exporter {name.exporter} cannot be read") from damage

    def delete(self, name: SecretName) -> None:
        self._ask(
            f"deleting the credentials of the exporter {name.exporter}",
            lambda ssm: ssm.delete_parameter(Name=self._parameter(name)),
        )

    def kept(self) -> Iterator[KeptSecret]:
        """In pages, which stay encrypted: whoever lists them need not be able to read them."""
        path = keys.secrets_path(self._table, self._registry)
        asked: dict[str, Any] = {"Path": path, "Recursive": True}
        while page := self._ask("listing the credentials of exporters", partial(_page, asked)):
            for each in page["Parameters"]:
                if name := _secret_name(each["Name"].removeprefix(f"{path}/")):
                    yield KeptSecret(name, round(1000 * each["LastModifiedDate"].timestamp()))
            if "NextToken" not in page:
                return
            asked["NextToken"] = page["NextToken"]

    def _parameter(self, name: SecretName) -> str:
        return keys.secret_parameter(self._table, self._registry, name.exporter, name.nonce)

    def _ask(self, doing: str, call: Callable[[Any], Result]) -> Result | None:
        """What AWS answers; None where there is no such parameter. Raises StoreError."""
        try:
            with waiting():
                return call(self._clients.ssm)
        except ClientError as refused:
            if refused.response["Error"]["Code"] == _MISSING:
                return None
            raise failed(doing, refused) from refused
        except SILENT as silence:
            raise failed(doing, silence) from silence


def _page(asked: dict[str, Any], ssm: Any) -> dict[str, Any]:
    found: dict[str, Any] = ssm.get_parameters_by_path(**asked)
    return found


def _secret_name(place: str) -> SecretName | None:
    """Whose credentials the rest of a parameter's name stands for; None for a foreign one."""
    exporter, slash, nonce = place.partition("/")
    if not slash or not nonce or "/" in nonce:
        return None
    return SecretName(unquote(exporter.replace(".", "%")), nonce)
