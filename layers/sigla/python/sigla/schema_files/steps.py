"""What has to be done so that a registry is as files say: a step is one write.

Each knows the tag of its scope (`registry.conditions.state_tag`) as it was when the step was planned, and as it will be
when it is done. So the steps of one scope are a chain of states, and whoever looks at the scope later can tell how far
along the chain it is, or that it has left it.
"""

from dataclasses import dataclass
from typing import TypeAlias

from sigla.model import Config, Subject
from sigla.schema_files.declaration import Patch
from sigla.schema_files.files import SchemaFile


@dataclass(frozen=True, slots=True)
class Chained:
    """before, after: tags of the scope."""

    scope: Subject
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ConfigStep(Chained):
    """Fields of a scope's config become others. old: its entry; None without one. patch: what is sent."""

    old: Config | None
    new: Config
    patch: Patch


@dataclass(frozen=True, slots=True)
class ModeStep(Chained):
    old: str | None
    new: str


@dataclass(frozen=True, slots=True)
class VersionStep(Chained):
    """A version is registered. highest: of the subject until then; 0 without one."""

    file: SchemaFile
    version: int
    highest: int


@dataclass(frozen=True, slots=True)
class DeleteStep(Chained):
    """All versions of a subject are soft-deleted. newest: the number of the newest."""

    newest: int


Step: TypeAlias = ConfigStep | ModeStep | VersionStep | DeleteStep
