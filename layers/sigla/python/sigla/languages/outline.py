"""What a schema consists of, as a tree of named parts, and what has changed from one tree to another.

Each language makes the tree (`Language.outlines`); what comes, goes or differs in it is found here, once for all three.
Nothing of what the normal form of a schema says may be missing from its tree: two trees without a change between them
are one schema, spelled in one way or two.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, TypeAlias

from sigla.errors import CheckAbandoned
from sigla.languages.language import Budget, abandoned
from sigla.model import Finding

Place: TypeAlias = tuple[str, ...]
"""The keys on the way from the root to a part."""

ADDED: Final = "added"
REMOVED: Final = "removed"
CHANGED: Final = "changed"
RENAMED: Final = "renamed"
MOVED: Final = "moved"

PER_STEP: Final = 16
"""So many characters of a place or a text are shown in one step."""
PARTS_PER_STEP: Final = 4
MOST_CHANGES: Final = 10_000
"""More are another schema, and nothing that anyone reads."""
LONGEST_SHOWN: Final = 10_240
"""Characters of what was and what is, as a check quotes a schema (A.4, item 4)."""


class SchemaPart:
    """A part of a schema.

    noun: what people call it. text: what it says itself, without its parts. whole: the same with all its parts, for
    where it comes or goes. name: what people call this one, where its key is a number. ordered: the order of its parts
    has a meaning. aliases: keys under which it may have stood before. explains: it tells people something, and
    machines nothing. shared: it stands here once for all who use it.
    """

    __slots__ = ("aliases", "explains", "name", "noun", "ordered", "parts", "shared", "text", "twice", "whole")

    def __init__(
        self,
        noun: str,
        text: str = "",
        *,
        whole: Callable[[], str] | None = None,
        name: str = "",
        ordered: bool = False,
        aliases: tuple[str, ...] = (),
        explains: bool = False,
        shared: bool = False,
    ) -> None:
        self.noun = noun
        self.text = text
        self.whole = whole or (lambda: text)
        self.name = name
        self.ordered = ordered
        self.aliases = aliases
        self.explains = explains
        self.shared = shared
        self.parts: dict[str, SchemaPart] = {}
        self.twice: dict[str, int] = {}

    def add(self, key: str, part: "SchemaPart") -> "SchemaPart":
        self.parts[self.free(key)] = part
        return part

    def free(self, key: str) -> str:
        """The key. What stands twice, as lenient readers let it, has a number behind it."""
        if key not in self.parts:
            return key
        count = self.twice[key] = self.twice.get(key, 1) + 1
        return self.free(f"{key}#{count}")

    def say(self, key: str, text: str | None, noun: str = "", *, explains: bool = False) -> None:
        """Adds a part that says no more than a text, if there is one."""
        if text is not None:
            self.add(key, SchemaPart(noun or key, text, explains=explains))


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One change. place: where it is in the new schema; before: where it was in the old one.

    was, now: as people write it; None where there was nothing, or there is nothing any more.
    inside: the name of the part around it, where its key is a number.
    """

    kind: str
    noun: str
    place: Place
    before: Place
    was: str | None = None
    now: str | None = None
    inside: str = ""
    explains: bool = False
    shared: bool = False

    @property
    def path(self) -> str:
        """As JSON Pointers are written (RFC 6901), without the slash at the start."""
        place = self.before if self.kind == REMOVED else self.place
        return "/".join(key.replace("~", "~0").replace("/", "~1") for key in place)


Way: TypeAlias = list[list[Place]]
"""How one comes to a finding in the tree of its reader, the outermost step first; of a step all places count alike."""
Locate: TypeAlias = Callable[[Finding], Way]


@dataclass(frozen=True, slots=True)
class Outlines:
    """The trees of two schemas. in_old, in_new: where findings are of which that schema is the reader."""

    old: SchemaPart
    new: SchemaPart
    in_old: Locate
    in_new: Locate


def changes(old: SchemaPart, new: SchemaPart, budget: Budget) -> tuple[SchemaChange, ...]:
    """Everything that has changed, in the order of the new tree, what is gone first. Raises CheckAbandoned."""
    try:
        found = tuple(islice(_ChangeWalk(budget).between(old, new), MOST_CHANGES + 1))
    except RecursionError:
        raise abandoned("the schemas are nested too deeply to be compared") from None
    if len(found) > MOST_CHANGES:
        raise CheckAbandoned(f"There are more than {MOST_CHANGES} changes between the schemas")
    return found


class _ChangeWalk:
    __slots__ = ("spend",)

    def __init__(self, budget: Budget) -> None:
        self.spend = budget.spend

    def between(
        self, old: SchemaPart, new: SchemaPart, place: Place = (), before: Place = (), inside: str = ""
    ) -> Iterator[SchemaChange]:
        """What differs in a part of both. One that says something else is shown whole; of its parts, those in both."""
        self.spend(1 + (len(old.parts) + len(new.parts)) // PARTS_PER_STEP)
        pairs = paired(old.parts, new.parts)
        told = old.text != new.text or old.noun != new.noun
        if told:
            change = SchemaChange(CHANGED, new.noun, place, before, old.whole(), new.whole(), inside)
            yield self.told(change, new)
        else:
            kept = set(pairs.values())
            for key in [key for key in old.parts if key not in kept]:
                part = old.parts[key]
                change = SchemaChange(REMOVED, part.noun, (*place, key), (*before, key), part.whole(), None, old.name)
                yield self.told(change, part)
        for key, part in new.parts.items():
            former = pairs.get(key)
            if former is not None:
                if former != key:
                    change = SchemaChange(RENAMED, part.noun, (*place, key), (*before, former), former, key, new.name)
                    yield self.told(change, part)
                yield from self.between(old.parts[former], part, (*place, key), (*before, former), new.name)
            elif not told:
                change = SchemaChange(ADDED, part.noun, (*place, key), (*before, key), None, part.whole(), new.name)
                yield self.told(change, part)
        if old.ordered and new.ordered and not told:
            yield from self.moved(old, new, place, before, pairs)

    def moved(
        self, old: SchemaPart, new: SchemaPart, place: Place, before: Place, pairs: Mapping[str, str]
    ) -> Iterator[SchemaChange]:
        """Whether the parts that stayed stand in another order."""
        names = {former: key for key, former in pairs.items()}
        was = [names[former] for former in old.parts if former in names]
        now = [key for key in new.parts if key in pairs]
        if was != now:
            first, last = alike(was, now), -alike(was[::-1], now[::-1]) or None
            shown, shows = (", ".join(keys[first:last]) for keys in (was, now))
            yield self.told(SchemaChange(MOVED, new.noun, place, before, shown, shows, new.name), new)

    def told(self, change: SchemaChange, part: SchemaPart) -> SchemaChange:
        """As it is told, once it is paid for."""
        characters = sum(map(len, change.place)) + len(change.was or "") + len(change.now or "")
        self.spend(1 + characters // PER_STEP)
        was, now = cut(change.was), cut(change.now)
        return replace(change, was=was, now=now, explains=part.explains, shared=part.shared)


def alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How far two lists begin alike."""
    return next(index for index, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)


def paired(old: Mapping[str, SchemaPart], new: Mapping[str, SchemaPart]) -> dict[str, str]:
    """The old key of each new part that was there before: the same, else the first of its aliases that is free."""
    pairs = {key: key for key in new if key in old}
    taken = set(pairs)
    for key, part in new.items():
        if key not in pairs:
            for alias in part.aliases:
                if alias in old and alias not in taken:
                    pairs[key] = alias
                    taken.add(alias)
                    break
    return pairs


def cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


class Touched:
    """Which of some changes a finding is about. What only explains, or moves, stands in no reader's way."""

    def __init__(self, found: Sequence[SchemaChange], place_of: Callable[[SchemaChange], Place]) -> None:
        self.shared = [change.shared for change in found]
        self.at: dict[Place, list[int]] = {}
        self.below: dict[Place, list[int]] = {}
        for number, change in enumerate(found):
            if change.explains or change.kind == MOVED:
                continue
            place = place_of(change)
            self.at.setdefault(place, []).append(number)
            for length in range(len(place)):
                self.below.setdefault(place[:length], []).append(number)

    def by(self, way: Way) -> list[int]:
        """Those at the innermost step of the way to it where something has changed, or around, or inside it.

        What many share comes and goes because one of its users has changed: where both are on the way, it is the user.
        """
        found: list[int] = []
        outermost: list[Place] = [()]
        for step in (*reversed(way), outermost):
            here = [number for place in step for number in self.of(place)]
            found = here or found
            if here and not all(self.shared[number] for number in here):
                break
        return found

    def of(self, place: Place) -> list[int]:
        return self.at.get(place) or self.below.get(place) or self.around(place)

    def around(self, place: Place) -> list[int]:
        """The nearest around a place that has none of its own."""
        return next((self.at[outer] for n in range(len(place) - 1, 0, -1) if (outer := place[:n]) in self.at), [])
