"""Can the reader read what the writer wrote? A walk over pairs of schemas (contract C.6, C.9).

Walks are generators: they yield the pairs they need to know about. So how deeply schemas and references reach is a
matter of one list, not of Python's stack, and what is known about a pair is kept in one place.
"""

from collections.abc import Callable, Generator
from typing import Any, Final, TypeAlias

from sigla.languages.json_schema.arrays import arrays
from sigla.languages.json_schema.combined import combined, member_of_reader, member_of_writer, negations
from sigla.languages.json_schema.nodes import Anything, Combined, Nothing, Reference, Schema
from sigla.languages.json_schema.objects import objects
from sigla.languages.json_schema.outcome import Check, Outcome, Walk, spelt
from sigla.languages.json_schema.rules import compatible
from sigla.languages.json_schema.scalars import consts, enums, numbers, strings
from sigla.languages.language import Budget, abandoned
from sigla.model import Finding

Pair: TypeAlias = tuple[int, int]
MAX_PAIRS_UNDER_WAY: Final = 20_000
"""Pairs within pairs; a bound on memory."""
STEPS_OF_A_PAIR: Final = 4
STEPS_OF_A_WALK: Final = 6
"""On top, for a pair with others inside."""

NO_HARM: Final[frozenset[str]] = frozenset()
SAME: Final = Outcome(NO_HARM)
"""Nothing was found."""
UNDER_WAY: Final = Outcome(NO_HARM)
"""Nothing is known yet. A pair met inside itself is taken to be what it came to before, or the same (C.9, step 2)."""
CYCLE: Final = Anything()
"""What references come to that reach only each other (C.6, step 2)."""


def differences(reader: Schema, writer: Schema, budget: Budget, policy: str) -> tuple[Finding, ...]:
    """All differences, in order, those that do no harm included. Raises CheckAbandoned."""
    return report(reader, writer, budget, policy, harmful_only=False)


def incompatibilities(reader: Schema, writer: Schema, budget: Budget, policy: str) -> tuple[Finding, ...]:
    """Those of the differences that hinder the reader; nothing is spent on others. Raises CheckAbandoned."""
    return report(reader, writer, budget, policy, harmful_only=True)


def report(reader: Schema, writer: Schema, budget: Budget, policy: str, *, harmful_only: bool) -> tuple[Finding, ...]:
    check = Check(compatible(policy), budget.spend)
    try:
        outcome = Comparison(check).outcome(reader, writer)
        return tuple(spelt(outcome, check, harmful_only=harmful_only))
    except RecursionError:
        raise abandoned("the schemas are nested too deeply to be compared") from None


class Comparison:
    """One comparison of two schemas. Pairs are known by the identity of their nodes, which the schemas keep alive.

    known: what each pair came to in this run, or UNDER_WAY.
    incompatible: what pairs came to that earlier runs found incompatible.
    recursive: whether a pair was met inside itself in this run.
    ends: where each reference leads in the end.
    """

    __slots__ = ("check", "ends", "incompatible", "known", "recursive", "under_way")

    def __init__(self, check: Check) -> None:
        self.check = check
        self.ends: dict[int, Schema] = {}
        self.incompatible: dict[Pair, Outcome] = {}
        self.known: dict[Pair, Outcome] = {}
        self.recursive = False
        self.under_way: list[tuple[Pair, Generator[tuple[Schema, Schema], Outcome, Outcome]]] = []

    def outcome(self, reader: Schema, writer: Schema) -> Outcome:
        """What the pair comes to, once no run finds another pair incompatible (C.9, step 3).

        A pair once found incompatible stays so for later runs: with `not`, which turns harm below into none above, runs
        could otherwise contradict each other for ever. So each run adds a pair, and there is a last one.
        """
        while True:
            outcome = self.run(reader, writer)
            incompatible = {pair: came_to for pair, came_to in self.known.items() if not came_to.compatible}
            if not self.recursive or incompatible.keys() <= self.incompatible.keys():
                return outcome
            self.incompatible.update(incompatible)
            self.known, self.recursive = {}, False

    def run(self, reader: Schema, writer: Schema) -> Outcome:
        answer = self.look(reader, writer)
        while self.under_way:
            pair, walk = self.under_way[-1]
            try:
                asked = next(walk) if answer is None else walk.send(answer)
            except StopIteration as finished:
                self.under_way.pop()
                answer = self.known[pair] = finished.value
            else:
                answer = self.look(*asked)
        assert answer is not None  # noqa: S101 - nothing is under way, so the first question has its answer
        return answer

    def look(self, reader: Schema, writer: Schema) -> Outcome | None:
        """What is known of a pair, or can be told at once; None where its walk has just been put under way."""
        self.check.spend(STEPS_OF_A_PAIR)
        if isinstance(reader, Reference):
            reader = self.end(reader)
        if isinstance(writer, Reference):
            writer = self.end(writer)
        pair = (id(reader), id(writer))
        outcome = self.known.get(pair)
        if outcome is not None:
            if outcome is not UNDER_WAY:
                return outcome
            self.recursive = True
            return self.incompatible.get(pair, SAME)
        if reader.kind not in WALKS and writer.kind not in WALKS:
            outcome = self.known[pair] = judged(reader, writer, self.check)
            return outcome
        if len(self.under_way) == MAX_PAIRS_UNDER_WAY:
            raise abandoned(f"the schemas are nested more than {MAX_PAIRS_UNDER_WAY} levels deep")
        self.check.spend(STEPS_OF_A_WALK)
        self.known[pair] = UNDER_WAY
        self.under_way.append((pair, walked(reader, writer, self.check)))
        return None

    def end(self, reference: Reference) -> Schema:
        """Where a reference leads, however many others it leads through (DV-8)."""
        end = self.ends.get(id(reference))
        if end is not None:
            return end
        passed: dict[int, Reference] = {}
        node: Schema = reference
        while isinstance(node, Reference) and id(node) not in passed:
            self.check.spend(1)
            passed[id(node)] = node
            node = self.ends.get(id(node)) or node.target
        end = CYCLE if isinstance(node, Reference) else node
        self.ends.update(dict.fromkeys(passed, end))
        return end


def walked(reader: Schema, writer: Schema, check: Check) -> Generator[tuple[Schema, Schema], Outcome, Outcome]:
    """Steps 4 to 8 of C.6 for a pair of which at least one has schemas inside."""
    found = Outcome(check.harmless)
    if reader.kind != writer.kind:
        if isinstance(reader, Combined) and (yield from member_of_reader(reader, writer, found)):
            return found
        if isinstance(writer, Combined) and (yield from member_of_writer(reader, writer, found)):
            return found
        return judged(reader, writer, check)
    described(reader, writer, found, check)
    yield from WALKS[reader.kind](reader, writer, found, check)
    return found if found.found else SAME


def judged(reader: Schema, writer: Schema, check: Check) -> Outcome:
    """Steps 6 to 8 for a pair that needs no others to be looked at: leaves, or two kinds."""
    found = Outcome(check.harmless)
    if reader.kind == writer.kind:
        described(reader, writer, found, check)
        judge = JUDGES.get(reader.kind)
        if judge is not None:
            judge(reader, writer, found, check)
    elif not isinstance(writer, Nothing) and not isinstance(reader, Anything) and not both_bytes(reader, writer):
        found.add("TYPE_CHANGED")
    return found if found.found else SAME


def both_bytes(reader: Schema, writer: Schema) -> bool:
    return reader.unknown.get("connect.type") == "bytes" == writer.unknown.get("connect.type")


def described(reader: Schema, writer: Schema, found: Outcome, check: Check) -> None:
    if reader.id != writer.id:
        found.add("ID_CHANGED")
    if reader.title != writer.title:
        found.add("TITLE_CHANGED")
    if reader.description != writer.description:
        found.add("DESCRIPTION_CHANGED")
    if check.contents.default(reader) != check.contents.default(writer):
        found.add("DEFAULT_CHANGED")


WALKS: Final[dict[str, Callable[[Any, Any, Outcome, Check], Walk]]] = {
    "object": objects,
    "array": arrays,
    "combined": combined,
    "not": negations,
}
"""How two schemas of one kind with others inside are compared."""
JUDGES: Final[dict[str, Callable[[Any, Any, Outcome, Check], None]]] = {
    "string": strings,
    "number": numbers,
    "enum": enums,
    "const": consts,
}
"""How two leaves of one kind are; there is nothing to compare in the others, nor in conditionals (C.4.3)."""
