"""Which key services this process can call: a row for each type of KEK that may be shared.

A driver's library is imported when the first shared KEK of its type is used: no other request pays for it.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from sigla.bounded import BoundedMemory
from sigla.effort import waiting
from sigla.kms.alternates import InTurn, named_keys
from sigla.ports.kms import KeyService, KmsFailed, KmsKey

if TYPE_CHECKING:  # imported where a key of AWS is used
    from sigla.aws.clients import Clients

LOCAL_KMS, AWS_KMS = "local-kms", "aws-kms"

EXTRAS: Mapping[str, str] = {LOCAL_KMS: "local-kms", AWS_KMS: "aws"}
"""By type: the extra of our package that brings the driver's library."""

CLIENTS_ONLY = ("azure-kms", "gcp-kms", "hcvault")
"""Types whose keys clients call by themselves. Their KEKs are stored and served; shared, they are of no use here."""

MOST_SERVICES = 64
"""Remembered at a time; each may have credentials of its own."""

_Remembered = tuple[str, str, tuple[tuple[str, str | None], ...]]


class Drivers:
    """The key services of this process, as `KeyServices`.

    A service is remembered with the settings that it was made with: a KEK whose settings change has another one at its
    next use, and two KEKs with one key and other credentials each use their own.

    clients: returns the clients of AWS. secret: of local-kms, for KEKs without one of their own; empty: they have none.
    """

    def __init__(self, clients: "Callable[[], Clients]", *, secret: str = "") -> None:
        self._clients = clients
        self._secret = secret
        self._services: BoundedMemory[_Remembered, KeyService] = BoundedMemory(MOST_SERVICES)
        self._drivers: Mapping[str, Callable[[KmsKey], KeyService]] = {LOCAL_KMS: self._local, AWS_KMS: self._aws}

    def service(self, key: KmsKey) -> KeyService:
        """Raises KmsFailed where no driver has the type."""
        if key.type not in self._drivers:
            raise KmsFailed(_without_driver(key))
        return InTurn([partial(self._one, each) for each in named_keys(key)])

    def _one(self, key: KmsKey) -> KeyService:
        remembered = (key.type, key.id, tuple(sorted(key.props.items())))
        found = self._services.get(remembered)
        if found is None:
            found = self._opened(key)
            self._services.keep(remembered, found)
        return found

    def _opened(self, key: KmsKey) -> KeyService:
        try:
            return self._drivers[key.type](key)
        except ImportError as missing:
            extra = f"sigla-registry[{EXTRAS[key.type]}]"
            raise KmsFailed(f"{key.type} needs {missing.name} on the server: pip install '{extra}'") from missing

    def _local(self, key: KmsKey) -> KeyService:
        from sigla.kms.local import LocalKey

        return LocalKey(key.props.get("secret") or self._secret)

    def _aws(self, key: KmsKey) -> KeyService:
        with waiting():  # a library is read, and credentials are looked for: on some machines that takes seconds
            from sigla.aws.kms import aws_key

            return aws_key(key, self._clients())


def _without_driver(key: KmsKey) -> str:
    """Confluent's sentence, and for types that its clients know the way out."""
    sentence = f"No KMS driver supports: {key}"
    if key.type not in CLIENTS_ONLY:
        return sentence
    ours = f"A shared KEK is of the type {AWS_KMS} or {LOCAL_KMS}"
    return f"{sentence}. {ours}; with {key.type} clients wrap keys themselves: set shared to false"
