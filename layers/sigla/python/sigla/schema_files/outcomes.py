"""What registering a schema would come to."""

from dataclasses import dataclass

from sigla.errors import Refusal
from sigla.model import Draft, Record, Subject
from sigla.schema_files.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Foretold:
    """record: the version that it would be, or is. is_new: whether it would be a new one. refusal: why neither."""

    record: Record | None = None
    is_new: bool = False
    refusal: Refusal | None = None


def outcome(
    scratch: Scratch, subject: Subject, draft: Draft, *, normalize: bool = False, force: bool = False
) -> Foretold:
    """Registers it there, as `registry.register` does: what comes later is compared with it."""
    before = scratch.writes
    try:
        record = scratch.register(subject, draft, normalize=normalize, force=force)
    except Refusal as refusal:
        return Foretold(refusal=refusal)
    return Foretold(record, is_new=scratch.writes > before)
