"""What is between two schemas, for people."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from sigla.languages.outline import ADDED, MOVED, REMOVED, RENAMED, SchemaChange
from sigla.rules.difference import Difference, Readability, Sameness, SeenChange

LONGEST: Final = 200
"""Characters of a text in a line; `--json` has more."""
MOST_FINDINGS: Final = 20
MARKS: Final = {ADDED: "+", REMOVED: "-"}
EXPLAINS: Final = "#"
SAME: Final = {
    Sameness.IDENTICAL: "The same schema.",
    Sameness.SPELLING: "The same schema, spelled otherwise.",
    Sameness.DOCUMENTATION: "The same schema, with other documentation.",
}


def as_text(told: Difference, old: str, new: str) -> Iterator[str]:
    """Lines. old, new: what the two are called."""
    yield f"{old} -> {new}"
    yield ""
    if sentence := SAME.get(told.sameness):
        yield sentence
        yield ""
    groups: dict[str, list[SeenChange]] = {}
    for seen in told.changes:
        groups.setdefault(place_of(seen.change), []).append(seen)
    for place, group in groups.items():
        yield place
        for seen in group:
            yield from lines(seen)
    if told.changes:
        yield ""
    yield from verdict("BACKWARD", told.backward, reader=new, writer=old)
    yield from verdict("FORWARD", told.forward, reader=old, writer=new)
    yield f"FULL      {'yes' if told.backward.compatible and told.forward.compatible else 'no'}"


def with_spelling(told: Difference, old: str, new: str) -> Difference:
    """old, new: the texts as they were given. A file may be spelled otherwise than what would be stored of it."""
    if told.sameness is Sameness.IDENTICAL and old != new:
        return replace(told, sameness=Sameness.SPELLING)
    return told


def place_of(change: SchemaChange) -> str:
    """Under which head it stands: what is around it."""
    around = change.path.rpartition("/")[0] or "(schema)"
    return f"{around} ({change.inside})" if change.inside else around


def lines(seen: SeenChange) -> Iterator[str]:
    change = seen.change
    mark = EXPLAINS if change.explains else MARKS.get(change.kind, "~")
    yield f"  {mark} {called(change)}{said(change)}"
    for direction, rules in (("BACKWARD", seen.backward), ("FORWARD", seen.forward)):
        if rules:
            yield f"      breaks {direction}: {', '.join(rules)}"


def called(change: SchemaChange) -> str:
    """What it is: `field total`, `type`. Keys in brackets are there once, and their noun says which."""
    key = last_key(change)
    if not key or key.startswith("("):
        return change.noun
    return key if key.startswith(change.noun) else f"{change.noun} {key}"


def last_key(change: SchemaChange) -> str:
    place = change.before if change.kind == REMOVED else change.place
    return place[-1] if place else ""


def said(change: SchemaChange) -> str:
    was, now = short(change.was), short(change.now)
    if change.kind == RENAMED:
        return f"  was {was}"
    if change.kind == MOVED:
        return f" in another order: {was} -> {now}"
    if change.kind in (ADDED, REMOVED):
        text = now if change.kind == ADDED else was
        return f"  {text}" if text and not last_key(change).endswith(text) else ""
    return f"  {was} -> {now}"


def short(text: str | None) -> str:
    line = " ".join((text or "").split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."


def verdict(level: str, reading: Readability, *, reader: str, writer: str) -> Iterator[str]:
    answer, can = ("yes", "can") if reading.compatible else ("no ", "cannot")
    yield f"{level:<10}{answer}  {reader} {can} read what {writer} wrote"
    if reading.given_up is not None:
        yield f"               {reading.given_up}"
    findings = list(dict.fromkeys(told.finding for told in reading.findings))  # the same one of each use of a type
    for finding in findings[:MOST_FINDINGS]:
        detail = f": {short(finding.detail)}" if finding.detail else ""
        yield f"               {finding.rule} at {finding.path}{detail}"
    if len(findings) > MOST_FINDINGS:
        yield f"               and {len(findings) - MOST_FINDINGS} more"
