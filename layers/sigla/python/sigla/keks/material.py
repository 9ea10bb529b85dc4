"""Where the material of a DEK comes from, and what is shown of it. The one place where the registry asks a KMS.

Under a KEK that is not shared, the client brings wrapped material, nothing of it is looked at, and no raw key is known.
"""

from typing import NamedTuple, Protocol

from sigla.keks.nouns import Dek, DekDraft, Kek
from sigla.keks.refusals import InvalidKeyField, NotUnwrapped, NotWrapped

TRIAL = "__TEST"
"""The subject in the sentences of a trial."""


class Material(NamedTuple):
    """wrapped: what is stored. raw: what is shown beside it, and never stored; None where it is not known."""

    wrapped: str
    raw: str | None = None

    def __repr__(self) -> str:
        """Leaves the raw key out: a text may end in a log."""
        return f"Material(wrapped={self.wrapped!r})"


class Materials(Protocol):
    """Asked once for each DEK that is created under a shared KEK, and for each that is read."""

    def made(self, kek: Kek, draft: DekDraft, subject: str, standing: Dek | None, *, importing: bool) -> Material:
        """The material of a new DEK, or of one that takes the place of another (KEY-14).

        Raises KmsFailed, InvalidKeyField.
        """
        ...

    def shown(self, kek: Kek, dek: Dek) -> str:
        """The raw key of a stored DEK (KEY-14). Raises KmsFailed."""
        ...

    def check(self, kek: Kek) -> None:
        """Whether the KMS wraps a key with it (KEY-7). Raises KmsFailed."""
        ...


class NoKms:
    """`Materials` without any driver."""

    def made(self, kek: Kek, draft: DekDraft, subject: str, standing: Dek | None, *, importing: bool) -> Material:
        del draft, standing, importing
        raise NotWrapped(subject=subject, cause=_unsupported(kek))

    def shown(self, kek: Kek, dek: Dek) -> str:
        raise NotUnwrapped(subject=dek.subject, cause=_unsupported(kek))

    def check(self, kek: Kek) -> None:
        raise NotWrapped(subject=TRIAL, cause=_unsupported(kek))


def _unsupported(kek: Kek) -> str:
    return f"No KMS driver supports: {kek.uri}"


def offered(draft: DekDraft) -> Material:
    """What a client brings under a KEK that is not shared (KEY-8). Raises InvalidKeyField."""
    if draft.material is None:
        raise InvalidKeyField(field="encryptedKeyMaterial")
    return Material(draft.material)
