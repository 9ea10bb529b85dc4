"""What is between two schemas: every change, and who can read whose data. The check decides, this page explains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from operator import attrgetter
from typing import Final

from sigla.contract import STRICT
from sigla.errors import CheckAbandoned
from sigla.languages.language import Budget, Language, abandoned
from sigla.languages.outline import CHANGED, Locate, Outlines, SchemaChange, Touched, changes
from sigla.model import Finding, Parsed, Schema
from sigla.rules.beside import version_parts
from sigla.rules.compatibility import Direction
from sigla.rules.positions import Position, Positions

OTHER_TYPE: Final = "Incompatible because of different schema type"


class Sameness(Enum):
    """How much two schemas are alike. SPELLING: white space, the order of keys and whatever normalising puts in order.

    DOCUMENTATION: they differ in what they tell people, and in nothing else.
    """

    IDENTICAL = "IDENTICAL"
    SPELLING = "SPELLING"
    DOCUMENTATION = "DOCUMENTATION"
    DIFFERENT = "DIFFERENT"


@dataclass(frozen=True, slots=True)
class ToldFinding:
    """A finding with its message, word for word as a check has it. position: in the text of the schema that reads."""

    finding: Finding
    message: str
    position: Position


@dataclass(frozen=True, slots=True)
class Readability:
    """What hinders one schema from reading the data of the other. given_up: why the check gave up, where it did."""

    findings: tuple[ToldFinding, ...] = ()
    given_up: str | None = None

    @property
    def compatible(self) -> bool:
        return not self.findings and self.given_up is None


@dataclass(frozen=True, slots=True)
class SeenChange:
    """A change, and the rules that it breaks for the new schema as a reader (backward) and for the old one."""

    change: SchemaChange
    backward: tuple[str, ...] = ()
    forward: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """sameness: of the schemas themselves. changes: theirs first, then those of what versions say beside the text."""

    sameness: Sameness
    changes: tuple[SeenChange, ...]
    backward: Readability
    forward: Readability


def difference(
    old: Parsed,
    new: Parsed,
    languages: Mapping[str, Language],
    *,
    policy: str = STRICT,
    versions: tuple[Schema, Schema] | None = None,
    texts: tuple[str, str] | None = None,
) -> Difference:
    """All that is between two schemas. Raises CheckAbandoned where that is more than can be told, and Malformed.

    Who reads whom is what a check at FULL would say: both comparisons share one budget, and the changes have their own.
    versions: what is stored of the two, where both are versions. texts: as of `readings`.
    """
    budget = Budget()
    others = (
        [SeenChange(change) for change in changes(version_parts(versions[0]), version_parts(versions[1]), budget)]
        if versions
        else []
    )
    if old.language != new.language:
        change = SchemaChange(CHANGED, "schema type", ("(schema)",), ("(schema)",), old.language, new.language)
        return Difference(
            Sameness.DIFFERENT,
            (SeenChange(change), *others),
            *readings(old, new, languages, policy=policy, texts=texts),
        )
    language = languages[new.language]
    outlines = _outlined(old, new, language)
    found = changes(outlines.old, outlines.new, budget)
    backward, forward = readings(old, new, languages, policy=policy, texts=texts)
    seen = _seen(found, outlines, backward, forward, budget)
    return Difference(_sameness(old, new, found), (*seen, *others), backward, forward)


def readings(
    old: Parsed,
    new: Parsed,
    languages: Mapping[str, Language],
    *,
    policy: str = STRICT,
    texts: tuple[str, str] | None = None,
) -> tuple[Readability, Readability]:
    """Backward, whether the new one reads what the old one wrote; and forward. Both share one budget.

    texts: what people see of the two, where that is not what is stored.
    """
    if old.language != new.language:
        refused = Readability(given_up=OTHER_TYPE)
        return refused, refused
    language, shared = languages[new.language], Budget()
    in_old, in_new = (Positions(text, new.language) for text in texts or (old.canonical, new.canonical))
    forward = _reading(old, new, language, shared, policy, positions=in_old, direction=Direction.OLD_READS_NEW)
    backward = _reading(new, old, language, shared, policy, positions=in_new, direction=Direction.NEW_READS_OLD)
    return backward, forward


def _outlined(old: Parsed, new: Parsed, language: Language) -> Outlines:
    try:
        return language.outlines(old, new)
    except RecursionError:
        raise abandoned("the schemas are nested too deeply to be compared") from None


def _sameness(old: Parsed, new: Parsed, found: Sequence[SchemaChange]) -> Sameness:
    if not found:
        return Sameness.IDENTICAL if old.canonical == new.canonical else Sameness.SPELLING
    return Sameness.DOCUMENTATION if all(change.explains for change in found) else Sameness.DIFFERENT


def _reading(
    reader: Parsed,
    writer: Parsed,
    language: Language,
    budget: Budget,
    policy: str,
    *,
    positions: Positions,
    direction: Direction,
) -> Readability:
    """positions: in the text of the reader."""
    try:
        findings = language.compare(reader, writer, budget, policy)
    except CheckAbandoned as given_up:
        return Readability(given_up=given_up.message)
    return Readability(
        tuple(
            ToldFinding(finding, language.sentence(finding, *direction.value), positions.of(finding.path))
            for finding in findings
        )
    )


def _seen(
    found: tuple[SchemaChange, ...], outlines: Outlines, backward: Readability, forward: Readability, budget: Budget
) -> tuple[SeenChange, ...]:
    seen = [SeenChange(change) for change in found]
    for number, rules in _broken(backward, outlines.in_new, Touched(found, attrgetter("place")), budget):
        seen[number] = replace(seen[number], backward=rules)
    for number, rules in _broken(forward, outlines.in_old, Touched(found, attrgetter("before")), budget):
        seen[number] = replace(seen[number], forward=rules)
    return tuple(seen)


def _broken(
    reading: Readability, locate: Locate, touched: Touched, budget: Budget
) -> list[tuple[int, tuple[str, ...]]]:
    """The changes that findings are about, each with the rules that it breaks, in the order of the findings."""
    rules: dict[int, dict[str, None]] = {}
    for told in reading.findings:
        about = touched.by(locate(told.finding))
        budget.spend(1 + len(told.finding.path) + len(about))
        for number in about:
            rules.setdefault(number, {})[told.finding.rule] = None
    return [(number, tuple(broken)) for number, broken in rules.items()]


def form_of(told: Difference) -> dict[str, object]:
    """A difference as JSON, as the API and `sigla diff --json` tell it."""
    return {
        "sameness": told.sameness.value,
        "changes": [_form_of_change(each) for each in told.changes],
        "backward": form_of_reading(told.backward),
        "forward": form_of_reading(told.forward),
        "full": told.backward.compatible and told.forward.compatible,
    }


def _form_of_change(seen: SeenChange) -> dict[str, object]:
    change = seen.change
    form: dict[str, object] = {"path": change.path, "kind": change.kind, "what": change.noun}
    said = {"inside": change.inside or None, "was": change.was, "is": change.now}
    form |= {key: text for key, text in said.items() if text is not None}
    form["documentation"] = change.explains
    form["breaks"] = {"backward": list(seen.backward), "forward": list(seen.forward)}
    return form


def form_of_reading(reading: Readability) -> dict[str, object]:
    """Who can read whom as JSON."""
    findings = [
        {
            "rule": told.finding.rule,
            "path": told.finding.path,
            "message": told.message,
            "line": told.position.line,
            "column": told.position.column,
        }
        for told in reading.findings
    ]
    given_up = [] if reading.given_up is None else [{"message": reading.given_up}]
    return {"compatible": reading.compatible, "findings": findings + given_up}
