"""What wraps data keys for us: keys of outside key services (KMS), which never leave their service."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class KmsFailed(Exception):
    """A key service did not do what it was asked. cause: why, for the client that asked; it never names a secret."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class KmsDenied(KmsFailed):
    """A key service refused access to the key."""


@dataclass(frozen=True, slots=True)
class KmsKey:
    """A key by its address. type, id: as `aws-kms` and an ARN. props: the settings of its driver, credentials too.

    No text of it tells them.
    """

    type: str
    id: str
    props: Mapping[str, str | None] = field(repr=False)

    def __str__(self) -> str:
        """Its address as Confluent's clients write it, without the settings."""
        return f"{self.type}://{self.id}"


class KeyService(Protocol):
    """One key of a key service. Every method raises KmsFailed or KmsDenied."""

    def wrap(self, raw: bytes) -> bytes:
        """Encrypts and authenticates a few bytes, with empty associated data. Each time the result is another one."""
        ...

    def unwrap(self, wrapped: bytes) -> bytes:
        """Returns what was wrapped with this key."""
        ...


class KeyServices(Protocol):
    """All the key services that this process can call."""

    def service(self, key: KmsKey) -> KeyService:
        """Returns what wraps with this key, as its settings say now. Raises KmsFailed where no driver fits."""
        ...
