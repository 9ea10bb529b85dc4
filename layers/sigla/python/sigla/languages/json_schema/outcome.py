"""What comparing one pair of schemas came to, and how a walk asks for it.

An outcome is remembered per pair and used wherever the pair is met again, so its paths begin at the pair: it holds
the outcomes of the pairs below together with the way to them, and nothing is copied. Only what is reported is spelt
out.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from sigla import effort
from sigla.languages.java_order import in_java_order
from sigla.languages.json_schema.content import Contents
from sigla.languages.json_schema.nodes import Schema
from sigla.languages.json_schema.patterns import Patterns
from sigla.languages.language import abandoned
from sigla.model import Finding

Path: TypeAlias = tuple[str, ...]
MAX_CHARACTERS: Final = 2_000_000
"""How many characters all paths of one report have at most."""
PER_STEP: Final = 16
"""So many characters of a path are spelt out in one step."""


class Covered(NamedTuple):
    """The kinds of a difference that another schema covers, or does not."""

    covered: str
    uncovered: str


class Outcome:
    """found: in order, each with the way from the pair to it; an outcome stands for all that it holds.

    Filled while the pair is walked, never changed afterwards. harmless: the kinds that do no harm under the policy.
    """

    __slots__ = ("compatible", "found", "harmless")

    def __init__(self, harmless: frozenset[str]) -> None:
        self.compatible = True
        self.found: list[tuple[Path, str | Outcome]] = []
        self.harmless = harmless

    def add(self, kind: str, *path: str) -> None:
        self.found.append((path, kind))
        if kind not in self.harmless:
            self.compatible = False

    def take(self, outcome: "Outcome", *path: str) -> None:
        """All that was found in another pair, which lies at the path."""
        if outcome.found:
            self.found.append((path, outcome))
            if not outcome.compatible:
                self.compatible = False

    def order(self, begin: int, *maps: Iterable[str]) -> None:
        """Sorts what was found from there on, each at `keyword/name`, by name as the reference walks over its maps.

        maps: the writer's names and the reader's, in document order.
        """
        if len(self.found) - begin > 1:
            rank = {name: number for number, name in enumerate(effort.paced(in_java_order(*maps)))}
            effort.pulse(len(rank))
            self.found[begin:] = sorted(self.found[begin:], key=lambda entry: rank[entry[0][1]])

    def cover(self, kinds: Covered, outcome: "Outcome", *path: str) -> None:
        """What nothing describes on one side, against the schema that it must satisfy there."""
        self.take(outcome, *path)
        self.add(kinds.covered if outcome.compatible else kinds.uncovered, *path)


Walk: TypeAlias = Generator[tuple[Schema, Schema], Outcome, None]
"""A walk over one pair: it yields each (reader, writer) that it must know the outcome of, and is sent that outcome."""


class Check:
    """What all walks of one comparison share."""

    __slots__ = ("contents", "harmless", "patterns", "spend")

    def __init__(self, harmless: frozenset[str], spend: Callable[[int], None]) -> None:
        self.harmless = harmless
        self.spend = spend
        self.contents = Contents(spend)
        self.patterns = Patterns(spend)


def spelt(outcome: Outcome, check: Check, *, harmful_only: bool) -> Iterator[Finding]:
    """The findings with their paths from the root, in order.

    Outcomes are shared, so this can be more than there is time for. The first harmful ones are then enough, since one
    decides; a list of all findings is complete or abandoned.
    Outcomes hold outcomes as deeply as schemas reach, so the way down is a list, not Python's stack.
    """
    left = MAX_CHARACTERS
    ways: list[tuple[Path, Iterator[tuple[Path, str | Outcome]]]] = [(("#",), iter(outcome.found))]
    while ways:
        for path, what in ways[-1][1]:
            if harmful_only and (what.compatible if isinstance(what, Outcome) else what in check.harmless):
                continue
            check.spend(1)
            if isinstance(what, Outcome):
                ways.append((path, iter(what.found)))
                break
            if left < 0 and harmful_only:
                return
            if left < 0:
                raise abandoned("the schemas have too many differences")
            place = "/".join((*chain.from_iterable(way for way, _ in ways), *path))
            left -= len(place)
            check.spend(len(place) // PER_STEP)
            yield Finding(what, place if len(place) > 1 else "#/", "")
        else:
            ways.pop()
