"""A refusal of a schema as it is shown beside its text: which rule, where, in words for people, and what would help."""

import re
from dataclasses import dataclass
from typing import Final, cast

from sigla.errors import Incompatible, Refusal
from sigla.model import Finding, Version
from sigla.rules.compatibility import Direction, Objection
from sigla.rules.positions import BEGINNING, Counterparts, Position, Positions, told_position
from sigla.rules.remedies import OTHER_LANGUAGE, remedy


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a schema is refused. rule: of compatibility, or the number of the refusal where it has none.

    message: for people. detail: in the registry's own words. code: of the refusal. path: in the schema that would have
    to read; whose it is says `reader`. against: the version that it was compared with. remedy: what would help, where
    that is known.
    """

    rule: str
    message: str
    detail: str
    code: int
    position: Position = BEGINNING
    path: str = ""
    reader: str = ""
    against: int | None = None
    remedy: str = ""


def problems_of(text: str, schema_type: str, refusal: Refusal) -> tuple[Problem, ...]:
    """What is wrong with the schema, one problem at least. text, schema_type: of the schema that was refused."""
    found = _objections_of(refusal)
    if found:
        places = _Places(text, schema_type)
        return tuple(_of_objection(places, schema_type, each, refusal.code) for each in found)
    sentence = refusal.message
    return (Problem(str(refusal.code), sentence, sentence, refusal.code, told_position(text, sentence)),)


def _objections_of(refusal: Refusal) -> tuple[Objection, ...]:
    """The differences for which a schema is incompatible."""
    found = refusal.facts["objections"] if isinstance(refusal, Incompatible) else ()
    return tuple(each for each in cast("tuple[Objection, ...]", found) if not each.quotes)


_BARE: Final = re.compile(
    r"""\{errorType:(['"])[A-Z0-9_]+\1,\ description:['"]
        (?P<said>.*?)(['"]\})?(',\ additionalInfo:'(?P<more>.*)'\})?""",
    re.VERBOSE | re.DOTALL,
)


class _Places:
    """Where in the schema that was refused people look for what objections are about."""

    def __init__(self, text: str, schema_type: str) -> None:
        self._text = text
        self._is_avro = schema_type == "AVRO"
        self._positions = Positions(text, schema_type)
        self._from: dict[Version | None, Counterparts] = {}

    def of(self, objection: Objection, finding: Finding) -> Position:
        """What an old reader lacks is looked for by its path in that reader: in Avro, paths count fields."""
        reader = objection.reader
        if objection.direction is not Direction.OLD_READS_NEW or reader is None or not self._is_avro:
            return self._positions.of(finding.path)
        if objection.version not in self._from:
            self._from[objection.version] = Counterparts(reader.canonical, self._text)
        return self._positions.of(self._from[objection.version].of(finding.path))


def _of_objection(places: _Places, schema_type: str, objection: Objection, code: int) -> Problem:
    message = _for_people(objection.message)
    direction, finding, version = objection.direction, objection.finding, objection.version
    reader = direction.value[0] if direction else ""
    if finding is None or direction is None or version is None:
        help = OTHER_LANGUAGE.format(version=version) if version is not None and direction is None else ""
        return Problem(str(code), message, objection.message, code, reader=reader, against=version, remedy=help)
    return Problem(
        finding.rule,
        message,
        objection.message,
        code,
        places.of(objection, finding),
        finding.path,
        reader,
        version,
        remedy(finding, direction, version, schema_type),
    )


def _for_people(message: str) -> str:
    """The sentence of a message, without its form."""
    found = _BARE.fullmatch(message)
    if found is None:
        return message
    said, more = found["said"], found["more"]
    return said if not more or more in said else f"{said} ({more})"
