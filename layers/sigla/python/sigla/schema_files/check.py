"""Would these files be accepted? Each is registered in a scratch registry, and its refusal is taken to the file."""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from sigla.rules.compatibility import Direction, Objection
from sigla.schema_files.files import SchemaFile
from sigla.schema_files.outcomes import Foretold, outcome
from sigla.schema_files.positions import BEGINNING, Position, of_path, told_position
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
class Problem:
    """Why a file is refused. rule: of compatibility, or the number of the refusal where it has none.

    message: for people. detail: in the registry's own words. code: of the refusal. path: in the schema that would have
    to read; whose it is says `reader`. against: the version that it was compared with.
    """

    rule: str
    message: str
    detail: str
    code: int
    position: Position = BEGINNING
    path: str = ""
    reader: str = ""
    against: int | None = None


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
    return Checked(file, FileVerdict.REFUSED, problems=_problems(file, found))


def _problems(file: SchemaFile, found: Foretold) -> tuple[Problem, ...]:
    refusal = found.refusal
    if refusal is None:
        return ()
    objections = found.objections
    if objections:
        return tuple(_of_objection(file, each, refusal.code) for each in objections)
    sentence = refusal.message
    return (Problem(str(refusal.code), sentence, sentence, refusal.code, told_position(file.text, sentence)),)


_BARE: Final = re.compile(
    r"""\{errorType:(['"])[A-Z0-9_]+\1,\ description:['"]
        (?P<said>.*?)(['"]\})?(',\ additionalInfo:'(?P<more>.*)'\})?""",
    re.VERBOSE | re.DOTALL,
)


def _of_objection(file: SchemaFile, objection: Objection, code: int) -> Problem:
    message = _for_people(objection.message)
    reader = objection.direction.value[0] if objection.direction else ""
    if objection.finding is None:
        return Problem(str(code), message, objection.message, code, reader=reader, against=objection.version)
    finding = objection.finding
    return Problem(
        finding.rule,
        message,
        objection.message,
        code,
        of_path(file.text, file.type, finding.path),
        finding.path,
        reader,
        objection.version,
    )


def _for_people(message: str) -> str:
    """The sentence of a message, without its form."""
    found = _BARE.fullmatch(message)
    if found is None:
        return message
    said, more = found["said"], found["more"]
    return said if not more or more in said else f"{said} ({more})"


def reads(problem: Problem) -> str:
    """Who cannot read whose data, in words; empty where that is not the question."""
    words = {
        Direction.NEW_READS_OLD.value[0]: "this schema cannot read data of version",
        Direction.OLD_READS_NEW.value[0]: "data of this schema cannot be read by version",
    }
    return f"{words[problem.reader]} {problem.against}" if problem.reader and problem.against else ""
