"""What is kept apart from everything else: the credentials by which an exporter enters another registry."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from sigla.errors import StoreError
from sigla.exporters.nouns import Credentials


class SecretName(NamedTuple):
    """Whose credentials, and which of them: nonce is `Exporter.credentials`, another one for each that are put."""

    exporter: str
    nonce: str


class KeptSecret(NamedTuple):
    """Credentials that are kept, without what they say. ts: when they were put, in milliseconds since the epoch."""

    name: SecretName
    ts: int


class Secrets(Protocol):
    """Written once under a name of their own, before an exporter names them; then read, and in the end deleted.

    They are in no journal, no export and no backup. Every method raises StoreError where the place does not answer.
    """

    def put(self, name: SecretName, credentials: Credentials) -> None:
        """Durable when it returns. The same again is accepted."""
        ...

    def get(self, name: SecretName) -> Credentials | None:
        """None if they are not there: a restored registry has none, and a client sends them again."""
        ...

    def delete(self, name: SecretName) -> None:
        """They are gone once no exporter names them in what is durable. Repeated, it changes nothing."""
        ...

    def kept(self) -> Iterator[KeptSecret]:
        """All that are kept for exporters of this registry, whether or not one names them."""
        ...


class NoSecrets:
    """A `Secrets` where none can be kept."""

    def put(self, name: SecretName, credentials: Credentials) -> None:  # noqa: ARG002 - as `Secrets` has it
        """Raises StoreError."""
        raise StoreError("credentials cannot be kept here")

    def get(self, name: SecretName) -> Credentials | None:  # noqa: ARG002 - as `Secrets` has it
        return None

    def delete(self, name: SecretName) -> None:
        """Nothing is there."""

    def kept(self) -> Iterator[KeptSecret]:
        return iter(())
