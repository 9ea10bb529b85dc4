"""The registry that an exporter writes to: what is asked of it, in our words.

Every write may be repeated: it says what is to be there, or that something is to be gone, and finds it so already.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from sigla.keks.nouns import Dek, DekName, Kek
from sigla.model import Config, Schema, SchemaId, Subject, Version


class DestinationAway(Exception):
    """The destination does not answer, or does not let the exporter in: nothing can be written there now.

    The message is a sentence.
    """


class DestinationBusy(DestinationAway):
    """The destination answers, and wants to be asked less. wait_s: so long; 0 where it does not say."""

    def __init__(self, message: str, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class DestinationRefused(Exception):
    """The destination answers, and does not take this; other subjects may go on. The message is a sentence."""


class Standing(NamedTuple):
    """A version as the destination has it."""

    id: SchemaId
    deleted: bool
    text: str


class Destination(Protocol):
    """Every method raises DestinationAway or DestinationRefused. Subjects are those of the destination."""

    @property
    def shown(self) -> str:
        """Its URL, without secrets."""
        ...

    def is_source(self) -> bool:
        """Whether it is the registry that the exporter reads, as far as it says so; what does not, is another one."""
        ...

    def expect(self, subjects: Sequence[Subject]) -> None:
        """Begins to read versions and config of these, side by side: they are asked for next. Others are forgotten."""
        ...

    # --- subjects ----------------------------------------------------------------------------------------------------

    def versions(self, subject: Subject) -> Mapping[Version, Standing]:
        """Every stored version, soft-deleted ones included; of this very subject, whatever alias it has."""
        ...

    def version(self, subject: Subject, number: Version) -> Standing | None:
        """One stored version. Where the subject has an alias, it is not found."""
        ...

    def register(self, subject: Subject, number: Version, id: SchemaId, schema: Schema) -> None:
        """Puts a version there, active, whether or not another one has its number."""
        ...

    def delete(self, subject: Subject, number: Version, *, permanent: bool) -> None: ...

    def delete_subject(self, subject: Subject, *, permanent: bool) -> None:
        """All of its versions."""
        ...

    # --- settings ----------------------------------------------------------------------------------------------------

    def config(self, scope: Subject) -> Config | None:
        """That of the scope itself. One without a level, and a global one, show the level of the server."""
        ...

    def change_config(self, scope: Subject, patch: Mapping[str, object]) -> None:
        """patch: fields as `PUT /config` has them; None clears one."""
        ...

    def drop_config(self, scope: Subject) -> None: ...

    def mode(self, scope: Subject) -> str:
        """The one in force."""
        ...

    def begin_import(self, scope: Subject) -> None:
        """Puts the scope into IMPORT, whatever is in it."""
        ...

    def is_empty(self, context: str) -> bool:
        """Whether the context has no version at all, soft-deleted ones included."""
        ...

    def drop_context(self, context: str) -> None: ...

    # --- keys --------------------------------------------------------------------------------------------------------

    def keeps_keys(self) -> bool:
        """Whether it has a key registry at all."""
        ...

    def kek(self, name: str) -> Kek | None: ...

    def create_kek(self, kek: Kek) -> None: ...

    def change_kek(self, kek: Kek) -> None:
        """Its settings, its text and whether it is shared; it must not be deleted."""
        ...

    def delete_kek(self, name: str, *, permanent: bool) -> None: ...

    def undelete_kek(self, name: str) -> None: ...

    def dek(self, name: DekName, version: int) -> Dek | None:
        """Raises DestinationRefused also where the subject has an alias."""
        ...

    def create_dek(self, dek: Dek) -> None: ...

    def rewrap_dek(self, dek: Dek) -> None:
        """Replaces the material of a DEK that is there, and whether it is deleted."""
        ...

    def delete_dek(self, name: DekName, version: int, *, permanent: bool) -> None: ...

    def undelete_dek(self, name: DekName, version: int) -> None: ...
