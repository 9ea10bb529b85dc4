"""Would these files be accepted? Each is registered in a scratch registry, and its refusal is taken to the file."""

from dataclasses import dataclass
from enum import Enum

from sigla.rules.compatibility import Direction
from sigla.rules.problems import Problem, problems_of
from sigla.schema_files.files import SchemaFile
from sigla.schema_files.outcomes import outcome
from sigla.schema_files.scratch import Scratch


class FileVerdict(Enum):
    NEW = "new"
    """It would be a new version."""
    KNOWN = "known"
    """It is a version already."""
    REFUSED = "refused"
    NOT_CHECKED = "not checked"
    """What it references is refused."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of a file. version: that it would be, or is. rests_on: files that are refused and that it needs."""

    file: SchemaFile
    verdict: FileVerdict
    version: int | None = None
    problems: tuple[Problem, ...] = ()
    rests_on: tuple[str, ...] = ()

    @property
    def is_accepted(self) -> bool:
        return self.verdict in (FileVerdict.NEW, FileVerdict.KNOWN)


def check_file(scratch: Scratch, file: SchemaFile) -> Checked:
    """What registering it would come to; in the scratch registry it is registered then."""
    found = outcome(scratch, file.subject, file.draft, normalize=file.normalize)
    if found.record is not None:
        return Checked(file, FileVerdict.NEW if found.is_new else FileVerdict.KNOWN, found.record.version)
    problems = problems_of(file.text, file.type, found.refusal) if found.refusal else ()
    return Checked(file, FileVerdict.REFUSED, problems=problems)


def reads(problem: Problem) -> str:
    """Who cannot read whose data, in words; empty where that is not the question."""
    words = {
        Direction.NEW_READS_OLD.value[0]: "this schema cannot read data of version",
        Direction.OLD_READS_NEW.value[0]: "data of this schema cannot be read by version",
    }
    return f"{words[problem.reader]} {problem.against}" if problem.reader and problem.against else ""
